import OrderedCollections
package import TidingsModel

/// The opened notifications the server may not know of yet (design.md §5). A message is reported once, whichever
/// callbacks tell of its tap; after a lost connection what may not have arrived is reported again, and the server
/// keeps the first.
package struct OpenedReceipts: Hashable, Sendable {
    /// The oldest are forgotten first.
    package static let capacity = 256

    private var known: OrderedSet<MessageID> = []
    /// Opened messages whose receipts are not proven to have arrived, in the order of opening.
    package private(set) var waiting: [MessageID] = []
    private var sentBeforePing: UInt64 = 0

    package init() {}

    package mutating func insert(_ message: MessageID) -> Bool {
        guard self.known.append(message).inserted else { return false }
        if self.known.count > Self.capacity { self.known.removeFirst() }
        self.waiting.append(message)
        if self.waiting.count > Self.capacity { self.waiting.removeFirst() }
        return true
    }

    package mutating func written(pingsSent: UInt64) { self.sentBeforePing = pingsSent }

    package mutating func confirmed(ping: UInt64) {
        if ping > self.sentBeforePing { self.waiting.removeAll() }
    }
}
