import TidingsModel

/// When the newest messages were on the disk. A table of fixed size: a newer message takes the place of an older one, of which the time in its
/// id is taken then, which is that of its way to the disk earlier.
struct CommitTimes: Sendable {
    private struct Slot {
        var message: UInt64
        /// Monotonic milliseconds.
        var at: Int64
    }

    /// A power of two.
    static let slotCount = 16_384

    private var slots = [Slot](repeating: Slot(message: 0, at: 0), count: Self.slotCount)

    private static func place(of message: MessageID) -> Int {
        // Fibonacci hashing: ids of one moment differ in their lowest bits alone.
        Int((message.rawValue &* 0x9e37_79b9_7f4a_7c15) >> 50)
    }

    mutating func add(_ message: MessageID, at now: Now) {
        self.slots[Self.place(of: message)] = Slot(message: message.rawValue, at: now.monotonic)
    }

    /// Milliseconds since the message was on the disk.
    func age(of message: MessageID, at now: Now) -> Int64 {
        let slot = self.slots[Self.place(of: message)]
        return slot.message == message.rawValue ? now.monotonic - slot.at : now.wall - message.wallMilliseconds
    }
}
