import APNsModel
import ServerCore
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `The devices of a person` {
    static func bench(_ policy: DevicePolicy) -> ServerBench {
        var settings = ServerBench.plain
        settings.devicePolicy = policy
        return ServerBench(settings: settings)
    }

    @Test func `are all signed in by default`() {
        var bench = Self.bench(.all)
        bench.connect("bob")
        #expect(bench.connect("bob", "tablet").lines.outside == ["s2 ← welcome head 0 unread 0"])
    }

    @Test func `give their place to the newest, and are told why`() {
        var bench = Self.bench(.newestOnly)
        bench.connect("bob")
        bench.goneDevice("bob", "watch")
        bench.say(to: .direct("bob"))
        #expect(
            bench.connect("bob", "tablet").lines
                == [
                    "store sign in bob/tablet", "s3 ← welcome head 1 unread 1", "store sign out bob/watch",
                    "store sign out bob/phone", "count signed_out",
                ].filter { !$0.contains("phone") })
    }

    @Test func `give their place to one of the same platform only`() {
        var bench = Self.bench(.onePerPlatform)
        bench.connect("bob", "phone", platform: "ios")
        bench.connect("bob", "desk", platform: "linux")
        #expect(
            bench.connect("bob", "new", platform: "ios").lines == [
                "store sign in bob/new", "s3 ← welcome head 0 unread 0", "s1 ← fatal kicked", "close s1",
                "store sign out bob/phone",
            ])
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m1", "s2 ← entry 1 m1", "s3 ← entry 1 m1"])
    }

    @Test func `lose a token that another person's sign-in takes over`() {
        var bench = ServerBench.pushing()
        bench.answerPush(.refused(APNsRefusal(.tooManyRequests, status: 429)))
        let carol = bench.connect("carol").session
        bench.script = [.taken([ServerBench.device("bob")])]
        #expect(
            bench.run(.frame(carol, .registerPush(ServerBench.registration("bob")))) == [
                "store token of carol/phone is registered", "store end m1 bob/phone no_token",
            ])
        #expect(bench.say(to: .direct("bob")).ends.last == "store end m2 bob/phone no_token")
    }

    @Test func `do not get a token back because their person was being read when it was taken over`() {
        var settings = ServerBench.plain
        settings.recoveryLoadsMax = 1
        var bench = ServerBench(settings: settings)
        for user: UserID in ["anna", "bob"] {
            bench.goneDevice(user)
            bench.say(to: .direct(user.rawValue))
        }
        // A start that takes up one person at a time: anna, and then bob, whose record is read, then carol has his token, then his log is
        // read.
        bench.isStoreHeld = true
        bench.crash(settings: settings)
        let carol = bench.connect("carol").session
        while !bench.waiting.contains(where: { $0.command == .loadUser(ServerBench.key("bob")) }) { bench.answerNext() }
        while bench.waiting.first?.command != .loadUser(ServerBench.key("bob")) { bench.answerNext() }
        bench.run(.frame(carol, .registerPush(ServerBench.registration("bob"))))
        #expect(bench.releaseStore().ends == ["store end m2 bob/phone no_token"])
        #expect(bench.say(to: .direct("bob")).ends == ["store end m3 bob/phone no_token"])
    }

    @Test func `do not get a token back because APNs takes the last push to it`() throws {
        var bench = ServerBench.pushing()
        let carol = bench.connect("carol").session
        // The store is slow: APNs answers before the registration is stored.
        bench.isStoreHeld = true
        bench.run(.frame(carol, .registerPush(ServerBench.registration("bob"))))
        bench.acceptPush()
        bench.releaseStore()
        for (user, expected) in [("bob", nil), ("carol", ServerBench.registration("bob"))]
            as [(UserID, PushRegistration?)]
        {
            let result = try bench.store.apply(.loadUser(ServerBench.key(user)), epoch: bench.opening.epoch)
            guard case .user(let record) = result else {
                Issue.record("\(result)")
                return
            }
            #expect(record.devices.map(\.push.registration) == [expected])
        }
    }
}

@Suite struct `A badge that fell` {
    /// Bob's phone shows 2; he has a tablet in the background.
    static func bench(_ perHour: Int = 3) -> (bench: ServerBench, tablet: SessionID) {
        var settings = ServerBench.plain
        settings.badgePushesPerHour = perHour
        var bench = ServerBench.gone(settings)
        for sender in ["alice", "carol"] as [UserID] {
            bench.say(from: sender, to: .direct("bob"))
            bench.acceptPush()
        }
        let tablet = bench.connect("bob", "tablet", .background(remainingMilliseconds: 100_000)).session
        return (bench, tablet)
    }

