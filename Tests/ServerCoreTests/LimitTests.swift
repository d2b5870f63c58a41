import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `Somebody who sends too much` {
    static let toBob = ConversationID(type: .direct, target: "bob")

    /// No limits but these.
    static func settings(_ limits: [(RateScope, RateKind, Int, Int)]) -> ServerSettings {
        var settings = ServerBench.plain
        settings.limits = .none
        for (scope, kind, rate, burst) in limits {
            settings.limits[scope, kind] = RateLimit(perSecond: rate, burst: burst)
        }
        return settings
    }

    static func refusal(_ field: String, _ kind: RateKind, of scope: RateScope, after wait: UInt32)
        -> ServerFrame.Problem
    {
        ServerFrame.Problem(
            code: .rateLimited, field: field,
            rule: "must wait: the limit of \(kind.rawValue) by \(scope.rawValue) is reached",
            retryAfterMilliseconds: wait)
    }

    @Test func `is told for each message when to send it again, and then it is accepted`() {
        var bench = ServerBench(settings: Self.settings([(.connection, .messages, 2, 2)]))
        let alice = bench.connect("alice").session
        for _ in 0..<2 { bench.run(.frame(alice, .send(bench.draft("hi", Self.toBob)))) }
        let draft = bench.draft("more", Self.toBob)
        #expect(
            bench.core.handle(.frame(alice, .send(draft)), at: bench.now) == [
                .countRefusal(.connection, .messages),
                .write(
                    alice,
                    .sendRefused(draft.clientMessageID, Self.refusal("send", .messages, of: .connection, after: 500))),
            ])
        bench.pass(500)
        #expect(bench.run(.frame(alice, .send(draft))).first == "store accept m3")
    }

    @Test func `is counted on all of their connections, and nobody else is`() {
        var bench = ServerBench(settings: Self.settings([(.person, .messages, 1, 2)]))
        let phone = bench.connect("alice", "phone").session
        let tablet = bench.connect("alice", "tablet").session
        let bob = bench.connect("bob").session
        bench.run(.frame(phone, .send(bench.draft("hi", Self.toBob))))
        bench.run(.frame(tablet, .send(bench.draft("hi", Self.toBob))))
        #expect(bench.run(.frame(phone, .send(bench.draft("hi", Self.toBob)))).first == "refuse messages of person")
        #expect(bench.run(.frame(tablet, .send(bench.draft("hi", Self.toBob)))).first == "refuse messages of person")
        #expect(bench.run(.frame(bob, .send(bench.draft("hi", .direct("alice"))))).first == "store accept m3")
    }

    @Test func `costs their app what is left, but no other app`() {
        var bench = ServerBench(settings: Self.settings([(.app, .messages, 1, 1)]))
        let alice = bench.connect("alice").session
        bench.run(.frame(alice, .send(bench.draft("hi", Self.toBob))))
        #expect(bench.run(.frame(alice, .send(bench.draft("hi", Self.toBob)))).first == "refuse messages of app")
        // The backend of the app counts with it, and is told when to come back.
        #expect(bench.say(to: Self.toBob) == ["refuse messages of app", "reply refused rate_limited send"])
        let other = bench.run(
            .api(APIRequestID(1), .send(UserKey(app: "club", user: "eve"), bench.draft("hi", Self.toBob))))
        #expect(other.first == "store accept m2")
    }

    @Test func `is refused by what the frames weigh, and a small one counts as more than it is`() {
        var bench = ServerBench(settings: Self.settings([(.connection, .bytes, 1_000, 3_000)]))
        let alice = bench.connect("alice").session
        #expect(bench.run(.frame(alice, .send(bench.draft("hi", Self.toBob)), bytes: 2_900)).first == "store accept m1")
        #expect(
            bench.run(.frame(alice, .sync(after: 0, limit: 1), bytes: 3)) == [
                "refuse bytes of connection", "s1 ← problem rate_limited",
            ])
        #expect(bench.frames.last == .problem(Self.refusal("sync", .bytes, of: .connection, after: 28), isFatal: false))
        bench.pass(28)
        #expect(bench.run(.frame(alice, .sync(after: 0, limit: 1), bytes: 3)).first == "store log alice after 0, 1")
    }

    @Test func `gets a typed answer to requests and registrations, and a problem where there is no answer`() {
        var bench = ServerBench(settings: Self.settings([(.connection, .requests, 1, 1)]))
        let alice = bench.connect("alice").session
        bench.ask(alice, 1, .settings)
        let problem = Self.refusal("request", .requests, of: .connection, after: 1_000)
        #expect(bench.ask(alice, 2, .settings).first == "refuse requests of connection")
        #expect(bench.frames.last == .answer(2, .refused(problem)))
        let registration = ServerBench.registration("alice")
        bench.run(.frame(alice, .registerPush(registration, number: 3)))
        #expect(
            bench.frames.last
                == .answer(3, .refused(Self.refusal("push_registration", .requests, of: .connection, after: 1_000))))
        #expect(
            bench.run(.frame(alice, .registerPush(registration))) == [
                "refuse requests of connection", "s1 ← problem rate_limited",
            ])
        #expect(
            bench.run(.frame(alice, .markRead(Self.toBob, upTo: 1))) == [
                "refuse requests of connection", "s1 ← problem rate_limited",
            ])
    }

    @Test func `is told once a second that signals are dropped`() {
        var bench = ServerBench(settings: Self.settings([(.connection, .signals, 1, 1)]))
        let alice = bench.connect("alice").session
        bench.connect("bob")
        let typing = ServerEvent.frame(alice, .typing(Self.toBob, isTyping: true))
        #expect(bench.run(typing) == ["s2 ← signal typing(PR:alice, alice, isTyping: true)"])
        #expect(bench.run(typing) == ["refuse signals of connection", "s1 ← problem rate_limited"])
        for _ in 0..<9 { #expect(bench.run(typing) == ["refuse signals of connection"]) }
        bench.pass(900)
        #expect(bench.run(typing) == ["refuse signals of connection"])
        bench.pass(200)
        #expect(bench.run(typing) == ["s2 ← signal typing(PR:alice, alice, isTyping: true)"])
        #expect(bench.run(typing) == ["refuse signals of connection", "s1 ← problem rate_limited"])
    }

    @Test func `is hung up on when they go on all the same`() {
        var bench = ServerBench(
            settings: Self.settings([(.connection, .messages, 1, 1), (.connection, .refusals, 1, 3)]))
        let alice = bench.connect("alice").session
        bench.run(.frame(alice, .send(bench.draft("hi", Self.toBob))))
        for _ in 0..<3 { #expect(bench.run(.frame(alice, .send(bench.draft("hi", Self.toBob)))).count == 2) }
        #expect(
            bench.run(.frame(alice, .send(bench.draft("hi", Self.toBob)))).outside == [
                "refuse messages of connection", "refuse refusals of connection", "s1 ← fatal rate_limited", "close s1",
            ])
        #expect(bench.run(.frame(alice, .send(bench.draft("hi", Self.toBob)))) == [])
    }

    @Test func `is always believed where the app is and what it holds`() {
        var bench = ServerBench(
            settings: Self.settings([(.connection, .bytes, 1, 1), (.connection, .signals, 1, 1)]))
        let bob = bench.connect("bob").session
        bench.say(to: .direct("bob"))
        #expect(
            bench.run(.frame(bob, .ack(.init(stored: 1, settled: [])), bytes: 900)).ends == [
                "store end m1 bob/phone settled shown"
            ])
        bench.say(to: .direct("bob"))
        let lines = bench.run(.frame(bob, .ack(.init(stored: 2, settled: [])), bytes: 900))
        #expect(lines.first == "refuse bytes of connection")
        #expect(lines.ends == ["store end m2 bob/phone settled shown"])
        #expect(bench.run(.frame(bob, .ping(7), bytes: 900)) == ["refuse bytes of connection", "s1 ← pong 7"])
        bench.run(.frame(bob, .runState(.suspending), bytes: 900))
        #expect(bench.core.load(at: bench.now).sessions == 1)
        bench.say(to: .direct("bob"))
        #expect(!bench.frames.contains { if case .entry(let entry) = $0 { entry.position == 3 } else { false } })
    }

    @Test func `is remembered until nothing is owed any more, also when they are gone`() {
        var bench = ServerBench(settings: Self.settings([(.person, .messages, 1, 600)]))
        let alice = bench.connect("alice").session
        for _ in 0..<600 { _ = bench.core.handle(.frame(alice, .ping(1)), at: bench.now) }
        for _ in 0..<600 { bench.run(.frame(alice, .send(bench.draft("hi", .direct("alice"))))) }
        bench.run(.frame(alice, .ack(.init(stored: 600, settled: [.init(upTo: 600, disposition: .shown)]))))
        bench.run(.frame(alice, .runState(.suspending)))
        bench.run(.disconnected(alice))
        bench.pass(400_000)
        #expect(bench.core.load(at: bench.now).people == 1)
        let again = bench.connect("alice").session
        // Four hundred seconds have brought four hundred messages, and not the whole burst.
        for _ in 0..<400 {
            #expect(
                bench.run(.frame(again, .send(bench.draft("hi", .direct("alice"))))).first?.hasPrefix("store accept")
                    == true)
        }
        #expect(
            bench.run(.frame(again, .send(bench.draft("hi", .direct("alice"))))).first == "refuse messages of person")
    }
}

