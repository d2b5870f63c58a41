import Testing

@testable import World

@Suite struct `A world` {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `keeps every promise when nothing breaks`(seed: UInt64) {
        let report = World.run(WorldOptions(seed: seed, phones: 4, hours: 1, faults: .none))
        #expect(report.violations == [])
        #expect(report.acknowledged > 50)
        #expect(report.pushes > 10)
        #expect(report.rings > 10)
        #expect(report.crashes == 0)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `keeps every promise when servers crash and networks break`(seed: UInt64) {
        let report = World.run(WorldOptions(seed: seed, phones: 4, hours: 1, faults: .default))
        #expect(report.violations == [])
        #expect(report.crashes > 0)
        #expect(report.broken > 0)
    }

    @Test func `is the same for the same seed, and another for another`() {
        let first = World.run(WorldOptions(seed: 7, phones: 3, hours: 1))
        let again = World.run(WorldOptions(seed: 7, phones: 3, hours: 1))
        let other = World.run(WorldOptions(seed: 8, phones: 3, hours: 1))
        #expect(first == again)
        #expect(first.traceHash != other.traceHash)
    }
}