    @Test func `is told to the phone by one silent push for several reads`() throws {
        var (bench, tablet) = Self.bench()
        #expect(bench.run(.frame(tablet, .markRead(.direct("alice"), upTo: 2))).filter { $0.hasPrefix("push") } == [])
        bench.pass(5_000)
        bench.run(.frame(tablet, .markRead(.direct("carol"), upTo: 3)))
        #expect(bench.pass(4_999).outside == [])
        bench.pass(1)
        #expect(bench.pushes.count == 1)
        let request = try #require(bench.pushes.last).request
        #expect(request.pushType == .background)
        // An alert that APNs keeps for a phone that is off must not give way to a number.
        #expect(request.expiration == 0)
        #expect(request.priority == .powerAware)
        #expect(bench.payload?["aps"] == ["content-available": 1])
        #expect(bench.payload?["tidings"]?["badge"]?.intValue == 0)
        #expect(bench.payload?["tidings"]?["bseq"]?.intValue == 4)
        bench.acceptPush()
        #expect(bench.pass(3_600_000).filter { $0.hasPrefix("push") } == [])
    }

    @Test func `is not told when an alert is sent meanwhile, which carries the number`() {
        var (bench, tablet) = Self.bench()
        bench.run(.frame(tablet, .markRead(.direct("alice"), upTo: 2)))
        bench.say(to: .direct("bob"))
        bench.acceptPush()
        #expect(bench.pass(60_000).filter { $0.hasPrefix("push") } == [])
    }

    @Test func `is not told to a phone whose app has come back`() {
        var (bench, tablet) = Self.bench()
        bench.run(.frame(tablet, .markRead(.direct("alice"), upTo: 2)))
        bench.connect("bob", "phone", .foreground, after: 2)
        #expect(bench.pass(20_000).filter { $0.hasPrefix("push") } == [])
    }

    @Test func `is told three times an hour at most, and the last one is right`() {
        var (bench, tablet) = Self.bench(1)
        bench.run(.frame(tablet, .markRead(.direct("alice"), upTo: 2)))
        bench.pass(10_000)
        bench.acceptPush()
        bench.run(.frame(tablet, .markRead(.direct("carol"), upTo: 3)))
        bench.pass(3_500_000)
        #expect(bench.pushes.isEmpty)
        bench.pass(100_000)
        #expect(bench.payload?["tidings"]?["badge"]?.intValue == 0)
    }

    @Test func `is not told in the first hour of a process to a phone that has not connected since it began`() {
        var settings = ServerBench.plain
        settings.badgePushesPerHour = 3
        var (bench, _) = Self.bench()
        bench.pass(1_000)
        // Crashes do not multiply the hour's pushes: each begins the hour anew.
        for (conversation, position) in [("alice", 2), ("carol", 3)] as [(String, LogPosition)] {
            bench.crash(settings: settings)
            let tablet = bench.connect("bob", "tablet", .background(remainingMilliseconds: 100_000)).session
            bench.run(.frame(tablet, .markRead(.direct(conversation), upTo: position)))
            bench.pass(1_800_000)
            #expect(bench.pushes.isEmpty)
        }
        bench.pass(1_800_000)
        #expect(bench.pushes.count == 1)
        #expect(bench.payload?["tidings"]?["badge"]?.intValue == 0)
    }

    @Test func `is told after a start to a phone that has connected since`() {
        var settings = ServerBench.plain
        settings.badgePushesPerHour = 3
        var (bench, _) = Self.bench()
        bench.pass(1_000)
        bench.crash(settings: settings)
        let phone = bench.connect("bob", "phone", .foreground, after: 2).session
        bench.run(.frame(phone, .runState(.suspending)))
        bench.run(.disconnected(phone))
        let tablet = bench.connect("bob", "tablet", .background(remainingMilliseconds: 100_000)).session
        bench.run(.frame(tablet, .markRead(.direct("alice"), upTo: 2)))
        bench.pass(20_000)
        #expect(bench.pushes.count == 1)
    }

    @Test func `is not told if the operator wants no such pushes`() {
        var (bench, tablet) = Self.bench(0)
        bench.run(.frame(tablet, .markRead(.direct("alice"), upTo: 2)))
        bench.pass(3_600_000)
        #expect(bench.pushes.isEmpty)
    }

    @Test func `is told again later when APNs does not take it`() {
        var (bench, tablet) = Self.bench()
        bench.run(.frame(tablet, .markRead(.direct("alice"), upTo: 2)))
        bench.pass(10_000)
        bench.answerPush(.notSent("no connection"))
        bench.pass(30_000)
        #expect(bench.pushes.count == 1)
    }
}

@Suite struct `A chat room` {
    static let room = ConversationID.room("lobby")

    static func bench() -> (bench: ServerBench, alice: SessionID, bob: SessionID) {
        var bench = ServerBench()
        bench.run(
            .api(
                APIRequestID(0),
                .putConversation(.init(app: ServerBench.app, conversation: Self.room, name: "Lobby", members: []))))
        let alice = bench.connect("alice").session
        let bob = bench.connect("bob").session
        return (bench, alice, bob)
    }

    static func enter(_ bench: inout ServerBench, _ session: SessionID, _ room: ConversationID = Self.room) -> [String]
    {
        bench.script = [.history([], hasMore: false)]
        return bench.ask(session, 1, .enterRoom(room, history: 0))
    }

