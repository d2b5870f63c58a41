import Foundation
import Requirements
import Testing

@testable import ScenarioCore

/// How much is run: `TIDINGS_SEQUENCES` sequences, from the seed `TIDINGS_SEED` on.
enum Sequences {
    static let steps = 500
    static var count: Int { Self.number("TIDINGS_SEQUENCES") ?? 24 }
    static var firstSeed: Int { Self.number("TIDINGS_SEED") ?? 1 }
    /// A long run says what it has counted.
    static var isLong: Bool { Self.number("TIDINGS_SEQUENCES") != nil }

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
}

@Suite struct `A phone to which anything happens` {
    @Test(.requirement("S2.19", "S1.13", "S4.10"), arguments: 0..<2)
    func `rings once, keeps the badge right, opens the right conversation and answers every call`(lane: Int) {
        var rings = 0
        var unguarded = 0
        var soundless = 0
        for number in stride(from: lane, to: Sequences.count, by: 2) {
            var phone = RandomPhone(seed: UInt64(Sequences.firstSeed + number))
            for _ in 0..<Sequences.steps where !phone.step() {
                Issue.record("TIDINGS_SEQUENCES=1 TIDINGS_SEED=\(phone.seed) replays:\n\(phone.report)")
                return
            }
            rings += phone.checks.ringCounts.count
            unguarded += phone.checks.ringCounts.unguarded
            soundless += phone.checks.ringCounts.soundless
        }
        #expect(rings > 0)
        guard Sequences.isLong else { return }
        print(
            "lane \(lane): \(rings) rings; second rings without an extension that could look: \(unguarded);",
            "second banners without sound before iOS 15: \(soundless)")
    }

    @Test func `does the same again for the same seed`() {
        var first = RandomPhone(seed: 7)
        var second = RandomPhone(seed: 7)
        for _ in 0..<100 {
            _ = first.step()
            _ = second.step()
        }
        #expect(first.phone.trace.lines == second.phone.trace.lines)
        #expect(first.phone.core == second.phone.core)
    }
}
