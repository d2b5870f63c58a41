import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `A request` {
    static let group = ConversationID.group("team")

    static func change(_ action: ConversationAction, by actor: UserID?) -> ConversationChange {
        ConversationChange(conversation: Self.group, version: 2, action: action, by: actor, at: 1)
    }

    @Test func `that changes a group is answered with the entry's position, and everybody it concerns is told`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.connect("bob")
        bench.script = [
            .changed([
                MadeChange(
                    Self.change(.rename("Us"), by: "alice"),
                    [.init(user: "alice", position: 1, unread: 0), .init(user: "bob", position: 1, unread: 0)])
            ])
        ]
        #expect(
            bench.ask(alice, 7, .change(Self.group, .rename("Us"))) == [
                "store rename GRP:team", "s1 ← answer 7 done(1)", "s1 ← entry 1 GRP:team rename",
                "s2 ← entry 1 GRP:team rename",
            ])
    }

    @Test func `that changes nothing is answered without a position`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.script = [.changed([])]
        #expect(bench.ask(alice, 7, .change(Self.group, .join)).outside == ["s1 ← answer 7 done(0)"])
    }

    @Test func `reaches a person who is loading, in its place`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.isStoreHeld = true
        bench.script = [
            .noted(.blocked("carol", true), deliveries: [.init(user: "bob", position: 1, unread: 0)])
        ]
        bench.connect("bob")
        bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: "bob", .setBlocked("carol", true))))
        _ = alice
        #expect(
            bench.releaseStore().outside == [
                "s2 ← welcome head 0 unread 0", "reply answer done(1)", "s2 ← entry 1 block carol",
            ])
    }

    @Test func `of the backend is answered to the API, and changes as nobody`() {
        var bench = ServerBench()
        bench.script = [.changed([MadeChange(Self.change(.dissolve, by: nil))])]
        #expect(
            bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: nil, .change(Self.group, .dissolve)))) == [
                "store dissolve GRP:team", "reply answer done(0)",
            ])
    }

    @Test func `that needs a person is refused without one`() {
        var bench = ServerBench()
        #expect(
            bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: nil, .settings))) == [
                "reply answer refused(invalid_field: actor must name a person for this request)"
            ])
    }

    @Test func `takes no answer of another kind than it expects`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.script = [.settings(AllSettings())]
        let lines = bench.ask(alice, 1, .receipts(MessageID(rawValue: 5)))
        #expect(lines.contains { $0.hasPrefix("BUG: the store gave clientRequest(") })
        #expect(!lines.contains { $0.contains("answer 1") })
    }

    @Test func `is answered by what the store refuses`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.script = [.refused(.init(code: .tooLate, field: "message", rule: "is too old"))]
        #expect(
            bench.ask(alice, 1, .edit(MessageID(rawValue: 5), content: "{}")) == [
                "store edit m0", "s1 ← answer 1 refused(too_late: message is too old)",
            ])
    }

    @Test(
        arguments: [
            (.change(.direct("bob"), .join), "conversation.type"), (.change(.group(""), .join), "conversation.target"),
            (.change(.group("team"), .add([""])), "users"),
            (.change(.group("team"), .add((0...3_000).map { UserID("u\($0)") })), "members"),
            (.edit(MessageID(rawValue: 1), content: ""), "content"),
            (.edit(MessageID(rawValue: 1), content: String(repeating: "a", count: 32_769)), "content"),
            (.delete(Deletion(conversation: .direct("bob"), messages: [])), "messages"),
            (.setPersonSettings(PersonSettings(language: String(repeating: "a", count: 36))), "language"),
            (
                .setPersonSettings(PersonSettings(quietHours: QuietHours(start: 1_440, end: 0, timeZone: "UTC"))),
                "quiet_hours.start"
            ),
            (.setBlocked("", true), "user"), (.history(.direct("bob"), before: nil, limit: 0), "limit"),
            (.history(.direct("bob"), before: nil, limit: 101), "limit"),
        ] as [(ClientRequest, String)])
    func `with bad input is refused by field, and the store is not asked`(request: ClientRequest, field: String) {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        let lines = bench.ask(alice, 1, request)
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("s1 ← answer 1 refused(invalid_field: \(field) must"))
    }

    @Test func `with the number of one that is not answered is refused by a problem, not by an answer`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.isStoreHeld = true
        _ = bench.ask(alice, 7, .settings)
        let problem = ServerFrame.Problem(
            code: .invalidField, field: "request.number",
            rule: "must be another one: request 7 of this connection is not answered yet")
        #expect(bench.ask(alice, 7, .settings) == ["s1 ← problem invalid_field"])
        #expect(bench.frames.last == .problem(problem, isFatal: false))
        #expect(bench.run(.frame(alice, .registerPush(nil, number: 7))) == ["s1 ← problem invalid_field"])
        #expect(bench.releaseStore().count == 1)
        #expect(bench.ask(alice, 7, .settings).last?.hasPrefix("s1 ← answer 7 settings") == true)
    }

    @Test func `beyond the seventeenth has to wait, and the earlier ones are answered`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.isStoreHeld = true
        for number in 1...16 {
            #expect(bench.ask(alice, RequestNumber(number), .settings) == ["store settings? alice"])
        }
        #expect(
            bench.ask(alice, 17, .settings) == [
                "s1 ← answer 17 refused(unavailable: request must wait: 16 are being carried out already)"
            ])
        bench.script = (1...16).map { _ in .refused(.init(code: .unavailable, rule: "no")) }
        #expect(bench.releaseStore().count == 16)
        #expect(bench.ask(alice, 18, .settings).first == "store settings? alice")
    }

    @Test func `flood of reads, registrations and sign-outs has to wait`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.isStoreHeld = true
        for _ in 1...8 { bench.run(.frame(alice, .registerPush(ServerBench.registration("alice")))) }
        for _ in 1...8 { bench.run(.frame(alice, .markRead(.direct("bob"), upTo: 1))) }
        #expect(bench.run(.frame(alice, .markRead(.direct("bob"), upTo: 1))) == ["s1 ← problem unavailable"])
        #expect(bench.run(.frame(alice, .registerPush(nil))) == ["s1 ← problem unavailable"])
        #expect(bench.run(.frame(alice, .signOut)) == ["s1 ← problem unavailable"])
        bench.releaseStore()
        #expect(bench.run(.frame(alice, .registerPush(nil))) == ["store token of alice/phone is none"])
    }

    @Test func `is refused when the disk fails`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.isStoreHeld = true
        bench.ask(alice, 1, .settings)
        bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: nil, .conversation(Self.group))))
        #expect(
            bench.run(.stored(bench.waiting[0].id, .failed("full"))).map { $0.prefix(32) }
                == [
                    "s1 ← answer 1 refused(unavailable", "reply answer refused(unavailable:", "stop: full",
                ].map { $0.prefix(32) })
    }
}

