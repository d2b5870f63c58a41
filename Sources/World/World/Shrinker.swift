/// Makes a failing run short: leaves out what happens from outside, time and phones as long as the same promise
/// breaks.
package struct Shrinker {
    package struct Progress: Hashable, Sendable {
        package var runs: Int
        package var events: Int
    }

    package private(set) var options: WorldOptions
    package private(set) var report: WorldReport
    package private(set) var runs = 0
    private let promise: String
    private let runsMax: Int
    private let run: (WorldOptions) -> WorldReport
    private let onProgress: (Progress) -> Void

    /// Nil if no promise was broken. `onProgress` is called after every run.
    package init?(
        _ options: WorldOptions, report: WorldReport, runsMax: Int, run: @escaping (WorldOptions) -> WorldReport,
        onProgress: @escaping (Progress) -> Void = { _ in }
    ) {
        guard let first = report.violations.first else { return nil }
        self.options = options
        self.report = report
        self.promise = first.promise
        self.runsMax = runsMax
        self.run = run
        self.onProgress = onProgress
    }

    package mutating func shrink() {
        self.shortenTime()
        self.leaveOutEvents()
        self.leaveOutPhones()
        self.shortenTime()
        self.leaveOutEvents()
    }

    /// Takes the options if the run still breaks the same promise first.
    private mutating func accept(_ change: (inout WorldOptions) -> Void) -> Bool {
        guard self.runs < self.runsMax else { return false }
        var options = self.options
        change(&options)
        guard options != self.options else { return false }
        self.runs += 1
        let report = self.run(options)
        let breaks = report.violations.first?.promise == self.promise
        if breaks {
            self.options = options
            self.report = report
        }
        self.onProgress(Progress(runs: self.runs, events: self.report.outside.count))
        return breaks
    }

    /// Everything heals earlier: just after the violation or the last outside event, else after half the time, again
    /// and again.
    private mutating func shortenTime() {
        let second: Int64 = 1_000
        for end in [self.report.violations.first?.at, self.report.outside.last?.at] {
            guard let end, end + second < self.options.duration else { continue }
            _ = self.accept { $0.duration = end + second }
        }
        while self.options.duration > 120 * second, self.accept({ $0.duration /= 2 }) {}
    }

    /// Delta debugging: leaves out halves, quarters and so on, down to single events, until none can be spared.
    private mutating func leaveOutEvents() {
        let all = Set(self.report.outside.map(\.event))
        if self.options.kept == nil { _ = self.accept { $0.kept = all } }
        var size = max(1, self.report.outside.count / 2)
        while self.runs < self.runsMax {
            let sparedSome = self.leaveOutChunks(of: size)
            guard size > 1 || sparedSome || self.leaveOutPair() else { return }
            size = max(1, size / 2)
        }
    }

    /// Two that need each other, such as putting the app away and opening it again; of a few only, since there are
    /// many pairs.
    private mutating func leaveOutPair() -> Bool {
        let events = self.report.outside.map(\.event)
        guard events.count <= Self.pairsMax else { return false }
        for (index, first) in events.enumerated() {
            for second in events[(index + 1)...] {
                if self.accept({ $0.kept = Set(events).subtracting([first, second]) }) { return true }
            }
        }
        return false
    }

    private static let pairsMax = 24

    /// The last chunk first: what led to a violation comes late.
    private mutating func leaveOutChunks(of size: Int) -> Bool {
        var sparedSome = false
        var end = self.report.outside.count
        while end > 0, self.runs < self.runsMax {
            let all = self.report.outside
            end = min(end, all.count)
            let start = max(0, end - size)
            let rest = all[..<start] + all[end...]
            if self.accept({ $0.kept = Set(rest.map(\.event)) }) { sparedSome = true }
            end = start
        }
        return sparedSome
    }

    /// The phones with the highest numbers go, as long as nothing happens to them.
    private mutating func leaveOutPhones() {
        let used = self.report.outside.compactMap(\.event.stream.phone).max() ?? 0
        for count in [2, used + 1] where count >= 2 && count < self.options.phones {
            if self.accept({ $0.phones = count }) { return }
        }
    }
}
