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

    /// Per 1,000 requests; for `tlsAlert` and `refuseConnect` per 1,000 arriving connections, for `outage` per 1,000
    /// notifications that were sent and ended.
    var perMille: Int {
        switch self {
        case .cut, .loseAnswer, .goAwayReason, .goAwayText, .goAwayEmpty, .resetStream, .expireToken,
            .serviceUnavailable, .shutdown:
            10
        case .refuseStream, .tooManyRequests, .internalServerError: 20
        case .delay: 50
        case .tlsAlert, .refuseConnect: 100
        case .blackHole, .outage: 8
        }
    }

    private var rule: FaultRule {
        let fault: Fault =
            switch self {
            case .cut: .cut
            case .loseAnswer: .loseAnswer
            // Sent while the request and others wait for their answers.
            case .goAwayReason: .goAway(debug: .reason(.idleTimeout), lastStream: .current)
            case .goAwayText:
                .goAway(
                    debug: .text("Maximum active streams violated for this endpoint."), lastStream: .previous)
            case .goAwayEmpty: .goAway(debug: .empty, lastStream: .current)
            case .refuseStream: .refuseStream
            // INTERNAL_ERROR (RFC 9113, section 7).
            case .resetStream: .resetStream(code: 2)
            // Two hours ahead: every token has expired.
            case .expireToken: .clockSkew(seconds: 7_200)
            case .tooManyRequests: .respond(status: 429, .tooManyRequests, retryAfter: nil)
            case .internalServerError: .respond(status: 500, .internalServerError, retryAfter: nil)
            case .serviceUnavailable: .respond(status: 503, .serviceUnavailable, retryAfter: nil)
            case .shutdown: .respond(status: 503, .shutdown, retryAfter: nil)
            case .delay: .delay(milliseconds: 20)
            case .blackHole: .blackHole
            // What a server in trouble sends; others stop the client until somebody has put them right.
            case .tlsAlert: .tlsAlert(.internalError)
            case .refuseConnect: .refuseConnect
            case .outage: .outage
            }
        // An outage holds while it is in the plan: it is over when two connections were turned away.
        return self == .outage ? FaultRule(fault, count: 2) : FaultRule(fault, perMille: self.perMille)
    }

    /// The line in the simulator's log; nil if it has none of its own.
    var line: ChaosLine? {
        switch self {
        case .cut: .faulted("cut")
        case .loseAnswer: .answerLost
        case .goAwayText: .faulted("goaway")
        case .refuseStream: .faulted("refuse_stream")
        case .resetStream: .faulted("reset_stream")
        case .expireToken: .refused(.expiredProviderToken)
        case .tooManyRequests: .refused(.tooManyRequests)
        case .internalServerError: .refused(.internalServerError)
        case .serviceUnavailable: .refused(.serviceUnavailable)
        case .shutdown: .refused(.shutdown)
        case .blackHole: .faulted("black_hole")
        // The request is accepted, and logged as that; or there is none.
        case .goAwayReason, .goAwayEmpty, .delay, .tlsAlert, .refuseConnect, .outage: nil
        }
    }

    /// The client's counter for this fault alone (docs/metrics.md, `apns.client.faults`); nil if it is counted by
    /// connections or not at all.
    var counter: String? {
        switch self {
        case .refuseStream: "stream_refused"
        case .resetStream: "stream_reset"
        case .expireToken: APNsReason.expiredProviderToken.name
        case .tooManyRequests: APNsReason.tooManyRequests.name
        case .internalServerError: APNsReason.internalServerError.name
        case .serviceUnavailable: APNsReason.serviceUnavailable.name
        case .shutdown: APNsReason.shutdown.name
        case .cut, .loseAnswer, .goAwayReason, .goAwayText, .goAwayEmpty, .delay, .blackHole, .tlsAlert, .refuseConnect,
            .outage:
            nil
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