@Suite struct `A draft` {
    @Test func `addresses whom its content names`() {
        var bench = ServerBench()
        bench.isStoreHeld = true
        var draft = bench.draft("hi", .group("team"))
        draft.content = #"{"content":"hi","mentionedInfo":{"type":2,"userIdList":["carol","bob","carol"]}}"#
        draft.recipients = ["dave", "bob", "dave"]
        draft.lifetimeMilliseconds = 5_000
        bench.run(.api(APIRequestID(1), .send(ServerBench.key("alice"), draft)))
        guard case .accept(let message, _, _, _, _, _) = bench.waiting.last?.command else {
            Issue.record("no message")
            return
        }
        #expect(message.mentions == .users(["bob", "carol"]))
        #expect(message.recipients == ["bob", "dave"])
        #expect(message.expiresAt == bench.now.wall + 5_000)
    }

    @Test func `addresses nobody by its content in a one-to-one conversation`() {
        var bench = ServerBench()
        bench.isStoreHeld = true
        var draft = bench.draft("hi", .direct("bob"))
        draft.content = #"{"content":"hi","mentionedInfo":{"type":1}}"#
        #expect(bench.run(.api(APIRequestID(1), .send(ServerBench.key("alice"), draft))) == ["store accept m1"])
    }
}

@Suite struct `Typing` {
    @Test func `is told to the peer in the foreground, and to nobody else`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.connect("bob")
        bench.connect("bob", "tablet", .background(remainingMilliseconds: 60_000))
        #expect(
            bench.run(.frame(alice, .typing(.direct("bob"), isTyping: true))) == [
                "s2 ← signal typing(PR:alice, alice, isTyping: true)"
            ])
        #expect(bench.run(.frame(alice, .typing(.direct("carol"), isTyping: true))) == [])
        #expect(bench.run(.frame(alice, .typing(.direct("alice"), isTyping: true))) == [])
    }

    @Test func `is told to a group's members in the foreground, never to the one who types`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.connect("bob")
        let info = ConversationInfo(
            id: .group("team"), version: 1, name: "Team", portrait: nil,
            members: [Member("alice"), Member("bob"), Member("carol")], isDissolved: false)
        bench.script = [.conversation(info)]
        #expect(
            bench.run(.frame(alice, .typing(.group("team"), isTyping: false))) == [
                "store conversation? GRP:team", "s2 ← signal typing(GRP:team, alice, isTyping: false)",
            ])
    }

    @Test func `of somebody who is no member, or whom the peer has blocked, is lost without a word`() {
        var bench = ServerBench()
        bench.settings["bob"] = AllSettings(blocked: ["alice"])
        let alice = bench.connect("alice").session
        bench.connect("bob")
        bench.script = [.refused(.init(code: .notAMember, rule: "no"))]
        #expect(bench.run(.frame(alice, .typing(.group("team"), isTyping: true))).outside == [])
        #expect(bench.run(.frame(alice, .typing(.direct("bob"), isTyping: true))) == [])
    }
}

