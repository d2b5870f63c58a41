import APNsModel
import Requirements
import ServerCore
import StoreMachine
import StoreModel
import Testing
import TidingsModel

/// What a recall does to the devices of those who have the message: `m1` is the message, `m2` its recall.
@Suite struct `A recall` {
    /// Recalls a message of alice's to bob as the backend; the store says who has shown it.
    static func recall(
        _ bench: inout ServerBench, at position: LogPosition = 2, unread: Int = 0, wasUnread: Bool = false,
        shown devices: [DeviceID] = []
    ) -> [String] {
        guard let id = bench.messages.first, let message = bench.stored(id) else { return [] }
        let recall = Recall(
            id: MessageID(rawValue: 0), message: id, conversation: .direct("bob"), sender: "alice", at: bench.now.wall)
        bench.recalled = (
            recall, message, [.init(user: "bob", position: position, unread: unread, wasUnread: wasUnread)],
            devices.map { LegID(message: id, user: ServerBench.key("bob"), device: $0) }
        )
        return bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: nil, .recall(id))))
    }

    @Test func `before the push ends the leg, and no device hears of what it never showed`() {
        var bench = ServerBench.pushing()
        bench.answerPush(.refused(APNsRefusal(.tooManyRequests, status: 429)))
        #expect(
            Self.recall(&bench) == [
                "store recall m1", "reply answer done(0)", "store end m1 bob/phone recalled",
                "store cursor bob/phone decided 2",
            ])
        #expect(bench.pass(600_000).outside == [])
    }

    @Test(.requirement("S0.14")) func `after the push follows it, silent and under its name`() throws {
        var bench = ServerBench.pushing()
        bench.acceptPush()
        #expect(
            Self.recall(&bench, wasUnread: true, shown: ["phone"]) == [
                "store recall m1", "reply answer done(0)", "store keep m2 bob/phone in_flight after 0",
                "push m1 to bob/phone badge 0@2", "store cursor bob/phone decided 2",
            ])
        let request = try #require(bench.pushes.last).request
        let payload = try #require(bench.payload)
        #expect(request.collapseID == bench.messages[0].description)
        #expect(request.pushType == .alert)
        let aps = try #require(payload["aps"])
        #expect(aps["interruption-level"] == "passive")
        #expect(aps["sound"] == nil)
        #expect(aps["badge"]?.intValue == 0)
        #expect(aps["mutable-content"]?.intValue == 1)
        #expect(aps["alert"]?["body"] == "A message was recalled")
        #expect(PushInfo(userInfo: payload)?.isRecall == true)
        #expect(PushInfo(userInfo: payload)?.position == 2)
        #expect(payload["rc"]?["tId"] == "alice")
        #expect(payload["rc"]?["mId"] == "")
        #expect(payload["rc"]?["id"] == .string(bench.messages[0].description))
        #expect(payload["message"]?["params"]?["corner_mark_decrease"] == true)
        #expect(bench.acceptPush() == ["store end m2 bob/phone accepted"])
    }

    @Test func `follows a push whose answer came while the store failed to sign the device out`() {
        var bench = ServerBench.pushing()
        bench.isStoreHeld = true
        bench.isSignOutUnreadable = true
        _ = Self.recall(&bench)
        bench.run(.api(APIRequestID(5), .signOut(ServerBench.device("bob"))))
        bench.acceptPush()
        #expect(
            bench.releaseStore() == [
                "reply answer done(0)", "reply refused unavailable ", "store end m1 bob/phone accepted",
                "store keep m2 bob/phone in_flight after 0", "push m1 to bob/phone badge 0@2",
                "store cursor bob/phone decided 2",
            ])
    }

    /// Found by the World: the store carries the recall out before it hears that the push came through.
    @Test func `follows a push whose answer comes while the store recalls its message`() {
        var bench = ServerBench.pushing()
        bench.isStoreHeld = true
        _ = Self.recall(&bench)
        #expect(bench.acceptPush().contains("store end m1 bob/phone accepted"))
        let lines = bench.releaseStore()
        #expect(lines.contains("store keep m2 bob/phone in_flight after 0"))
        #expect(lines.contains("push m1 to bob/phone badge 0@2"))

        // What the store had heard of before, it says itself.
        var heard = ServerBench()
        heard.goneDevice("bob")
        heard.say(to: .direct("bob"))
        heard.acceptPush()
        #expect(!Self.recall(&heard).contains { $0.hasPrefix("store keep m2") })
    }

    @Test func `is not kept for a device that the store is signing out`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.say(to: .direct("bob"))
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: []))))
        bench.isStoreHeld = true
        _ = Self.recall(&bench, shown: ["phone"])
        bench.run(.frame(bob, .signOut))
        #expect(
            bench.releaseStore() == [
                "reply answer done(0)", "s1 ← entry 2 recall m1", "close s1", "count signed_out",
            ])
    }

    @Test func `of a message that was read does not lower other senders' number`() {
        var bench = ServerBench()
        let bob = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"))
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: []))))
        bench.run(.frame(bob, .markRead(.direct("alice"), upTo: 1)))
        bench.run(.frame(bob, .runState(.suspending)))
        #expect(Self.recall(&bench, at: 3, shown: ["phone"]).outside.last == "push m1 to bob/phone badge 0@3")
        #expect(bench.payload?["message"] == nil)
    }

    @Test(arguments: [true, false])
    func `lowers other senders' number by what the store says, also for somebody who is not in memory`(
        wasUnread: Bool
    ) {
        var bench = ServerBench.pushing()
        bench.acceptPush()
        bench.pass(120_000)
        #expect(Self.recall(&bench, wasUnread: wasUnread, shown: ["phone"]).contains { $0.hasPrefix("store load") })
        #expect(bench.payload?["message"] == (wasUnread ? ["params": ["corner_mark_decrease": true]] : nil))
    }

    @Test func `while the push is on its way waits for its answer`() {
        var bench = ServerBench.pushing()
        #expect(
            Self.recall(&bench) == [
                "store recall m1", "reply answer done(0)", "store keep m2 bob/phone in_flight after 0",
            ])
        #expect(
            bench.acceptPush() == [
                "store end m1 bob/phone accepted", "store token of bob/phone is accepted",
                "push m1 to bob/phone badge 0@2", "store cursor bob/phone decided 2",
            ])
    }

    @Test
    func `follows a push that is answered after the store was asked to recall the message, and before it answers`() {
        var bench = ServerBench.pushing()
        bench.isStoreHeld = true
        // The store has not heard of the push's end when it says who has shown the message: nobody.
        _ = Self.recall(&bench)
        #expect(bench.acceptPush().ends == ["store end m1 bob/phone accepted"])
        #expect(bench.releaseStore().outside.last == "push m1 to bob/phone badge 0@2")
        #expect(PushInfo(userInfo: bench.payload ?? .null)?.isRecall == true)
    }

    @Test func `follows what a phone has shown from its connection meanwhile, and what has ended otherwise not`() {
        for (disposition, isFollowed) in [(Disposition.shown, true), (.notified, true), (.suppressed(.level), false)] {
            var bench = ServerBench()
            let bob = bench.connectWithToken("bob")
            bench.run(.frame(bob, .runState(.background(remainingMilliseconds: 30_000))))
            bench.say(to: .direct("bob"))
            bench.isStoreHeld = true
            _ = Self.recall(&bench)
            bench.run(.frame(bob, .ack(.init(stored: 1, settled: [.init(upTo: 1, disposition: disposition)]))))
            bench.run(.frame(bob, .runState(.suspending)))
            #expect(bench.releaseStore().contains("push m1 to bob/phone badge 0@2") == isFollowed)
        }
    }

    @Test func `while the push is on its way keeps it from being sent again`() {
        var bench = ServerBench.pushing()
        _ = Self.recall(&bench)
        #expect(bench.answerPush(.unknownOutcome("reset")).ends == ["store end m1 bob/phone recalled"])
        #expect(bench.pass(10_000).outside == ["push m1 to bob/phone badge 0@2"])
    }

    @Test func `reaches a phone that listens on its connection, and is settled there`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.say(to: .direct("bob"))
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: []))))
        #expect(
            Self.recall(&bench, shown: ["phone"]) == [
                "store recall m1", "reply answer done(0)", "s1 ← entry 2 recall m1",
                "store keep m2 bob/phone live after 0",
            ])
        #expect(
            bench.run(.frame(bob, .ack(.init(stored: 2, settled: [])))) == [
                "store end m2 bob/phone settled shown", "store cursor bob/phone settled 2",
            ])
    }

    @Test func `that a phone does not settle is pushed to it`() {
        var bench = ServerBench()
        let bob = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"))
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: []))))
        _ = Self.recall(&bench, shown: ["phone"])
        #expect(bench.run(.frame(bob, .runState(.suspending))).outside == ["push m1 to bob/phone badge 0@2"])
    }

    @Test func `goes in quiet hours and in a muted conversation, for it makes no sound`() {
        var bench = ServerBench.pushing()
        bench.acceptPush()
        bench.pass(120_000)
        bench.settings["bob"] = AllSettings(
            person: PersonSettings(
                levels: [.direct: .blocked], quietHours: QuietHours(start: 0, end: 0, timeZone: "UTC", manner: .drop)))
        #expect(Self.recall(&bench, shown: ["phone"]).outside.last == "push m1 to bob/phone badge 0@2")
    }

    @Test func `is taken up again after a crash`() {
        var bench = ServerBench.pushing()
        bench.acceptPush()
        _ = Self.recall(&bench, shown: ["phone"])
        // The log as the store has it: the message and its recall.
        let recall = Recall(
            id: bench.messages[1], message: bench.messages[0], conversation: .direct("alice"), sender: "alice",
            at: bench.now.wall)
        bench.entries["bob"] = [LogEntry(position: 2, body: .recall(recall))]
        #expect(bench.crash().outside == ["push m1 to bob/phone badge 0@2"])
        #expect(PushInfo(userInfo: bench.payload ?? .null)?.isRecall == true)
        #expect(bench.acceptPush().ends == ["store end m2 bob/phone accepted"])
    }

    @Test(arguments: [true, false])
    func `lowers other senders' number by what the log says after a crash, too`(isKept: Bool) {
        for isRead in [false, true] {
            var bench = ServerBench.pushing()
            bench.acceptPush()
            if isRead {
                let bob = bench.connect("bob", "tablet").session
                bench.run(.frame(bob, .markRead(.direct("alice"), upTo: 1)))
                bench.run(.api(APIRequestID(7), .signOut(ServerBench.device("bob", "tablet"))))
            }
            // The store has the recall, and the leg if the server got that far.
            bench.isStoreHeld = !isKept
            bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: nil, .recall(bench.messages[0]))))
            if !isKept { bench.carryOutUnheard() }
            bench.isStoreHeld = false
            bench.crash()
            bench.pass(20_000)
            #expect(PushInfo(userInfo: bench.payload ?? .null)?.isRecall == true)
            #expect((bench.payload?["message"]?["params"]?["corner_mark_decrease"] == true) == !isRead)
        }
    }

    /// Bob's phone has shown the message, his tablet has not; the server is to die when the recall is synced, and nothing that it
    /// leads to.
    static func syncedAlone() -> ServerBench {
        var bench = ServerBench.gone()
        bench.goneDevice("bob", "tablet")
        bench.say(to: .direct("bob"))
        bench.acceptPush()
        bench.answerPush(.refused(APNsRefusal(.payloadTooLarge, status: 413)))
        let recall = Recall(
            id: MessageID(rawValue: bench.messages[0].rawValue + 1), message: bench.messages[0],
            conversation: .direct("alice"), sender: "alice", at: bench.now.wall)
        bench.messages.append(recall.id)
        bench.entries["bob"] = [LogEntry(position: 2, body: .recall(recall))]
        return bench
    }

    @Test func `whose leg was lost with the process goes to those who have shown the message`() {
        var bench = Self.syncedAlone()
        bench.crash()
        #expect(bench.connect("bob", "watch", after: 2).lines.contains("store trace m1"))
        #expect(bench.pass(20_000).filter { $0.hasPrefix("push") } == ["push m1 to bob/phone badge 1@2"])
        #expect(bench.acceptPush().ends == ["store end m2 bob/phone accepted"])
    }

    @Test func `is not taken for decided after a crash before the store has told who has shown the message`() {
        var bench = Self.syncedAlone()
        bench.isTraceHeld = true
        bench.crash()
        // Had the cursor moved, a second crash now would leave the text on the phone for good.
        let waiting = bench.connect("bob", "watch", after: 2).lines + bench.pass(60_000)
        #expect(waiting.contains("store trace m1"))
        let moved = waiting.filter { $0.hasPrefix("store cursor") || $0.hasPrefix("push") }
        #expect(moved == ["store cursor bob/watch settled 2"])
        bench.isTraceHeld = false
        let told = bench.releaseStore() + bench.pass(20_000)
        #expect(
            told.filter { $0.hasPrefix("store cursor") || $0.hasPrefix("push") } == [
                "push m1 to bob/phone badge 1@2", "store cursor bob/phone decided 2",
                "store cursor bob/tablet decided 2",
            ])
    }

    @Test func `is pushed once where its leg was kept, though the store is asked for another device`() {
        var bench = Self.syncedAlone()
        let leg = LegID(message: bench.messages[1], user: ServerBench.key("bob"), device: "phone")
        let kept = OpenLeg(leg: leg, position: 2, wait: .inFlight, apnsID: nil, attempts: 0, notBefore: nil)
        #expect((try? bench.store.apply(.keepLeg(kept), epoch: bench.opening.epoch)) == .done)
        bench.isTraceHeld = true
        let taken = bench.crash() + bench.pass(20_000)
        #expect(taken.contains("store trace m1"))
        #expect(taken.filter { $0.hasPrefix("push") } == ["push m1 to bob/phone badge 1@2"])
        #expect(bench.acceptPush().ends == ["store end m2 bob/phone accepted"])
        // Its leg has come to its end when the store tells of all who have shown the message.
        bench.isTraceHeld = false
        let told = bench.releaseStore() + bench.pass(20_000)
        #expect(told.filter { $0.hasPrefix("push") || $0.hasPrefix("store keep") } == [])
    }

    @Test func `ends like any leg when there is nothing to send it to`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.say(to: .direct("bob"))
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: []))))
        bench.run(.frame(bob, .runState(.suspending)))
        #expect(Self.recall(&bench, shown: ["phone"]).ends == ["store end m2 bob/phone no_token"])
    }
}

