package import NIOCore

/// RFC 9113 §6. Other types are read over.
package enum FrameType: UInt8, Hashable, Sendable {
    case data = 0x0
    case headers = 0x1
    /// Without effect (RFC 9113 §5.3.2).
    case priority = 0x2
    case rstStream = 0x3
    case settings = 0x4
    case pushPromise = 0x5
    case ping = 0x6
    case goAway = 0x7
    case windowUpdate = 0x8
    case continuation = 0x9
}

/// RFC 9113 §6.
package enum FrameFlags {
    package static let endStream: UInt8 = 0x1
    package static let ack: UInt8 = 0x1
    package static let endHeaders: UInt8 = 0x4
    /// Marks DATA and HEADERS in which a length of padding comes first.
    package static let padded: UInt8 = 0x8
    /// Marks HEADERS in which five bytes of priority come before the block.
    package static let priority: UInt8 = 0x20
}

package struct HTTP2Frame: Equatable, Sendable {
    /// See ``FrameType``.
    package var type: UInt8
    package var flags: UInt8
    /// Without the reserved bit.
    package var stream: StreamID
    /// Shares the storage of what was read.
    package var payload: ByteBuffer
}

/// GOAWAY with this code, then the end (RFC 9113 §5.4.1).
package struct ConnectionFault: Error, Hashable, Sendable {
    package var code: HTTP2ErrorCode
    package var text: String

    init(_ code: HTTP2ErrorCode, _ text: String) {
        self.code = code
        self.text = text
    }
}

/// RFC 9113 §4.1.
package struct HTTP2FrameReader {
    package let maxFrameSize: Int
    /// Either a buffer of the caller's, or `isOwn`: a copy of the part of a frame.
    private var input = ByteBuffer()
    private var isOwn = false

    package init(maxFrameSize: Int = 16_384) { self.maxFrameSize = maxFrameSize }

    package mutating func append(_ bytes: ByteBuffer) {
        if self.input.readableBytes == 0 {
            self.input = bytes
            self.isOwn = false
        } else {
            self.input.writeImmutableBuffer(bytes)
        }
    }

    /// - Throws: for a frame longer than `maxFrameSize`, as soon as its head is there (RFC 9113 §4.2).
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

    /// Copies what is left of the caller's buffer, part of a frame. Called after the last ``next()``.
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

    /// - Returns: nil when there are fewer bytes so far, false when they differ; nothing is taken then.
    mutating func skip(_ expected: [UInt8]) -> Bool? {
        let there = self.input.readableBytesView.prefix(expected.count)
        guard there.elementsEqual(expected.prefix(there.count)) else { return false }
        guard there.count == expected.count else { return nil }
        self.input.moveReaderIndex(forwardBy: expected.count)
        return true
    }
}
