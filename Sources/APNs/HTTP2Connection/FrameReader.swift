package import NIOCore

/// The types of frames (RFC 9113 §6). Others are read over.
package enum FrameType: UInt8, Hashable, Sendable {
    /// Bytes of a body.
    case data = 0x0
    /// Begins a header block.
    case headers = 0x1
    /// Of no use any more (RFC 9113 §5.3.2).
    case priority = 0x2
    /// Ends a stream.
    case rstStream = 0x3
    /// What the sender wishes, or the acknowledgement of that.
    case settings = 0x4
    /// A response nobody asked for.
    case pushPromise = 0x5
    /// A sign of life asked for or given.
    case ping = 0x6
    /// The end of a connection.
    case goAway = 0x7
    /// More room for DATA.
    case windowUpdate = 0x8
    /// More of a header block.
    case continuation = 0x9
}

/// The bits of a frame's flags (RFC 9113 §6).
package enum FrameFlags {
    /// DATA and HEADERS: the last of this stream.
    package static let endStream: UInt8 = 0x1
    /// SETTINGS and PING: an answer.
    package static let ack: UInt8 = 0x1
    /// HEADERS and CONTINUATION: the block is complete.
    package static let endHeaders: UInt8 = 0x4
    /// DATA and HEADERS: a length of padding comes first.
    package static let padded: UInt8 = 0x8
    /// HEADERS: five bytes of priority come before the block.
    package static let priority: UInt8 = 0x20
}

/// A frame as it was read: nothing of its content has been looked at.
package struct HTTP2Frame: Equatable, Sendable {
    /// The type's number; see ``FrameType``.
    package var type: UInt8
    /// See ``FrameFlags``.
    package var flags: UInt8
    /// Without the reserved bit.
    package var stream: StreamID
    /// What follows the nine bytes of the frame's head; shares the storage of what was read.
    package var payload: ByteBuffer
}

/// A rule of the connection was broken: GOAWAY with this code, then the end (RFC 9113 §5.4.1).
package struct ConnectionFault: Error, Hashable, Sendable {
    /// The code the GOAWAY carries.
    package var code: HTTP2ErrorCode
    /// Which rule.
    package var text: String

    init(_ code: HTTP2ErrorCode, _ text: String) {
        self.code = code
        self.text = text
    }
}

/// Cuts a stream of bytes into frames (RFC 9113 §4.1).
package struct HTTP2FrameReader {
    /// The longest payload that is taken, in bytes.
    package let maxFrameSize: Int
    /// What has not been cut yet. Either a buffer of the caller's, or `isOwn`: a copy of the part of a frame.
    private var input = ByteBuffer()
    private var isOwn = false

    /// A reader that takes payloads up to as many bytes.
    package init(maxFrameSize: Int = 16_384) { self.maxFrameSize = maxFrameSize }

    /// Adds bytes behind those that are left.
    package mutating func append(_ bytes: ByteBuffer) {
        if self.input.readableBytes == 0 {
            self.input = bytes
            self.isOwn = false
        } else {
            self.input.writeImmutableBuffer(bytes)
        }
    }

    /// The next whole frame.
    ///
    /// - Throws: A frame longer than `maxFrameSize`, as soon as its head is there (RFC 9113 §4.2).
    package mutating func next() throws(ConnectionFault) -> HTTP2Frame? {
        guard
            let head = self.input.getMultipleIntegers(
                at: self.input.readerIndex, as: (UInt32, UInt8, UInt32).self)
        else { return nil }
        let length = Int(head.0 >> 8)
        guard length <= self.maxFrameSize else {
            throw ConnectionFault(.frameSizeError, "a frame of \(length) bytes; at most \(self.maxFrameSize)")
        }
        guard self.input.readableBytes >= 9 + length else { return nil }
        self.input.moveReaderIndex(forwardBy: 9)
        guard let payload = self.input.readSlice(length: length) else { return nil }
        return HTTP2Frame(
            type: UInt8(truncatingIfNeeded: head.0), flags: head.1, stream: head.2 & 0x7fff_ffff, payload: payload)
    }

    /// Lets go of the caller's buffer: what is left of it, part of a frame, is copied. Called after the last
    /// ``next()``.
    package mutating func settle() {
        if self.input.readableBytes == 0 {
            self.input = ByteBuffer()
            self.isOwn = false
        } else if self.isOwn {
            self.input.discardReadBytes()
        } else {
            self.input = ByteBuffer(bytes: self.input.readableBytesView)
            self.isOwn = true
        }
    }

    /// Takes the next bytes when they are `expected`.
    ///
    /// - Returns: `nil` when there are fewer so far, `false` when they differ; nothing is taken then.
    mutating func skip(_ expected: [UInt8]) -> Bool? {
        let there = self.input.readableBytesView.prefix(expected.count)
        guard there.elementsEqual(expected.prefix(there.count)) else { return false }
        guard there.count == expected.count else { return nil }
        self.input.moveReaderIndex(forwardBy: expected.count)
        return true
    }
}
