import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `What a server holds in memory` {
    @Test func `grows with sessions, people and legs, and shrinks when they are done`() {
        var bench = ServerBench()
        #expect(bench.core.load == ServerLoad())
        bench.connect("alice")
        bench.goneDevice("bob")
        let load = bench.core.load
        #expect((load.sessions, load.people, load.devices) == (1, 2, 2))
        #expect((load.legs, load.pushes, load.queued, load.storeBacklog) == (0, 0, 0, 0))
        bench.say(to: .direct("bob"))
        // One of them is the sender's own phone's, which has not settled the entry.
        #expect((bench.core.load.legs, bench.core.load.pushes, bench.core.load.busyPeople) == (2, 1, 2))
        bench.acceptPush()
        #expect((bench.core.load.legs, bench.core.load.pushes, bench.core.load.busyPeople) == (1, 0, 1))
        #expect(bench.core.load.timers > 0)
        // Nobody is heard any more: a minute after their last work they are let go.
        bench.pass(120_000)
        #expect(bench.core.load.people == 0)
    }
}
