import DequeModule

/// One device token that APNs has had too many requests for (429 `TooManyRequests`): what is meant for it waits in
/// order, and after the pause one request finds out whether it may go on (APNs reference, sections 9 and 12).
struct TokenHold: Sendable {
    enum State: Equatable, Sendable {
        /// Nothing is sent to the token before this monotonic time.
        case waiting(until: Int64)
        /// One request is out to find out.
        case probing
        /// APNs has taken a request, or nothing is left to ask with.
        case over
    }

    enum Event: Equatable, Sendable {
        /// APNs has refused another one that was on its way already; the time is when the pause it asked for would end.
        case refusedAgain(until: Int64)
        /// APNs has refused the probe.
        case probeRefused(until: Int64)
        /// The pause is over: a request goes out, if there is one.
        case probed(isAnyone: Bool)
        /// APNs has answered a request to this token in another way.
        case answered
    }

    private(set) var state: State
    /// How many pauses in a row.
    private(set) var failures = 1
    /// When it was last refused, as a count: the lowest goes first when the table is full.
    var heldAt: UInt64
    /// The requests that wait; ended ones are skipped.
    private(set) var line: Deque<RequestTable.Key> = []

    init(until: Int64, heldAt: UInt64) {
        self.state = .waiting(until: until)
        self.heldAt = heldAt
    }

    /// Lines up by the order of acceptance; almost always at the end.
    mutating func lineUp(_ key: RequestTable.Key) {
        var index = self.line.count
        while index > 0, self.line[index - 1].order > key.order { index -= 1 }
        self.line.insert(key, at: index)
    }

    mutating func popFirst() -> RequestTable.Key? { self.line.popFirst() }

    mutating func handle(_ event: Event) {
        if case .probeRefused = event { self.failures += 1 }
        self.state = self.transition(on: event)
    }

    private func transition(on event: Event) -> State {
        switch (self.state, event) {
        case (.waiting(let until), .refusedAgain(let later)): return .waiting(until: max(until, later))
        case (.waiting, .probed(let isAnyone)), (.probing, .probed(let isAnyone)):
            return isAnyone ? .probing : .over
        case (.probing, .probeRefused(let until)), (.waiting, .probeRefused(let until)):
            return .waiting(until: until)
        // It was sent before the pause, and the probe will tell.
        case (.probing, .refusedAgain): return .probing
        case (.waiting, .answered): return self.state
        case (.probing, .answered): return .over
        case (.over, .refusedAgain), (.over, .probeRefused), (.over, .probed), (.over, .answered): return .over
        }
    }
}
