import NIOCore

enum WebSocketMessage: Equatable {
    case text([UInt8])
    case binary([UInt8])
    /// To be answered by a pong with the same bytes (RFC 6455 §5.5.2).
    case ping([UInt8])
    /// Needs no answer (RFC 6455 §5.5.3).
    case pong
    /// `code` is nil for an empty body (RFC 6455 §5.5.1).
    case close(code: UInt16?)
}

/// The connection is closed with `code`.
struct WebSocketFault: Error, Equatable {
    var code: WebSocketCloseCode
    var rule: String
}

/// Parses the WebSocket frames of a client and joins fragments (RFC 6455 §5). Keeps nothing but an unfinished fragmented message.
struct WebSocketParser {
    private enum Opcode: UInt8 {
        case continuation = 0x0
        case text = 0x1
        case binary = 0x2
        case close = 0x8
        case ping = 0x9
        case pong = 0xa

        var isControl: Bool { self.rawValue >= 0x8 }
    }

    private struct Header {
        var opcode: Opcode
        var isFinal: Bool
        var mask: UInt32
        var length: Int
        /// The length of the header itself.
        var bytes: Int
    }

    /// The first fragments of a message whose last one has not come.
    private var fragments: [UInt8] = []
    /// The opcode of the unfinished message.
    private var fragmented: Opcode?

    /// Takes one message from the front of `buffer`; nothing is taken while the frame there is incomplete.
    /// - Parameter bytesMax: a longer message is refused as soon as its header says so.
    /// - Throws: `WebSocketFault` when the bytes break a rule of RFC 6455 §5.
    mutating func next(from buffer: inout ByteBuffer, bytesMax: Int) throws(WebSocketFault) -> WebSocketMessage? {
        while let header = try Self.header(of: buffer) {
            try self.check(header, bytesMax: bytesMax)
            guard buffer.readableBytes >= header.bytes + header.length else { return nil }
            buffer.moveReaderIndex(forwardBy: header.bytes)
            let payload = Self.unmasked(&buffer, length: header.length, mask: header.mask)
            if let message = try self.message(header, payload) { return message }
        }
        return nil
    }

    private static func header(of buffer: ByteBuffer) throws(WebSocketFault) -> Header? {
        let start = buffer.readerIndex
        guard let first: UInt8 = buffer.getInteger(at: start), let second: UInt8 = buffer.getInteger(at: start + 1)
        else { return nil }
        // RFC 6455 §5.2: the reserved bits belong to extensions, and none was negotiated.
        guard first & 0x70 == 0 else { throw WebSocketFault(code: .protocolError, rule: "reserved bits must be 0") }
        guard let opcode = Opcode(rawValue: first & 0x0f) else {
            throw WebSocketFault(code: .protocolError, rule: "opcode \(first & 0x0f) is unknown")
        }
        // RFC 6455 §5.1: a server closes the connection on a frame that is not masked.
        guard second & 0x80 != 0 else {
            throw WebSocketFault(code: .protocolError, rule: "frames of a client must be masked")
        }
        let short = Int(second & 0x7f)
        let isFinal = first & 0x80 != 0
        // RFC 6455 §5.5: control frames are short and whole.
        if opcode.isControl, short > 125 || !isFinal {
            throw WebSocketFault(code: .protocolError, rule: "control frames must be whole and at most 125 bytes")
        }
        let lengthBytes = short == 126 ? 2 : short == 127 ? 8 : 0
        guard let mask: UInt32 = buffer.getInteger(at: start + 2 + lengthBytes, endianness: .big) else { return nil }
        let length = try Self.length(short, in: buffer, at: start + 2)
        return Header(opcode: opcode, isFinal: isFinal, mask: mask, length: length, bytes: 6 + lengthBytes)
    }

    private static func length(_ short: Int, in buffer: ByteBuffer, at index: Int) throws(WebSocketFault) -> Int {
        let length: UInt64
        switch short {
        case 126: length = UInt64(buffer.getInteger(at: index, as: UInt16.self) ?? 0)
        case 127: length = buffer.getInteger(at: index, as: UInt64.self) ?? 0
        default: return short
        }
        // RFC 6455 §5.2: the shortest form must be used, and the highest bit must be 0.
        guard length > (short == 126 ? 125 : 0xffff), length <= UInt64(Int.max) else {
            throw WebSocketFault(code: .protocolError, rule: "the length must use its shortest form")
        }
        return Int(length)
    }

