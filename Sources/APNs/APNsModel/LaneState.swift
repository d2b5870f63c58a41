/// The state of an APNs client's sending: all requests of its credential, or those of one topic. Only the client decides it
/// (docs/inside/decisions/0026-one-judge-of-apns.md).
package enum LaneState: Hashable, Sendable {
    case usable
    /// The client reports the next state by itself.
    case paused(LaneOutage)
    /// One request is to find out whether the outage is over; the others are to wait for the next report.
    case probeDue(LaneOutage)

    package var outage: LaneOutage? {
        switch self {
        case .usable: nil
        case .paused(let outage), .probeDue(let outage): outage
        }
    }

    package static func worst(of states: some Sequence<LaneState>) -> LaneState {
        var worst = LaneState.usable
        for state in states {
            switch (worst, state) {
            case (.usable, _), (.probeDue, .paused): worst = state
            case (.probeDue, .usable), (.probeDue, .probeDue), (.paused, _): break
            }
        }
        return worst
    }
}

package struct LaneOutage: Hashable, Sendable {
    package enum Cause: String, Hashable, Sendable, CaseIterable {
        /// APNs cannot be reached.
        case connection
        /// Credential, topic or trust are at fault, and an operator has to act.
        case credential
        /// APNs answers with its own faults, or not at all.
        case provider
    }

    package var cause: Cause
    /// Apple's word where there is one.
    package var reason: String

    package init(_ cause: Cause, reason: String) {
        self.cause = cause
        self.reason = reason
    }
}
