import APNsModel
import ServerCore
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `A page for a device that comes back` {
    private static let background = ReportedRunState.background(remainingMilliseconds: 100_000)

    /// Connects bob's phone in the background.
    private static func comeBack(_ bench: inout ServerBench) -> SessionID {
        bench.connect("bob", "phone", self.background).session
    }

    @Test func `says nothing of what APNs has taken`() {
        var bench = ServerBench.pushing()
        bench.acceptPush()
        let bob = Self.comeBack(&bench)
        #expect(
            bench.run(.frame(bob, .sync(after: 0, limit: 200))) == [
                "store log bob after 0, 200", "s2 ← page [1 m1] head 1",
            ])
    }

    @Test func `says what is with APNs, which is pushed again if it comes to nothing and the device has gone`() {
        var bench = ServerBench.pushing()
        let bob = Self.comeBack(&bench)
        #expect(
            bench.run(.frame(bob, .sync(after: 0, limit: 200))).outside == ["s2 ← page [1 m1] head 1 under way [1]"])
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: []))))
        bench.run(.frame(bob, .runState(.suspending)))
        bench.answerPush(.notSent("no connection"))
        #expect(bench.pass(10_000).outside == ["push m1 to bob/phone badge 1@1"])
    }

    @Test func `says what waits, and nothing of it once it is settled`() {
        var bench = ServerBench.pushing()
        bench.say(to: .direct("bob"))
        bench.acceptPush()
        bench.answerPush(.notSent("no connection"))
        let bob = Self.comeBack(&bench)
        #expect(
            bench.run(.frame(bob, .sync(after: 0, limit: 200))).outside
                == ["s2 ← page [1 m1, 2 m2] head 2 unsent [2]"])
        let settled = ClientFrame.Ack(
            stored: 2,
            settled: [
                .init(upTo: 1, disposition: .suppressed(.offlineMessage)), .init(upTo: 2, disposition: .shown),
            ])
        #expect(bench.run(.frame(bob, .ack(settled))) == ["store end m2 bob/phone settled shown"])
        #expect(bench.run(.frame(bob, .sync(after: 0, limit: 200))).outside == ["s2 ← page [1 m1, 2 m2] head 2"])
    }

    @Test func `says of each part its own`() {
        var bench = ServerBench.gone()
        for _ in 0..<3 { bench.say(to: .direct("bob")) }
        bench.acceptPush()
        bench.answerPush(.notSent("no connection"))
        let bob = Self.comeBack(&bench)
        #expect(
            bench.run(.frame(bob, .sync(after: 0, limit: 2))).outside == ["s2 ← page [1 m1, 2 m2] head 3 unsent [2]"])
        #expect(
            bench.run(.frame(bob, .sync(after: 2, limit: 2))).outside == ["s2 ← page [3 m3] head 3 unsent [3]"])
    }

    /// One push tells of all that have waited for the end of a storm.
    @Test func `says of all messages of a merged alert the same`() {
        var bench = `A storm in one conversation`.bench()
        `A storm in one conversation`.say(4, &bench)
        let early = Self.comeBack(&bench)
        #expect(
            bench.run(.frame(early, .sync(after: 2, limit: 200))).outside
                == ["s2 ← page [3 m3, 4 m4] head 4 unsent [3, 4]"])
        bench.run(.disconnected(early))
        bench.pass(60_000)
        let bob = Self.comeBack(&bench)
        #expect(
            bench.run(.frame(bob, .sync(after: 2, limit: 200))).outside
                == ["s3 ← page [3 m3, 4 m4] head 4 under way [3, 4]"])
        bench.acceptPush()
        #expect(bench.run(.frame(bob, .sync(after: 2, limit: 200))).outside == ["s3 ← page [3 m3, 4 m4] head 4"])
    }

    /// A new process does not know what the old one had given to APNs: the phone's own ledger is the second guard.
    @Test func `says what was under way when the server was restarted`() {
        var bench = ServerBench.pushing()
        bench.say(to: .direct("bob"))
        bench.acceptPush()
        bench.crash()
        let bob = Self.comeBack(&bench)
        #expect(
            bench.run(.frame(bob, .sync(after: 0, limit: 200))).outside
                == ["s2 ← page [1 m1, 2 m2] head 2 unsent [2]"])
    }

    @Test func `says what had no token to go to, also after a restart, until the log is settled`() {
        var bench = ServerBench()
        let first = bench.connect("bob").session
        bench.run(.disconnected(first))
        bench.pass(60_000)
        #expect(bench.say(to: .direct("bob")).ends == ["store end m1 bob/phone no_token"])
        bench.run(.disconnected(Self.comeBack(&bench)))
        bench.crash()
        let bob = Self.comeBack(&bench)
        #expect(
            bench.run(.frame(bob, .sync(after: 0, limit: 200))).outside == ["s3 ← page [1 m1] head 1 unsent [1]"])
        #expect(
            bench.run(.frame(bob, .ack(.init(stored: 1, settled: [.init(upTo: 1, disposition: .shown)])))) == [
                "store cursor bob/phone settled 1"
            ])
        bench.run(.disconnected(bob))
        bench.say(to: .direct("bob"))
        bench.crash()
        #expect(bench.store.unpushed(to: ServerBench.device("bob")) == [bench.messages[1]])
        let again = Self.comeBack(&bench)
        #expect(
            bench.run(.frame(again, .sync(after: 0, limit: 200))).outside
                == ["s4 ← page [1 m1, 2 m2] head 2 unsent [2]"])
    }

    @Test func `says nothing of what was read on another device, or lies before its sign-in`() {
        var bench = ServerBench()
        bench.say(to: .direct("bob"))
        let first = bench.connect("bob").session
        bench.run(.disconnected(first))
        bench.pass(60_000)
        bench.say(to: .direct("bob"))
        bench.say(to: .direct("bob"))
        let pad = bench.connect("bob", "pad").session
        bench.run(.frame(pad, .markRead(.direct("alice"), upTo: 2)))
        let bob = Self.comeBack(&bench)
        #expect(
            bench.run(.frame(bob, .sync(after: 0, limit: 200))).outside == [
                "s3 ← page [1 m1, 2 m2, 3 m3, 4 read PR:alice 2] head 4 unsent [3]"
            ])
        // Nor when the core has forgotten the person meanwhile.
        bench.run(.disconnected(bob))
        bench.run(.disconnected(pad))
        bench.pass(60_000)
        bench.crash()
        let again = Self.comeBack(&bench)
        #expect(
            bench.run(.frame(again, .sync(after: 0, limit: 200))).outside == [
                "s4 ← page [1 m1, 2 m2, 3 m3, 4 read PR:alice 2] head 4 unsent [3]"
            ])
    }
}

extension MemoryStore {
    /// What the store keeps as not pushed to a device.
    fileprivate func unpushed(to key: DeviceKey) -> [MessageID] {
        self.dump().people.first { $0.record.key == key.user }?.record.devices.first { $0.key == key }?.unpushed.ids
            ?? []
    }
}