    private func check(_ header: Header, bytesMax: Int) throws(WebSocketFault) {
        guard !header.opcode.isControl else { return }
        // RFC 6455 §5.4: a continuation continues something, and nothing else may come in between but control frames.
        guard (header.opcode == .continuation) == (self.fragmented != nil) else {
            throw WebSocketFault(
                code: .protocolError,
                rule: self.fragmented == nil
                    ? "a continuation must follow a first fragment" : "a message must end before the next one starts")
        }
        guard header.length <= bytesMax - self.fragments.count else {
            throw WebSocketFault(code: .messageTooBig, rule: "must be at most \(bytesMax) bytes")
        }
    }

    private mutating func message(_ header: Header, _ payload: [UInt8]) throws(WebSocketFault) -> WebSocketMessage? {
        switch header.opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong
        case .close: return .close(code: try Self.closeCode(payload))
        case .text, .binary:
            guard !header.isFinal else { return header.opcode == .text ? .text(payload) : .binary(payload) }
            self.fragmented = header.opcode
            self.fragments = payload
            return nil
        case .continuation:
            self.fragments.append(contentsOf: payload)
            guard header.isFinal else { return nil }
            let whole = self.fragments
            let opcode = self.fragmented
            self.fragments = []
            self.fragmented = nil
            return opcode == .text ? .text(whole) : .binary(whole)
        }
    }

    private static func closeCode(_ payload: [UInt8]) throws(WebSocketFault) -> UInt16? {
        guard !payload.isEmpty else { return nil }
        guard payload.count >= 2 else {
            throw WebSocketFault(code: .protocolError, rule: "a close frame must be empty or start with a code")
        }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        // RFC 6455 §7.4: these are the codes that may stand in a close frame.
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: break
        default: throw WebSocketFault(code: .protocolError, rule: "close code \(code) must not be sent")
        }
        guard String(validating: payload[2...], as: UTF8.self) != nil else {
            throw WebSocketFault(code: .invalidPayload, rule: "the reason of a close frame must be UTF-8")
        }
        return code
    }

    /// Undoes the mask (RFC 6455 §5.3), eight bytes at a time.
    private static func unmasked(_ buffer: inout ByteBuffer, length: Int, mask: UInt32) -> [UInt8] {
        defer { buffer.moveReaderIndex(forwardBy: length) }
        return buffer.withUnsafeReadableBytes { source in
            [UInt8](unsafeUninitializedCapacity: length) { target, count in
                // As they stand in the frame, on any byte order.
                let quad = mask.bigEndian
                let wide = UInt64(quad) << 32 | UInt64(quad)
                let raw = UnsafeMutableRawBufferPointer(target)
                var index = 0
                while index + 8 <= length {
                    raw.storeBytes(
                        of: source.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ wide, toByteOffset: index,
                        as: UInt64.self)
                    index += 8
                }
                withUnsafeBytes(of: quad) { key in
                    while index < length {
                        raw[index] = source[index] ^ key[index & 3]
                        index += 1
                    }
                }
                count = length
            }
        }
    }
}

extension ByteBuffer {
    /// A server's frame is final and not masked (RFC 6455 §5.1, §5.2).
    mutating func writeWebSocketFrame(opcode: UInt8, _ payload: [UInt8]) {
        self.reserveCapacity(minimumWritableBytes: payload.count + 10)
        self.writeWebSocketHead(opcode: opcode, length: payload.count)
        self.writeBytes(payload)
    }

    mutating func writeWebSocketHead(opcode: UInt8, length: Int) {
        self.writeInteger(0x80 | opcode)
        switch length {
        case ..<126: self.writeInteger(UInt8(length))
        case ..<65_536:
            self.writeInteger(UInt8(126))
            self.writeInteger(UInt16(length))
        default:
            self.writeInteger(UInt8(127))
            self.writeInteger(UInt64(length))
        }
    }
}