@Suite struct `The limit of members` {
    @Test func `is the app's own, for what a person asks and for what the backend replaces`() {
        var settings = ServerBench.plain
        settings.membersMax = 5
        settings.membersMaxByApp[ServerBench.app] = 2
        var bench = ServerBench(settings: settings)
        let three: [UserID] = ["alice", "bob", "carol"]
        func put(_ app: AppID, _ members: [UserID]) -> [String] {
            let record = ConversationRecord(app: app, conversation: .group("team"), name: "T", members: members)
            return bench.run(.api(APIRequestID(1), .putConversation(record))).outside
        }
        #expect(put(ServerBench.app, three) == ["reply refused invalid_field members"])
        #expect(put("club", three) == ["reply done"])
        #expect(put("club", three + ["dave", "eve", "frank"]) == ["reply refused invalid_field members"])
        #expect(put(ServerBench.app, ["alice", "bob"]) == ["reply done"])
        let alice = bench.connect("alice").session
        let asked = bench.ask(alice, 1, .change(.group("team"), .add(three)))
        #expect(asked.count == 1 && asked[0].contains("must be at most 2, got 3"))
        bench.script = [.changed([])]
        #expect(bench.ask(alice, 2, .change(.group("team"), .add(["carol"]))).first == "store add GRP:team")
    }
}

@Suite struct `A custom message` {
    @Test func `becomes an entry for those it is for, and never a push`() {
        var bench = ServerBench()
        bench.connect("bob")
        bench.goneDevice("carol")
        bench.script = [
            .accepted(deliveries: [
                .init(user: "bob", position: 1, unread: 0), .init(user: "carol", position: 1, unread: 0),
            ])
        ]
        let message = CustomMessage(id: MessageID(rawValue: 0), content: "c", sentAt: 0)
        #expect(
            bench.run(
                .api(
                    APIRequestID(1),
                    .sendCustom(ServerBench.app, message, recipients: ["carol", "bob", "bob"], clientMessageID: "x"))
            ) == [
                "store custom m1 [bob, carol]", "reply accepted m1", "s1 ← entry 1 custom m1",
                "store cursor carol/phone decided 1",
            ])
    }

    @Test func `lives as long as the backend said from when it was taken`() throws {
        var bench = ServerBench()
        bench.pass(5_000)
        let message = CustomMessage(id: MessageID(rawValue: 0), content: "c", sentAt: 0, expiresAt: 60_000)
        bench.isStoreHeld = true
        bench.run(
            .api(APIRequestID(1), .sendCustom(ServerBench.app, message, recipients: ["bob"], clientMessageID: "x")))
        let taken = bench.waiting.compactMap { _, command -> CustomMessage? in
            if case .acceptCustom(let operation) = command { operation.message } else { nil }
        }
        #expect(taken.map(\.sentAt) == [bench.now.wall])
        #expect(taken.map(\.expiresAt) == [bench.now.wall + 60_000])
    }

    @Test func `that has expired is a bare place in the log`() {
        var bench = ServerBench()
        bench.connect("bob")
        let end = bench.now.wall + 1_000
        let log = [end - 1, end, end + 1].enumerated().map { index, expiry in
            LogEntry(
                position: LogPosition(index + 1),
                body: .custom(
                    CustomMessage(id: MessageID(rawValue: UInt64(index)), content: "c", sentAt: 1, expiresAt: expiry)))
        }
        bench.pass(1_000)
        bench.entries["bob"] = log
        bench.run(.frame(SessionID(1), .sync(after: 0, limit: 10)))
        let pages = bench.frames.compactMap { frame -> [LogEntry]? in
            if case .page(let page) = frame { page.entries } else { nil }
        }
        #expect(
            pages == [
                [LogEntry(position: 1, body: .unknown), LogEntry(position: 2, body: .unknown), log[2]]
            ])
    }

    @Test func `is refused by field`() {
        var bench = ServerBench()
        func lines(_ message: CustomMessage, _ recipients: [UserID]) -> [String] {
            bench.run(
                .api(
                    APIRequestID(1),
                    .sendCustom(ServerBench.app, message, recipients: recipients, clientMessageID: "x")))
        }
        let good = CustomMessage(id: MessageID(rawValue: 0), content: "c", sentAt: 0)
        var long = good
        long.title = String(repeating: "a", count: 257)
        var empty = good
        empty.content = ""
        var fleeting = good
        fleeting.expiresAt = 0
        #expect(lines(good, []) == ["reply refused invalid_field recipients"])
        #expect(lines(good, (0...1_000).map { UserID("u\($0)") }) == ["reply refused invalid_field recipients"])
        #expect(lines(long, ["bob"]) == ["reply refused invalid_field title"])
        #expect(lines(empty, ["bob"]) == ["reply refused invalid_field content"])
        #expect(lines(fleeting, ["bob"]) == ["reply refused invalid_field lifetime_ms"])
    }
}
