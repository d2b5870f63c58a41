import TidingsModel

/// Renews the user token of a connection the server has said it expires on: asks the app for another one and tells the server, again
/// and again with growing waits until that has worked or the connection is over. The next connection begins with a token anyway.
struct TokenRenewal: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        /// The server has said nothing, or has taken a token since.
        case idle
        /// The app was asked for a token.
        case asking
        /// The server was told the token.
        case telling
        /// It failed; the app is asked again at this monotonic time.
        case waiting(until: Int64)
    }

    private var state: State = .idle
    private var failures = 0
    private var generator: SplitMix64
    private let settings: ConnectionMachine.Settings

    /// - Parameter seed: for the jitter of the waits.
    init(settings: ConnectionMachine.Settings, seed: UInt64) {
        self.settings = settings
        self.generator = SplitMix64(seed: seed ^ 0x746f_6b65_6e)
    }

    /// When it goes on by itself, in monotonic milliseconds; nil for never.
    var nextDeadline: Int64? {
        if case .waiting(let until) = self.state { until } else { nil }
    }

    /// The server has said that the token expires.
    ///
    /// - Returns: whether to ask the app for another one.
    mutating func begin() -> Bool {
        switch self.state {
        case .asking, .telling: return false
        case .idle, .waiting:
            self.failures = 0
            self.state = .asking
            return true
        }
    }

    /// The app has given a token.
    ///
    /// - Returns: whether it is to be told the server.
    mutating func provided() -> Bool {
        guard self.state == .asking else { return false }
        self.state = .telling
        return true
    }

    /// The server has taken the token, or the connection is over.
    mutating func end() { self.state = .idle }

    /// The app has given no token.
    mutating func notProvided(at now: Now) { if self.state == .asking { self.wait(at: now) } }

    /// The server has not taken the token, or has not answered.
    mutating func notTaken(at now: Now) { if self.state == .telling { self.wait(at: now) } }

    private mutating func wait(at now: Now) {
        self.failures += 1
        let delay = self.settings.backOff.shortenedWait(afterFailures: self.failures, using: &self.generator)
        self.state = .waiting(until: now.monotonic + delay)
    }

    /// Time has passed.
    ///
    /// - Returns: whether to ask the app for another token.
    mutating func deadlineReached(at now: Now) -> Bool {
        guard case .waiting(let until) = self.state, now.monotonic >= until else { return false }
        self.state = .asking
        return true
    }
}

extension ClientCore {
    /// The server has said that the token of this connection expires.
    mutating func tokenExpires(into effects: inout [ClientEffect]) {
        guard self.isOnline, !self.isLeaving, self.renewal.begin() else { return }
        effects.append(.askToken(self.settings.person))
    }

    /// The app has given a token: for the next connection, and for this one if its own expires.
    mutating func tokenProvided(_ token: String, at now: Now, into effects: inout [ClientEffect]) {
        self.step(.tokenProvided(token), at: now, into: &effects)
        guard self.renewal.provided() else { return }
        self.ask(.token, .renewToken(token), at: now, into: &effects)
    }

    mutating func renewalDeadlineReached(at now: Now, into effects: inout [ClientEffect]) {
        if self.renewal.deadlineReached(at: now) { effects.append(.askToken(self.settings.person)) }
    }

    /// The server has answered to the new token.
    mutating func answeredToken(_ answer: ClientAnswer, at now: Now) {
        if case .refused = answer { self.renewal.notTaken(at: now) } else { self.renewal.end() }
    }
}
