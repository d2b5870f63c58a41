import Foundation
import Requirements
import Testing

/// How much is run: `TIDINGS_SEQUENCES` sequences, from the seed `TIDINGS_SEED` on.
private enum Sequences {
    static var count: Int { Self.number("TIDINGS_SEQUENCES") ?? 18 }
    static var steps: Int { Self.isLong ? 500 : 100 }
    static var firstSeed: Int { Self.number("TIDINGS_SEED") ?? 1 }
    static var isLong: Bool { Self.number("TIDINGS_SEQUENCES") != nil }
    /// From so many sequences on, each situation must have been reached.
    static let enough = 200

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
}

@MainActor @Suite(.serialized) struct `Forwarded calls in any order` {
    @Test(.requirement("S4.9", "S1.13", "S2.17"))
    func `have every handler called once, open each tap once, ring once and keep the badge right`() async {
        let totals = Totals()
        // Several at once: most of a sequence is waiting for its client.
        let lanes = (0..<6).map { lane in
            Task { @MainActor in
                // What is broken is broken everywhere.
                for number in stride(from: lane, to: Sequences.count, by: 6) where totals.broken < 5 {
                    await Self.run(UInt64(Sequences.firstSeed + number), into: totals)
                }
            }
        }
        for lane in lanes { await lane.value }
        guard Sequences.isLong else { return }
        print("\(Sequences.count) sequences of \(Sequences.steps) steps: \(totals.coverage.line)")
        if Sequences.count >= Sequences.enough { #expect(totals.coverage.missing == []) }
    }

    private static func run(_ seed: UInt64, into totals: Totals) async {
        do {
            var sequence = try RandomSequence(seed: seed)
            defer { sequence.bench.remove() }
            let problems = await sequence.run(steps: Sequences.steps)
            totals.coverage.add(sequence.bench.coverage)
            guard !problems.isEmpty else { return }
            totals.broken += 1
            Issue.record(
                """
                TIDINGS_SEQUENCES=1 TIDINGS_SEED=\(seed) makes the same calls: \
                \(problems.prefix(5).joined(separator: "; "))
                """)
        } catch {
            totals.broken += 1
            Issue.record(error)
        }
    }
}

/// What all sequences reached.
@MainActor private final class Totals {
    var coverage = ForwardingCoverage()
    var broken = 0
}
