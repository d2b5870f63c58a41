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
        guard parts.count == 2, let epoch = UInt64(parts[0]), let number = UInt64(parts[1]) else { return nil }
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

    /// How far somebody has read.
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
        /// What comes next is gone; the cursor stands at the end.
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
    }

    package static let lifetime: Int64 = 600_000
    package static let countMax = 100_000
    /// How many are looked at for one page, and told in it.
    package static let pageMax = 500

    private let epoch: UInt64
    private let countMax: Int
    private var kept: Deque<Kept> = []
    /// How many were let go of before the first that is kept.
    private var forgotten: UInt64 = 0
    private var apps: [AppID: AppReports] = [:]

    package init(epoch: UInt64, countMax: Int = Self.countMax) {
        self.epoch = epoch
        self.countMax = countMax
    }

    private var end: UInt64 { self.forgotten + UInt64(self.kept.count) }

    package mutating func append(_ reports: [ServerReport], at now: Now) {
        for report in reports {
            guard let app = report.app else {
                // Whoever has no reports yet and no reader, misses none.
                for app in self.apps.keys.sorted() { self.append(report, of: app, at: now) }
                continue
            }
            self.append(report, of: app, at: now)
        }
        self.forgetOld(at: now)
    }

    private mutating func append(_ report: ServerReport, of app: AppID, at now: Now) {
        let number = self.count(report, of: app)
        if self.kept.count >= self.countMax {
            self.kept.removeFirst()
            self.forgotten += 1
        }
        self.kept.append(Kept(app: app, number: number, at: now, report: report))
    }

    private mutating func count(_ report: ServerReport, of app: AppID) -> UInt64 {
        self.apps[app, default: AppReports()].statistics.add(report)
        self.apps[app]?.count += 1
        return self.apps[app]?.count ?? 0
    }

    package func statistics(of app: AppID) -> AppStatistics { self.apps[app]?.statistics ?? AppStatistics() }

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
