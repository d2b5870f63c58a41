import Testing

@testable import World

@Suite struct `A day in a world` {
    @Test func `has eight hours of sleep, every day`() {
        let night = Night(fallsAsleep: 32_400_000)
        #expect(night.rest(at: 32_399_999) == nil)
        #expect(night.rest(at: 32_400_000) == 28_800_000)
        #expect(night.rest(at: 61_199_999) == 1)
        #expect(night.rest(at: 61_200_000) == nil)
        #expect(night.rest(at: 86_400_000 + 32_400_000) == 28_800_000)
    }

    @Test(
        arguments: [
            (0, 1), (59, 1), (60, 30), (389, 30), (390, 1), (449, 1), (450, 30), (1_199, 30), (1_200, 1), (1_229, 1),
            (1_230, 30), (1_440, 1),
        ] as [(Int64, Int64)])
    func `is slow outside of its three breaks, and the first hour is one`(minute: Int64, slowness: Int64) {
        #expect(Night.slowness(at: minute * 60_000) == slowness)
    }

    @Test func `ends with the phone laid away, and nobody writes in the night`() {
        let (report, lines) = World.trace(WorldOptions(seed: 1, phones: 2, hours: 11, faults: .none))
        #expect(report.violations == [])
        let sleep = lines.filter { $0.text.hasSuffix("sleeps") }
        #expect(sleep.count == 2)
        #expect(sleep.allSatisfy { (32_400_000...36_060_000).contains($0.at) })
        let written = lines.filter { $0.text.contains(" writes ") && !$0.text.contains("the backend") }.map(\.at)
        #expect(written.contains { $0 > 25_200_000 })
        #expect(!written.contains { $0 > 36_060_000 })
    }

    @Test func `has phones that lock themselves a minute after they were touched last`() {
        let (report, lines) = World.trace(WorldOptions(seed: 1, phones: 8, hours: 3, faults: .none))
        #expect(report.violations == [])
        for phone in 0..<8 {
            let fronts = lines.filter { $0.text == "phone \(phone) calls sceneDidBecomeActive(_:)" }.map(\.at)
            let leaves = lines.filter { $0.text == "phone \(phone) calls sceneWillResignActive(_:)" }.map(\.at)
            let quiet = fronts.filter { (3_660_000..<10_740_000).contains($0) }
            #expect(!quiet.isEmpty)
            #expect(quiet.allSatisfy { front in leaves.contains { (front...front + Night.lockTime).contains($0) } })
        }
    }

    @Test(arguments: [(2, 450), (16, 450), (32, 225), (62, 116), (720, 10)] as [(Int, Int64)])
    func `brings nobody more from groups among many people than among sixteen`(people: Int, perMille: Int64) {
        #expect(World.groupShare(of: people) == perMille)
    }
}
