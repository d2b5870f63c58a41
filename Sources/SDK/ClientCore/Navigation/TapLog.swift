import DequeModule

/// Tells a tap from its echo: the same tap can come as launch option, scene option and delegate callback (DESIGN P5).
public struct TapLog: Hashable, Sendable {
    /// Which delivery of which notification, and what the person did with it.
    public struct Identity: Hashable, Sendable {
        /// The request's identifier; for old callbacks, which have none, the message's global id or the payload's text.
        public var request: String
        /// When the notification was delivered, in wall milliseconds; 0 for old callbacks, which do not say.
        public var deliveredAt: Int64
        /// The action's identifier.
        public var action: String

        /// An identity from its parts.
        public init(request: String, deliveredAt: Int64, action: String) {
            self.request = request
            self.deliveredAt = deliveredAt
            self.action = action
        }
    }

    private var seen: Deque<Identity> = []

    /// How many taps are remembered.
    public static let capacity = 64

    /// Nothing seen.
    public init() {}

    /// Notes a tap; false if it is the echo of one that was noted. Where one road does not tell the time of delivery, the
    /// request and the action decide.
    public mutating func note(_ tap: Identity) -> Bool {
        let isEcho = self.seen.contains {
            $0.request == tap.request && $0.action == tap.action
                && ($0.deliveredAt == tap.deliveredAt || $0.deliveredAt == 0 || tap.deliveredAt == 0)
        }
        guard !isEcho else { return false }
        self.seen.append(tap)
        if self.seen.count > Self.capacity { self.seen.removeFirst() }
        return true
    }
}
