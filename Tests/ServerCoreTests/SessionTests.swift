import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `A hello` {
    func hello(
        versions: ClosedRange<UInt32> = 1...1, device: DeviceID = "phone", platform: String = "ios",
        run: ReportedRunState = .foreground
    ) -> ClientFrame.Hello {
        .init(versions: versions, token: "t", device: device, platform: platform, runState: run, after: 0)
    }

    func answer(_ hello: ClientFrame.Hello, _ verdict: TokenVerdict? = nil) -> [ServerEffect] {
        var core = ServerCore(seed: 1)
        let now = Now(monotonic: 5, wall: 9)
        _ = core.handle(.opened(StoreOpening(epoch: 1, lastMessageID: MessageID(rawValue: 0), pending: [])), at: now)
        let token = CheckedToken(user: ServerBench.key("bob"), expiresAt: 1_000_000, issuedAt: 3)
        let valid = TokenVerdict.valid(token, extensionToken: "x")
        return core.handle(.connected(SessionID(1), hello, verdict ?? valid), at: now)
    }

    func refusal(_ code: ServerFrame.Problem.Code, _ field: String, _ rule: String) -> [ServerEffect] {
        [
            .write(SessionID(1), .problem(.init(code: code, field: field, rule: rule), isFatal: true)),
            .close(SessionID(1)),
        ]
    }

    @Test func `is refused with the rule that it breaks`() {
        #expect(
            self.answer(self.hello(versions: 2...9))
                == self.refusal(.unsupportedVersion, "versions", "must include one of 1 to 1"))
        #expect(
            self.answer(self.hello(), .invalid)
                == self.refusal(.invalidToken, "token", "is not a user token of this server"))
        #expect(
            self.answer(self.hello(), .expired)
                == self.refusal(.expiredToken, "token", "has expired; ask for a new one"))
        #expect(
            self.answer(self.hello(), .wrongApp)
                == self.refusal(.wrongApp, "token", "names an app that does not exist here"))
        #expect(
            self.answer(self.hello(), .notYetValid)
                == self.refusal(.invalidToken, "token", "is not good yet by its nbf or iat: a clock is wrong"))
        #expect(
            self.answer(self.hello(), .wrongAudience)
                == self.refusal(.invalidToken, "token", "is not for this server: its aud must name it"))
        #expect(
            self.answer(self.hello(), .keyPending)
                == self.refusal(
                    .unavailable, "token", "is signed with a key that is being looked for; try again"))
        #expect(
            self.answer(self.hello(device: "")) == self.refusal(.invalidField, "device", "must not be empty"))
        #expect(
            self.answer(self.hello(platform: String(repeating: "x", count: 33)))
                == self.refusal(.invalidField, "platform", "must be at most 32 bytes, got 33"))
        for platform in ["\u{1b}]0;x\u{7}\r\nsigned in", "ios\u{9b}2J", "ios\u{202e}", "iös", "\u{7f}", "i\tos"] {
            #expect(
                self.answer(self.hello(platform: platform))
                    == self.refusal(.invalidField, "platform", "must be printable ASCII"))
        }
        #expect(
            self.answer(self.hello(run: .suspending))
                == self.refusal(.invalidField, "run_state", "must not be suspending in a hello"))
        #expect(
            self.answer(self.hello(run: .background(remainingMilliseconds: -1)))
                == self.refusal(
                    .invalidField, "run_state.remaining_milliseconds", "must be 0 or more, got -1"))
    }

    @Test func `signs the device in and is answered with a welcome`() {
        let key = ServerBench.key("bob")
        #expect(
            self.answer(self.hello()) == [
                .store(StoreRequestID(1), .loadUser(key)),
                .store(StoreRequestID(2), .signIn(ServerBench.device("bob"), platform: "ios", tokenIssuedAt: 3, at: 9)),
            ])
        var bench = ServerBench()
        bench.connect("alice")
        bench.say(to: .direct("alice"))
        let (session, lines) = bench.connect("alice", "tablet", after: 0)
        #expect(lines == ["store sign in alice/tablet", "s2 ← welcome head 1 unread 0"])
        #expect(bench.run(.frame(session, .ping(77))) == ["s2 ← pong 77"])
    }

    @Test func `comes once`() {
        var bench = ServerBench()
        let session = bench.connect("bob").session
        let again = ClientFrame.hello(self.hello())
        #expect(bench.run(.frame(session, again)) == ["s1 ← fatal unexpected_frame", "close s1"])
    }

    @Test func `comes before everything else`() {
        var bench = ServerBench()
        bench.isStoreHeld = true
        let session = bench.connect("bob").session
        #expect(bench.run(.frame(session, .ping(1))) == ["s1 ← fatal unexpected_frame", "close s1"])
        #expect(bench.releaseStore() == [])
    }

    @Test func `of a device that is connected ends the older connection`() {
        var bench = ServerBench()
        let old = bench.connect("bob").session
        let (new, lines) = bench.connect("bob")
        #expect(
            lines == [
                "store sign in bob/phone", "s1 ← fatal superseded", "close s1", "s2 ← welcome head 0 unread 0",
            ])
        #expect(bench.run(.disconnected(old)) == [])
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m1", "s2 ← entry 1 m1"])
        #expect(bench.run(.frame(new, .ack(.init(stored: 1, settled: [])))).ends.count == 1)
    }

    @Test func `of a connection that was lost meanwhile signs in and leaves no session`() {
        var bench = ServerBench()
        bench.isStoreHeld = true
        let session = bench.connect("bob").session
        bench.run(.disconnected(session))
        #expect(bench.releaseStore() == [])
        #expect(bench.say(to: .direct("bob")).ends == ["store end m1 bob/phone no_token"])
    }
}

