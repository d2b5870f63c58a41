import APNsCore
import APNsModel

/// What goes wrong in the chaos, one row of its table each.
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

    /// In so many of 1,000 requests.
    var perMille: Int {
        switch self {
        case .cut, .loseAnswer, .goAwayReason, .goAwayText, .goAwayEmpty, .resetStream, .expireToken,
            .serviceUnavailable, .shutdown:
            10
        case .refuseStream, .tooManyRequests, .internalServerError: 20
        case .delay: 50
        case .blackHole: 1
        }
    }

    /// How often it strikes at most; nil for any number. Each silent connection keeps what is on it for seconds, until
    /// the client has noticed.
    private func countMax(_ notifications: Int) -> Int? {
        self == .blackHole ? 1 + notifications / 10_000 : nil
    }

    /// Whether `--at-least` speaks of it.
    var isNamed: Bool { self != .blackHole }

    /// The rule of the simulator's plan for so many notifications.
    private func rule(_ notifications: Int) -> FaultRule {
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
            }
        return FaultRule(fault, perMille: self.perMille, count: self.countMax(notifications))
    }

    /// The line it leaves in the simulator's log; nil if it leaves none of its own.
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
        // The request is accepted, and logged as that.
        case .goAwayReason, .goAwayEmpty, .delay: nil
        }
    }

    /// The client's counter for it alone (docs/metrics.md, `apns.client.faults`); nil for what it counts by connections
    /// or not at all.
    var counter: String? {
        switch self {
        case .refuseStream: "stream_refused"
        case .resetStream: "stream_reset"
        case .expireToken: APNsReason.expiredProviderToken.name
        case .tooManyRequests: APNsReason.tooManyRequests.name
        case .internalServerError: APNsReason.internalServerError.name
        case .serviceUnavailable: APNsReason.serviceUnavailable.name
        case .shutdown: APNsReason.shutdown.name
        case .cut, .loseAnswer, .goAwayReason, .goAwayText, .goAwayEmpty, .delay, .blackHole: nil
        }
    }

    /// All of them, in their order, drawn from a seed.
    static func plan(seed: UInt64, notifications: Int) -> FaultPlan {
        FaultPlan(seed: seed, rules: Self.allCases.map { $0.rule(notifications) })
    }
}

/// A line of the simulator's log that says what became of a request; what follows acceptance is left out.
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
