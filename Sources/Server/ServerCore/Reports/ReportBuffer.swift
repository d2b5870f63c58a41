import DequeModule
package import TidingsModel

/// Names a report among those of its app: the process, and how many reports of the app there had been. Each app has numbers of its own,
/// without gaps, so that they say nothing about others, and a reader's next one shows whether any is lost.
package struct ReportID: Hashable, Sendable, CustomStringConvertible {
    /// Drawn when the process opened its store.
    package var epoch: UInt64
    package var number: UInt64

    package init(epoch: UInt64, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }

    /// Nil for anything that is no `EPOCH-NUMBER`.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = UInt64(digits: parts[0]), let number = UInt64(digits: parts[1])
        else { return nil }
        self.init(epoch: epoch, number: number)
    }

    package var description: String { "\(self.epoch)-\(self.number)" }
}

/// The last reports of the process, for readers who come later, or come back.
package struct ReportBuffer: Sendable {
    package struct Entry: Hashable, Sendable {
        package var id: ReportID
        /// Wall milliseconds.
        package var at: Int64
        package var report: ServerReport
    }

    /// The place up to which a reader has read.
    package struct Cursor: Hashable, Sendable {
        package let app: AppID
        /// The last of the app's reports that was read, or passed over; 0 before the first.
        package fileprivate(set) var number: UInt64
        /// Where to look for the next one, counted over all reports.
        fileprivate var place: UInt64
    }

    package enum Page: Hashable, Sendable {
        /// Empty if there is nothing new that is asked for.
        case entries([Entry])
        /// The next entries are gone; the cursor stands at the end.
        case lost
    }

    private struct Kept: Sendable {
        let app: AppID
        let number: UInt64
        let at: Now
        let report: ServerReport
    }

    private struct AppReports: Sendable {
        /// How many there have been.
        var count: UInt64 = 0
        var statistics = AppStatistics()
        /// Nil for an app that is not in use, or has given way to others.
        var history: AppHistory?
        /// There was one before: what it told is gone.
        var hadHistory = false
    }

    /// An app's numbers now.
    package struct AppCounts: Hashable, Sendable {
        package var statistics: AppStatistics
        package var fiveMinutes: LatencyReport
        package var hour: LatencyReport
    }

    package static let lifetime: Int64 = 600_000
    package static let countMax = 100_000
    /// How many are looked at for one page, and told in it.
    package static let pageMax = 500
    /// Apps whose last hour is kept, each in some 130 kB.
    package static let historiesMax = 200

    private let epoch: UInt64
    private let countMax: Int
    private let historiesMax: Int
    private let begun: Now
    private var kept: Deque<Kept> = []
    /// How many were let go of before the first that is kept.
    private var forgotten: UInt64 = 0
    private var apps: [AppID: AppReports] = [:]
    private var histories = 0
    private var commits = CommitTimes()

    /// - Parameter begun: since when is counted.
    package init(
        epoch: UInt64, countMax: Int = Self.countMax, historiesMax: Int = Self.historiesMax,
        begun: Now = Now(monotonic: 0, wall: 0)
    ) {
        self.epoch = epoch
        self.countMax = countMax
        self.historiesMax = historiesMax
        self.begun = begun
    }

    private var end: UInt64 { self.forgotten + UInt64(self.kept.count) }

    package mutating func append(_ reports: [ServerReport], at now: Now) {
        for report in reports {
            guard let app = report.app else {
                // An app without reports and reader misses none.
                for app in self.apps.keys.sorted() { self.append(report, of: app, at: now) }
                continue
            }
            self.append(report, of: app, at: now)
        }
        self.forgetOld(at: now)
    }

    private mutating func append(_ report: ServerReport, of app: AppID, at now: Now) {
        let number = self.count(report, of: app, at: now)
        if self.kept.count >= self.countMax {
            self.kept.removeFirst()
            self.forgotten += 1
        }
        self.kept.append(Kept(app: app, number: number, at: now, report: report))
    }

    private mutating func count(_ report: ServerReport, of app: AppID, at now: Now) -> UInt64 {
        switch report {
        case .accepted(let id, _, _, _, _), .acceptedCustom(let id, _, _), .recalled(_, let id, _, _):
            self.commits.add(id, at: now)
        default: break  // tidy: nothing else is sent to devices
        }
        self.apps[app, default: AppReports()].statistics.add(report)
        self.apps[app]?.count += 1
        if report.app != nil { self.makeHistory(of: app, at: now) }
        let connections = self.apps[app]?.statistics.connections ?? 0
        self.apps[app]?.history?.add(report, connections: connections, self.commits, at: now)
        return self.apps[app]?.count ?? 0
    }

    package func statistics(of app: AppID) -> AppStatistics { self.apps[app]?.statistics ?? AppStatistics() }

    package mutating func counts(of app: AppID, at now: Now) -> AppCounts {
        let fiveMinutes = self.apps[app]?.history?.latency(ofMinutes: 5, at: now)
        let hour = self.apps[app]?.history?.latency(ofMinutes: 60, at: now)
        return AppCounts(
            statistics: self.statistics(of: app), fiveMinutes: fiveMinutes ?? LatencyReport(),
            hour: hour ?? LatencyReport())
    }

    // MARK: - History

    /// The app's last hour; of one that is not in use, an hour in which nothing was.
    package mutating func history(of app: AppID, at now: Now) -> HistoryReport {
        if let report = self.apps[app]?.history?.report(at: now) { return report }
        var empty = self.emptyHistory(of: app, at: now)
        return empty.report(at: now)
    }

    package var appHistories: [AppID: AppHistory] { self.apps.compactMapValues(\.history) }

    /// Takes up what the process before has saved, as far as it is of the last hour. Before anything is reported.
    package mutating func restore(_ saved: [AppID: AppHistory.Saved], at now: Now) {
        for app in saved.keys.sorted().prefix(self.historiesMax) {
            guard let history = saved[app].flatMap({ AppHistory($0, at: now) }) else { continue }
            self.apps[app] = AppReports(history: history, hadHistory: true)
            self.histories += 1
        }
    }

    /// Since the start, or from now on if the app's earlier one had to give way.
    private func emptyHistory(of app: AppID, at now: Now) -> AppHistory {
        AppHistory(at: self.apps[app]?.hadHistory == true ? now : self.begun)
    }

    /// How many pushes wait in the server and are with the APNs client: what is not named has none.
    package mutating func setQueues(_ queues: [AppID: PushQueueLength], at now: Now) {
        // tidy: order does not leave: each app has its own
        for app in self.apps.keys where self.apps[app]?.history != nil {
            let queue = queues[app] ?? PushQueueLength()
            self.apps[app]?.history?.setQueue(waiting: queue.waiting, inFlight: queue.inFlight, at: now)
        }
    }

    private mutating func makeHistory(of app: AppID, at now: Now) {
        guard self.apps[app]?.history == nil else { return }
        if self.histories >= self.historiesMax { self.dropHistories(at: now) }
        let empty = self.emptyHistory(of: app, at: now)
        self.apps[app]?.history = empty
        self.apps[app]?.hadHistory = true
        self.histories += 1
    }

    /// Drops the histories with nothing to tell, or the one used longest ago.
    private mutating func dropHistories(at now: Now) {
        // tidy: order does not leave: all that are forgotten go, or the first by time and name
        let known = self.apps.compactMap { app, reports in reports.history.map { (app, $0) } }
        var dropped = known.filter { $0.1.isForgotten(at: now) }.map(\.0)
        if dropped.isEmpty, let oldest = known.min(by: { ($0.1.usedAt, $0.0) < ($1.1.usedAt, $1.0) }) {
            dropped = [oldest.0]
        }
        // tidy: order does not leave: they all go
        for app in dropped { self.apps[app]?.history = nil }
        self.histories -= dropped.count
    }

    private mutating func forgetOld(at now: Now) {
        while let first = self.kept.first, now.monotonic - first.at.monotonic > Self.lifetime {
            self.kept.removeFirst()
            self.forgotten += 1
        }
    }

    package func id(of cursor: Cursor) -> ReportID { ReportID(epoch: self.epoch, number: cursor.number) }

    /// Behind everything there is. From now on the app has the server's own reports.
    package mutating func start(of app: AppID) -> Cursor {
        let reports = self.apps[app] ?? AppReports()
        self.apps[app] = reports
        return Cursor(app: app, number: reports.count, place: self.end)
    }

    /// Nil if it is not known, or what came after it is no longer kept.
    package mutating func cursor(after id: ReportID, of app: AppID, at now: Now) -> Cursor? {
        self.forgetOld(at: now)
        guard id.epoch == self.epoch, let count = self.apps[app]?.count, id.number <= count else { return nil }
        guard id.number < count else { return Cursor(app: app, number: count, place: self.end) }
        guard let index = self.kept.firstIndex(where: { $0.number == id.number + 1 && $0.app == app }) else {
            return nil
        }
        return Cursor(app: app, number: id.number, place: self.forgotten + UInt64(index))
    }

    package func hasMore(after cursor: Cursor) -> Bool { cursor.place < self.end }

    /// The next reports of these kinds, and moves the cursor behind what was looked at.
    package mutating func page(
        after cursor: inout Cursor, of kinds: Set<ServerReport.Kind>, at now: Now
    ) -> Page {
        self.forgetOld(at: now)
        let start = max(cursor.place, self.forgotten)
        let end = min(self.end, start + UInt64(Self.pageMax))
        var entries: [Entry] = []
        for place in start..<max(start, end) {
            let kept = self.kept[Int(place - self.forgotten)]
            guard kept.app == cursor.app else { continue }
            guard kept.number == cursor.number + 1 else { return self.lose(&cursor) }
            cursor.number = kept.number
            guard kinds.contains(kept.report.kind) else { continue }
            entries.append(
                Entry(
                    id: ReportID(epoch: self.epoch, number: kept.number), at: kept.at.wall, report: kept.report))
        }
        cursor.place = max(start, end)
        if cursor.place == self.end, self.apps[cursor.app]?.count ?? 0 > cursor.number { return self.lose(&cursor) }
        return .entries(entries)
    }

    private mutating func lose(_ cursor: inout Cursor) -> Page {
        cursor = self.start(of: cursor.app)
        return .lost
    }
}
