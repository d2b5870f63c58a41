import APNsCore
import APNsModel

package enum APNsFault: String, Hashable, Sendable, CaseIterable {
    /// 503 `ServiceUnavailable`.
    case unavailable
    /// 500 `InternalServerError`.
    case serverError
    /// Pushes are accepted, and the connection is cut instead of the answer.
    case lostAnswers
    /// Answers come 20 seconds late.
    case lateAnswers
    /// 429 `TooManyRequests`.
    case throttle
    /// 503 `Shutdown`, and GOAWAY.
    case shutdown
    /// 400 `BadDeviceToken` for two pushes, as if the app were built for Apple's other environment.
    case wrongEnvironment
    case outage
    /// Before the answer to each push.
    case goAway
    /// Instead of the answer: the push was not processed.
    case goAwayUnprocessed
    case cut
    case silence
    /// RST_STREAM instead of an answer.
    case resetStreams
    /// RST_STREAM with REFUSED_STREAM.
    case refusedStreams
    case refusedConnections
    /// TLS finds no common version or cipher.
    case brokenHandshakes
    case oneStream
    /// Apple's clock is 50 minutes ahead: it takes provider tokens for expired.
    case expiredTokens
    case noName
    case noAnswer

    var plan: FaultPlan {
        switch self {
        case .unavailable: FaultPlan(.respond(status: 503, .serviceUnavailable, retryAfter: nil))
        case .serverError: FaultPlan(.respond(status: 500, .internalServerError, retryAfter: nil))
        case .lostAnswers: FaultPlan(.loseAnswer)
        case .lateAnswers: FaultPlan(.delay(milliseconds: 20_000))
        case .throttle: FaultPlan(.respond(status: 429, .tooManyRequests, retryAfter: nil))
        case .shutdown: FaultPlan(.respond(status: 503, .shutdown, retryAfter: nil))
        case .wrongEnvironment:
            FaultPlan(rules: [FaultRule(.respond(status: 400, .badDeviceToken, retryAfter: nil), count: 2)])
        case .outage: FaultPlan(.outage)
        case .goAway: FaultPlan(.goAway(debug: .reason(.idleTimeout), lastStream: .current))
        case .goAwayUnprocessed: FaultPlan(.goAway(debug: .empty, lastStream: .previous))
        case .cut: FaultPlan(.cut)
        case .silence: FaultPlan(.blackHole)
        // INTERNAL_ERROR (RFC 9113, section 7).
        case .resetStreams: FaultPlan(.resetStream(code: 2))
        case .refusedStreams: FaultPlan(.refuseStream)
        case .refusedConnections: FaultPlan(.refuseConnect)
        // Existing connections are cut, so that the client connects anew.
        case .brokenHandshakes: FaultPlan(.cut, .tlsAlert(.handshakeFailure))
        case .oneStream: FaultPlan(.streamLimit(1, requests: nil))
        case .expiredTokens: FaultPlan(.clockSkew(seconds: 3_000))
        case .noName, .noAnswer: FaultPlan()
        }
    }
}

extension World {
    mutating func maybeBreakAPNs() {
        guard !self.hasHealed else { return }
        self.plan(.chanceOfAPNsFault, after: 60_000)
        self.beginDraw(of: .apns)
        guard self.chance.chance(perMille: self.options.faults.apns), self.happens(),
            let fault = self.drawn(self.options.faults.apnsFaults)
        else { return }
        self.appendTrace("apns fault \(fault.rawValue)")
        switch fault {
        case .throttle: self.emit(.reached(.throttles))
        case .shutdown: self.emit(.reached(.shutdowns))
        case .wrongEnvironment: self.emit(.wrongEnvironment)
        default: break  // tidy: the others are counted as they are injected
        }
        self.plan(.apnsFault(fault), after: 0)
        let length = self.chance.number(5_000...90_000)
        self.plan(.apnsFault(nil), after: length)
        self.apnsOutage.goOn(with: fault, from: self.time, for: length)
        self.emit(.held(until: self.apnsOutage.heldUntil + self.connectingTime, on: nil))
    }

    mutating func setAPNsFault(_ fault: APNsFault?) {
        self.apnsFault = fault
        self.handle(APNsService.Event.faultsChanged(fault?.plan ?? FaultPlan()))
    }
}

/// An outage at Apple, one fault after the other, and until when that may hold up what has to ring
/// (docs/inside/simulation-checks.md, "When Apple has an outage").
struct APNsOutage: Hashable {
    /// The first pause of the APNs client and its longest: `breakerPauses` of its defaults.
    private static let (firstPause, longestPause): (Int64, Int64) = (15_000, 600_000)
    /// The server's longest pause for a device that Apple has throttled, less the two minutes that are there anyway.
    private static let devicePause = 300_000 - RingDueChecker.bound

    private var since: Int64 = 0
    private var until: Int64 = 0
    private var throttles = false
    /// True if anything has worked since.
    private var hasWorked = true
    /// In monotonic milliseconds.
    private(set) var heldUntil: Int64 = -RingDueChecker.bound - 1

    /// Another fault. Pauses grow until something has worked.
    mutating func goOn(with fault: APNsFault, from start: Int64, for length: Int64) {
        if self.hasWorked || start > self.heldUntil + RingDueChecker.bound {
            (self.since, self.until, self.throttles, self.hasWorked) = (start, start, false, false)
        }
        self.until = max(self.until, start + length + fault.aftermath)
        self.throttles = self.throttles || fault == .throttle
        // Pauses that double, half of each by chance: the last one is at most twice as long as all before, and the first.
        let outage = self.until - self.since
        let pause = min(2 * outage + Self.firstPause, Self.longestPause)
        self.heldUntil = max(
            self.heldUntil, self.until + (self.throttles ? max(pause, Self.devicePause) : pause))
    }

    /// Apple has accepted a push, and has no fault: the client's pauses are over.
    mutating func worked(at now: Int64) {
        if now >= self.until { self.hasWorked = true }
    }
}

extension APNsFault {
    /// How long what began in it may take to fail, in milliseconds: a request its 30 seconds and the PING after it, an attempt to
    /// connect ten for each of two addresses.
    var aftermath: Int64 {
        switch self {
        case .silence: 40_000
        case .noAnswer: 20_000
        default: 0  // tidy: the others are told at once, or answered late
        }
    }
}
