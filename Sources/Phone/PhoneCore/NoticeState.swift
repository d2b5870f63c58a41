struct NoticeState: Equatable, Sendable {
    var focus: Focus?
    /// Minutes after midnight; empty is off.
    var summaryTimes: [Int] = []
    var isMuted = false
    /// Newest last.
    var heldForSummary: [ListEntry] = []
    /// Monotonic milliseconds.
    var litUntil: Int64?
    /// Monotonic milliseconds.
    var summaryAt: Int64?

    /// Beyond the limit an app's oldest entry leaves.
    mutating func holdForSummary(_ entry: ListEntry, limit: Int) {
        self.heldForSummary.append(entry)
        let isOfApp = { (held: ListEntry) in held.app == entry.app }
        guard self.heldForSummary.count(where: isOfApp) > limit,
            let oldest = self.heldForSummary.firstIndex(where: isOfApp)
        else { return }
        self.heldForSummary.remove(at: oldest)
    }

    /// Returns whether there was one.
    mutating func remove(_ key: NotificationKey) -> Bool {
        guard let place = self.heldForSummary.firstIndex(where: { $0.key == key }) else { return false }
        self.heldForSummary.remove(at: place)
        if self.heldForSummary.isEmpty { self.summaryAt = nil }
        return true
    }

    /// nil removes all of the app.
    mutating func remove(app: BundleID, identifiers: [String]?) {
        self.heldForSummary.removeAll { $0.app == app && (identifiers?.contains($0.key.identifier) ?? true) }
        if self.heldForSummary.isEmpty { self.summaryAt = nil }
    }
}
