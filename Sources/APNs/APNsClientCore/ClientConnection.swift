/// One HTTP/2 connection to APNs as the dispatcher sees it.
///
/// ```text
///             addressed            connected           answered, and the limit is known
///   resolving ────────▶ connecting ────────▶ proving ─────────────────────────────────▶ open
///                        │    ▲                │                                          │
///                        └────┘ addressed:     │ retired                                  │ retired
///                          the next address    ▼                                          ▼
///   (retired in any state) ─────────────────▶ draining: closed by the dispatcher when no stream is left
/// ```
struct ClientConnection: Sendable {
    enum State: Equatable, Sendable {
        case resolving
        /// TCP and TLS are under way to one of the addresses. SETTINGS may be told before `connected`.
        case connecting(limit: Int?)
        /// Takes one request at a time until one is answered and the limit is known (APNs reference, section 3.1);
        /// nil until SETTINGS came.
        case proving(limit: Int?, isAnswered: Bool)
        case open(limit: Int)
        /// Opens no further stream; answers are still awaited.
        case draining(APNsDispatcher.CloseCause)
    }

    enum Event: Equatable, Sendable {
        case addressed
        case connected
        case limitAnnounced(Int)
        case answered
        case retired(APNsDispatcher.CloseCause)
    }

    let id: APNsDispatcher.ConnectionID
    /// Counted from 0.
    let credential: Int
    /// Times are monotonic.
    let openedAt: Int64
    private(set) var state: State = .resolving
    /// The one it has, or tries.
    var address: String?
    /// Not tried yet.
    var addresses: [String] = []
    var streams = StreamWindow()
    /// Bytes of payload it takes before APNs has to open the window (RFC 9113, section 6.9.2).
    var window = Self.windowFirst
    var lastHeard: Int64
    /// By a request or an answer.
    var lastUsed: Int64
    /// Set while a PING is unanswered.
    var pingedAt: Int64?
    /// Timers for other times are of the past.
    var lookAt: Int64 = .max
    /// Until then answers are awaited after GOAWAY.
    var drainUntil: Int64 = .max
    /// By its generation; nil before the first request.
    private(set) var token: (generation: Int, since: Int64)?
    /// True if an answer ever came.
    var isProven = false
    /// Old: it waits for its replacement, and takes only what no other one can take.
    var isAging = false
    /// It did not take a stream for a reason that is still on its way: GOAWAY, another limit, or its end. Until then
    /// it takes none.
    var isBehind = false
    var replaces: APNsDispatcher.ConnectionID?

    /// Bytes at the start (RFC 9113, section 6.9.2), and at most (section 6.9.1).
    static let windowFirst: Int64 = 65_535
    static let windowMax: Int64 = 0x7fff_ffff

    init(_ id: APNsDispatcher.ConnectionID, credential: Int, at monotonic: Int64) {
        self.id = id
        self.credential = credential
        self.openedAt = monotonic
        self.lastHeard = monotonic
        self.lastUsed = monotonic
    }

    func hasRoom(bytes: Int64, streamsMax: Int) -> Bool {
        guard bytes <= self.window, !self.isBehind else { return false }
        return switch self.state {
        case .resolving, .connecting, .draining: false
        case .proving(let limit, _): self.streams.count < min(1, limit ?? 1)
        case .open(let limit): self.streams.count < min(limit, streamsMax)
        }
    }

    /// If so, it carries it from now on. APNs counts on each connection how long one token was used before the next
    /// (APNs reference, section 4).
    mutating func carry(_ generation: Int, useMin: Int64, at monotonic: Int64) -> Bool {
        if let token = self.token {
            guard token.generation != generation else { return true }
            guard monotonic - token.since >= useMin else { return false }
        }
        self.token = (generation, monotonic)
        return true
    }

    /// Only one is at a time (APNs reference, section 3.4).
    var isStarting: Bool {
        switch self.state {
        case .resolving, .connecting, .proving: true
        case .open, .draining: false
        }
    }

    /// True if it takes requests, now or soon.
    var isPooled: Bool {
        switch self.state {
        case .resolving, .connecting, .proving, .open: true
        case .draining: false
        }
    }

    var isConnected: Bool {
        switch self.state {
        case .resolving, .connecting: false
        case .proving, .open, .draining: true
        }
    }

    /// Nil while it takes requests.
    var drainCause: APNsDispatcher.CloseCause? {
        switch self.state {
        case .draining(let cause): cause
        case .resolving, .connecting, .proving, .open: nil
        }
    }

    mutating func handle(_ event: Event) { self.state = self.transition(on: event) }

    private func transition(on event: Event) -> State {
        switch (self.state, event) {
        case (.resolving, .addressed), (.connecting, .addressed): return .connecting(limit: nil)
        case (.connecting(let limit), .connected): return .proving(limit: limit, isAnswered: false)
        case (.connecting, .limitAnnounced(let limit)): return .connecting(limit: limit)
        case (.proving(_, let isAnswered), .limitAnnounced(let limit)):
            return isAnswered ? .open(limit: limit) : .proving(limit: limit, isAnswered: false)
        case (.proving(let limit, _), .answered):
            return limit.map { .open(limit: $0) } ?? .proving(limit: nil, isAnswered: true)
        case (.open, .limitAnnounced(let limit)): return .open(limit: limit)
        case (.resolving, .retired(let cause)), (.connecting, .retired(let cause)), (.proving, .retired(let cause)),
            (.open, .retired(let cause)):
            return .draining(cause)
        case (.open, .answered): return self.state
        // What comes in an order that cannot be changes nothing.
        case (.resolving, .connected), (.resolving, .limitAnnounced), (.resolving, .answered): return self.state
        case (.connecting, .answered): return self.state
        case (.proving, .addressed), (.proving, .connected): return self.state
        case (.open, .addressed), (.open, .connected): return self.state
        case (.draining, .addressed), (.draining, .connected), (.draining, .limitAnnounced), (.draining, .answered),
            (.draining, .retired):
            return self.state
        }
    }
}
