import DequeModule

/// Tells a tap from its echo: the same tap can come as launch option, scene option and delegate callback (design.md P5).
public struct TapLog: Hashable, Sendable {
    /// Which delivery of which notification, what the person did with it, and by which callback it came.
    public struct Identity: Hashable, Sendable {
        /// The request's identifier; nil on the callback paths that do not tell it.
        public var request: String?
        /// When the notification was delivered, in wall milliseconds; nil on the callback paths that do not tell it.
        public var deliveredAt: Int64?
        /// The content that every callback tells: the message's global id, otherwise the whole payload's text.
        public var content: String
        /// The action's identifier.
        public var action: String
        /// The callback.
        public var origin: PersonResponse.Origin

        /// An identity from its parts.
        public init(
            request: String?, deliveredAt: Int64?, content: String, action: String,
            origin: PersonResponse.Origin
        ) {
            self.request = request
            self.deliveredAt = deliveredAt
            self.content = content
            self.action = action
            self.origin = origin
        }
    }

    private struct Entry: Hashable, Sendable {
        var identity: Identity
        /// A callback that tells it a second time without a delivery date tells of another tap.
        var origins: Set<PersonResponse.Origin>
        var isLaunchOver = false
    }

    private var seen: Deque<Entry> = []

    /// How many taps are remembered.
    public static let capacity = 64

    /// Nothing seen.
    public init() {}

    /// Notes a tap; false if it is the echo of one that was noted. Two deliveries with the same payload are two
    /// notifications: where both callback paths tell request and delivery, these and the action decide (ios-delivery.md §6.1 rule 1).
    /// Where one does not, the payload and the action do, once for each callback.
    public mutating func insert(_ tap: Identity) -> Bool {
        guard let index = self.seen.firstIndex(where: { Self.isEcho(tap, of: $0) }) else {
            self.seen.append(Entry(identity: tap, origins: [tap.origin]))
            if self.seen.count > Self.capacity { self.seen.removeFirst() }
            return true
        }
        self.seen[index].origins.insert(tap.origin)
        if self.seen[index].identity.deliveredAt == nil {
            self.seen[index].identity.request = tap.request
            self.seen[index].identity.deliveredAt = tap.deliveredAt
        }
        return false
    }

    /// The app became active: the callback paths that do not tell the delivery have said by now what the launch options said
    /// (ios-delivery.md §6.1). Before iOS 7, and for local notifications before iOS 10, they never do.
    public mutating func launchEnded() {
        for index in self.seen.indices { self.seen[index].isLaunchOver = true }
    }

    /// Returns true if the launch options have already told of an action's notification: they call it a tap, whatever the person did
    /// (ios-delivery.md §6.1). Its screen is open then; only the rest of the action is still to be done. Call it before the action is
    /// noted; it returns true once per launch.
    public mutating func consumeLaunch(by action: Identity) -> Bool {
        guard action.action != MessageCategory.defaultAction,
            let index = self.seen.firstIndex(where: {
                $0.origins == [.launchOptions] && $0.identity.content == action.content
            })
        else { return false }
        self.seen[index].origins.insert(action.origin)
        return true
    }

    private static func isEcho(_ tap: Identity, of entry: Entry) -> Bool {
        let known = entry.identity
        guard known.action == tap.action else { return false }
        if let request = tap.request, let date = tap.deliveredAt, let other = known.request,
            let otherDate = known.deliveredAt
        {
            return request == other && date == otherDate
        }
        if entry.isLaunchOver, tap.deliveredAt == nil { return false }
        return known.content == tap.content && !entry.origins.contains(tap.origin)
    }
}
