import ServerCore
import Testing
import TidingsModel

@Suite struct `A connection, whatever its client does,` {
    /// Alice's one send that may be under way waits for the store: the next is refused for now.
    private static func fullConnection() -> (bench: ServerBench, alice: SessionID) {
        var settings = ServerBench.plain
        settings.sendsInFlightMax = 1
        var bench = ServerBench(settings: settings)
        let alice = bench.connect("alice").session
        bench.isStoreHeld = true
        bench.run(.frame(alice, .send(bench.draft("1", .direct("bob")))))
        return (bench, alice)
    }

    @Test func `keeps the order of a conversation: after a message that was refused for now nothing overtakes it`() {
        var (bench, alice) = Self.fullConnection()
        let second = bench.draft("2", .direct("bob"))
        let third = bench.draft("3", .direct("bob"))
        let elsewhere = bench.draft("4", .direct("carol"))
        for draft in [second, third] { bench.run(.frame(alice, .send(draft))) }
        bench.releaseStore()
        let mustFollow =
            "s1 ← refused c3 unavailable: send must follow \"c2\" of the same conversation, which was refused for now: "
            + "send that again first"
        #expect(bench.run(.frame(alice, .send(third))) == [mustFollow])
        #expect(bench.run(.frame(alice, .send(elsewhere))).contains("s1 ← accepted c4 m2 at 2"))
        #expect(bench.run(.frame(alice, .send(second))).contains("s1 ← accepted c2 m3 at 3"))
        #expect(bench.run(.frame(alice, .send(third))).contains("s1 ← accepted c3 m4 at 4"))
    }

    @Test func `waits no longer for a refused message that does not come again`() {
        var (bench, alice) = Self.fullConnection()
        bench.run(.frame(alice, .send(bench.draft("2", .direct("bob")))))
        bench.releaseStore()
        let third = bench.draft("3", .direct("bob"))
        bench.pass(29_999)
        #expect(bench.run(.frame(alice, .send(third))).count == 1)
        bench.pass(1)
        #expect(bench.run(.frame(alice, .send(third))).contains("s1 ← accepted c3 m2 at 2"))
    }

    @Test func `may settle only what it has stored`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        for _ in 0..<2 { bench.say(to: .direct("bob")) }
        let early = ClientFrame.Ack(stored: 1, settled: [.init(upTo: 2, disposition: .shown)])
        #expect(bench.run(.frame(bob, .ack(early))) == ["s1 ← problem invalid_field"])
        let problem = ServerFrame.Problem(
            code: .invalidField, field: "ack.settled",
            rule: "must be at most 1, up to where the device has stored the log")
        #expect(bench.frames.last == .problem(problem, isFatal: false))
        #expect(!bench.run(.frame(bob, .ack(.init(stored: 2, settled: early.settled)))).isEmpty)
    }
}
