import DequeModule

/// A device token that APNs has had too many requests for (429): what is meant for it waits in order, and after the
/// pause one request finds out whether it may go on (APNs reference, sections 9 and 12).
struct TokenHold: Sendable {
    enum State: Equatable, Sendable {
        /// Monotonic.
        case waiting(until: Int64)
        case probing
        case over
    }

    enum Event: Equatable, Sendable {
        /// A request that was on its way already was refused.
        case refusedAgain(until: Int64)
        case probeRefused(until: Int64)
        case probed(isAnyone: Bool)
        case answered
    }

    private(set) var state: State
    /// Pauses in a row.
    private(set) var failures = 1
    /// A count: the lowest goes first when the table is full.
    var heldAt: UInt64
    /// Ended requests are skipped.
    private(set) var line: Deque<RequestTable.Key> = []

    init(until: Int64, heldAt: UInt64) {
        self.state = .waiting(until: until)
        self.heldAt = heldAt
    }

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
