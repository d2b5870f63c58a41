import NIOCore

/// Gives each read a buffer of its own that lives no longer than its bytes are needed. A channel keeps the first buffer it was given
/// for good (2,048 bytes by default), which is most of what an idle connection costs. So the first one has 16 bytes, and by always
/// answering "may grow" every later one is made anew and dropped. Needs `maxMessagesPerRead` 1, or the channel would keep several.
struct TransientReceiveBuffers: RecvByteBufferAllocator {
    private var next = Self.first

    private static let first = 16
    private static let usual = 2_048
    private static let large = 65_536

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { allocator.buffer(capacity: self.next) }

    mutating func record(actualReadBytes: Int) -> Bool {
        // A read that filled a usual buffer has more behind it.
        self.next = self.next >= Self.usual && actualReadBytes >= self.next ? Self.large : Self.usual
        return true
    }
}
