import TidingsModel

/// Renews the user token of a connection that would expire: asks the app for another token and tells the server, with
/// growing waits until that has worked or the connection is over. The next connection begins with a new token anyway.
struct TokenRenewal: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        case idle
        case asking
        case telling
        /// It failed; the app is asked again at this monotonic time.
        case waiting(until: Int64)
    }

    private var state: State = .idle
    private var failures = 0
    private var generator: SplitMix64
    private let settings: ConnectionMachine.Settings

    init(settings: ConnectionMachine.Settings, seed: UInt64) {
        self.settings = settings
        self.generator = SplitMix64(seed: seed ^ 0x746f_6b65_6e)
    }

    var nextDeadline: Int64? {
        if case .waiting(let until) = self.state { until } else { nil }
    }

    /// Returns whether to ask the app for another token.
    mutating func begin() -> Bool {
        switch self.state {
        case .asking, .telling: return false
        case .idle, .waiting:
            self.failures = 0
            self.state = .asking
            return true
        }
    }

    mutating func provided() -> Bool {
        guard self.state == .asking else { return false }
        self.state = .telling
        return true
    }

    mutating func reset() { self.state = .idle }

    mutating func notProvided(at now: Now) { if self.state == .asking { self.wait(at: now) } }

    mutating func notTaken(at now: Now) { if self.state == .telling { self.wait(at: now) } }

    private mutating func wait(at now: Now) {
        self.failures += 1
        let delay = self.settings.backOff.shortenedWait(afterFailures: self.failures, using: &self.generator)
        self.state = .waiting(until: now.monotonic + delay)
    }

    mutating func deadlineReached(at now: Now) -> Bool {
        guard case .waiting(let until) = self.state, now.monotonic >= until else { return false }
        self.state = .asking
        return true
    }
}

extension ClientCore {
    mutating func tokenExpires(into effects: inout [ClientEffect]) {
        guard self.isOnline, !self.isLeaving, self.renewal.begin() else { return }
        effects.append(.askToken(self.settings.person))
    }

    mutating func tokenProvided(_ token: String, at now: Now, into effects: inout [ClientEffect]) {
        self.step(.tokenProvided(token), at: now, into: &effects)
        guard self.renewal.provided() else { return }
        self.sendRequest(.token, .renewToken(token), at: now, into: &effects)
    }

    mutating func renewalDeadlineReached(at now: Now, into effects: inout [ClientEffect]) {
        if self.renewal.deadlineReached(at: now) { effects.append(.askToken(self.settings.person)) }
    }

    mutating func answeredToken(_ answer: ClientAnswer, at now: Now) {
        if case .refused = answer { self.renewal.notTaken(at: now) } else { self.renewal.reset() }
    }
}
