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

    @Test(arguments: [1, 2] as [UInt64])
    func `keeps every promise when much more breaks, and with more people`(seed: UInt64) {
        let report = World.run(WorldOptions(seed: seed, phones: 9, hours: 1, faults: .harsh))
        #expect(report.violations == [])
    }

    /// Found by the World: a push of a withdrawn message came when the app had long known, and rang.
    @Test(arguments: [4, 74] as [UInt64])
    func `lets no late push of a withdrawn message ring`(seed: UInt64) {
        #expect(World.run(WorldOptions(seed: seed)).violations == [])
    }

    @Test func `comes to everything that its promises are about`() {
        var marks = WorldMarks()
        for seed in 1...12 as ClosedRange<UInt64> { marks.add(World.run(WorldOptions(seed: seed)).marks) }
        for mark in WorldMark.allCases { #expect(marks[mark] > 0, "never came to \(mark.rawValue)") }
    }

    @Test func `is the same for the same seed, and another for another`() {
        let first = World.run(WorldOptions(seed: 7, phones: 3, hours: 1))
        let again = World.run(WorldOptions(seed: 7, phones: 3, hours: 1))
        let other = World.run(WorldOptions(seed: 8, phones: 3, hours: 1))
        #expect(first == again)
        #expect(first.traceHash != other.traceHash)
    }
}