@Suite struct `A message or a change in a large group` {
    private static let crowd = ConversationID(type: .group, target: "crowd")

    private static func changed(_ count: Int, _ name: String) -> StoreResult {
        let change = ConversationChange(
            conversation: Self.crowd, version: 2, action: .rename(name), by: "mallory", at: 1)
        return .changed([
            MadeChange(change, (0..<count).map { Delivery(user: UserID("u\($0)"), position: 1, unread: 0) })
        ])
    }

    @Test func `costs what it touches: renames of a group of 3,000 end, and other people go on`() {
        var bench = ServerBench()
        let mallory = bench.connect("mallory").session
        let alice = bench.connect("alice").session
        var refused = 0
        for number in 1...200 {
            bench.script = [Self.changed(3_000, "n\(number)")]
            let lines = bench.ask(mallory, RequestNumber(number), .change(Self.crowd, .rename("n\(number)")))
            if lines.first == "refuse deliveries of person" { refused += 1 }
            #expect(
                bench.run(.frame(alice, .send(bench.draft("hi", .direct("bob"))))).first?.hasPrefix("store accept")
                    == true)
        }
        // Ten at once, and the one that makes the debt.
        #expect(refused == 190)
        // What is owed comes back at a thousand entries a second.
        bench.pass(3_000)
        bench.script = [Self.changed(3_000, "again")]
        #expect(bench.ask(mallory, 201, .change(Self.crowd, .rename("again"))).first?.hasPrefix("store rename") == true)
    }

    @Test func `in a room counts a tenth of those who hear it`() {
        var settings = Unlimited.settings
        settings.limits[.person, .deliveries] = RateLimit(perSecond: 1, burst: 6)
        var bench = ServerBench(settings: settings)
        bench.run(
            .api(
                APIRequestID(1),
                .putConversation(
                    ConversationRecord(app: ServerBench.app, conversation: .room("lobby"), name: "L", members: []))))
        let alice = bench.connect("alice").session
        bench.script = [.history([], hasMore: false)]
        bench.ask(alice, 1, .enterRoom(.room("lobby"), history: 0))
        for number in 0..<30 {
            let session = bench.connect(UserID("u\(number)")).session
            bench.script = [.history([], hasMore: false)]
            bench.ask(session, 1, .enterRoom(.room("lobby"), history: 0))
        }
        for _ in 0..<2 {
            #expect(
                bench.run(.frame(alice, .send(bench.draft("hi", .room("lobby"))))).filter { $0.contains("signal") }
                    .count == 30)
        }
        #expect(
            bench.run(.frame(alice, .send(bench.draft("hi", .room("lobby"))))).first == "refuse deliveries of person")
    }
}

