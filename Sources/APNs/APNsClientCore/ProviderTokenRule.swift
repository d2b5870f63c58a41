package import TidingsModel

/// One token at a time, at most every 20 minutes, renewed at 45, never used after 60 (APNs reference, section 4).
package struct ProviderTokenRule: Sendable {
    package struct Minted: Hashable, Sendable {
        /// From 1.
        package var generation: Int
        package var at: Now
        /// Monotonic; set when a successor could not be signed.
        package var renewNotBefore: Int64 = .min
    }

    /// Generations go on after a failure and after a new credential, so that a late complaint never meets another
    /// token.
    package enum State: Equatable, Sendable {
        case none(next: Int)
        case minting(generation: Int)
        case current(Minted)
        case renewing(Minted)
    }

    package enum Event: Equatable, Sendable {
        case needed
        case minted
        /// Another client of the process has signed it before, at that time.
        case shared(since: Now)
        case failed
        case rejected(generation: Int)
        /// The credential was replaced: a token that is being minted is not reported any more.
        case credentialReplaced
    }

    package enum Effect: Equatable, Sendable {
        case mint
    }

    package private(set) var state: State = .none(next: 1)
    private let renewAfter: Int64
    private let mintMin: Int64
    private let ageMax: Int64
    private let failurePause: Int64

    /// In milliseconds: renewal at 45 minutes; no replacement below 20, whatever APNs says; no use from 60 on, less a
    /// margin; a minute's pause after a successor could not be signed.
    package init(
        renewAfter: Int64 = 2_700_000, mintMin: Int64 = 1_200_000, ageMax: Int64 = 3_540_000,
        failurePause: Int64 = 60_000
    ) {
        self.renewAfter = renewAfter
        self.mintMin = mintMin
        self.ageMax = ageMax
        self.failurePause = failurePause
    }

    /// Nil while requests have to wait.
    package func usable(at now: Now) -> Int? {
        switch self.state {
        case .none, .minting: nil
        case .current(let token), .renewing(let token):
            self.age(of: token, at: now) < self.ageMax ? token.generation : nil
        }
    }

    /// The usual case: a generation that may be used, with nothing to be done about it.
    func settled(at now: Now) -> Int? {
        guard case .current(let token) = self.state, self.age(of: token, at: now) < self.renewAfter else { return nil }
        return token.generation
    }

    /// A rejected token of this generation that is 20 minutes old, or in whose place another one is in use.
    package func canReplace(generation: Int, at now: Now) -> Bool {
        switch self.state {
        case .none, .minting: true
        case .current(let token), .renewing(let token):
            token.generation != generation || self.age(of: token, at: now) >= self.mintMin
        }
    }

    package mutating func handle(_ event: Event, at now: Now) -> [Effect] {
        let (next, effects) = self.transition(on: event, at: now)
        self.state = next
        return effects
    }

    private func transition(on event: Event, at now: Now) -> (State, [Effect]) {
        switch (self.state, event) {
        case (.none(let next), .needed): return (.minting(generation: next), [.mint])
        case (.minting(let generation), .minted): return (.current(Minted(generation: generation, at: now)), [])
        case (.minting(let generation), .shared(let since)):
            return (.current(Minted(generation: generation, at: since)), [])
        // Without a token at all the next request tries again.
        case (.minting(let generation), .failed): return (.none(next: generation), [])
        case (.current(let token), .needed):
            let age = self.age(of: token, at: now)
            guard age >= self.renewAfter, age >= self.ageMax || now.monotonic >= token.renewNotBefore else {
                return (self.state, [])
            }
            return (.renewing(token), [.mint])
        case (.renewing(let token), .minted):
            return (.current(Minted(generation: token.generation + 1, at: now)), [])
        case (.renewing(let token), .shared(let since)):
            return (.current(Minted(generation: token.generation + 1, at: since)), [])
        case (.renewing(var token), .failed):
            token.renewNotBefore = now.monotonic + self.failurePause
            return (.current(token), [])
        case (.current(let token), .rejected(let generation)):
            guard self.isReplaced(token, generation, at: now) else { return (self.state, []) }
            return (.minting(generation: token.generation + 1), [.mint])
        // The successor is on its way, and the token is not used meanwhile.
        case (.renewing(let token), .rejected(let generation)):
            guard self.isReplaced(token, generation, at: now) else { return (self.state, []) }
            return (.minting(generation: token.generation + 1), [])
        case (.minting, .needed), (.renewing, .needed), (.minting, .rejected): return (self.state, [])
        // Late: nothing was asked for.
        case (.none, .minted), (.none, .shared), (.none, .failed), (.none, .rejected), (.current, .minted),
            (.current, .shared), (.current, .failed):
            return (self.state, [])
        case (.none(let next), .credentialReplaced): return (.none(next: next), [])
        case (.minting(let generation), .credentialReplaced): return (.none(next: generation + 1), [])
        case (.current(let token), .credentialReplaced): return (.none(next: token.generation + 1), [])
        case (.renewing(let token), .credentialReplaced): return (.none(next: token.generation + 2), [])
        }
    }

    private func isReplaced(_ token: Minted, _ generation: Int, at now: Now) -> Bool {
        token.generation == generation && self.age(of: token, at: now) >= self.mintMin
    }

    /// By the clock that shows more: APNs compares `iat` with the wall clock, and the other one cannot step back.
    private func age(of token: Minted, at now: Now) -> Int64 {
        max(now.monotonic - token.at.monotonic, now.wall - token.at.wall)
    }
}
