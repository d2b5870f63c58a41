import NIOCore
import TidingsModel
import TidingsWire

/// One connection of the load generator. It does as little work as a client can, so that the figures are the
/// server's. Lives on one event loop.
final class BenchConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Signal {
        case welcomed
        case accepted
        case delivered(position: LogPosition)
        case answered(ClientAnswer)
        case failed(String)
    }

    private enum Phase { case opening, hello, ready, closed }

    private let host: String
    private let hello: [UInt8]
    private let signal: (BenchConnection, Signal) -> Void
    private var phase = Phase.opening
    private var pending = ByteBuffer()
    private var channel: (any Channel)?
    let index: Int

    init(
        index: Int, host: String, hello: ClientFrame.Hello, signal: @escaping (BenchConnection, Signal) -> Void
    ) {
        self.index = index
        self.host = host
        self.hello = FrameCodec.encode(.hello(hello), as: .protobuf)
        self.signal = signal
    }

    func channelActive(context: ChannelHandlerContext) {
        self.channel = context.channel
        // The key is the sample of RFC 6455 §1.3: the generator does not need to be protected from itself.
        context.writeAndFlush(
            self.wrapOutboundOut(
                ByteBuffer(
                    string:
                        "GET /v1/connect HTTP/1.1\r\nHost: \(self.host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                        + "Sec-WebSocket-Protocol: tidings.v1.protobuf\r\n\r\n")), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.channel = nil
        if self.phase != .closed { self.fail("the server closed the connection") }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.fail("\(error)")
        context.close(promise: nil)
    }

    private func fail(_ why: String) {
        guard self.phase != .closed else { return }
        self.phase = .closed
        self.signal(self, .failed(why))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = self.unwrapInboundIn(data)
        if self.pending.readableBytes == 0 {
            self.pending = buffer
        } else {
            self.pending.writeBuffer(&buffer)
        }
        if self.phase == .opening {
            let head = self.pending.readableBytesView
            guard let end = head.firstRange(of: [13, 10, 13, 10])?.upperBound else { return }
            guard self.pending.getString(at: self.pending.readerIndex, length: 12) == "HTTP/1.1 101" else {
                self.fail("the server refused the WebSocket handshake")
                context.close(promise: nil)
                return
            }
            self.pending.moveReaderIndex(to: end)
            self.phase = .hello
            self.write(self.hello)
            self.flush()
        }
        while self.nextFrame() {}
        if self.pending.readableBytes == 0 { self.pending.clear() }
    }

    /// Reads one WebSocket frame if it is complete. Servers do not mask (RFC 6455 §5.1).
    private func nextFrame() -> Bool {
        let start = self.pending.readerIndex
        guard let first: UInt8 = self.pending.getInteger(at: start),
            let second: UInt8 = self.pending.getInteger(at: start + 1)
        else { return false }
        var length = Int(second & 0x7f)
        var head = 2
        if length == 126 {
            guard let long: UInt16 = self.pending.getInteger(at: start + 2) else { return false }
            (length, head) = (Int(long), 4)
        } else if length == 127 {
            guard let long: UInt64 = self.pending.getInteger(at: start + 2) else { return false }
            (length, head) = (Int(clamping: long), 10)
        }
        guard self.pending.readableBytes >= head + length else { return false }
        self.pending.moveReaderIndex(forwardBy: head)
        let body = self.pending.readerIndex
        switch first & 0xf {
        case 0x2: self.received(at: body, length: length)
        case 0x8: self.fail("the server sent a close frame")
        case 0x9: self.write(self.pending.getBytes(at: body, length: length) ?? [], opcode: 0xa)
        default: break
        }
        self.pending.moveReaderIndex(to: body + length)
        return true
    }

    /// Looks at the first tag only (tidings.proto, ServerFrame): parsing whole frames would measure the generator.
    private func received(at index: Int, length: Int) {
        guard let tag: UInt8 = self.pending.getInteger(at: index) else { return }
        switch tag {
        case 1 << 3 | 2:
            self.phase = .ready
            self.signal(self, .welcomed)
        case 2 << 3 | 2: self.signal(self, .accepted)
        case 4 << 3 | 2:
            // entry { position = 1 … }: tag, length varint, 0x08, position varint.
            var cursor = index + 1
            _ = self.varint(&cursor)
            cursor += 1
            self.signal(self, .delivered(position: self.varint(&cursor)))
        // Pongs and signals.
        case 6 << 3 | 2, 10 << 3 | 2: break
        default:
            let frame = self.frame(at: index, length: length)
            guard case .answer(_, let answer)? = frame else {
                return self.fail("unexpected frame: \(frame.map { "\($0)" } ?? "not a frame")")
            }
            self.signal(self, .answered(answer))
        }
    }

    private func frame(at index: Int, length: Int) -> ServerFrame? {
        let bytes = self.pending.getBytes(at: index, length: length) ?? []
        return try? FrameCodec.decodeServerFrame(bytes, as: .protobuf)
    }

    private func varint(_ cursor: inout Int) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while let byte: UInt8 = self.pending.getInteger(at: cursor), shift < 64 {
            cursor += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { break }
            shift += 7
        }
        return value
    }

    /// Queues one frame until `flush`. The mask is zero: it protects proxies, not servers (RFC 6455 §10.3).
    func write(_ bytes: [UInt8], opcode: UInt8 = 0x2) {
        guard let channel = self.channel else { return }
        var buffer = channel.allocator.buffer(capacity: bytes.count + 8)
        buffer.writeInteger(0x80 | opcode)
        if bytes.count < 126 {
            buffer.writeInteger(0x80 | UInt8(bytes.count))
        } else {
            buffer.writeInteger(UInt8(0x80 | 126))
            buffer.writeInteger(UInt16(clamping: bytes.count))
        }
        buffer.writeInteger(UInt32(0))
        buffer.writeBytes(bytes)
        channel.write(buffer, promise: nil)
    }

    func flush() { self.channel?.flush() }

    /// As an app that is ended: without a close frame, and without a signal.
    func close() {
        self.phase = .closed
        self.channel?.close(promise: nil)
    }
}