/// A bench without any limit.
enum Unlimited {
    static let settings: ServerSettings = {
        var settings = ServerBench.plain
        settings.limits = .none
        return settings
    }()
}

@Suite struct `Who types` {
    @Test func `is told of once a second in a conversation, and once when they stop`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.connect("bob")
        bench.connect("carol")
        func types(_ peer: String, _ isTyping: Bool) -> Int {
            bench.run(.frame(alice, .typing(.direct(peer), isTyping: isTyping))).count
        }
        #expect(types("bob", true) == 1)
        #expect((0..<50).map { _ in types("bob", true) }.reduce(0, +) == 0)
        #expect(types("carol", true) == 1)
        #expect(types("bob", false) == 1)
        #expect(types("bob", false) == 0)
        #expect(types("bob", true) == 0)
        bench.pass(1_000)
        #expect(types("bob", true) == 1)
        #expect(types("bob", false) == 1)
    }

    @Test func `in more places than a hand can is forgotten in the oldest`() {
        var settings = Unlimited.settings
        settings.typingInterval = 600_000
        var bench = ServerBench(settings: settings)
        let alice = bench.connect("alice").session
        bench.connect("u0")
        #expect(bench.run(.frame(alice, .typing(.direct("u0"), isTyping: true))).count == 1)
        for number in 1..<64 { bench.run(.frame(alice, .typing(.direct("u\(number)"), isTyping: true))) }
        #expect(bench.run(.frame(alice, .typing(.direct("u0"), isTyping: true))).count == 0)
        bench.run(.frame(alice, .typing(.direct("u64"), isTyping: true)))
        #expect(bench.run(.frame(alice, .typing(.direct("u0"), isTyping: true))).count == 1)
    }
}

