import NIOCore

/// The beginning of a frame whose rest has not come. It grows in place, so a frame in tiny pieces is not copied with each of them,
/// and it keeps neither a whole receive buffer for a few bytes nor much of what was already used.
struct HeldInput {
    private var held: ByteBuffer?
    /// The bytes handed out last are ours, and not a receive buffer's.
    private var isOurs = false

    /// Hands out what is held before what has come now.
    mutating func prependHeld(to input: inout ByteBuffer) {
        guard var held = self.held else { return self.isOurs = false }
        // A holder of a shared buffer copies it when it writes.
        self.held = nil
        held.writeBuffer(&input)
        input = held
        self.isOurs = true
    }

    /// - Parameter rest: what `prependHeld` handed out, without the bytes that were used.
    mutating func hold(_ rest: ByteBuffer) {
        guard rest.readableBytes > 0 else { return }
        // Fewer bytes are copied than were used, so that all copies together are no more than what was received.
        self.held = self.isOurs && rest.readerIndex < rest.readableBytes ? rest : ByteBuffer(buffer: rest)
    }
}
