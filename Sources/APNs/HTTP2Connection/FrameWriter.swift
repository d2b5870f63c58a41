package import NIOCore

/// Writes frames into one buffer (RFC 9113 §6).
package struct FrameWriter {
    private let allocator: ByteBufferAllocator
    /// The bytes to be written; after ``takeOutput()``, the storage of the bytes taken last.
    var buffer: ByteBuffer
    private var isTaken = true

    /// In bytes: the storage of a burst is not kept.
    private static let keptCapacity = 262_144

    package init(allocator: ByteBufferAllocator = .init()) {
        self.allocator = allocator
        self.buffer = ByteBuffer()
    }

    package var isEmpty: Bool { self.isTaken || self.buffer.readableBytes == 0 }

    /// Nil if there is nothing.
    package mutating func takeOutput() -> ByteBuffer? {
        if self.isEmpty { return nil }
        self.isTaken = true
        return self.buffer
    }

    /// The storage of the last buffer is used again when its owner has let go of it.
    private mutating func prepare() {
        guard self.isTaken else { return }
        self.isTaken = false
        if self.buffer.capacity > Self.keptCapacity || self.buffer.capacity == 0 {
            self.buffer = self.allocator.buffer(capacity: 1_024)
        } else {
            self.buffer.clear(minimumCapacity: self.buffer.capacity)
        }
    }

    private mutating func head(_ type: FrameType, flags: UInt8 = 0, stream: StreamID, length: Int) {
        self.prepare()
        self.buffer.writeMultipleIntegers(
            UInt32(truncatingIfNeeded: length) << 8 | UInt32(type.rawValue), flags, stream)
    }

    package mutating func raw(_ bytes: [UInt8]) {
        self.prepare()
        self.buffer.writeBytes(bytes)
    }

    package mutating func settings(_ values: [(UInt16, UInt32)]) {
        self.head(.settings, stream: 0, length: values.count * 6)
        for (identifier, value) in values { self.buffer.writeMultipleIntegers(identifier, value) }
    }

    package mutating func settingsAck() { self.head(.settings, flags: FrameFlags.ack, stream: 0, length: 0) }

    package mutating func ping(_ data: UInt64, ack: Bool) {
        self.head(.ping, flags: ack ? FrameFlags.ack : 0, stream: 0, length: 8)
        self.buffer.writeInteger(data)
    }

    /// Debug data is cut to what any side takes in a frame.
    package mutating func goAway(lastStream: StreamID, _ code: HTTP2ErrorCode, debugData: some Sequence<UInt8>) {
        let debugData = Array(debugData.prefix(16_000))
        self.head(.goAway, stream: 0, length: 8 + debugData.count)
        self.buffer.writeMultipleIntegers(lastStream, code.rawValue)
        self.buffer.writeBytes(debugData)
    }

    /// For the connection (0) or a stream, by 1…2³¹−1 bytes (RFC 9113 §6.9).
    package mutating func windowUpdate(_ stream: StreamID, by increment: Int) {
        self.head(.windowUpdate, stream: stream, length: 4)
        self.buffer.writeInteger(UInt32(truncatingIfNeeded: increment))
    }

    package mutating func reset(_ stream: StreamID, _ code: HTTP2ErrorCode) {
        self.head(.rstStream, stream: stream, length: 4)
        self.buffer.writeInteger(code.rawValue)
    }

    package mutating func data(_ stream: StreamID, _ bytes: ArraySlice<UInt8>, endStream: Bool) {
        self.head(.data, flags: endStream ? FrameFlags.endStream : 0, stream: stream, length: bytes.count)
        self.buffer.writeBytes(bytes)
    }

    // MARK: Header blocks

    /// The block is appended to ``buffer``, then ``finishHeaders(_:_:endStream:maxFrameSize:)`` or
    /// ``dropHeaders(_:)`` is called. - Returns: where the block starts.
    mutating func beginHeaders() -> Int {
        self.head(.headers, stream: 0, length: 0)
        return self.buffer.writerIndex
    }

    /// With CONTINUATION when the block is longer than the other side's frames (RFC 9113 §6.10).
    mutating func finishHeaders(_ start: Int, _ stream: StreamID, endStream: Bool, maxFrameSize: Int) {
        let flags = endStream ? FrameFlags.endStream : 0
        let length = self.buffer.writerIndex - start
        if length <= maxFrameSize {
            let head = UInt32(truncatingIfNeeded: length) << 8 | UInt32(FrameType.headers.rawValue)
            self.buffer.setMultipleIntegers(head, flags | FrameFlags.endHeaders, stream, at: start - 9)
        } else {
            self.split(stream, flags: flags, from: start, maxFrameSize: maxFrameSize)
        }
    }

    mutating func dropHeaders(_ start: Int) { self.buffer.moveWriterIndex(to: start - 9) }

    /// Writes the block behind `start` again, as several frames.
    private mutating func split(_ stream: StreamID, flags: UInt8, from start: Int, maxFrameSize: Int) {
        var block = ByteBuffer(bytes: self.buffer.viewBytes(at: start, length: self.buffer.writerIndex - start) ?? [])
        self.buffer.moveWriterIndex(to: start - 9)
        var type = FrameType.headers
        var flags = flags
        while let part = block.readSlice(length: min(maxFrameSize, block.readableBytes)) {
            if block.readableBytes == 0 { flags |= FrameFlags.endHeaders }
            self.head(type, flags: flags, stream: stream, length: part.readableBytes)
            self.buffer.writeImmutableBuffer(part)
            if block.readableBytes == 0 { break }
            type = .continuation
            flags = 0
        }
    }
}
