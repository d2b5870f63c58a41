import TidingsModel

/// The shell reads the time-zone database, since a core has none. `facts` is nil if they are not known yet, or there
/// is no such zone.
struct Zone: Hashable, Sendable {
    var name: String
    var facts: TimeZoneFacts?
    var isKnown = false
}

// In quiet hours a message in the background is left to the server's push, which rings when they are over, or never, as the
// person wants it (docs/server/push-policy.md). A notification without a ring would not be the same: before iOS 15 none is passive, and
// its banner lights up the screen.
extension ClientCore {
    mutating func needZone(into effects: inout [ClientEffect]) {
        guard let name = self.preferences.current.person.quietHours?.timeZone, name != self.zone?.name else { return }
        self.zone = Zone(name: name)
        effects.append(.readTimeZone(name))
    }

    /// By the server's clock. As long as the zone is not known the answer is yes, as for the server; where there is
    /// no such zone it is no.
    func isQuiet(at now: Now) -> Bool {
        guard let hours = self.preferences.current.person.quietHours else { return false }
        guard let zone = self.zone, zone.name == hours.timeZone, zone.isKnown else { return true }
        return zone.facts.map { hours.end(at: self.wall(at: now), in: $0) != nil } ?? false
    }
}
