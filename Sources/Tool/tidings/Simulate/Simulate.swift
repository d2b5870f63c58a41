import ArgumentParser
import Foundation
import TidingsModel
import World

struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run server, APNs, phones and people on a virtual clock from one seed, and check the promises.",
        discussion: """
            First things break, then everything heals and must converge. The first failure is made short: what happens from \
            outside is left out as long as the same promise breaks; a replay file holds what remains. The same seed gives the \
            same trace in another process. Exit status 1 if a promise did not hold. See docs/inside/simulation.md.
            """)

    @Option(help: "Seed of one run; without it one is drawn and printed.") var seed: UInt64?
    @Option(help: ArgumentHelp("One run for each seed of a range.", valueName: "a-b")) var seeds: String?
    @Flag(help: "Run seed after seed, from --seed on or over --seeds, until a promise breaks.") var untilFailure = false
    @Option(help: "Phones, some of them one person's second: 2 to 1000.") var phones = 4
    @Option(help: "Simulated hours in which things happen: 1 to 1000.") var hours: Int64 = 1
    @Option(help: "What breaks: none, default, harsh or swarm.") var faults = "default"
    @Option(help: "Worlds that run side by side: 1 to 64. What is printed is the same.") var jobs = 1
    @Flag(help: "Print the trace of every run, line by line.") var trace = false
    @Flag(help: "Fail too if the runs together never came to one of the situations that --faults can bring about.")
    var everyMark = false
    @Option(help: "Worlds to run at most while the first failure is made short: 0 to 100000; 0 leaves it as it is.")
    var shrinkRuns = 1_000
    @Option(help: ArgumentHelp("Where the replay of the first failure goes.", valueName: "file")) var save: String?
    @Option(help: ArgumentHelp("Run exactly what a replay file says, and nothing else.", valueName: "file"))
    var replay: String?

    func validate() throws {
        try check("--phones", self.phones, in: 2...1_000)
        try check("--hours", self.hours, in: 1...1_000)
        try check("--jobs", self.jobs, in: 1...64)
        try check("--shrink-runs", self.shrinkRuns, in: 0...100_000)
        guard WorldFaults(name: self.faults) != nil else {
            throw ValidationError("--faults must be none, default, harsh or swarm, got \"\(self.faults)\"")
        }
        guard self.seed == nil || self.seeds == nil else { throw ValidationError("give --seed or --seeds, not both") }
        guard self.replay == nil || self.seed == nil && self.seeds == nil && !self.untilFailure else {
            throw ValidationError(
                "--replay says itself what is run: give no --seed, --seeds or --until-failure with it")
        }
        if let save = self.save {
            let folder = URL(fileURLWithPath: save).deletingLastPathComponent().path
            guard FileManager.default.isWritableFile(atPath: folder) else {
                throw ValidationError("--save must be in a folder that can be written, got \"\(save)\"")
            }
        }
        _ = try self.range()
    }

    private func range() throws -> ClosedRange<UInt64> {
        guard let seeds = self.seeds else {
            let seed = self.seed ?? UInt64.random(in: 1...999_999)
            return seed...(self.untilFailure ? UInt64.max : seed)
        }
        let parts = seeds.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = UInt64(parts[0]), let last = UInt64(parts[1]), first <= last else {
            throw ValidationError("--seeds must be a range such as 1-200, got \"\(seeds)\"")
        }
        return first...last
    }

    func run() async throws {
        if let replay = self.replay { return try self.run(replay: replay) }
        let range = try self.range()
        var total = SimulateTotal()
        let runs = SimulateRuns(jobs: self.jobs, run: { [self] in self.run(seed: $0) })
        await ProgressLine.during("running seed \(range.lowerBound)") {
            await runs.each(in: range) { report, lines in
                for line in lines { print(line) }
                total.add(report)
                let state =
                    "\(counted(total.runs, "seed")) up to \(report.seed), \(counted(total.events, "event")), "
                    + counted(total.failed, "failure")
                if self.untilFailure, total.runs % 25 == 0 {
                    ProgressLine.tell(state)
                } else {
                    ProgressLine.update(state)
                }
                guard !report.violations.isEmpty else { return true }
                self.show(report)
                return !self.untilFailure
            }
        }
        if let failure = total.firstFailure {
            try await ProgressLine.during("making seed \(failure.seed) short") { try self.shorten(failure) }
        }
        let seeds = total.runs == 1 ? "seed \(range.lowerBound)" : "\(total.runs) seeds"
        print(
            "\(seeds), \(self.phones) phones, \(self.hours) h, faults \(self.faults): \(total.verdict)",
            total.failed == 0 ? .green : .red)
        total.lines.forEach { print($0) }
        print("trace hash: \(String(total.traceHash, radix: 16))")
        let missing = total.missing(with: WorldFaults(name: self.faults) ?? .default)
        if self.everyMark, !missing.isEmpty {
            print("never came to: \(missing.map(\.rawValue).joined(separator: ", "))")
            throw ExitCode(1)
        }
        guard total.failed == 0 else { throw ExitCode(1) }
    }

    private func options(seed: UInt64) -> WorldOptions {
        WorldOptions(
            seed: seed, phones: self.phones, hours: self.hours, faults: WorldFaults(name: self.faults) ?? .default)
    }

    private func run(seed: UInt64) -> (WorldReport, [TraceLine]) {
        let options = self.options(seed: seed)
        return self.trace ? World.trace(options) : (World.run(options), [])
    }
}

