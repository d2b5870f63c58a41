import OrderedCollections
package import TidingsModel

/// Whose notifications the person has opened, until the server has certainly heard of it (DESIGN §5). A message is told once
/// however often and by whichever callback path its tap is heard of; after a lost connection what may not have arrived is told again,
/// and the server keeps the first.
package struct OpenedReceipts: Hashable, Sendable {
    /// How many messages are remembered, and how many wait at most; the oldest are forgotten first.
    package static let capacity = 256

    private var known: OrderedSet<MessageID> = []
    /// Not proven to have arrived, in the order they were opened.
    package private(set) var waiting: [MessageID] = []
    private var sentBeforePing: UInt64 = 0

    /// Nothing was opened.
    package init() {}

    /// Notes that a notification was opened; false if that was known.
    package mutating func note(_ message: MessageID) -> Bool {
        guard self.known.append(message).inserted else { return false }
        if self.known.count > Self.capacity { self.known.removeFirst() }
        self.waiting.append(message)
        if self.waiting.count > Self.capacity { self.waiting.removeFirst() }
        return true
    }

    /// All that waits has been written.
    package mutating func written(pingsSent: UInt64) { self.sentBeforePing = pingsSent }

    /// A pong proves that everything written before its ping has arrived.
    package mutating func confirmed(ping: UInt64) {
        if ping > self.sentBeforePing { self.waiting.removeAll() }
    }
}
