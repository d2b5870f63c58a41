// swift-format-ignore-file: NeverForceUnwrap

import HTTPTypes
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

private let first = MessageID("01qdq6qdr0000")!
private let push = ConversationID(type: .pushService, target: "push")

private func job(_ audience: PushAudience = .everybody, _ state: PushJob.State = .running) -> PushJob {
    let template = Message(
        id: first, app: "demo", sender: "push", conversation: push, clientMessageID: "c", objectName: .text,
        content: "{}", flags: [.stored, .notified, .unlisted], pushText: nil, sentAt: 5)
    var job = PushJob(
        id: first, app: "demo", account: push, body: .message(template), audience: audience, ratePerSecond: 7,
        createdAt: 5)
    job.state = state
    job.counts.recipients = 3
    job.counts.ends = ["accepted": 2, "muted": 1]
    job.counts.shown = 1
    return job
}

@Suite struct `A push of the HTTP API` {
    private static func draft(
        _ flags: MessageFlags = [.stored, .notified, .unlisted], push options: PushOptions? = nil,
        name: ObjectName = .text, content: String = #"{"content":"Half price"}"#
    ) -> MessageDraft {
        MessageDraft(
            clientMessageID: "push", conversation: push, objectName: name, content: content, flags: flags, push: options
        )
    }

    @Test func `is a text with options for an audience, from the push account, and does not count`() async throws {
        let api = try await APIDouble(answering: .pushJob(job()))
        let answer = try await api.request(
            .post, "pushes",
            #"{"notification":{"title":"Sale","text":"Half price","sound":"bell.caf"},"audience":{"everybody":true}}"#)
        #expect(answer.status == 202)
        #expect(answer.json["id"] == "01qdq6qdr0000")
        #expect(answer.json["state"] == "running")
        #expect(answer.json["counted"] == false)
        #expect(answer.json["conversation"] == false)
        #expect(answer.json["progress"] == ["looked_at": 0, "recipients": 3, "skipped": 0])
        #expect(answer.json["statistics"]?["accepted"] == 2)
        #expect(answer.json["statistics"]?["shown"] == 1)
        #expect(answer.json["statistics"]?["ends"]?["muted"] == 1)
        #expect(answer.json["statistics"]?["ends"]?["expired"] == 0)
        let options = PushOptions(title: "Sale", sound: "bell.caf")
        #expect(
            api.commands == [
                .createPush(
                    "demo", PushDraft(account: push, body: .message(Self.draft(push: options)), audience: .everybody))
            ])
    }

    @Test func `stands among the conversations if it says so`() async throws {
        let api = try await APIDouble(answering: .pushJob(job()))
        let body = #"{"notification":{"text":"Half price"},"audience":{"everybody":true},"conversation":true}"#
        #expect(try await api.request(.post, "pushes", body).status == 202)
        let draft = PushDraft(
            account: push, body: .message(Self.draft([.stored, .notified])), audience: .everybody)
        #expect(api.commands == [.createPush("demo", draft)])
    }

