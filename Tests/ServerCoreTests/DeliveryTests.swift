import APNsModel
import Requirements
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `A message to a phone in the foreground` {
    @Test func `is acked after the store has it, written to the phone, and ends when the phone has stored it`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        let bob = bench.connect("bob").session
        let draft = bench.draft("hi", .direct("bob"))
        bench.isStoreHeld = true
        #expect(bench.run(.frame(alice, .send(draft))) == ["store accept m1"])
        #expect(
            bench.releaseStore() == [
                "s1 ← accepted c1 m1 at 1", "store end m1 alice/phone own_device", "s2 ← entry 1 m1",
            ])
        #expect(
            bench.run(.frame(bob, .ack(.init(stored: 1, settled: [])))) == [
                "store end m1 bob/phone settled shown", "store cursor bob/phone settled 1",
            ])
        #expect(bench.pass(60_000).filter { $0.hasPrefix("push") } == [])
    }

    @Test func `says how it was settled when the phone says so`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        for _ in 0..<3 { bench.say(to: .direct("bob")) }
        let ack = ClientFrame.Ack(
            stored: 3, settled: [.init(upTo: 1, disposition: .appHandled), .init(upTo: 2, disposition: .leftToApp)])
        #expect(
            bench.run(.frame(bob, .ack(ack))) == [
                "store end m1 bob/phone settled app_handled", "store end m2 bob/phone settled left_to_app",
                "store end m3 bob/phone settled shown", "store cursor bob/phone settled 3",
            ])
    }

    @Test func `is pushed after a missed deadline and a probe, and the lease ends when the probe is not answered`() {
        var bench = ServerBench()
        _ = bench.connectWithToken("bob")
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m1", "s1 ← entry 1 m1"])
        #expect(bench.pass(9_999).outside == [])
        #expect(bench.pass(1).outside == ["probe s1", "push m1 to bob/phone badge 1@1"])
        #expect(
            bench.acceptPush() == [
                "store end m1 bob/phone accepted", "store token of bob/phone is accepted",
                "store cursor bob/phone decided 1",
            ])
        // While it is probed, a new message is written and held back.
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m2", "s1 ← entry 2 m2"])
        #expect(
            bench.pass(5_000).outside == [
                "s1 ← fatal timed_out", "close s1", "push m2 to bob/phone badge 2@2",
            ])
    }

    @Test func `is not pushed when the probe is answered, if it came after the missed one`() {
        var bench = ServerBench()
        let bob = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"))
        bench.pass(10_000)
        bench.acceptPush()
        bench.say(to: .direct("bob"))
        bench.pass(1_000)
        #expect(bench.run(.heard(bob)) == [])
        #expect(
            bench.run(.frame(bob, .ack(.init(stored: 2, settled: [])))) == [
                "store end m2 bob/phone settled shown", "store cursor bob/phone settled 2",
            ])
        #expect(bench.pass(30_000).outside == [])
    }

    @Test func `gets a full deadline after each settling`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.say(to: .direct("bob"))
        bench.pass(6_000)
        bench.say(to: .direct("bob"))
        bench.pass(3_000)
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: []))))
        #expect(bench.pass(9_999).outside == [])
        #expect(bench.pass(1).outside == ["probe s1"])
    }

    @Test func `counts acks of the current session only`() {
        var bench = ServerBench()
        let old = bench.connect("bob").session
        bench.connect("bob")
        bench.say(to: .direct("bob"))
        #expect(bench.run(.frame(old, .ack(.init(stored: 1, settled: [])))) == [])
    }

    @Test func `refuses an ack past the head, and changes nothing`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.say(to: .direct("bob"))
        #expect(bench.run(.frame(bob, .ack(.init(stored: 2, settled: [])))) == ["s1 ← problem invalid_field"])
        let descending = ClientFrame.Ack(
            stored: 1, settled: [.init(upTo: 1, disposition: .shown), .init(upTo: 1, disposition: .shown)])
        #expect(bench.run(.frame(bob, .ack(descending))) == ["s1 ← problem invalid_field"])
    }
}