@Suite struct `A session` {
    @Test func `may not have more sends under way than allowed`() {
        var settings = ServerBench.plain
        settings.sendsInFlightMax = 2
        var bench = ServerBench(settings: settings)
        let alice = bench.connect("alice").session
        bench.isStoreHeld = true
        for _ in 0..<2 { bench.run(.frame(alice, .send(bench.draft("hi", .direct("bob"))))) }
        let third = bench.draft("hi", .direct("bob"))
        #expect(
            bench.run(.frame(alice, .send(third))) == [
                "s1 ← refused c3 unavailable: send must wait: 2 are being stored already"
            ])
        bench.releaseStore()
        #expect(bench.run(.frame(alice, .send(third))).contains("s1 ← accepted c3 m3 at 3"))
    }

    @Test func `is told which field of a message is wrong, by the server or its store`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        var draft = bench.draft("hi", .direct("bob"))
        draft.content = ""
        #expect(
            bench.run(.frame(alice, .send(draft))) == [
                "s1 ← refused c1 invalid_field: content must not be empty"
            ])
        let lines = bench.run(.frame(alice, .send(bench.draft("hi", .group("nowhere")))))
        #expect(lines.count == 2)
        #expect(lines[1].hasPrefix("s1 ← refused c2 unknown_conversation: conversation.target"))
    }

    @Test func `ends when nothing is heard for two heartbeats`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.pass(59_999)
        bench.run(.frame(bob, .ping(1)))
        #expect(bench.pass(59_999).outside == [])
        #expect(bench.pass(1).outside == ["s1 ← fatal timed_out", "close s1"])
    }

    @Test func `ends when it reads too slowly, and its device has grace`() {
        var bench = ServerBench()
        let bob = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"))
        #expect(bench.run(.backlogExceeded(bob)) == ["s1 ← fatal slow_reader", "close s1"])
        #expect(bench.pass(5_000).outside == ["push m1 to bob/phone badge 1@1"])
    }

    @Test func `is not flooded: beyond the window it is left to sync, and reminded when it has caught up`() {
        var settings = ServerBench.plain
        settings.liveWindowMax = 4
        var bench = ServerBench(settings: settings)
        let bob = bench.connect("bob").session
        var lines: [String] = []
        for _ in 0..<6 { lines += bench.say(to: .direct("bob")) }
        #expect(
            lines.filter { $0.hasPrefix("s1") } == [
                "s1 ← entry 1 m1", "s1 ← entry 2 m2", "s1 ← entry 3 m3", "s1 ← entry 4 m4",
            ])
        #expect(bench.run(.frame(bob, .ack(.init(stored: 4, settled: [])))).outside == ["s1 ← entry 6 m6"])
        #expect(
            bench.run(.frame(bob, .sync(after: 4, limit: 10))).outside
                == ["s1 ← page [5 m5, 6 m6] head 6 unsent [5, 6]"])
        #expect(bench.run(.frame(bob, .ack(.init(stored: 6, settled: [])))).ends.count == 2)
    }

    @Test func `may not have more syncs under way than allowed, and gets pages that fit a frame`() {
        var settings = ServerBench.plain
        settings.syncsInFlightMax = 1
        settings.frameBytesMax = 4_000
        var bench = ServerBench(settings: settings)
        let bob = bench.connect("bob").session
        for _ in 0..<5 { bench.say(String(repeating: "x", count: 700), to: .direct("bob")) }
        bench.isStoreHeld = true
        bench.run(.frame(bob, .sync(after: 0, limit: 100)))
        #expect(bench.run(.frame(bob, .sync(after: 0, limit: 100))) == ["s1 ← problem unavailable"])
        #expect(bench.releaseStore() == ["s1 ← page [1 m1, 2 m2] head 5 unsent [1, 2]"])
    }

    @Test func `gets as much history as fits a frame, and is told that there is more`() {
        var settings = ServerBench.plain
        settings.frameBytesMax = 4_000
        var bench = ServerBench(settings: settings)
        let bob = bench.connect("bob").session
        for _ in 0..<5 { bench.say(String(repeating: "x", count: 700), to: .direct("bob")) }
        func ask(_ before: MessageID?) -> String {
            _ = bench.ask(bob, 1, .history(.direct("alice"), before: before, limit: 100))
            guard case .answer(_, .history(let messages, let hasMore))? = bench.frames.last else { return "" }
            return "\(messages.map { bench.messages.firstIndex(of: $0.id) ?? -1 }), more: \(hasMore)"
        }
        #expect(ask(nil) == "[4, 3], more: true")
        #expect(ask(bench.messages[3]) == "[2, 1], more: true")
        #expect(ask(bench.messages[1]) == "[0], more: false")
        bench.say(String(repeating: "x", count: 30_000), to: .direct("bob"))
        #expect(ask(nil) == "[5], more: true", "one that is too large alone is given all the same")
    }

    @Test func `is told what the person reads elsewhere, and what is wrong with a read`() {
        var bench = ServerBench()
        let phone = bench.connect("bob", "phone").session
        bench.connect("bob", "tablet")
        bench.say(to: .direct("bob"))
        #expect(
            bench.run(.frame(phone, .markRead(.direct("alice"), upTo: 1))).outside == [
                "s1 ← entry 2 read PR:alice 1", "s2 ← entry 2 read PR:alice 1",
            ])
        #expect(bench.run(.frame(phone, .markRead(.direct("alice"), upTo: 1))).outside == [])
        #expect(
            bench.run(.frame(phone, .markRead(.direct("carol"), upTo: 1))).outside == ["s1 ← problem invalid_field"])
    }

    @Test func `is told when its push token is no token`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        var registration = ServerBench.registration("bob")
        registration.token = "abc"
        #expect(
            bench.run(.frame(bob, .registerPush(registration))) == [
                "count refused registration", "s1 ← problem invalid_field",
            ])
        registration = ServerBench.registration("bob")
        registration.topic = "no topic"
        #expect(
            bench.run(.frame(bob, .registerPush(registration))) == [
                "count refused registration", "s1 ← problem invalid_field",
            ])
    }
}

