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
    /// When what is held is shown, in monotonic milliseconds.
    var summaryAt: Int64?

    /// Takes out what is held for an app with the identifiers, or all of it.
    mutating func remove(app: BundleID, identifiers: [String]?) {
        self.heldForSummary.removeAll {
            $0.app == app && (identifiers?.contains($0.key.identifier) ?? true)
        }
        if self.heldForSummary.isEmpty { self.summaryAt = nil }
    }
}
