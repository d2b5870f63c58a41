import Testing

@testable import World

@Suite struct `A world that goes on and on` {
    @Test func `is ended when its events come at one instant, and says what promise is broken`() {
        var world = World(options: WorldOptions(seed: 1, phones: 2))
        var count = 0
        while world.comesToRest(), count < 100_000 { count += 1 }
        #expect(count == 4_000)
        #expect(world.checkers.violations.map(\.promise) == ["P6"])
    }

    @Test func `is ended when there are far too many in all`() {
        var world = World(options: WorldOptions(seed: 1, phones: 2, hours: 1))
        world.time = 5
        world.report.events = 300_000
        let isStillFine = world.comesToRest()
        world.report.events = 300_001
        let isFine = world.comesToRest()
        #expect(isStillFine && !isFine)
        #expect(world.checkers.violations.map(\.promise) == ["P6"])
    }
}