@Suite struct `A read that goes by the core` {
    @Test func `ends the sessions of whom it finds set aside, and stops the server where the store has failed`() {
        var bench = ServerBench()
        bench.connect("bob")
        bench.connect("alice")
        let setAside = StoreResult.unreadable(ServerBench.key("bob"), "damaged")
        #expect(bench.run(.storeFault(setAside)).outside == ["s1 ← fatal unavailable", "close s1"])
        #expect(bench.run(.storeFault(.failed("the disk is full"))) == ["stop: the disk is full"])
    }
}

@Suite struct `The API` {
    @Test func `shows live legs in a trace`() throws {
        var bench = ServerBench()
        bench.connect("bob")
        bench.goneDevice("bob", "tablet")
        bench.say(to: .direct("bob"))
        bench.run(.api(APIRequestID(1), .trace(ServerBench.app, bench.messages[0])))
        guard case .trace(let found)? = bench.replies.last else {
            Issue.record("no trace")
            return
        }
        let trace = try #require(found)
        #expect(trace.open.map(\.leg.device) == ["phone", "tablet"])
        #expect(trace.open.map(\.wait) == [.live, .inFlight])
        #expect(trace.open[1].apnsID == bench.pushes[0].request.apnsID)
    }

    @Test func `serves logs and receipts, and refuses a conversation that breaks a rule`() {
        var bench = ServerBench.pushing()
        let device = ServerBench.device("bob")
        func ask(_ question: ExtensionRequest) -> [String] {
            bench.run(.api(APIRequestID(2), .fromExtension(device, tokenIssuedAt: bench.now.wall, question))).outside
        }
        #expect(ask(.missed(after: 0, limit: 20)) == ["reply page of 1"])
        #expect(ask(.receipt(bench.messages[0], .shown)) == ["reply done"])
        let bad = ConversationRecord(app: ServerBench.app, conversation: .direct("x"), name: "", members: [])
        #expect(
            bench.run(.api(APIRequestID(4), .putConversation(bad))).outside == [
                "reply refused invalid_field conversation.type"
            ])
    }

    @Test func `registers the app's object names, and refuses a message of any other by name`() {
        var bench = ServerBench()
        let app = ServerBench.app
        #expect(
            bench.run(.api(APIRequestID(1), .setObjectNames(app, ["my:Card"]))) == [
                "store object names [my:Card]", "reply done",
            ])
        #expect(bench.read(.readObjectNames(app)) == .objectNames(["my:Card"]))
        var draft = bench.draft("hi", .direct("bob"))
        draft.objectName = "my:Crad"
        let alice = bench.connect("alice").session
        let refusal = #"object_name must be built in or registered by the app, got "my:Crad""#
        #expect(
            bench.run(.frame(alice, .send(draft))).outside.map { $0.hasSuffix(refusal) } == [true])
        #expect(
            bench.run(.api(APIRequestID(3), .send(ServerBench.key("alice"), draft))).outside == [
                "reply refused unknown_object_name object_name"
            ])
        draft.objectName = "my:Card"
        #expect(bench.run(.frame(alice, .send(draft))).outside.first == "s1 ← accepted c1 m3 at 1")
    }

    @Test func `keeps a device's word that a notification was opened, the first time only`() throws {
        var bench = ServerBench.pushing()
        let message = bench.messages[0]
        bench.run(
            .api(
                APIRequestID(2),
                .fromExtension(
                    ServerBench.device("bob"), tokenIssuedAt: bench.now.wall, .receipt(message, .shown))))
        bench.pass(1_000)
        let session = bench.connect("bob").session
        let opened = bench.now.wall
        #expect(bench.run(.frame(session, .opened(message))) == ["store receipt m1 bob/phone opened"])
        bench.pass(1_000)
        bench.run(.frame(session, .opened(message)))
        bench.run(.api(APIRequestID(3), .trace(ServerBench.app, message)))
        guard case .trace(let found)? = bench.replies.last else {
            Issue.record("no trace")
            return
        }
        let receipts = try #require(found).receipts
        #expect(receipts.map(\.receipt) == [.opened, .shown])
        #expect(receipts.map(\.at) == [opened, opened - 1_000])
    }

    @Test func `serves a service extension as long as its device is signed in and its token is one of the last`() {
        var settings = ServerBench.plain
        settings.extensionTokenOverlap = 1_000
        var bench = ServerBench.gone(settings)
        let device = ServerBench.device("bob")
        func ask(issuedAt: Int64) -> [String] {
            let question = ExtensionRequest.missed(after: 0, limit: 20)
            return bench.run(.api(APIRequestID(2), .fromExtension(device, tokenIssuedAt: issuedAt, question))).outside
        }
        let first = bench.now.wall
        #expect(ask(issuedAt: first) == ["reply page of 0"])
        #expect(ask(issuedAt: first - 100_000) == ["reply refused invalid_token token"])
        bench.run(.api(APIRequestID(3), .signOut(device)))
        #expect(ask(issuedAt: bench.now.wall) == ["reply refused invalid_token token"])
    }

    @Test func `is told to try later before the store is open and after it has failed`() {
        var bench = ServerBench(isOpen: false)
        #expect(bench.say(to: .direct("bob")) == ["reply refused unavailable "])
        bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.isStoreHeld = true
        bench.run(.frame(alice, .send(bench.draft("hi", .direct("bob")))))
        bench.say(to: .direct("bob"))
        let failed = ServerEvent.stored(bench.waiting[0].id, .failed("disk full"))
        #expect(
            bench.run(failed) == [
                "s1 ← refused c1 unavailable: the server takes no work at the moment; try again later",
                "reply refused unavailable ", "stop: disk full",
            ])
        #expect(bench.say(to: .direct("bob")) == ["reply refused unavailable "])
    }
}

@Suite struct `A person who is idle` {
    @Test func `is forgotten after a minute and loaded again when needed`() {
        var bench = ServerBench.gone()
        bench.pass(60_000)
        #expect(bench.core.nextDeadline == nil)
        #expect(
            bench.say(to: .direct("bob")).filter { $0.hasPrefix("store load") } == [
                "store load alice", "store load bob",
            ])
        bench.acceptPush()
        bench.pass(61_000)
        #expect(bench.core.load(at: bench.now).people == 0)
        // The lane is remembered longer.
        bench.pass(539_000)
        #expect(bench.core.nextDeadline == nil)
    }
}
