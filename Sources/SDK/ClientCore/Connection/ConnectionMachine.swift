package import TidingsModel

/// Keeps the connection the app wants: token, transport, greeting, heartbeat and back-off. It knows nothing of
/// messages. At most one transport is alive at a time, and each has a new number.
///
/// ```text
///        requested                tokenProvided          opened            welcomed
///  idle ────────▶ awaitingToken ───────────▶ opening ───────▶ greeting ─────────▶ online ⟲ deadline: ping
///   ▲ └── with a token kept ────────────────────▲ │               │                  │
///   │                                             ▼               ▼                  ▼
///   │   tokenFailed, closed, broken, deadline, reconnectAsked, a problem that passes: waiting
///   │   waiting ── deadline, requested, unparked ──▶ awaitingToken, or opening with a token
///   │   a problem that stays: refused ── requested ──▶ awaitingToken; a stale token asks for another at once, twice
///   │   parked: parked, but from idle and refused ── unparked ──▶ awaitingToken, or opening with a token
///   └── unwanted, from every state
/// ```
package struct ConnectionMachine: Hashable, Sendable {
    /// `parked`: the background time is over (S0.7).
    package enum State: Hashable, Sendable {
        case idle
        case awaitingToken
        case opening(ConnectionNumber, deadline: Int64)
        case greeting(ConnectionNumber, deadline: Int64)
        case online(ConnectionNumber)
        case waiting(until: Int64)
        case parked
        case refused
    }

    package enum Event: Hashable, Sendable {
        case requested(UserID)
        case disconnectRequested
        case parked
        case unparked
        case tokenProvided(String)
        case tokenFailed(reason: String)
        case opened(ConnectionNumber)
        case welcomed(ConnectionNumber, heartbeatMilliseconds: Int64)
        case problem(ConnectionNumber, ServerFrame.Problem)
        case reconnectAsked(ConnectionNumber, afterMilliseconds: Int64)
        case heard(ConnectionNumber)
        case closed(ConnectionNumber, reason: String)
        case broken(reason: String)
        case deadline
    }

    package enum Effect: Hashable, Sendable {
        case askToken(UserID)
        case open(ConnectionNumber)
        case greet(ConnectionNumber, token: String)
        case ping(ConnectionNumber, UInt64)
        case close(ConnectionNumber)
        case publish(ConnectionStatus)
        case finishConnect(ConnectFailure?)
        /// The session has ended: frames sent on this transport may be lost.
        case sessionEnded
    }

    package struct Settings: Hashable, Sendable {
        package var openMilliseconds: Int64 = 15_000
        package var greetMilliseconds: Int64 = 10_000
        package var backOff = BackOff(first: 500, longest: 60_000)
        /// How long a connection has to stand after its welcome before the back-off starts anew, so that a server in
        /// a crash loop or on a full disk is approached more and more slowly.
        package var steadyMilliseconds: Int64 = 60_000

        package init() {}
    }

    package private(set) var state: State = .idle
    private let settings: Settings
    private var generator: SplitMix64
    private var user: UserID?
    private var token: String?
    private var isParked = false
    private var failures = 0
    /// How often in a row the server has called a token expired or revoked.
    private var staleTokens = 0
    /// How often in a row a newer connection of this device has taken over soon after the welcome.
    private var supersessions = 0
    private var onlineSince: Int64 = 0
    private var lastNumber: ConnectionNumber = 0
    private var heartbeat: Int64 = 30_000
    private var lastHeard: Int64 = 0
    private var nextPing: Int64 = 0
    private var pings: UInt64 = 0

    private static let staleTokensMax = 3

    package init(settings: Settings = Settings(), seed: UInt64) {
        self.settings = settings
        self.generator = SplitMix64(seed: seed)
    }

    /// The transport frames may be sent on; nil unless the server has welcomed us.
    package var online: ConnectionNumber? {
        guard case .online(let number) = self.state else { return nil }
        return number
    }

    package var current: ConnectionNumber? {
        switch self.state {
        case .opening(let number, _), .greeting(let number, _), .online(let number): number
        case .idle, .awaitingToken, .waiting, .parked, .refused: nil
        }
    }

    package var nextDeadline: Int64? {
        switch self.state {
        case .idle, .awaitingToken, .parked, .refused: nil
        case .opening(_, let deadline), .greeting(_, let deadline), .waiting(let deadline): deadline
        case .online: min(self.nextPing, self.lastHeard + 2 * self.heartbeat)
        }
    }

    package var isGivenUp: Bool { self.state == .idle || self.state == .refused }

    package var pingsSent: UInt64 { self.pings }

    package mutating func handle(_ event: Event, at now: Now, into effects: inout [Effect]) {
        self.updateCounters(event, at: now)
        self.state = self.transition(on: event, at: now, into: &effects)
    }

    package mutating func handle(_ event: Event, at now: Now) -> [Effect] {
        var effects: [Effect] = []
        self.handle(event, at: now, into: &effects)
        return effects
    }

    private mutating func updateCounters(_ event: Event, at now: Now) {
        switch event {
        case .requested(let user):
            if self.user != user { self.token = nil }
            self.user = user
        case .disconnectRequested:
            self.user = nil
            self.token = nil
        case .parked: self.isParked = true
        case .unparked: self.isParked = false
        case .tokenProvided(let token): self.token = token
        case .welcomed(_, let heartbeat): self.heartbeat = max(1_000, heartbeat)
        case .heard, .opened: self.lastHeard = now.monotonic
        case .tokenFailed, .problem, .reconnectAsked, .closed, .broken, .deadline: break
        }
    }

    private mutating func transition(on event: Event, at now: Now, into effects: inout [Effect]) -> State {
        // tidy: long because the table of states and events is read as a whole.
        switch (self.state, event) {
        // What the app wants.
        case (.idle, .requested), (.refused, .requested): return self.start(at: now, into: &effects)
        case (.awaitingToken, .requested), (.opening, .requested), (.greeting, .requested), (.parked, .requested):
            return self.state
        case (.waiting, .requested): return self.start(at: now, into: &effects)
        case (.online, .requested):
            effects.append(.finishConnect(nil))
            return self.state
        case (.idle, .disconnectRequested): return .idle
        case (.awaitingToken, .disconnectRequested), (.opening, .disconnectRequested),
            (.greeting, .disconnectRequested), (.online, .disconnectRequested),
            (.waiting, .disconnectRequested), (.parked, .disconnectRequested), (.refused, .disconnectRequested):
            self.hangUp(into: &effects)
            effects += [.finishConnect(.cancelled), .publish(.disconnected)]
            return .idle

        // The background time.
        case (.idle, .parked), (.refused, .parked), (.parked, .parked): return self.state
        case (.awaitingToken, .parked), (.opening, .parked), (.greeting, .parked), (.online, .parked),
            (.waiting, .parked):
            self.hangUp(into: &effects)
            effects.append(.publish(.suspended))
            return .parked
        case (.parked, .unparked), (.waiting, .unparked):
            self.failures = 0
            return self.start(at: now, into: &effects)
        case (.idle, .unparked), (.awaitingToken, .unparked), (.opening, .unparked), (.greeting, .unparked),
            (.online, .unparked), (.refused, .unparked):
            return self.state

        // The token.
        case (.awaitingToken, .tokenProvided): return self.open(at: now, into: &effects)
        case (.awaitingToken, .tokenFailed(let reason)):
            if self.failures == 0 { effects.append(.finishConnect(.noToken(reason: reason))) }
            return self.wait(reason: reason, at: now, into: &effects)
        case (.idle, .tokenProvided), (.opening, .tokenProvided), (.greeting, .tokenProvided),
            (.online, .tokenProvided), (.waiting, .tokenProvided), (.parked, .tokenProvided),
            (.refused, .tokenProvided), (.idle, .tokenFailed), (.opening, .tokenFailed), (.greeting, .tokenFailed),
            (.online, .tokenFailed), (.waiting, .tokenFailed), (.parked, .tokenFailed), (.refused, .tokenFailed):
            return self.state

        // The transport.
        case (.opening(let current, _), .opened(let number)):
            guard current == number, let token = self.token else { return self.state }
            effects.append(.greet(number, token: token))
            return .greeting(number, deadline: now.monotonic + self.settings.greetMilliseconds)
        case (.greeting(let current, let deadline), .welcomed(let number, _)):
            guard current == number else { return self.state }
            // An app that was suspended meanwhile reads it when it goes on: what it says, the server's time first, is old then.
            guard now.monotonic < deadline else {
                self.hangUp(into: &effects)
                return self.wait(reason: "no answer in time", at: now, into: &effects)
            }
            self.staleTokens = 0
            self.lastHeard = now.monotonic
            self.onlineSince = now.monotonic
            self.nextPing = now.monotonic + self.heartbeat
            effects += [.publish(.connected), .finishConnect(nil)]
            return .online(number)
        case (.opening(let current, _), .closed(let number, let reason)),
            (.greeting(let current, _), .closed(let number, let reason)),
            (.online(let current), .closed(let number, let reason)):
            guard current == number else { return self.state }
            effects.append(.sessionEnded)
            return self.wait(reason: reason, at: now, into: &effects)
        case (.opening(let current, _), .problem(let number, let problem)),
            (.greeting(let current, _), .problem(let number, let problem)),
            (.online(let current), .problem(let number, let problem)):
            guard current == number else { return self.state }
            return self.stop(by: problem, at: now, into: &effects)
        case (.greeting(let current, _), .reconnectAsked(let number, let after)),
            (.online(let current), .reconnectAsked(let number, let after)):
            guard current == number else { return self.state }
            if self.isSteady(at: now) { self.failures = 0 }
            self.hangUp(into: &effects)
            effects.append(.publish(.waiting(milliseconds: after, reason: "the server is restarting")))
            return .waiting(until: now.monotonic + after)
        case (.opening, .broken(let reason)), (.greeting, .broken(let reason)), (.online, .broken(let reason)):
            self.hangUp(into: &effects)
            return self.wait(reason: reason, at: now, into: &effects)

        // Time.
        case (.opening(_, let deadline), .deadline), (.greeting(_, let deadline), .deadline):
            guard now.monotonic >= deadline else { return self.state }
            self.hangUp(into: &effects)
            return self.wait(reason: "no answer in time", at: now, into: &effects)
        case (.online(let number), .deadline): return self.sendHeartbeat(number, at: now, into: &effects)
        case (.waiting(let until), .deadline):
            return now.monotonic >= until ? self.start(at: now, into: &effects) : self.state
        case (.idle, .deadline), (.awaitingToken, .deadline), (.parked, .deadline), (.refused, .deadline):
            return self.state

        // Late events of an old transport, or repeated ones.
        case (.idle, .opened), (.awaitingToken, .opened), (.waiting, .opened), (.parked, .opened), (.refused, .opened),
            (.greeting, .opened), (.online, .opened), (.idle, .welcomed), (.awaitingToken, .welcomed),
            (.waiting, .welcomed), (.parked, .welcomed), (.refused, .welcomed), (.opening, .welcomed),
            (.online, .welcomed), (.idle, .closed), (.awaitingToken, .closed), (.waiting, .closed), (.parked, .closed),
            (.refused, .closed), (.idle, .problem), (.awaitingToken, .problem), (.waiting, .problem),
            (.parked, .problem), (.refused, .problem), (.idle, .reconnectAsked), (.awaitingToken, .reconnectAsked),
            (.opening, .reconnectAsked), (.waiting, .reconnectAsked), (.parked, .reconnectAsked),
            (.refused, .reconnectAsked), (.idle, .broken), (.awaitingToken, .broken), (.waiting, .broken),
            (.parked, .broken), (.refused, .broken):
            return self.state
        case (.idle, .heard), (.awaitingToken, .heard), (.opening, .heard), (.greeting, .heard), (.online, .heard),
            (.waiting, .heard), (.parked, .heard), (.refused, .heard):
            return self.state
        }
    }

    private mutating func start(at now: Now, into effects: inout [Effect]) -> State {
        guard let user = self.user else { return .idle }
        guard !self.isParked else { return .parked }
        effects.append(.publish(.connecting))
        guard self.token == nil else { return self.open(at: now, into: &effects) }
        effects.append(.askToken(user))
        return .awaitingToken
    }

    private mutating func open(at now: Now, into effects: inout [Effect]) -> State {
        self.lastNumber += 1
        effects.append(.open(self.lastNumber))
        return .opening(self.lastNumber, deadline: now.monotonic + self.settings.openMilliseconds)
    }

    private func hangUp(into effects: inout [Effect]) {
        guard let number = self.current else { return }
        effects += [.close(number), .sessionEnded]
    }

    private func isSteady(at now: Now) -> Bool {
        guard case .online = self.state else { return false }
        return now.monotonic >= self.onlineSince + self.settings.steadyMilliseconds
    }

    /// The jitter of up to half the doubled time keeps phones that were thrown off together from returning together.
    /// `least` is what the server has asked for.
    private mutating func wait(
        reason: String, least: Int64 = 0, at now: Now, into effects: inout [Effect]
    ) -> State {
        if self.isSteady(at: now) { self.failures = 0 }
        self.failures += 1
        let delay = least + self.settings.backOff.shortenedWait(afterFailures: self.failures, using: &self.generator)
        effects.append(.publish(.waiting(milliseconds: delay, reason: reason)))
        return .waiting(until: now.monotonic + delay)
    }

    private mutating func stop(by problem: ServerFrame.Problem, at now: Now, into effects: inout [Effect]) -> State {
        self.hangUp(into: &effects)
        switch problem.code {
        case .expiredToken:
            self.token = nil
            self.staleTokens += 1
            if self.staleTokens < Self.staleTokensMax { return self.start(at: now, into: &effects) }
        case .tokenRevoked:
            // Later than at once: a token issued in the second of the revocation counts as revoked.
            self.token = nil
            self.staleTokens += 1
            if self.staleTokens < Self.staleTokensMax {
                return self.wait(reason: problem.description, at: now, into: &effects)
            }
        case .invalidToken, .wrongApp, .kicked, .disabled: self.token = nil
        case .superseded: return self.giveWay(to: problem, at: now, into: &effects)
        case .unsupportedVersion, .invalidField, .unknownConversation, .unknownMessage, .notAMember,
            .notAllowed, .notAFollower, .blocked, .tooLate, .exists, .unknownObjectName, .banned, .muted:
            break
        case .malformedFrame, .frameTooLarge, .unexpectedFrame, .timedOut, .slowReader, .unavailable, .rateLimited,
            .storageFull:
            return self.wait(reason: problem.description, least: problem.retryAfter, at: now, into: &effects)
        }
        self.staleTokens = 0
        effects += [.publish(.refused(problem)), .finishConnect(.refused(problem))]
        return .refused
    }

    /// Another connection of this device was welcomed later. It may be one that was given up here and had only been slow to arrive:
    /// then nobody else would ever come back. Two apps with one device id, as after a copied backup, push each other out: each waits
    /// longer every time.
    private mutating func giveWay(
        to problem: ServerFrame.Problem, at now: Now, into effects: inout [Effect]
    ) -> State {
        if self.isSteady(at: now) { self.supersessions = 0 }
        self.failures = self.supersessions
        self.supersessions += 1
        return self.wait(reason: problem.description, at: now, into: &effects)
    }

    /// A peer that says nothing for twice the heartbeat is dead (`ServerFrame.Welcome`).
    private mutating func sendHeartbeat(_ number: ConnectionNumber, at now: Now, into effects: inout [Effect]) -> State
    {
        if now.monotonic >= self.lastHeard + 2 * self.heartbeat {
            self.hangUp(into: &effects)
            return self.wait(reason: "nothing was heard for two heartbeats", at: now, into: &effects)
        }
        if now.monotonic >= self.nextPing {
            self.pings += 1
            self.nextPing = now.monotonic + self.heartbeat
            effects.append(.ping(number, self.pings))
        }
        return self.state
    }
}
