import HTTPTypes
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore
@testable import TidingsServer

private let bob = UserKey(app: "demo", user: "bob")

private func sent(_ number: UInt64) -> Message {
    Message(
        id: MessageID(rawValue: number), app: "demo", sender: "alice",
        conversation: ConversationID(type: .direct, target: "bob"), clientMessageID: "c", objectName: .text,
        content: #"{"content":"secret"}"#, flags: .normal, pushText: nil, sentAt: 5)
}

private func leg(_ number: UInt64, _ device: DeviceID = "phone") -> LegID {
    LegID(message: MessageID(rawValue: number), user: bob, device: device)
}

private func found(_ number: UInt64, ended: [EndedLeg] = [], open: [OpenLeg] = []) -> MessageLegs {
    MessageLegs(
        id: MessageID(rawValue: number), place: number, about: .init(.message(sent(number))), open: open, ended: ended,
        receipts: ended.prefix(1).map { .init(leg: $0.leg, receipt: .shown, at: 12) })
}

@Suite struct `A search for legs over the HTTP API` {
    @Test func `tells each leg with its message, and asks the store for the person and the time`() async throws {
        let steps = LegSteps([.read(on: "pad", at: 8), .turned(.deadlineMissed, at: 9), .judged])
        let page = LegPage(
            messages: [
                found(8, ended: [EndedLeg(leg: leg(8), end: .readElsewhere, at: 9, steps: steps)]),
                found(7, open: [OpenLeg(leg: leg(7), position: 7, wait: .quietHours, notBefore: 99)]),
            ], reached: MessageID(rawValue: 7))
        let api = try await APIDouble(answering: .legs(page), scopes: [.trace])
        let (since, until) = (MessageID.epochMilliseconds + 5, MessageID.epochMilliseconds + 9)
        let answer = try await api.request(.get, "legs?user=bob&since=\(since)&until=\(until)")
        #expect(answer.status == 200)
        #expect(!answer.text.contains("secret"))
        #expect(answer.json["next"] == .null)
        #expect(answer.json["reached_at"] == .int(MessageID.epochMilliseconds))
        let legs = try #require(answer.json["legs"]?.arrayValue)
        #expect(legs.count == 2)
        #expect(legs[0]["state"] == "ended")
        #expect(legs[0]["end"] == "read_elsewhere")
        #expect(legs[0]["sender"] == "alice")
        #expect(legs[0]["shown_at"] == 12)
        #expect(
            legs[0]["steps"] == [
                ["step": "read", "at": 8, "device": "pad"], ["step": "device", "at": 9, "turn": "deadline_missed"],
            ])
        #expect(legs[0]["tests"]?.arrayValue?.last == ["fact": "read_elsewhere", "passed": false])
        #expect(legs[1]["state"] == "open")
        #expect(legs[1]["wait"] == "quiet_hours")
        var question = LegQuestion(app: "demo", user: "bob", looksMax: 500)
        question.oldest = MessageID(wallMilliseconds: since, node: 0, counter: 0)
        question.newest = MessageID(wallMilliseconds: until + 1, node: 0, counter: 0)
        #expect(api.commands == [.legs(question)])
    }

    @Test func `goes on in the middle of a message`() async throws {
        let ended = (0..<5).map { EndedLeg(leg: leg(8, DeviceID("d\($0)")), end: .muted, at: 9) }
        let api = try await APIDouble(answering: .legs(LegPage(messages: [found(8, ended: ended)])))
        var devices: [String] = []
        var cursor = ""
        for _ in 0..<3 {
            let answer = try await api.request(.get, "legs?user=bob&limit=2\(cursor)").json
            devices += answer["legs"]?.arrayValue?.compactMap { $0["device"]?.stringValue } ?? []
            cursor = answer["next"]?.stringValue.map { "&cursor=\($0)" } ?? ""
        }
        #expect(devices == ["d0", "d1", "d2", "d3", "d4"])
        #expect(cursor.isEmpty)
        #expect(
            api.commands == [nil, 9, 9].map { .legs(LegQuestion(app: "demo", user: "bob", before: $0, looksMax: 500)) })
    }

    @Test func `looks further until a page is full, and leaves off where that takes long`() async throws {
        let api = try await APIDouble(answering: .legs(LegPage(next: 41, reached: MessageID(rawValue: 41))))
        let answer = try await api.request(.get, "legs?state=rejected").json
        #expect(answer["legs"] == [])
        #expect(answer["next"]?.stringValue != nil)
        #expect(api.commands.count == 20)
        let next = answer["next"]?.stringValue ?? ""
        _ = try await api.request(.get, "legs?state=rejected&cursor=\(next)")
        #expect(api.commands[20] == .legs(LegQuestion(app: "demo", before: 41, looksMax: 500)))
    }

    @Test func `without a person asks the core for what is open`() async throws {
        let open = found(7, open: [OpenLeg(leg: leg(7), position: 7, wait: .quietHours, notBefore: 99)])
        let place = OpenLegPlace(slot: 3, last: .init(user: "bob", device: "phone", position: 7))
        let api = try await APIDouble(answering: .openLegs(OpenLegPage(legs: [open], next: place)), scopes: [.trace])
        let since = MessageID.epochMilliseconds + 5
        let answer = try await api.request(.get, "legs?wait=quiet_hours&limit=1&since=\(since)")
        #expect(answer.status == 200)
        #expect(!answer.text.contains("secret"))
        #expect(answer.json["reached_at"] == .null)
        let legs = try #require(answer.json["legs"]?.arrayValue)
        #expect(legs.map { $0["state"] } == ["open"])
        #expect(legs.map { $0["wait"] } == ["quiet_hours"])
        #expect(legs.map { $0["not_before"] } == [99])
        #expect(legs.map { $0["sender"] } == ["alice"])
        var question = OpenLegQuestion(
            app: "demo", filter: LegFilter(state: .waiting(.quietHours)),
            oldest: MessageID(wallMilliseconds: since, node: 0, counter: 0), limit: 1, looksMax: 10_000)
        #expect(api.commands == [.openLegs(question)])
        let next = try #require(answer.json["next"]?.stringValue)
        _ = try await api.request(.get, "legs?wait=quiet_hours&limit=1&since=\(since)&cursor=\(next)")
        question.after = place
        #expect(api.commands.last == .openLegs(question))
    }

    @Test(arguments: [
        ("state=open", LegFilter(state: .open)), ("state=live", LegFilter(state: .named("live"))),
        (
            "state=open&wait=live&device=phone&reason=li",
            LegFilter(device: "phone", state: .waiting(.live), reason: "li")
        ),
    ])
    func `without a person looks on until a page is full, and leaves off where that takes long`(
        query: String, filter: LegFilter
    ) async throws {
        let api = try await APIDouble(answering: .openLegs(OpenLegPage(next: OpenLegPlace(slot: 5))))
        let answer = try await api.request(.get, "legs?\(query)").json
        #expect(answer["legs"] == [])
        #expect(answer["next"]?.stringValue != nil)
        var question = OpenLegQuestion(app: "demo", filter: filter, limit: 50, looksMax: 10_000)
        #expect(api.commands.first == .openLegs(question))
        question.after = OpenLegPlace(slot: 5)
        #expect(api.commands.dropFirst() == Array(repeating: .openLegs(question), count: 19)[...])
        let whole = try await APIDouble(answering: .openLegs(OpenLegPage())).request(.get, "legs?\(query)")
        #expect(whole.json == ["legs": [], "next": .null, "reached_at": .null])
    }

    @Test func `of a person by wait asks the store`() async throws {
        let page = LegPage(messages: [
            found(8, open: [OpenLeg(leg: leg(8), position: 8, wait: .live)]),
            found(7, open: [OpenLeg(leg: leg(7), position: 7, wait: .quietHours)]),
        ])
        let api = try await APIDouble(answering: .legs(page))
        let answer = try await api.request(.get, "legs?user=bob&wait=quiet_hours").json
        #expect(answer["legs"]?.arrayValue?.map { $0["message_id"] } == [.string(sent(7).id.description)])
        #expect(api.commands == [.legs(LegQuestion(app: "demo", user: "bob", looksMax: 500))])
    }

    @Test func `of one message goes by its trace`() async throws {
        let trace = MessageTrace(
            of: .message(sent(7)), deliveries: [], open: [],
            ended: [
                EndedLeg(leg: leg(7, "pad"), end: .rejected(reason: "TooBig"), at: 6),
                EndedLeg(leg: leg(7), end: .muted, at: 6),
            ], receipts: [])
        let api = try await APIDouble(answering: .trace(trace))
        let answer = try await api.request(.get, "legs?message_id=\(sent(7).id)&reason=toobig").json
        #expect(answer["legs"]?.arrayValue?.compactMap { $0["device"] } == ["pad"])
        #expect(api.commands == [.trace("demo", MessageID(rawValue: 7))])
        let unknown = try await APIDouble(answering: .trace(nil)).request(.get, "legs?message_id=\(sent(7).id)")
        #expect(unknown.status == 200)
        #expect(unknown.json == ["legs": [], "next": .null, "reached_at": .null])
    }

    @Test(arguments: [
        ("state=no_device", "user"), ("state=lost", "state"), ("wait=muted", "wait"), ("wait=live&state=ended", "wait"),
        ("wait=live&state=quiet_hours&user=bob", "wait"), ("wait=live&cursor=AAAA", "cursor"),
        ("user=bob&since=1800000000009&until=1800000000008", "until"), ("user=bob&reason=", "reason"),
        ("message_id=x", "message_id"),
        ("user=bob&limit=101", "limit"), ("users=bob", "users"), ("user=bob&cursor=AAAA", "cursor"),
        ("user=bob&device=", "device"),
    ])
    func `names the field of what it cannot take`(query: String, field: String) async throws {
        let api = try await APIDouble(answering: .legs(LegPage()))
        let answer = try await api.request(.get, "legs?\(query)")
        #expect(answer.status == 400)
        #expect(answer.json["field"] == .string(field))
        #expect(api.commands == [])
    }

    @Test func `needs the scope for traces`() async throws {
        let closed = try await APIDouble(answering: .legs(LegPage()), scopes: [.messages, .history])
        #expect(try await closed.request(.get, "legs?user=bob").status == 403)
    }

    @Test func `tells in a trace the request to APNs, and what it said`() async throws {
        let push = LegPush(attempt: 1, topic: "com.example.chat", environment: .production, expiration: 86_400)
        let counted = LegPush(
            carrier: MessageID(rawValue: 9), attempt: 0, topic: "com.example.chat", environment: .sandbox, expiration: 0
        )
        let steps = LegSteps([
            .waited(.quietHours, until: 20, at: 6), .pushed(push, at: 20),
            .answered(.refused, status: 503, reason: "ServiceUnavailable", at: 21), .pushed(counted, at: 30),
        ])
        let trace = MessageTrace(
            of: .message(sent(7)), deliveries: [], open: [],
            ended: [EndedLeg(leg: leg(7), end: .accepted(apnsID: "A"), at: 31, steps: steps)], receipts: [])
        let told = try await APIDouble(answering: .trace(trace)).request(.get, "messages/\(sent(7).id)/trace").json
        let ended = try #require(told["ended_legs"]?.arrayValue?.first)
        let kept = try #require(ended["steps"]?.arrayValue)
        #expect(ended["tests"] == .null)
        #expect(kept.map { $0["step"] } == ["waiting", "pushed", "answered", "pushed"])
        #expect(kept[0]["tests"]?.arrayValue?.last == ["fact": "quiet_hours", "passed": false])
        #expect(
            kept[1]["request"] == [
                "apns_id": .string(apnsID(of: leg(7), attempt: 1)), "attempt": 1, "push_type": "alert", "priority": 10,
                "expires_at": 86_400_000, "collapse_id": .string(MessageID(rawValue: 7).description),
                "topic": "com.example.chat", "environment": "production", "counted_by": .null,
            ])
        #expect(kept[2]["status"] == 503)
        #expect(kept[2]["reason"] == "ServiceUnavailable")
        #expect(kept[3]["request"]?["apns_id"] == .string(apnsID(of: leg(9), attempt: 0)))
        #expect(kept[3]["request"]?["counted_by"] == .string(MessageID(rawValue: 9).description))
    }
}
