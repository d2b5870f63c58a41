import NIOCore
import NIOPosix
import TidingsModel
import TidingsWire

/// One connection of the load generator. It does as little work as a client can, so that the figures are the
/// server's: of an entry it reads position and number alone, and it acknowledges once a read. Lives on one event loop.
final class BenchConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Signal {
        case welcomed
        case accepted
        /// - number: of the sender's messages, as `BenchSend` has it.
        case delivered(number: Int)
        /// A page or an answer.
        case told(OtherFrame)
        case failed(String)
    }

    /// A reference, so that the usual signals are small.
    final class OtherFrame {
        let frame: ServerFrame
        init(_ frame: ServerFrame) { self.frame = frame }
    }

    /// Names the person that connects, and the server.
    struct Opening: Sendable {
        var host: String
        var port: Int
        var path: String
        var dialect: BenchDialect
        var user: String
        var token: String
        var device: String
        var after: LogPosition = 0

        init(_ user: String, device: String, at server: BenchServer) throws {
            (self.host, self.port, self.path) = (server.host, server.port, server.path)
            (self.dialect, self.user, self.device) = (server.dialect, server.prefix + user, device)
            self.token = try server.token(self.user)
        }

        init(user: String, token: String, device: String, port: Int) {
            (self.host, self.port, self.path, self.dialect) = ("127.0.0.1", port, "/v1/connect", .tidings)
            (self.user, self.token, self.device) = (user, token, device)
        }
    }

    private enum Phase { case opening, ready, closed }

    let opening: Opening
    /// Among the connections of a load.
    let index: Int
    private let signal: (BenchConnection, Signal) -> Void
    private var phase = Phase.opening
    private var pending = ByteBuffer()
    private var output = ByteBuffer()
    private var channel: (any Channel)?
    /// The position of the newest entry that came since the last ack.
    private var unacknowledged: LogPosition?

    init(index: Int, _ opening: Opening, signal: @escaping (BenchConnection, Signal) -> Void) {
        self.index = index
        self.opening = opening
        self.signal = signal
    }

    /// Connects; what becomes of it is signalled.
    func open(on loop: any EventLoop) {
        let bound = NIOLoopBound(self, eventLoop: loop)
        ClientBootstrap(group: loop)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(bound.value) }
            }
            .connect(host: self.opening.host, port: self.opening.port)
            .whenFailure { bound.value.fail("\($0)") }
    }

    func channelActive(context: ChannelHandlerContext) {
        self.channel = context.channel
        // The key is the sample of RFC 6455 §1.3: the generator does not need to be protected from itself.
        context.writeAndFlush(
            self.wrapOutboundOut(
                ByteBuffer(
                    string:
                        "GET \(self.opening.path) HTTP/1.1\r\nHost: \(self.opening.host):\(self.opening.port)\r\n"
                        + "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                        + "Sec-WebSocket-Protocol: \(self.opening.dialect.subprotocol)\r\n\r\n")), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.channel = nil
        self.fail("the server closed the connection")
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
            self.phase = .ready
            let opening = self.opening
            self.write(
                opening.dialect.hello(
                    user: opening.user, token: opening.token, device: opening.device, after: opening.after))
        }
        while self.nextFrame() {}
        if self.pending.readableBytes == 0 { self.pending.clear() }
        if let position = self.unacknowledged {
            self.unacknowledged = nil
            self.write(FrameCodec.encode(.ack(ClientFrame.Ack(stored: position, settled: [])), as: .protobuf))
        }
        self.flush()
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
        switch (first & 0xf, self.opening.dialect) {
        case (0x2, .tidings): self.received(at: body, length: length)
        case (0x2, .mqtt): self.receivedMQTT(at: body, length: length)
        case (0x8, _): self.fail("the server sent a close frame")
        case (0x9, _): self.write(self.pending.getBytes(at: body, length: length) ?? [], opcode: 0xa)
        default: break
        }
        self.pending.moveReaderIndex(to: body + length)
        return true
    }

    /// Looks at as little as it can (tidings.proto, ServerFrame): parsing whole frames would measure the generator.
    private func received(at index: Int, length: Int) {
        guard let tag: UInt8 = self.pending.getInteger(at: index) else { return }
        switch tag {
        case 1 << 3 | 2: self.signal(self, .welcomed)
        case 2 << 3 | 2: self.signal(self, .accepted)
        case 4 << 3 | 2: self.receivedEntry(at: index + 1)
        // Pongs and signals.
        case 6 << 3 | 2, 10 << 3 | 2: break
        default:
            let bytes = self.pending.getBytes(at: index, length: length) ?? []
            guard let frame = try? FrameCodec.decodeServerFrame(bytes, as: .protobuf) else {
                return self.fail("the server sent what is not a frame")
            }
            switch frame {
            case .answer, .page: self.signal(self, .told(OtherFrame(frame)))
            default: self.fail("unexpected frame: \(frame)")
            }
        }
    }

    /// An entry has position = 1 and message = 2, of which client_message_id = 4 is the sender's number.
    private func receivedEntry(at start: Int) {
        var cursor = start
        _ = self.varint(&cursor)
        cursor += 1
        let position = self.varint(&cursor)
        self.unacknowledged = position
        guard self.pending.getInteger(at: cursor, as: UInt8.self) == 2 << 3 | 2 else {
            return self.fail("the entry at \(position) is no message")
        }
        cursor += 1
        _ = self.varint(&cursor)
        while let tag: UInt8 = self.pending.getInteger(at: cursor), tag & 7 == 2 {
            cursor += 1
            let length = Int(self.varint(&cursor))
            if tag == 4 << 3 | 2 { return self.signal(self, .delivered(number: self.number(at: cursor))) }
            cursor += length
        }
        self.fail("the message at \(position) has no client_message_id")
    }

    private func receivedMQTT(at index: Int, length: Int) {
        guard let first: UInt8 = self.pending.getInteger(at: index) else { return }
        switch first & 0xf0 {
        // CONNACK: whose second byte is 0 if it is well.
        case 0x20:
            guard self.pending.getInteger(at: index + 3, as: UInt8.self) == 0 else {
                return self.fail("the broker refused the connection")
            }
            self.write(MQTT.subscribe(to: self.opening.user))
        // SUBACK, PUBACK, PUBLISH.
        case 0x90: self.signal(self, .welcomed)
        case 0x40: self.signal(self, .accepted)
        case 0x30:
            var cursor = index + 1
            _ = self.varint(&cursor)
            guard let topic: UInt16 = self.pending.getInteger(at: cursor),
                let id: UInt16 = self.pending.getInteger(at: cursor + 2 + Int(topic))
            else { return }
            self.write(MQTT.packet(0x40, [UInt8(id >> 8), UInt8(id & 0xff)]))
            self.signal(self, .delivered(number: self.number(at: cursor + 4 + Int(topic))))
        default: self.fail("unexpected packet of type \(first >> 4)")
        }
    }

    private func number(at index: Int) -> Int {
        var number = 0
        for offset in 0..<8 {
            number = number * 10 + Int(self.pending.getInteger(at: index + offset, as: UInt8.self) ?? 0) - 48
        }
        return number
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

    /// Queues one message until `flush`, or until what is being read has been read.
    func write(_ bytes: [UInt8], opcode: UInt8 = 0x2) {
        self.write(frame: WebSocketFrame.masked(bytes, opcode: opcode))
    }

    /// The same for what is a WebSocket frame already.
    func write(frame: [UInt8]) { self.output.writeBytes(frame) }

    func flush() {
        guard self.output.readableBytes > 0, let channel = self.channel else { return }
        channel.writeAndFlush(self.output, promise: nil)
        self.output = ByteBuffer()
    }

    /// Ends the connection like an app that is killed: without a close frame, and without a signal.
    func close() {
        self.phase = .closed
        self.channel?.close(promise: nil)
    }
}