    @Test func `is not entered when its history cannot be read`() {
        var (bench, alice, _) = Self.bench()
        bench.script = [.unreadable(nil, "damaged")]
        bench.ask(alice, 1, .enterRoom(Self.room, history: 0))
        bench.isStoreHeld = true
        bench.run(.frame(alice, .send(bench.draft("hi", Self.room))))
        let isInside = bench.waiting.compactMap { waiting -> Bool? in
            if case .accept(_, _, let room, _, _, _) = waiting.command { room.isInside } else { nil }
        }
        #expect(isInside == [false])
    }

    @Test func `is heard from when its history was answered until it is left`() {
        var (bench, alice, bob) = Self.bench()
        #expect(
            Self.enter(&bench, bob) == ["store history bob CHRM:lobby 1", "s2 ← answer 1 history([], hasMore: false)"])
        _ = Self.enter(&bench, alice)
        bench.frames = []
        bench.run(.frame(alice, .send(bench.draft("hi", Self.room))))
        guard case .signal(.room(let message))? = bench.frames.last else {
            Issue.record("nothing was heard: \(bench.frames)")
            return
        }
        #expect(message.id == bench.messages[0])
        #expect(bench.ask(bob, 2, .exitRoom(Self.room)) == ["s2 ← answer 2 done(0)"])
        bench.frames = []
        bench.run(.frame(alice, .send(bench.draft("ho", Self.room))))
        #expect(bench.frames.count == 1)  // alice's own answer
    }

    @Test func `hands over its newest messages, so many and no older ones`() {
        var settings = ServerBench.plain
        settings.roomHistoryMax = 3
        settings.roomHistoryAge = 60_000
        var bench = ServerBench(settings: settings)
        let alice = bench.connect("alice").session
        func message(_ number: UInt64, age: Int64) -> Message {
            Message(
                id: MessageID(rawValue: number), app: ServerBench.app, sender: "bob", conversation: Self.room,
                clientMessageID: ClientMessageID("c\(number)"), objectName: .text, content: "{}", flags: .normal,
                pushText: nil, sentAt: bench.now.wall - age)
        }
        let messages = [message(5, age: 1), message(4, age: 59_999), message(3, age: 60_000)]
        bench.script = [.history(messages, hasMore: true)]
        #expect(bench.ask(alice, 1, .enterRoom(Self.room, history: 20)).first == "store history alice CHRM:lobby 3")
        // What is older is as good as gone: there is no more to ask for.
        #expect(bench.frames.last == .answer(1, .history(Array(messages.prefix(2)), hasMore: false)))
        bench.script = [.history(Array(messages.prefix(2)), hasMore: true)]
        bench.ask(alice, 2, .enterRoom(Self.room, history: 1))
        #expect(bench.frames.last == .answer(2, .history([messages[0]], hasMore: true)))
        // A page of the history is no way around it; of a group it is whole.
        bench.script = [.history(messages, hasMore: true)]
        bench.ask(alice, 3, .history(Self.room, before: nil, limit: 20))
        #expect(bench.frames.last == .answer(3, .history(Array(messages.prefix(2)), hasMore: false)))
        let old = messages.map { old in
            var old = old
            old.conversation = .group("team")
            return old
        }
        bench.script = [.history(old, hasMore: true)]
        bench.ask(alice, 4, .history(.group("team"), before: nil, limit: 20))
        #expect(bench.frames.last == .answer(4, .history(old, hasMore: true)))
    }

    @Test func `is not told to the connection a message comes from, nor to one that is gone`() {
        var (bench, alice, bob) = Self.bench()
        _ = Self.enter(&bench, alice)
        _ = Self.enter(&bench, bob)
        bench.run(.disconnected(bob))
        bench.frames = []
        bench.run(.frame(alice, .send(bench.draft("hi", Self.room))))
        #expect(bench.frames.count == 1)
    }

    @Test func `is one of five that a connection hears`() {
        var (bench, alice, _) = Self.bench()
        for number in 1...5 { _ = Self.enter(&bench, alice, .room("r\(number)")) }
        #expect(Self.enter(&bench, alice, .room("r6")).first?.hasPrefix("s1 ← answer 1 refused(not_allowed") == true)
        bench.ask(alice, 2, .exitRoom(.room("r1")))
        #expect(Self.enter(&bench, alice, .room("r6")).count == 2)
    }

    @Test func `is a chat room and nothing else, and is heard on a connection`() {
        var (bench, alice, _) = Self.bench()
        #expect(
            bench.ask(alice, 1, .enterRoom(.group("team"), history: 1)).first?.contains("conversation.type") == true)
        let lines = bench.run(
            .api(APIRequestID(1), .request(ServerBench.app, actor: "alice", .enterRoom(Self.room, history: 1))))
        #expect(lines.first?.hasPrefix("reply answer refused(not_allowed") == true)
    }
}
