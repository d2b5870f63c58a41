import OrderedCollections
public import TidingsModel

/// Which messages have rung in the foreground in this process. A push that comes a second time rings once (design.md P3), also where no
/// extension stands between that could silence it.
public struct RingLog: Hashable, Sendable {
    /// How many messages are remembered; the oldest are forgotten first.
    public static let capacity = 256

    private var messages: OrderedSet<MessageID> = []

    /// Nothing has rung.
    public init() {}

    /// Notes a ring.
    public mutating func insert(_ message: MessageID) {
        self.messages.append(message)
        if self.messages.count > Self.capacity { self.messages.removeFirst() }
    }

    /// Returns true if a message has rung.
    public func contains(_ message: MessageID) -> Bool { self.messages.contains(message) }
}