@Suite struct `A message to a phone in the background` {
    @Test func `is written, and ends only when the notification centre has answered`() {
        var bench = ServerBench()
        let bob = bench.connect("bob", "phone", .background(remainingMilliseconds: 100_000)).session
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m1", "s1 ← entry 1 m1"])
        #expect(bench.run(.frame(bob, .ack(.init(stored: 1, settled: [])))) == [])
        let settled = ClientFrame.Ack(stored: 1, settled: [.init(upTo: 1, disposition: .shown)])
        #expect(
            bench.run(.frame(bob, .ack(settled))) == [
                "store end m1 bob/phone settled shown", "store cursor bob/phone settled 1",
            ])
    }

    @Test func `is pushed after five seconds without an answer, and the connection is closed`() {
        var bench = ServerBench()
        let bob = bench.connect("bob", "phone", .background(remainingMilliseconds: 100_000)).session
        bench.run(.frame(bob, .registerPush(ServerBench.registration("bob"))))
        bench.say(to: .direct("bob"))
        #expect(bench.pass(4_999).outside == [])
        #expect(
            bench.pass(1).outside == ["s1 ← fatal timed_out", "close s1", "push m1 to bob/phone badge 1@1"])
        // The next one goes out at once, after the first.
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m2"])
        #expect(
            bench.acceptPush() == [
                "store end m1 bob/phone accepted", "store token of bob/phone is accepted",
                "push m2 to bob/phone badge 2@2", "store cursor bob/phone decided 1",
            ])
    }

    @Test func `is settled by what is stored as soon as the app comes to the foreground`() {
        var bench = ServerBench()
        let bob = bench.connect("bob", "phone", .background(remainingMilliseconds: 100_000)).session
        bench.say(to: .direct("bob"))
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: []))))
        #expect(
            bench.run(.frame(bob, .runState(.foreground))) == [
                "store end m1 bob/phone settled shown", "store cursor bob/phone settled 1",
            ])
    }

    @Test func `is pushed at once when the stated time has passed`() {
        var bench = ServerBench()
        let bob = bench.connect("bob", "phone", .background(remainingMilliseconds: 3_000)).session
        bench.run(.frame(bob, .registerPush(ServerBench.registration("bob"))))
        #expect(bench.pass(3_000).outside == ["s1 ← fatal timed_out", "close s1"])
        #expect(
            bench.say(to: .direct("bob")).outside == ["reply accepted m1", "push m1 to bob/phone badge 1@1"])
    }

    @Test func `is pushed at once when the socket is lost`() {
        var bench = ServerBench()
        let bob = bench.connect("bob", "phone", .background(remainingMilliseconds: 90_000)).session
        bench.run(.frame(bob, .registerPush(ServerBench.registration("bob"))))
        bench.say(to: .direct("bob"))
        #expect(bench.run(.disconnected(bob)).outside == ["push m1 to bob/phone badge 1@1"])
    }
}

@Suite struct `A message to a phone that drops its socket in the foreground` {
    @Test func `waits for five seconds and is pushed then`() {
        var bench = ServerBench()
        let bob = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"))
        #expect(bench.run(.disconnected(bob)) == [])
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m2"])
        #expect(bench.pass(4_999).outside == [])
        #expect(bench.pass(1).outside == ["push m1 to bob/phone badge 2@2"])
        #expect(bench.acceptPush().outside == ["push m2 to bob/phone badge 2@2"])
    }

    @Test func `moves to the new connection when the phone comes back in time`() {
        var bench = ServerBench()
        let old = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"))
        bench.run(.disconnected(old))
        bench.pass(4_000)
        let (new, lines) = bench.connect("bob")
        #expect(lines == ["store sign in bob/phone", "s2 ← welcome head 1 unread 1"])
        #expect(
            bench.run(.frame(new, .sync(after: 0, limit: 100))) == [
                "store log bob after 0, 100", "s2 ← page [1 m1] head 1 unsent [1]",
            ])
        #expect(
            bench.run(.frame(new, .ack(.init(stored: 1, settled: [])))) == [
                "store end m1 bob/phone settled shown", "store cursor bob/phone settled 1",
            ])
        #expect(bench.pass(60_000).outside.filter { $0.hasPrefix("push") } == [])
    }

    @Test func `stays ended when it was pushed before the phone came back`() {
        var bench = ServerBench.pushing()
        bench.acceptPush()
        let (_, lines) = bench.connect("bob", after: 1)
        #expect(lines.ends == [])
    }

    @Test func `is pushed at once when the phone says it hangs up`() {
        var bench = ServerBench()
        let bob = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"))
        #expect(bench.run(.frame(bob, .runState(.suspending))).outside == ["push m1 to bob/phone badge 1@1"])
    }
}

