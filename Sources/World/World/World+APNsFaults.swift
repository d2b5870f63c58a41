import APNsCore
import APNsModel
import TidingsModel

/// What may ail Apple, or the way to it, for a minute or so.
package enum APNsFault: String, Hashable, Sendable, CaseIterable {
    /// 503 `ServiceUnavailable`.
    case unavailable
    /// 500 `InternalServerError`.
    case serverError
    /// Pushes are taken, and the connection is cut instead of the answer.
    case lostAnswers
    /// Answers come 20 seconds late.
    case lateAnswers
    /// 429 `TooManyRequests`.
    case throttle
    /// 503 `Shutdown`, and GOAWAY.
    case shutdown
    /// 400 `BadDeviceToken` for two pushes, as if the app were built for the other side of Apple's.
    case wrongEnvironment
    /// Nobody can connect, and who was connected is cut off.
    case outage
    /// GOAWAY before the answer to each push.
    case goAway
    /// GOAWAY instead of it: the push was not processed.
    case goAwayUnprocessed
    /// The connection is cut when a push comes.
    case cut
    /// The connection falls silent when a push comes, and stays open.
    case silence
    /// RST_STREAM instead of an answer.
    case resetStreams
    /// RST_STREAM with REFUSED_STREAM.
    case refusedStreams
    /// Connections are closed as they arrive.
    case refusedConnections
    /// TLS finds no common version or cipher.
    case brokenHandshakes
    /// One stream at a time on each connection.
    case oneStream
    /// Apple's clock is 50 minutes ahead: it takes provider tokens for expired.
    case expiredTokens
    /// Apple's name has no address.
    case noName
    /// Who wants to connect gets no answer.
    case noAnswer

    /// What Apple's core is told of it.
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
        // Who is connected is cut off, and has to come again.
        case .brokenHandshakes: FaultPlan(.cut, .tlsAlert(.handshakeFailure))
        case .oneStream: FaultPlan(.streamLimit(1, requests: nil))
        case .expiredTokens: FaultPlan(.clockSkew(seconds: 3_000))
        case .noName, .noAnswer: FaultPlan()
        }
    }
}

// What ails Apple.
extension World {
    mutating func maybeBreakAPNs() {
        guard !self.hasHealed else { return }
        self.plan(.chanceOfAPNsFault, after: 60_000)
        self.takeTurn(.apns)
        guard self.chance.chance(perMille: self.options.faults.apns), self.happens(),
            let fault = self.drawn(self.options.faults.apnsFaults)
        else { return }
        self.note("apns fault \(fault.rawValue)")
        switch fault {
        case .throttle: self.see(.reached(.throttles))
        case .shutdown: self.see(.reached(.shutdowns))
        case .wrongEnvironment: self.see(.wrongEnvironment)
        default: break  // tidy: the others are counted as they are injected
        }
        self.plan(.apnsFault(fault), after: 0)
        let length = self.chance.number(5_000...90_000)
        self.plan(.apnsFault(nil), after: length)
        self.apnsOutage.goOn(with: fault, from: self.time, for: length)
        self.see(.held(until: self.apnsOutage.heldUntil + self.connectingTime, on: nil))
    }

    /// Something ails Apple from now on; nil for nothing.
    mutating func change(_ fault: APNsFault?) {
        self.apnsFault = fault
        self.handle(APNsService.Event.faultsChanged(fault?.plan ?? FaultPlan()))
    }
}

/// A time in which Apple is ill, one fault after the other, and until when that may hold up what has to ring (docs/simulation.md, "When
/// Apple is ill").
struct APNsOutage: Hashable {
    /// The server's longest pause for a device, and for a lane.
    private static let devicePause: Int64 = 300_000
    private static let lanePause: Int64 = 600_000

    private var since: Int64 = 0
    private var until: Int64 = 0
    private var opensBreaker = false
    /// Whether no device has failed before.
    private var isFirst = true
    /// Whether something has worked since.
    private var hasWorked = false
    /// In monotonic milliseconds.
    private(set) var heldUntil: Int64 = -RingDueChecker.bound - 1

    /// Another fault. Who has failed waits on, twice as long each time, until something has worked.
    mutating func goOn(with fault: APNsFault, from start: Int64, for length: Int64) {
        self.isFirst = start > self.heldUntil + RingDueChecker.bound
        if self.isFirst || self.hasWorked {
            (self.since, self.until, self.opensBreaker, self.hasWorked) = (start, start, false, false)
        }
        self.until = max(self.until, start + length + fault.aftermath)
        self.opensBreaker = self.opensBreaker || fault.opensBreaker
        // Pauses of the client that double, half of each by chance: the last one is at most twice as long as all before, and the first.
        let ill = self.until - self.since
        let sick = ill + (self.opensBreaker ? min(2 * ill + 30_000, 600_000) : min(2 * ill + 1_000, 60_000))
        // So are the server's for each device; those of its lane double without chance. The two minutes are there anyway.
        let rest = max(Self.devicePause, min(sick + 5_000, Self.lanePause)) - RingDueChecker.bound
        let held = self.isFirst ? min(3 * sick, sick + rest) : sick + rest
        self.heldUntil = max(self.heldUntil, self.since + held)
    }

    /// Apple has accepted a push, and nothing ails it: the client's pauses and those of the lanes are over.
    mutating func worked(at now: Int64) {
        if now >= self.until { self.hasWorked = true }
    }
}

extension APNsFault {
    /// Whether the client takes it for a fault of configuration, and stops the sending for half a minute first.
    var opensBreaker: Bool {
        switch self {
        case .brokenHandshakes, .expiredTokens: true
        case .unavailable, .serverError, .lostAnswers, .lateAnswers, .throttle, .shutdown, .wrongEnvironment, .outage,
            .goAway,
            .goAwayUnprocessed, .cut, .silence, .resetStreams, .refusedStreams, .refusedConnections, .oneStream,
            .noName,
            .noAnswer:
            false
        }
    }

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
