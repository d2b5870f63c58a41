import TidingsModel

/// What the person set for all apps' notifications, and what waits to be shown.
struct NoticeState: Equatable, Sendable {
    var focus: Focus?
    /// Minutes after midnight; empty is off.
    var summaryTimes: [Int] = []
    /// The ring/silent switch.
    var isMuted = false
    /// Newest last.
    var heldForSummary: [ListEntry] = []
    /// Until when a notification lights up the locked screen, in monotonic milliseconds; nil if none does.
    var litUntil: Int64?
    /// When what is held is shown, in monotonic milliseconds.
    var summaryAt: Int64?

    /// Keeps an entry as the newest; beyond the limit an app's oldest ones leave.
    mutating func hold(_ entry: ListEntry, limit: Int) {
        self.heldForSummary.append(entry)
        let isOfApp = { (held: ListEntry) in held.app == entry.app }
        guard self.heldForSummary.count(where: isOfApp) > limit,
            let oldest = self.heldForSummary.firstIndex(where: isOfApp)
        else { return }
        self.heldForSummary.remove(at: oldest)
    }

    /// Takes out the entry of a name.
    ///
    /// - Returns: whether there was one.
    mutating func remove(_ key: NotificationKey) -> Bool {
        guard let place = self.heldForSummary.firstIndex(where: { $0.key == key }) else { return false }
        self.heldForSummary.remove(at: place)
        if self.heldForSummary.isEmpty { self.summaryAt = nil }
        return true
    }

    /// Takes out what is held for an app with the identifiers, or all of it.
    mutating func remove(app: BundleID, identifiers: [String]?) {
        self.heldForSummary.removeAll {
            $0.app == app && (identifiers?.contains($0.key.identifier) ?? true)
        }
        if self.heldForSummary.isEmpty { self.summaryAt = nil }
    }
}