    @Test func `says when, how fast, how long, for whom and whether it counts`() async throws {
        let api = try await APIDouble(answering: .pushJob(job()))
        let body = #"""
            {"account":{"kind":"MP","id":"news"},"message":{"object_name":"my:news","content":"x","push_text":"News"},
             "audience":{"all":[{"any":[{"tag":"a"},{"alias":"b"},{"devices":[{"user":"bob","device":"pad"}]}]},
              {"not":{"users":["eve","bob","eve"]}}]},
             "counted":true,"conversation":true,"send_at":"2027-01-15T09:00:00.009+01:00","rate_per_second":50,"lifetime_ms":1000,"ignores_blocks":true}
            """#
        #expect(try await api.request(.post, "pushes", body).status == 202)
        let account = ConversationID(type: .publicService, target: "news")
        var message = MessageDraft(
            clientMessageID: "push", conversation: account, objectName: "my:news", content: "x", flags: .normal)
        message.pushText = "News"
        var draft = PushDraft(
            account: account, body: .message(message),
            audience: .all([
                .any([.tag("a"), .alias("b"), .devices([.init(user: "bob", device: "pad")])]),
                .not(.users(["bob", "eve"])),
            ]))
        draft.sendAt = 1_800_000_000_009
        draft.ratePerSecond = 50
        draft.lifetimeMilliseconds = 1_000
        draft.ignoresBlocks = true
        #expect(api.commands == [.createPush("demo", draft)])
    }

    @Test func `is for a time on people's own clocks, and says so`() async throws {
        var made = job()
        made.localTime = try PushLocalTime(text: "2026-12-01T09:00", timeZone: "Asia/Shanghai")
        let api = try await APIDouble(answering: .pushJob(made))
        let answer = try await api.request(
            .post, "pushes",
            #"{"notification":{"text":"Half price"},"audience":{"everybody":true},"send_at_local":"2026-12-01T09:00","time_zone":"Asia/Shanghai"}"#
        )
        #expect(answer.status == 202)
        #expect(answer.json["send_at_local"] == "2026-12-01T09:00" && answer.json["time_zone"] == "Asia/Shanghai")
        // Where clocks are put back, and where they never are.
        let moments = answer.json["moments"]?.arrayValue ?? []
        #expect(moments.count == made.localTime?.passes.count)
        let berlin = moments.first { $0["time_zones"]?.arrayValue?.contains("Europe/Berlin") == true }
        #expect(berlin?["send_at"] == 1_796_112_000_000 && berlin?["utc"] == "2026-12-01T08:00:00.000Z")
        guard case .createPush(_, let draft) = api.commands.first else { return #expect(Bool(false), "it is made") }
        #expect(draft.localTime == made.localTime && draft.sendAt == nil)
    }

    @Test(arguments: ["GMT", "UTC", "EST", "CET", "Zulu", "Etc/GMT+5", "W-SU"])
    func `is for a time in a zone without a slash, too`(zone: String) async throws {
        let api = try await APIDouble(answering: .pushJob(job()))
        let answer = try await api.request(
            .post, "pushes",
            #"{"notification":{"text":"x"},"audience":{"everybody":true},"send_at_local":"2026-12-01T09:00","time_zone":"\#(zone)"}"#
        )
        #expect(answer.status == 202 && answer.json["moments"] == .null)
    }

    @Test(
        arguments: [
            "", " ", "\u{200b}", "\u{feff}", "\u{ad}", "\u{2060}", "\u{3164}", "\u{a0}\u{2003}", "\u{115f}", "\u{2800}",
            "\u{200d}\u{fe0f}", "\u{e0020}", "\u{202e} \u{202c}", "\n\t",
        ],
        [
            #"{"notification":{"text":"TEXT"},"#, #"{"notification":{"text":"x","title":"TEXT"},"#,
            #"{"notification":{"text":"x","subtitle":"TEXT"},"#,
            #"{"message":{"content":"{\"content\":\"TEXT\"}"},"#,
            #"{"message":{"text":"x","push":{"text":"TEXT"}},"#,
        ])
    func `is refused where a line of it shows nothing`(text: String, body: String) async throws {
        // A message without words has others in a push.
        if text.isEmpty, body.contains("content\\") { return }
        let api = try await APIDouble(answering: .pushJob(job()))
        let escaped = text.unicodeScalars.flatMap { String($0).utf16 }.map {
            "\\u" + String(0x10000 + UInt32($0), radix: 16).dropFirst()
        }
        let inner = body.contains("content\\") ? escaped.map { "\\" + $0 } : escaped
        let answer = try await api.request(
            .post, "pushes", body.replacing("TEXT", with: inner.joined()) + #""audience":{"everybody":true}}"#)
        #expect(answer.status == 400 && answer.json["code"] == "invalid_field", "\(answer.json)")
        #expect(api.commands == [])
    }

    @Test(arguments: [0, 5, 1_700_000_000, 1_577_836_799_999, 9_007_199_254_740_992, .max, -1] as [Int64])
    func `is refused for a time that is none in milliseconds, everywhere alike`(time: Int64) async throws {
        let rule = GivenTime.fault(of: time)
        #expect(rule?.hasSuffix(", which looks like seconds") == (time == 1_700_000_000))
        let push = #"{"notification":{"text":"x"},"audience":{"everybody":true},"send_at":\#(time)}"#
        let live =
            #"{"environment":"sandbox","topic":"com.example.chat","event":"update","token":"ab12","content_state":{},"#
        for (method, path, body, field) in [
            (.post, "pushes", push, "send_at"),
            (.put, "conversations/GRP/team/mutes/bob", #"{"until":\#(time)}"#, "until"),
            (.put, "conversations/CHRM/team/bans/bob", #"{"until":\#(time)}"#, "until"),
            (.put, "users/bob/settings/GRP/team", #"{"level":"blocked","level_until":\#(time)}"#, "level_until"),
            (.post, "users/bob/revoke-tokens", #"{"before":\#(time)}"#, "before"),
            (.post, "live-activities", live + #""timestamp":\#(time)}"#, "timestamp"),
            (.post, "live-activities", live + #""stale_at":\#(time)}"#, "stale_at"),
            (.post, "live-activities", live + #""dismissal_at":\#(time)}"#, "dismissal_at"),
            (.post, "live-activities", live + #""expires_at":\#(time)}"#, "expires_at"),
            (.get, "legs?user=bob&since=\(time)", nil, "since"), (.get, "legs?user=bob&until=\(time)", nil, "until"),
        ] as [(HTTPRequest.Method, String, String?, String)] {
            // There 0 is no moment but "one attempt", or "at once".
            if time == 0, ["dismissal_at", "expires_at"].contains(field) { continue }
            let api = try await APIDouble(answering: .pushJob(job()))
            let answer = try await api.request(method, path, body)
            #expect(answer.status == 400 && answer.json["field"] == .string(field), "\(path) \(answer.json)")
            if time >= 0 { #expect(answer.problem == rule.map { "\(field) \($0)" }, "\(path)") }
            #expect(api.commands == [])
        }
    }

    @Test(arguments: [
        (#""send_at_local":"2026-12-01T09:00""#, "time_zone"), (#""time_zone":"Europe/Berlin""#, "time_zone"),
        (#""send_at_local":"2026-12-01T09:00","time_zone":"CEST""#, "time_zone"),
        (#""send_at_local":"2026-12-01T09:00","time_zone":"Europe/Berlin","send_at":1800000000005"#, "send_at_local"),
        (#""send_at_local":"2026-02-30T09:00","time_zone":"Europe/Berlin""#, "send_at_local"),
        (#""send_at_local":"2026-12-01T09:00Z","time_zone":"Europe/Berlin""#, "send_at_local"),
        (#""send_at_local":"2026-12-01 09:00","time_zone":"Europe/Berlin""#, "send_at_local"),
    ])
    func `is refused with half a local time, or one that is none`(members: String, field: String) async throws {
        let api = try await APIDouble(answering: .pushJob(job()))
        let answer = try await api.request(
            .post, "pushes", #"{"notification":{"text":"x"},"audience":{"everybody":true},"# + members + "}")
        #expect(answer.status == 400 && answer.json["field"] == .string(field))
        #expect(api.commands.isEmpty)
    }

    @Test(arguments: [
        (#"{"audience":{"everybody":true}}"#, "notification"),
        (
            #"{"notification":{"text":"x"},"custom":{"content":"x"},"audience":{"everybody":true}}"#, "notification"
        ),
        (#"{"notification":{"title":"x"},"audience":{"everybody":true}}"#, "notification.text"),
        (#"{"notification":{"text":{"loc_key":"K"}},"audience":{"everybody":true}}"#, "notification.text"),
        (#"{"notification":{"text":"x","sand":"x"},"audience":{"everybody":true}}"#, "notification.sand"),
        (#"{"notification":{"text":"x"}}"#, "audience"),
        (#"{"notification":{"text":"x"},"audience":{}}"#, "audience"),
        (#"{"notification":{"text":"x"},"audience":{"everybody":true,"tag":"a"}}"#, "audience"),
        (#"{"notification":{"text":"x"},"audience":{"everybody":false}}"#, "audience.everybody"),
        (#"{"notification":{"text":"x"},"audience":{"everyone":true}}"#, "audience"),
        (#"{"notification":{"text":"x"},"audience":{"users":["a b"]}}"#, "audience.users[0]"),
        (#"{"notification":{"text":"x"},"audience":{"devices":[]}}"#, "audience.devices"),
        (#"{"notification":{"text":"x"},"audience":{"devices":[{"user":"bob"}]}}"#, "audience.devices[0].device"),
        (
            #"{"notification":{"text":"x"},"audience":{"devices":[{"user":"bob","device":"a"},{"user":"b b","device":"a"}]}}"#,
            "audience.devices[1].user"
        ),
        (
            #"{"notification":{"text":"x"},"audience":{"devices":[{"user":"bob","device":"a","token":"x"}]}}"#,
            "audience.devices[0].token"
        ),
        (#"{"custom":{"content":"x"},"audience":{"everybody":true},"counted":true}"#, "counted"),
        (#"{"custom":{"content":"x"},"audience":{"everybody":true},"conversation":true}"#, "conversation"),
        (#"{"notification":{"text":"x"},"audience":{"everybody":true},"counted":true}"#, "counted"),
        (#"{"notification":{"text":"x"},"audience":{"everybody":true},"rate_per_second":0}"#, "rate_per_second"),
        (
            #"{"notification":{"text":"x"},"audience":{"everybody":true},"account":{"kind":"X","id":"y"}}"#,
            "account.kind"
        ),
    ])
    func `that breaks a rule is refused by the name of the field`(body: String, field: String) async throws {
        let api = try await APIDouble(answering: .pushJob(job()))
        let answer = try await api.request(.post, "pushes", body)
        #expect(answer.status == 400)
        #expect(answer.json["field"] == .string(field))
        #expect(api.commands == [])
    }

    @Test func `to the app itself is a custom message`() async throws {
        let api = try await APIDouble(answering: .pushJob(job()))
        let body = #"{"custom":{"content":"refresh","title":"t","extras":{"a":1}},"audience":{"users":["bob"]}}"#
        #expect(try await api.request(.post, "pushes", body).status == 202)
        let message = CustomMessage(
            id: MessageID(rawValue: 0), title: "t", content: "refresh", extras: JSONObject([("a", 1)]), sentAt: 0)
        #expect(
            api.commands == [
                .createPush("demo", PushDraft(account: push, body: .custom(message), audience: .users(["bob"])))
            ])
    }

    @Test func `is read, cancelled and taken back by its id`() async throws {
        let api = try await APIDouble(answering: .pushJob(job(.not(.any([.tag("a"), .alias("b")])), .recalling)))
        let shown = try await api.request(.get, "pushes/01qdq6qdr0000")
        #expect(shown.json["audience"] == ["not": ["any": [["tag": "a"], ["alias": "b"]]]])
        #expect(shown.json["rate_per_second"] == 7)
        #expect(try await api.request(.post, "pushes/01qdq6qdr0000/cancel").status == 200)
        #expect(try await api.request(.delete, "pushes/01qdq6qdr0000").status == 202)
        #expect(
            api.commands == [.changePush("demo", first, .cancel), .changePush("demo", first, .recall)])
        #expect(api.reads == [.readPush("demo", first)])
    }

    @Test func `that there is not is unknown`() async throws {
        let api = try await APIDouble(answering: .pushJob(nil))
        for (method, path) in [
            (HTTPRequest.Method.get, ""), (.post, "/cancel"), (.delete, ""), (.get, "/recipients/bob"),
        ] {
            let answer = try await api.request(method, "pushes/01qdq6qdr0000\(path)")
            #expect(answer.status == 404)
            #expect(answer.json["code"] == "unknown_push")
        }
        #expect(try await api.request(.get, "pushes/x").status == 400)
    }

    @Test func `is listed page by page, the newest first`() async throws {
        let api = try await APIDouble(reading: .pushJobs([job()], hasMore: true))
        let page = try await api.request(.get, "pushes?limit=1")
        #expect(page.json["pushes"]?.arrayValue?.count == 1)
        let next = try #require(page.json["next"]?.stringValue)
        _ = try await api.request(.get, "pushes?limit=1&cursor=\(next)")
        #expect(
            api.reads == [
                .readPushes("demo", before: nil, limit: 1), .readPushes("demo", before: first, limit: 1),
            ])
    }

    @Test func `says what it says to whoever may read messages`() async throws {
        func told(_ body: PushJob.Body) async throws -> JSONValue? {
            var listed = job()
            listed.body = body
            let api = try await APIDouble(reading: .pushJobs([listed], hasMore: false))
            let answer = try await api.request(.get, "pushes/contents?limit=1")
            #expect(answer.status == 200)
            #expect(api.reads == [.readPushes("demo", before: nil, limit: 1)])
            #expect(!(try await api.request(.get, "pushes").text.contains("Half price")))
            return answer.json["pushes"]?.arrayValue?.first?["content"]
        }
        var message = Message(
            id: first, app: "demo", sender: "push", conversation: push, clientMessageID: "c", objectName: .text,
            content: #"{"content":"Half price"}"#, flags: .normal, pushText: nil, sentAt: 5)
        #expect(try await told(.message(message)) == ["title": .null, "text": "Half price"])
        message.push = PushOptions(title: "Sale", text: .localized(key: "HALF"))
        #expect(try await told(.message(message)) == ["title": "Sale", "text": ["loc_key": "HALF"]])
        message.push = nil
        message.pushText = String(repeating: "x", count: 300)
        #expect(
            try await told(.message(message)) == ["title": .null, "text": .string(String(repeating: "x", count: 256))])
        message.pushText = nil
        message.objectName = "my:news"
        #expect(try await told(.message(message)) == ["title": .null, "text": .null])
        let custom = CustomMessage(
            id: first, title: "To the app", content: "Half price", sentAt: 5)
        #expect(try await told(.custom(custom)) == ["title": "To the app", "text": "Half price"])
    }

    @Test(arguments: [[.trace], [.history], [.messages, .trace]] as [[APIScope]])
    func `does not say what it says without both scopes`(scopes: [APIScope]) async throws {
        let api = try await APIDouble(reading: .pushJobs([job()], hasMore: false), scopes: scopes)
        #expect(try await api.request(.get, "pushes/contents").status == 403)
        #expect(api.reads.isEmpty)
    }

    @Test func `is preceded by a count of its audience`() async throws {
        let api = try await APIDouble(answering: .audience(AudienceCount(people: 7, devices: 9)))
        let answer = try await api.request(.get, "pushes/count?audience=%7B%22tag%22:%22a%22%7D")
        #expect(answer.json == ["people": 7, "devices": 9])
        // A plus sign is a space, as forms have it.
        _ = try await api.request(.get, "pushes/count?audience=%7B%22tag%22:+%22a%2Bb%22%7D")
        #expect(api.commands == [.countAudience("demo", .tag("a")), .countAudience("demo", .tag("a+b"))])
        #expect(try await api.request(.get, "pushes/count").status == 400)
        #expect(try await api.request(.get, "pushes/count?audience=x").status == 400)
    }

    @Test func `needs the scope for messages, and is seen with that for traces`() async throws {
        let reader = try await APIDouble(answering: .pushJob(job()), scopes: [.trace])
        #expect(try await reader.request(.get, "pushes/01qdq6qdr0000").status == 200)
        #expect(try await reader.request(.post, "pushes", "{}").status == 403)
        #expect(try await reader.request(.delete, "pushes/01qdq6qdr0000").status == 403)
        let sender = try await APIDouble(answering: .pushJob(job()), scopes: [.messages])
        #expect(try await sender.request(.get, "pushes").status == 403)
        #expect(try await sender.request(.post, "pushes/01qdq6qdr0000/cancel").status == 200)
    }
}

@Suite struct `The labels of a person in the HTTP API` {
    @Test func `are read, replaced and taken away`() async throws {
        let api = try await APIDouble(reading: .labels(PersonLabels(aliases: ["b", "a"], tags: ["t"])))
        #expect(try await api.request(.get, "users/bob/aliases").json == ["aliases": ["a", "b"]])
        #expect(try await api.request(.get, "users/bob/tags").json == ["tags": ["t"]])
        let bob = UserKey(app: "demo", user: "bob")
        #expect(api.reads == [.readLabels(bob), .readLabels(bob)])
        let writer = try await APIDouble(answering: .done)
        #expect(try await writer.request(.put, "users/bob/aliases", #"{"aliases":["a"]}"#).status == 204)
        #expect(try await writer.request(.put, "users/bob/tags", #"{"tags":["t"]}"#).status == 204)
        #expect(try await writer.request(.delete, "users/bob/aliases").status == 204)
        #expect(try await writer.request(.delete, "users/bob/tags").status == 204)
        #expect(
            writer.commands == [
                .setLabels(bob, .aliases(["a"])), .setLabels(bob, .tags(["t"])), .setLabels(bob, .aliases([])),
                .setLabels(bob, .tags([])),
            ])
        #expect(try await writer.request(.put, "users/bob/tags", "{}").status == 400)
    }
}
