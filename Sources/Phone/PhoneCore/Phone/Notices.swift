import DequeModule
import TidingsModel

/// The notifications of all apps that the phone shows or holds, and what mutes them. Moments are monotonic milliseconds.
struct Notices: Equatable, Sendable {
    var list = NotificationList()
    var focus: Focus?
    var isMuted = false
    /// Minutes after midnight; empty is off.
    private(set) var summaryTimes: [Int] = []
    /// Newest last.
    private(set) var heldForSummary: [ListEntry] = []
    private(set) var summaryAt: Int64?
    /// The screen of a locked phone is lit.
    var litUntil: Int64?

    var nextDeadline: Int64 { min(self.list.banners.nextDeadline, self.summaryAt ?? .max, self.litUntil ?? .max) }

    mutating func expire(at now: Int64) {
        self.list.expireBanners(at: now)
        if let litUntil = self.litUntil, litUntil <= now { self.litUntil = nil }
    }

    func has(_ key: NotificationKey) -> Bool {
        self.list.has(key) || self.heldForSummary.contains { $0.key == key }
    }

    /// Newest first.
    func delivered(to app: BundleID) -> [DeliveredNotification] {
        (self.heldForSummary.reversed() + self.list.entries).filter { $0.app == app }.map(\.notification)
    }

    /// A notification replaces the last one of its name wherever that still shows or waits (ios-delivery.md §9).
    /// Returns whether an entry was removed.
    mutating func replace(_ key: NotificationKey, entryLeaves: Bool) -> Bool {
        let wasHeld = !self.takeHeld { $0.key == key }.isEmpty
        self.list.removeShown(key)
        return entryLeaves && self.list.removeEntry(key) || wasHeld
    }

    /// nil removes all of the app's.
    mutating func remove(app: BundleID, identifiers: [String]? = nil) {
        let goes = { (entry: ListEntry) in entry.app == app && (identifiers?.contains(entry.key.identifier) ?? true) }
        self.list.remove(where: goes)
        _ = self.takeHeld(where: goes)
    }

    // MARK: Scheduled summary

    mutating func changeSummaryTimes(_ times: [Int], _ now: Now, utcOffset: Int) {
        self.summaryTimes = times
        if !self.heldForSummary.isEmpty { self.summaryAt = self.nextSummary(now, utcOffset) }
    }

    mutating func moveSummary(by step: Int64) { self.summaryAt = self.summaryAt.map { $0 + step } }

    mutating func hold(_ entry: ListEntry, _ now: Now, _ settings: PhoneSettings) {
        self.heldForSummary.append(entry, limit: settings.listLimit)
        if self.summaryAt == nil { self.summaryAt = self.nextSummary(now, settings.utcOffsetMinutes) }
    }

    private func nextSummary(_ now: Now, _ utcOffset: Int) -> Int64? {
        CalendarMath.next(minutesOfDay: self.summaryTimes, after: now.wall, utcOffset: utcOffset).map(
            now.monotonic(wall:))
    }

    mutating func takeHeld(where goes: (ListEntry) -> Bool) -> [ListEntry] {
        let taken = self.heldForSummary.filter(goes)
        if !taken.isEmpty { self.heldForSummary.removeAll(where: goes) }
        if self.heldForSummary.isEmpty { self.summaryAt = nil }
        return taken
    }
}