@Suite struct `A message to a phone that is gone` {
    @Test(.requirement("S2.1", "S2.2")) func `is pushed at once`() {
        var bench = ServerBench.gone()
        #expect(
            bench.say(to: .direct("bob")) == [
                "store accept m1", "reply accepted m1", "store load alice", "push m1 to bob/phone badge 1@1",
            ])
        #expect(
            bench.acceptPush() == [
                "store end m1 bob/phone accepted", "store token of bob/phone is accepted",
                "store cursor bob/phone decided 1",
            ])
    }

    @Test func `ends no_token when the phone has never registered`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.run(.frame(bob, .runState(.suspending)))
        #expect(bench.say(to: .direct("bob")).ends == ["store end m1 bob/phone no_token"])
    }

    @Test func `ends not_notifiable when the sender forbade a push, in a chat room or not`() {
        var bench = ServerBench.gone()
        #expect(
            bench.say(to: .direct("bob"), flags: [.stored, .counted]).ends == [
                "store end m1 bob/phone not_notifiable"
            ])
    }

    @Test func `ends not_notifiable when it is a command, which does not count as unread either`() {
        var bench = ServerBench.gone()
        #expect(
            bench.say(to: .direct("bob"), flags: [.counted, .notified]).ends == [
                "store end m1 bob/phone not_notifiable"
            ]
        )
        #expect(bench.stored(bench.messages[0])?.flags == [.notified])
        bench.say(to: .direct("bob"))
        #expect(bench.acceptPush().contains("store end m2 bob/phone accepted"))
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m3", "push m3 to bob/phone badge 2@3"])
    }

    @Test func `ends expired when its time is over before it could be pushed`() {
        var settings = ServerBench.plain
        settings.pushLifetime = 2_000
        var bench = ServerBench(settings: settings)
        let bob = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"))
        bench.run(.disconnected(bob))
        #expect(bench.pass(5_000).ends == ["store end m1 bob/phone expired"])
    }

    @Test func `ends read_elsewhere when the person reads it on another device first`() {
        var bench = ServerBench()
        let phone = bench.connect("bob", "phone").session
        bench.run(.frame(phone, .registerPush(ServerBench.registration("bob"))))
        let tablet = bench.connect("bob", "tablet").session
        bench.say(to: .direct("bob"))
        bench.run(.disconnected(phone))
        #expect(
            bench.run(.frame(tablet, .markRead(.direct("alice"), upTo: 1))) == [
                "store read bob PR:alice 1", "store end m1 bob/phone read_elsewhere",
                "store cursor bob/phone decided 2", "s2 ← entry 2 read PR:alice 1",
            ])
        #expect(bench.pass(9_000).filter { $0.hasPrefix("push") } == [])
    }

    @Test func `is settled, not pushed, when the phone comes back while it waits for APNs`() {
        var bench = ServerBench.pushing()
        bench.answerPush(.notSent("connection refused"))
        let (_, lines) = bench.connect("bob", after: 1)
        #expect(lines.ends == ["store end m1 bob/phone settled shown"])
        #expect(bench.pass(600_000).filter { $0.hasPrefix("push") } == [])
    }

    @Test func `ends once when the phone settles it while the push is on its way`() {
        var bench = ServerBench.pushing()
        #expect(bench.connect("bob", after: 1).lines.ends == ["store end m1 bob/phone settled shown"])
        #expect(bench.acceptPush().ends == [])
    }
}

@Suite struct `A message of several devices and people` {
    @Test func `goes live to the sender's other devices and never pushes to them`() {
        var bench = ServerBench()
        bench.goneDevice("alice", "watch")
        let phone = bench.connect("alice", "phone").session
        let tablet = bench.connect("alice", "tablet").session
        let lines = bench.run(.frame(phone, .send(bench.draft("hi", .direct("bob")))))
        #expect(
            lines == [
                "store accept m1", "s2 ← accepted c1 m1 at 1", "store end m1 alice/phone own_device",
                "s3 ← entry 1 m1", "store end m1 alice/watch not_notifiable", "store cursor alice/watch decided 1",
                "store load bob", "count no_device",
            ])
        #expect(
            bench.run(.frame(tablet, .ack(.init(stored: 1, settled: [])))).ends == [
                "store end m1 alice/tablet settled suppressed(own_message)"
            ])
        // The sender's cursor follows a little later, once for many.
        #expect(bench.pass(1_000) == ["store cursor alice/phone decided 1"])
    }

    @Test func `becomes one leg for each member's device`() {
        var bench = ServerBench()
        bench.run(
            .api(
                APIRequestID(1),
                .putConversation(
                    ConversationRecord(
                        app: ServerBench.app, conversation: .group("team"), name: "Team",
                        members: ["alice", "bob", "carol", "dave"]))))
        bench.goneDevice("bob")
        bench.connect("carol")
        #expect(
            bench.say(from: "alice", to: .group("team")) == [
                "store accept m1", "reply accepted m1", "store load alice", "push m1 to bob/phone badge 1@1",
                "s2 ← entry 1 m1", "store load dave", "count no_device",
            ])
    }

    @Test func `tells the same client message id twice without storing it twice`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        let draft = bench.draft("hi", .direct("bob"))
        bench.run(.frame(alice, .send(draft)))
        #expect(bench.run(.frame(alice, .send(draft))) == ["store accept m2", "s1 ← accepted c1 m1 at 0"])
    }

    @Test func `waits for people who are being loaded, in order`() {
        var bench = ServerBench.gone()
        bench.pass(120_000)  // nobody is in memory any more
        bench.isStoreHeld = true
        bench.say("one", to: .direct("bob"))
        bench.say("two", to: .direct("bob"))
        let lines = bench.releaseStore()
        #expect(lines.filter { $0 == "store load bob" }.count == 1)
        #expect(lines.outside == ["reply accepted m1", "reply accepted m2", "push m1 to bob/phone badge 2@2"])
        #expect(bench.acceptPush().outside == ["push m2 to bob/phone badge 2@2"])
    }
}
