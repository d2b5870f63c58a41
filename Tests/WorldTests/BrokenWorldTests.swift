import Foundation
import Testing

@testable import World

/// What `dev/prove-mutation` runs on code that it has broken: some rule's promise must be found broken within so many seeds. Here,
/// where nothing is broken, few seeds are enough.
@Suite struct `A world whose code may be broken` {
    /// The first seed whose run broke a promise.
    private static let found: WorldReport? = {
        let seeds = ProcessInfo.processInfo.environment["TIDINGS_WORLD_SEEDS"].flatMap { UInt64($0) } ?? 2
        return (1...max(1, seeds)).lazy.map { seed in
            World.run(WorldOptions(seed: seed, faults: seed % 2 == 0 ? .harsh : .default))
        }.first { !$0.violations.isEmpty }
    }()

    @Test(arguments: [
        "P1", "P2", "P3", "P4", "P5", "P6", "P7", "order", "level", "quiet hours", "recall", "hidden", "options",
        "accounts", "audience",
        "edit", "block",
        "mute", "consent", "lists", "names", "communication",
        "custom", "converge", "push client", "bug", "abuse", "bounds", "background time",
    ])
    func `keeps its promise`(promise: String) {
        guard let violation = Self.found?.violations.first(where: { $0.promise == promise }) else { return }
        Issue.record("\(violation) (seed \(Self.found?.seed ?? 0))")
    }
}
