import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `What a server holds in memory` {
    @Test func `grows with sessions, people and legs, and shrinks when they are done`() {
        var bench = ServerBench()
        #expect(bench.core.load(at: bench.now) == ServerLoad())
        bench.connect("alice")
        bench.goneDevice("bob")
        let load = bench.core.load(at: bench.now)
        #expect((load.sessions, load.people, load.devices) == (1, 2, 2))
        #expect((load.legs, load.pushes, load.queued, load.storeBacklog) == (0, 0, 0, 0))
        bench.say(to: .direct("bob"))
        // One of them is the sender's own phone's, which has not settled the entry.
        #expect(
            (
                bench.core.load(at: bench.now).legs, bench.core.load(at: bench.now).pushes,
                bench.core.load(at: bench.now).busyPeople
            ) == (2, 1, 2))
        bench.acceptPush()
        #expect(
            (
                bench.core.load(at: bench.now).legs, bench.core.load(at: bench.now).pushes,
                bench.core.load(at: bench.now).busyPeople
            ) == (1, 0, 2))
        #expect(bench.core.load(at: bench.now).timers > 0)
        // Nobody is heard any more: a minute after their last work they are let go.
        bench.pass(120_000)
        #expect(bench.core.load(at: bench.now).people == 0)
    }
}
