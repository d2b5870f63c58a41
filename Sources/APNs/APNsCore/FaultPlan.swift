package import APNsModel
package import TidingsModel

/// The same plan and the same events make the same faults.
package struct FaultPlan: Hashable, Sendable {
    package var seed: UInt64
    /// Asked in this order.
    package var rules: [FaultRule]

    package init(seed: UInt64 = 0, rules: [FaultRule] = []) {
        self.seed = seed
        self.rules = rules
    }

    package init(_ first: Fault, _ more: Fault...) {
        self.init(rules: ([first] + more).map { FaultRule($0) })
    }

    package static let rulesMax = 1_000
}

package struct FaultRule: Hashable, Sendable {
    package var fault: Fault
    /// In so many of 1,000 cases, 1 to 1,000.
    package var perMille = 1_000
    /// So many matching cases are spared first, 0 or more.
    package var after = 0
    /// After so many faults the rule has ended, 1 or more; nil for never.
    package var count: Int?
    /// For broadcasts and channels the bundle identifier.
    package var topic: String?
    package var token: PushToken?

    package init(
        _ fault: Fault, perMille: Int = 1_000, after: Int = 0, count: Int? = nil, topic: String? = nil,
        token: PushToken? = nil
    ) {
        self.fault = fault
        self.perMille = perMille
        self.after = after
        self.count = count
        self.topic = topic
        self.token = token
    }
}

/// Faults of requests happen to those that passed every check (APNs reference, section 20, step 7), but for
/// `clockSkew`, which happens to every request with a readable provider token.
package enum Fault: Hashable, Sendable {
    case respond(status: Int, APNsReason, retryAfter: Int64?)
    /// With several rules the sum.
    case delay(milliseconds: Int64)
    case loseAnswer
    /// Reads and writes nothing more; the request is lost.
    case blackHole
    case resetStream(code: UInt32)
    /// End the request's stream as never processed (RFC 9113, section 8.7).
    case refuseStream
    case goAway(debug: GoAwayDebug, lastStream: GoAwayStream)
    /// The request is lost.
    case cut
    case tlsAlert(TLSAlert)
    /// Before TLS.
    case refuseConnect
    /// The usual limit comes back after so many further requests of the connection; nil for never.
    case streamLimit(Int, requests: Int?)
    case clockSkew(seconds: Int64)
    case outage

    /// APNs reference, section 3.3.
    package enum GoAwayDebug: Hashable, Sendable {
        /// `{"reason":"…"}`.
        case reason(APNsReason)
        /// Plain text, with error code 7 as Apple's "Maximum active streams violated for this endpoint.".
        case text(String)
        case empty
    }

    package enum GoAwayStream: String, Hashable, Sendable, CaseIterable, Codable {
        case current
        case previous
    }

    enum Occasion: Hashable, Sendable {
        case arrival
        case token
        case request
    }

    var occasion: Occasion {
        switch self {
        case .tlsAlert, .refuseConnect, .outage: .arrival
        case .clockSkew: .token
        case .respond, .delay, .loseAnswer, .blackHole, .resetStream, .refuseStream, .goAway, .cut, .streamLimit:
            .request
        }
    }
}
