import ServerCore
import Testing
import TidingsModel

@Suite struct `A device that takes its push registration back` {
    @Test func `gets no more pushes until it registers again`() {
        var bench = ServerBench()
        let bob = bench.connectWithToken("bob")
        #expect(bench.run(.frame(bob, .registerPush(nil))) == ["store token of bob/phone is none"])
        bench.run(.frame(bob, .runState(.suspending)))
        bench.run(.disconnected(bob))
        #expect(bench.say(to: .direct("bob")).filter { $0.hasPrefix("push") } == [])
        let again = bench.connectWithToken("bob")
        bench.run(.frame(again, .runState(.suspending)))
        bench.run(.disconnected(again))
        #expect(bench.say(to: .direct("bob")).filter { $0.hasPrefix("push") }.count == 1)
    }
}