@Suite struct `When the disk is slow` {
    @Test func `one person's commands are refused before others notice`() {
        var settings = Unlimited.settings
        settings.personBacklogMax = 3
        var bench = ServerBench(settings: settings)
        let mallory = bench.connect("mallory").session
        let tablet = bench.connect("mallory", "tablet").session
        let alice = bench.connect("alice").session
        bench.isStoreHeld = true
        for _ in 0..<2 { bench.run(.frame(mallory, .send(bench.draft("hi", .direct("bob"))))) }
        bench.run(.frame(tablet, .request(1, .settings)))
        let lines = bench.run(.frame(tablet, .send(bench.draft("hi", .direct("bob")))))
        #expect(lines.first == "refuse backlog of person")
        #expect(lines.last?.contains("unavailable") == true)
        #expect(bench.ask(mallory, 2, .settings).first == "refuse backlog of person")
        #expect(
            bench.run(.frame(mallory, .markRead(.direct("bob"), upTo: 1))) == [
                "refuse backlog of person", "s1 ← problem unavailable",
            ])
        #expect(
            bench.run(.frame(mallory, .sync(after: 0, limit: 9))) == [
                "refuse backlog of person", "s1 ← problem unavailable",
            ])
        #expect(bench.run(.frame(alice, .send(bench.draft("hi", .direct("bob"))))) == ["store accept m3"])
        bench.releaseStore()
        #expect(bench.run(.frame(mallory, .send(bench.draft("hi", .direct("bob"))))).first == "store accept m4")
        #expect(bench.core.load(at: bench.now).askers == 1)  // the app; nobody has anything waiting
    }

    @Test func `one person's readings are few at a time, whatever the connection; other commands go on`() {
        var settings = Unlimited.settings
        settings.personReadsMax = 2
        var bench = ServerBench(settings: settings)
        let mallory = bench.connect("mallory").session
        let tablet = bench.connect("mallory", "tablet").session
        let alice = bench.connect("alice").session
        bench.isStoreHeld = true
        bench.run(.frame(mallory, .sync(after: 0, limit: 9)))
        _ = bench.ask(tablet, 1, .history(.direct("bob"), before: nil, limit: 9))
        #expect(
            bench.run(.frame(mallory, .sync(after: 0, limit: 9))) == [
                "refuse backlog of person", "s1 ← problem unavailable",
            ])
        #expect(
            bench.ask(tablet, 2, .receipts(MessageID(rawValue: 9))) == [
                "refuse backlog of person",
                "s2 ← answer 2 refused(unavailable: must wait: 2 readings of the person are being carried out already)",
            ])
        #expect(bench.ask(tablet, 3, .following).first == "refuse backlog of person")
        #expect(bench.run(.frame(mallory, .send(bench.draft("hi", .direct("bob"))))) == ["store accept m1"])
        #expect(bench.run(.frame(alice, .sync(after: 0, limit: 9))).count == 1)
        bench.releaseStore()
        #expect(bench.run(.frame(mallory, .sync(after: 0, limit: 9))).first?.hasPrefix("refuse") == false)
    }

    @Test func `one app's commands are refused before other apps notice`() {
        var settings = Unlimited.settings
        settings.appBacklogMax = 2
        var bench = ServerBench(settings: settings)
        bench.isStoreHeld = true
        for _ in 0..<2 { bench.say(to: .direct("bob")) }
        #expect(bench.say(to: .direct("bob")) == ["refuse backlog of app", "reply refused unavailable "])
        let other = bench.run(
            .api(APIRequestID(1), .send(UserKey(app: "club", user: "eve"), bench.draft("hi", .direct("bob")))))
        #expect(other == ["store accept m3"])
        bench.releaseStore()
        #expect(bench.say(to: .direct("bob")).first == "store accept m4")
    }

    @Test func `opened notifications wait as long as an app tells at once, and are dropped beyond`() {
        var settings = Unlimited.settings
        settings.openedInFlightMax = 3
        var bench = ServerBench(settings: settings)
        let alice = bench.connect("alice").session
        bench.isStoreHeld = true
        let opened = ServerEvent.frame(alice, .opened(MessageID(rawValue: 9)))
        for _ in 0..<3 { #expect(bench.run(opened) == ["store receipt m0 alice/phone opened"]) }
        #expect(bench.run(opened) == ["s1 ← problem unavailable"])
        #expect(bench.run(opened) == [])
        #expect(bench.core.load(at: bench.now).storeBacklog == 3)
        bench.releaseStore()
        #expect(bench.run(opened) == ["store receipt m0 alice/phone opened"])
    }
}
