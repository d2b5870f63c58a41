/// One HTTP/2 connection to APNs as the dispatcher sees it: how many streams it may carry, and which requests are on
/// them.
struct ClientConnection: Sendable {
    enum State: Equatable, Sendable {
        /// TCP and TLS are under way.
        case connecting
        /// Usable for one request, until that is answered (apns.md §3.1). The limit is nil until SETTINGS came.
        case proving(limit: Int?)
        /// Usable up to the limit announced last.
        case open(limit: Int)
        /// Opens no further stream; answers are still awaited.
        case draining
    }

    enum Event: Equatable, Sendable {
        case connected
        case limitAnnounced(Int)
        case answered
        case retired
    }

    private(set) var state: State = .connecting
    /// The requests on its streams.
    var streams: [Int64: APNsDispatcher.RequestID] = [:]
    /// The id of the next stream: odd and rising (RFC 9113 §5.1.1).
    var nextStream: Int64 = 1
    /// Monotonic time of the last sign of life.
    var lastHeard: Int64
    /// Monotonic time of the unanswered PING.
    var pingedAt: Int64?
    /// Monotonic time at which it was opened.
    let openedAt: Int64
    /// Whether an answer ever came.
    var isProven = false

    init(at monotonic: Int64) {
        self.lastHeard = monotonic
        self.openedAt = monotonic
    }

    /// How many more streams it takes now.
    ///
    /// - Parameter streamsMax: our own limit.
    func room(streamsMax: Int) -> Int {
        switch self.state {
        case .connecting, .draining: 0
        case .proving(let limit): min(1, limit ?? 1) - self.streams.count
        case .open(let limit): min(limit, streamsMax) - self.streams.count
        }
    }

    /// Whether it counts against the largest number of connections.
    var isPooled: Bool { self.state != .draining }

    mutating func handle(_ event: Event) { self.state = self.transition(on: event) }

    private func transition(on event: Event) -> State {
        switch (self.state, event) {
        case (.connecting, .connected): return .proving(limit: nil)
        case (.proving, .limitAnnounced(let limit)): return .proving(limit: limit)
        case (.proving(let limit), .answered): return .open(limit: limit ?? 1)
        case (.open, .limitAnnounced(let limit)): return .open(limit: limit)
        case (.connecting, .retired), (.proving, .retired), (.open, .retired): return .draining
        // SETTINGS before the shell has said that it is connected.
        case (.connecting, .limitAnnounced(let limit)): return .proving(limit: limit)
        case (.proving, .connected), (.open, .connected), (.open, .answered): return self.state
        // An answer without a connection cannot be.
        case (.connecting, .answered): return self.state
        case (.draining, .connected), (.draining, .limitAnnounced), (.draining, .answered), (.draining, .retired):
            return self.state
        }
    }
}
