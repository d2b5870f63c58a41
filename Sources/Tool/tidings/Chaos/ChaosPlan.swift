import APNsCore
import APNsModel

enum ChaosFault: String, CaseIterable {
    case cut
    case loseAnswer = "lose_answer"
    case goAwayReason = "goaway (JSON)"
    case goAwayText = "goaway (text)"
    case goAwayEmpty = "goaway (empty)"
    case refuseStream = "refuse_stream"
    case resetStream = "reset_stream"
    case expireToken = "expire_token"
    case tooManyRequests = "429 TooManyRequests"
    case internalServerError = "500 InternalServerError"
    case serviceUnavailable = "503 ServiceUnavailable"
    case shutdown = "503 Shutdown"
    case delay
    case blackHole = "black_hole"
    case tlsAlert = "tls_alert"
    case refuseConnect = "refuse_connect"
    case outage

    /// A fault, and the line that it leaves behind.
    private struct Row {
        var perMille: Int
        var fault: Fault
        var line: ChaosLine?

        init(_ perMille: Int, _ fault: Fault, _ line: ChaosLine? = nil) {
            (self.perMille, self.fault, self.line) = (perMille, fault, line)
        }

        static func respond(_ perMille: Int, _ status: Int, _ reason: APNsReason) -> Self {
            Self(perMille, .respond(status: status, reason, retryAfter: nil), .refused(reason))
        }
    }

    private var row: Row {
        switch self {
        case .cut: Row(10, .cut, .faulted("cut"))
        case .loseAnswer: Row(10, .loseAnswer, .answerLost)
        // Sent while the request and others wait for their answers; the request is accepted, and logged as that.
        case .goAwayReason: Row(10, .goAway(debug: .reason(.idleTimeout), lastStream: .current))
        case .goAwayText:
            Row(
                10,
                .goAway(debug: .text("Maximum active streams violated for this endpoint."), lastStream: .previous),
                .faulted("goaway"))
        case .goAwayEmpty: Row(10, .goAway(debug: .empty, lastStream: .current))
        case .refuseStream: Row(20, .refuseStream, .faulted("refuse_stream"))
        // INTERNAL_ERROR (RFC 9113, section 7).
        case .resetStream: Row(10, .resetStream(code: 2), .faulted("reset_stream"))
        // Two hours ahead: every token has expired.
        case .expireToken: Row(10, .clockSkew(seconds: 7_200), .refused(.expiredProviderToken))
        case .tooManyRequests: .respond(20, 429, .tooManyRequests)
        case .internalServerError: .respond(20, 500, .internalServerError)
        case .serviceUnavailable: .respond(10, 503, .serviceUnavailable)
        case .shutdown: .respond(10, 503, .shutdown)
        case .delay: Row(50, .delay(milliseconds: 20))
        case .blackHole: Row(8, .blackHole, .faulted("black_hole"))
        // What a server in trouble sends; other alerts stop the client until an operator has acted.
        case .tlsAlert: Row(100, .tlsAlert(.internalError))
        case .refuseConnect: Row(100, .refuseConnect)
        case .outage: Row(8, .outage)
        }
    }

    /// Per 1,000 requests; for `tlsAlert` and `refuseConnect` per 1,000 arriving connections, for `outage` per 1,000
    /// notifications that were sent and ended.
    var perMille: Int { self.row.perMille }

    /// An outage holds while it is in the plan: it is over when two connections were turned away.
    private var rule: FaultRule {
        self == .outage ? FaultRule(.outage, count: 2) : FaultRule(self.row.fault, perMille: self.perMille)
    }

    /// The line in the simulator's log; nil if it has none of its own.
    var line: ChaosLine? { self.row.line }

    /// The client's counter for this fault alone (docs/server/metrics.md, `apns.client.faults`); nil if it is counted by connections
    /// or not at all.
    var counter: String? {
        switch self.line {
        case .refused(let reason)?: reason.name
        case .faulted("refuse_stream")?: "stream_refused"
        case .faulted("reset_stream")?: "stream_reset"
        case .accepted?, .answerLost?, .faulted?, nil: nil
        }
    }

    /// All rules in order, the outage last. `outages` counts those that have begun, including this one; 0 for a plan
    /// without one.
    static func plan(seed: UInt64, outages: Int) -> FaultPlan {
        // Each plan starts its dice afresh; by another number than the dice step by, or they would come to the same faces.
        let seed = seed &+ UInt64(outages) &* 0x2545_f491_4f6c_dd1d
        return FaultPlan(
            seed: seed, rules: Self.allCases.filter { outages > 0 || $0 != .outage }.map(\.rule))
    }
}

/// A line of the simulator's log about a request; what follows acceptance is left out.
enum ChaosLine: Hashable, Sendable {
    case accepted
    case answerLost
    case refused(APNsReason)
    case faulted(String)

    init?(_ event: DeliveryLogEntry.Event) {
        switch event {
        case .accepted: self = .accepted
        case .answerLost: self = .answerLost
        case .refused(let reason, _): self = .refused(reason)
        case .faulted(let fault): self = .faulted(fault)
        case .stored, .held, .overwritten, .sent, .delivered, .returned, .duplicated, .discarded: return nil
        }
    }
}
