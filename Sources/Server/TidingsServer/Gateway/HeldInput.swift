import NIOCore

/// What a connection has received and cannot use yet: the beginning of a frame whose rest has not come.
///
/// It grows where it lies: a frame that comes in tiny pieces is not copied with each of them. And it keeps neither a whole receive
/// buffer for a few bytes, nor much of what was used already.
struct HeldInput {
    private var held: ByteBuffer?
    /// Whether the bytes handed out last are ours, and not a receive buffer's.
    private var isOurs = false

    /// Puts what is held before what has come now. It is held no longer.
    mutating func join(_ input: inout ByteBuffer) {
        guard var held = self.held else { return self.isOurs = false }
        // Whoever is not alone in having a buffer copies it when it writes.
        self.held = nil
        held.writeBuffer(&input)
        input = held
        self.isOurs = true
    }

    /// Keeps what could not be used.
    ///
    /// - Parameter rest: what `join` handed out, without the bytes at its front that were used.
    mutating func keep(_ rest: ByteBuffer) {
        guard rest.readableBytes > 0 else { return }
        // Fewer bytes are copied than were used, so that all copies together are no more than what was received.
        self.held = self.isOurs && rest.readerIndex < rest.readableBytes ? rest : ByteBuffer(buffer: rest)
    }
}
