package import TidingsModel

/// Which of the legs that a search has come to are wanted. What is nil is not asked.
package struct LegFilter: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case open
        case ended
        /// The name of an end or of a wait; `quiet_hours` is both.
        case named(String)
        /// Open, and waiting for this.
        case waiting(LegWait)
    }

    package var user: UserID?
    package var device: DeviceID?
    package var state: State?
    /// Anywhere in the name of the end or wait, or in what the end's name leaves open; upper and lower case are one.
    package var reason: String?

    package init(user: UserID? = nil, device: DeviceID? = nil, state: State? = nil, reason: String? = nil) {
        self.user = user
        self.device = device
        self.state = state
        self.reason = reason
    }

    /// The names of all ends.
    package static let ends = [
        LegEnd.ownDevice, .noDevice, .signedOut, .disabled, .notNotifiable, .blocked, .settled(.shown), .readElsewhere,
        .recalled, .expired, .muted, .quietHours, .noToken, .tokenQuarantined(reason: "", status: 0),
        .accepted(apnsID: ""), .tokenDead(timestamp: 0), .rejected(reason: ""),
    ].map(\.name)

    package static let waits = LegWait.allCases.map(\.rawValue)

    package func admits(_ ended: EndedLeg) -> Bool {
        switch self.state {
        case .open?, .waiting?: return false
        case .named(let name)? where name != ended.end.name: return false
        case .named?, .ended?, nil: break
        }
        return self.admits(ended.leg) && self.admits([ended.end.name, ended.end.detail].compactMap(\.self))
    }

    package func admits(_ open: OpenLeg) -> Bool {
        switch self.state {
        case .ended?: return false
        case .named(let name)? where name != open.wait.rawValue: return false
        case .waiting(let wait)? where wait != open.wait: return false
        case .named?, .waiting?, .open?, nil: break
        }
        return self.admits(open.leg) && self.admits([open.wait.rawValue])
    }

    private func admits(_ leg: LegID) -> Bool {
        (self.user ?? leg.user.user) == leg.user.user && (self.device == nil || self.device == leg.device)
    }

    private func admits(_ words: [String]) -> Bool {
        guard let reason = self.reason?.lowercased() else { return true }
        return words.contains { $0.lowercased().contains(reason) }
    }
}
