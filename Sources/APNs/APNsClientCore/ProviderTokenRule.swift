package import TidingsModel

/// When a provider token is minted: one at a time, at most every 20 minutes, renewed at 45, never used after 60
/// (APNs reference, section 4).
package struct ProviderTokenRule: Sendable {
    /// A token and its age. Generations count from 1.
    package struct Minted: Hashable, Sendable {
        /// The how manieth token it is.
        package var generation: Int
        /// When it was minted.
        package var at: Now
        /// Monotonic time before which no successor is asked for, after one could not be signed.
        package var renewNotBefore: Int64 = .min
    }

    /// What is known of the token. Generations go on after a failure and after a new credential, so that a late
    /// complaint never meets another token.
    package enum State: Equatable, Sendable {
        /// There is none; the next one has this generation.
        case none(next: Int)
        /// The first one, or the one after a rejected one, is being minted; requests wait.
        case minting(generation: Int)
        /// In use.
        case current(Minted)
        /// In use while its successor is being minted.
        case renewing(Minted)
    }

    /// What happened.
    package enum Event: Equatable, Sendable {
        /// A request is about to be sent.
        case needed
        /// The shell has signed a token.
        case minted
        /// The shell could not sign one.
        case failed
        /// APNs called this generation expired.
        case rejected(generation: Int)
        /// Another credential is in place; what was being minted is not reported any more.
        case credentialReplaced
    }

    /// What the shell shall do.
    package enum Effect: Equatable, Sendable {
        /// Sign a token and report `minted` or `failed`.
        case mint
    }

    /// What is known of the token.
    package private(set) var state: State = .none(next: 1)
    private let renewAfter: Int64
    private let mintMin: Int64
    private let ageMax: Int64
    private let failurePause: Int64

    /// The rule, in milliseconds.
    ///
    /// - Parameters:
    ///   - renewAfter: the age at which a successor is minted; 45 minutes.
    ///   - mintMin: the age below which a token is not replaced whatever APNs says; 20 minutes.
    ///   - ageMax: the age from which it is not used any more; 60 minutes less a margin.
    ///   - failurePause: how long a token stays alone after its successor could not be signed; 1 minute.
    package init(
        renewAfter: Int64 = 2_700_000, mintMin: Int64 = 1_200_000, ageMax: Int64 = 3_540_000,
        failurePause: Int64 = 60_000
    ) {
        self.renewAfter = renewAfter
        self.mintMin = mintMin
        self.ageMax = ageMax
        self.failurePause = failurePause
    }

    /// The generation that may be used now; nil while requests have to wait.
    package func usable(at now: Now) -> Int? {
        switch self.state {
        case .none, .minting: nil
        case .current(let token), .renewing(let token):
            self.age(of: token, at: now) < self.ageMax ? token.generation : nil
        }
    }

    /// The generation that may be used now, if nothing has to be done about it: the usual case, asked for each request.
    func settled(at now: Now) -> Int? {
        guard case .current(let token) = self.state, self.age(of: token, at: now) < self.renewAfter else { return nil }
        return token.generation
    }

    /// Whether a rejected token may be replaced: it is of this generation and 20 minutes old, or another one is in
    /// use already.
    package func canReplace(generation: Int, at now: Now) -> Bool {
        switch self.state {
        case .none, .minting: true
        case .current(let token), .renewing(let token):
            token.generation != generation || self.age(of: token, at: now) >= self.mintMin
        }
    }

    /// Handles one event and returns its effects.
    package mutating func handle(_ event: Event, at now: Now) -> [Effect] {
        let (next, effects) = self.transition(on: event, at: now)
        self.state = next
        return effects
    }

    private func transition(on event: Event, at now: Now) -> (State, [Effect]) {
        switch (self.state, event) {
        case (.none(let next), .needed): return (.minting(generation: next), [.mint])
        case (.minting(let generation), .minted): return (.current(Minted(generation: generation, at: now)), [])
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
        case (.none, .minted), (.none, .failed), (.none, .rejected), (.current, .minted), (.current, .failed):
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

    /// By the clock that shows more: the wall clock is what APNs compares `iat` with, and the other one cannot step
    /// back.
    private func age(of token: Minted, at now: Now) -> Int64 {
        max(now.monotonic - token.at.monotonic, now.wall - token.at.wall)
    }
}
