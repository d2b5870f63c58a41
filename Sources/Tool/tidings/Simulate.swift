import ArgumentParser
import Foundation
import World

/// `tidings simulate`: the World.
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run server, APNs, phones and people on a virtual clock from one seed, and check the promises.",
        discussion: """
            First things break, then everything heals and must converge. A failure prints its seed; the same seed gives the \
            same trace in another process. Exit status 1 if a promise did not hold. See docs/simulation.md.
            """)

    @Option(help: "Seed of one run; without it one is drawn and printed.") var seed: UInt64?
    @Option(help: ArgumentHelp("One run for each seed of a range.", valueName: "a-b")) var seeds: String?
    @Option(help: "Phones, some of them one person's second: 2 to 1000.") var phones = 4
    @Option(help: "Simulated hours in which things happen: 1 to 1000.") var hours: Int64 = 1
    @Option(help: "What breaks: none, default or harsh.") var faults = "default"
    @Flag(help: "Print the trace of every run, line by line.") var trace = false

    func validate() throws {
        guard (2...1_000).contains(self.phones) else {
            throw ValidationError("--phones must be 2 to 1000, got \(self.phones)")
        }
        guard (1...1_000).contains(self.hours) else {
            throw ValidationError("--hours must be 1 to 1000, got \(self.hours)")
        }
        guard WorldFaults(name: self.faults) != nil else {
            throw ValidationError("--faults must be none, default or harsh, got \"\(self.faults)\"")
        }
        guard self.seed == nil || self.seeds == nil else { throw ValidationError("give --seed or --seeds, not both") }
        _ = try self.range()
    }

    private func range() throws -> ClosedRange<UInt64> {
        guard let seeds = self.seeds else {
            let seed = self.seed ?? UInt64.random(in: 1...999_999)
            return seed...seed
        }
        let parts = seeds.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = UInt64(parts[0]), let last = UInt64(parts[1]), first <= last else {
            throw ValidationError("--seeds must be a range such as 1-200, got \"\(seeds)\"")
        }
        return first...last
    }

    func run() async throws {
        let range = try self.range()
        var hash = StableHasher()
        var total = WorldReport(seed: range.lowerBound)
        var failed = 0
        for seed in range {
            let report = self.run(seed: seed)
            hash.feed(report.traceHash)
            total.events += report.events
            total.acknowledged += report.acknowledged
            total.pushes += report.pushes
            total.rings += report.rings
            total.crashes += report.crashes
            total.broken += report.broken
            total.marks.add(report.marks)
            guard !report.violations.isEmpty else { continue }
            failed += 1
            print("seed \(seed) broke a promise:")
            for violation in report.violations { print("  \(violation)") }
            print(
                "  again: tidings simulate --seed \(seed) --phones \(self.phones) --hours \(self.hours) "
                    + "--faults \(self.faults) --trace")
        }
        print(
            "\(range.count == 1 ? "seed \(range.lowerBound)" : "\(range.count) seeds"), \(self.phones) phones, "
                + "\(self.hours) h, faults \(self.faults): \(total.events) events, \(total.acknowledged) messages acknowledged, "
                + "\(total.pushes) pushes, \(total.rings) rings, \(total.crashes) server crashes, "
                + "\(total.broken) broken connections, \(failed) runs with violations")
        let marks = WorldMark.allCases.map { "\(total.marks[$0]) \($0.rawValue)" }
        print("came to: \(marks.joined(separator: ", "))")
        print("trace hash: \(String(hash.value, radix: 16))")
        guard failed == 0 else { throw ExitCode(1) }
    }

    private func run(seed: UInt64) -> WorldReport {
        let options = WorldOptions(
            seed: seed, phones: self.phones, hours: self.hours, faults: WorldFaults(name: self.faults) ?? .default)
        guard self.trace else { return World.run(options) }
        let (report, lines) = World.trace(options)
        for line in lines { print(line) }
        return report
    }
}