// MARK: A failure

extension Simulate {
    private func show(_ report: WorldReport) {
        print("seed \(report.seed) broke a promise:", .red)
        for violation in report.violations { print("  \(violation)") }
        print(
            "  again: tidings simulate --seed \(report.seed) --phones \(self.phones) --hours \(self.hours) "
                + "--faults \(self.faults) --trace")
    }

    /// Shrinks a failing run, shows what remains and saves it.
    private func shorten(_ report: WorldReport) throws {
        let options = self.options(seed: report.seed)
        var shortest = options
        let shrinker = Shrinker(
            options, report: report, runsMax: self.shrinkRuns, run: { World.run($0) },
            onProgress: { progress in
                guard progress.runs % 20 == 0 else { return }
                ProgressLine.tell(
                    "making seed \(report.seed) short: \(counted(progress.runs, "run")), "
                        + "\(counted(progress.events, "outside event")) left")
            })
        if var shrinker {
            shrinker.shrink()
            shortest = shrinker.options
            print(
                "made short in \(counted(shrinker.runs, "run")): \(shrinker.report.outside.count) of "
                    + "\(counted(report.outside.count, "outside event")), \(shortest.phones) phones, "
                    + "\(TraceLine.clock(shortest.duration)) until everything heals")
        }
        let (short, lines) = World.trace(shortest)
        Self.show(short, lines)
        let path = self.save ?? "simulate-\(report.seed).replay"
        let text = Replay(shortest, short).text(short, lines)
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw ValidationError("--save must be a file that can be written, got \"\(path)\": \(error)")
        }
        print("again: tidings simulate --replay \(path)")
    }

    /// The first broken promise, what came from outside, and the last lines of every party.
    private static func show(_ report: WorldReport, _ lines: [TraceLine]) {
        if let first = report.violations.first {
            let moment = first.at.map { "at \(TraceLine.clock($0))" } ?? "at the end"
            print("seed \(report.seed), first broken \(moment): \(first)")
        }
        print("what happened from outside:")
        for line in Replay.list(report, lines) { print("  \(line)") }
        print("the last lines of each party:")
        for line in TraceLine.last(12, of: lines, upTo: report.violations.first?.at) { print("  \(line)") }
    }

    private func run(replay path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ValidationError("--replay must be a file that can be read, got \"\(path)\"")
        }
        let replay: Replay
        do {
            replay = try Replay(parsing: try FileText.read(data, field: "text"))
        } catch {
            throw ValidationError("--replay \(path): \(error)")
        }
        let (report, lines) = World.trace(replay.options)
        if self.trace { for line in lines { print(line) } }
        Self.show(report, lines)
        print("trace hash: \(String(report.traceHash, radix: 16))")
        if let hash = replay.traceHash {
            print(hash == report.traceHash ? "the same trace as in the file" : "another trace than in the file")
        }
        guard report.violations.isEmpty else { throw ExitCode(1) }
        print("every promise held")
    }
}