@Suite struct `An edit` {
    @Test func `that comes before the push is what the push says`() throws {
        var bench = ServerBench.pushing()
        bench.answerPush(.refused(APNsRefusal(.tooManyRequests, status: 429)))
        let edit = Edit(
            message: bench.messages[0], conversation: .direct("bob"), content: #"{"content":"ho"}"#, at: 1)
        bench.script = [
            .noted(
                .edit(edit),
                deliveries: [.init(user: "alice", position: 2, unread: 0), .init(user: "bob", position: 2, unread: 1)])
        ]
        bench.run(
            .api(
                APIRequestID(1),
                .request(ServerBench.app, actor: "alice", .edit(bench.messages[0], content: #"{"content":"ho"}"#))))
        #expect(bench.pass(5_000).outside == ["push m1 to bob/phone badge 1@2"])
        #expect(PushInfo(userInfo: try #require(bench.payload))?.text?.body == "ho")
    }

    @Test func `is told to each side with the other as its target`() {
        var bench = ServerBench()
        bench.connect("alice")
        bench.connect("bob")
        let edit = Edit(message: MessageID(rawValue: 1), conversation: .direct("bob"), content: "x", at: 1)
        bench.script = [
            .noted(
                .edit(edit),
                deliveries: [.init(user: "alice", position: 1, unread: 0), .init(user: "bob", position: 1, unread: 0)])
        ]
        let request = ClientRequest.edit(MessageID(rawValue: 1), content: "x")
        bench.frames = []
        bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: "alice", request)))
        var seen = edit
        seen.conversation = .direct("alice")
        #expect(
            bench.frames == [
                .entry(LogEntry(position: 1, body: .edit(edit))), .entry(LogEntry(position: 1, body: .edit(seen))),
            ])
    }
}

@Suite struct `A message the person has deleted` {
    @Test func `is not pushed any more`() {
        var bench = ServerBench.pushing()
        bench.answerPush(.refused(APNsRefusal(.tooManyRequests, status: 429)))
        let deletion = Deletion(conversation: .direct("alice"), messages: [bench.messages[0]])
        bench.script = [.noted(.deletion(deletion), deliveries: [.init(user: "bob", position: 2, unread: 0)])]
        #expect(
            bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: "bob", .delete(deletion)))).ends == [
                "store end m1 bob/phone read_elsewhere"
            ])
    }
}
