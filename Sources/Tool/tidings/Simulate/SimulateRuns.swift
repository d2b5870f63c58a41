import TidingsModel
import World

/// Runs worlds side by side and hands out their reports in the order of their seeds.
struct SimulateRuns: Sendable {
    var jobs: Int
    var run: @Sendable (UInt64) -> (WorldReport, [TraceLine])

    /// - Parameter handle: gets one report after the other in the order of the seeds; false stops.
    func each(in seeds: ClosedRange<UInt64>, handle: (WorldReport, [TraceLine]) -> Bool) async {
        let run = self.run
        await withTaskGroup { (group: inout TaskGroup<(UInt64, WorldReport, [TraceLine])>) in
            var next: UInt64? = seeds.lowerBound
            var due = seeds.lowerBound
            var waiting: [UInt64: (WorldReport, [TraceLine])] = [:]
            func start() {
                guard let seed = next else { return }
                next = seed < seeds.upperBound ? seed + 1 : nil
                group.addTask {
                    let (report, lines) = run(seed)
                    return (seed, report, lines)
                }
            }
            for _ in 0..<self.jobs { start() }
            while let (seed, report, lines) = await group.next() {
                waiting[seed] = (report, lines)
                while let (report, lines) = waiting.removeValue(forKey: due) {
                    guard handle(report, lines) else { return }
                    due &+= 1
                }
                start()
            }
        }
    }
}

struct SimulateTotal {
    private(set) var runs = 0
    private(set) var events = 0
    private(set) var failed = 0
    private(set) var firstFailure: WorldReport?
    /// The hash of one run's trace; of several one over theirs, in the order in which they were added.
    var traceHash: UInt64 { self.runs == 1 ? self.lastHash : self.hash.value }
    private var hash = FNV1a()
    private var lastHash: UInt64 = 0
    private var marks = WorldMarks()
    private var acknowledged = 0
    private var pushes = 0
    private var rings = 0
    private var crashes = 0
    private var broken = 0
    private var eventsMin = Int.max
    private var crashesMin = Int.max

    mutating func add(_ report: WorldReport) {
        self.runs += 1
        self.hash.feed(report.traceHash)
        self.lastHash = report.traceHash
        self.events += report.events
        self.acknowledged += report.acknowledged
        self.pushes += report.pushes
        self.rings += report.rings
        self.crashes += report.crashes
        self.broken += report.broken
        self.eventsMin = min(self.eventsMin, report.events)
        self.crashesMin = min(self.crashesMin, report.crashes)
        self.marks.add(report.marks)
        guard !report.violations.isEmpty else { return }
        self.failed += 1
        if self.firstFailure == nil { self.firstFailure = report }
    }

    /// Marks that are possible with these faults, and that no run has reached.
    func missing(with faults: WorldFaults) -> [WorldMark] {
        WorldMark.allCases.filter { $0.isPossible(with: faults) && self.marks[$0] == 0 }
    }

    var verdict: String {
        self.failed == 0 ? "every promise held" : "\(self.failed) of \(self.runs) runs broke a promise"
    }

    /// A table of what happened and of the situations that the runs came to, without what never did.
    var lines: [String] {
        func least(_ count: Int) -> String { self.runs > 1 ? " (each run \(count) at least)" : "" }
        let totals = [
            (self.events, "events" + least(self.eventsMin)), (self.acknowledged, "messages acknowledged"),
            (self.pushes, "pushes"), (self.rings, "rings"),
            (self.crashes, "server crashes" + least(self.crashesMin)), (self.broken, "broken connections"),
        ]
        let marks = WorldMark.allCases.map { (self.marks[$0], $0.rawValue) }
        let rows = (totals + marks).filter { $0.0 != 0 }.map { ["\($0.0)", $0.1] }
        let reached = marks.count { $0.0 != 0 }
        return TextTable.lines([["count", "what"]] + rows, numbers: [0])
            + ["came to \(reached) of \(marks.count) situations"]
    }
}
