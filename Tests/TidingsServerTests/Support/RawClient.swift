import Foundation
import NIOCore
import NIOPosix
import TidingsModel
import TidingsWire

/// A TCP client that knows nothing but bytes, and the little of WebSocket a test needs. Used by one task at a time.
final class RawClient {
    struct Frame: Equatable {
        var opcode: UInt8
        var payload: [UInt8]

        var closeCode: UInt16? {
            self.opcode == 0x8 && self.payload.count >= 2 ? UInt16(self.payload[0]) << 8 | UInt16(self.payload[1]) : nil
        }
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let continuation: AsyncStream<[UInt8]>.Continuation

        init(_ continuation: AsyncStream<[UInt8]>.Continuation) { self.continuation = continuation }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.continuation.yield(Array(self.unwrapInboundIn(data).readableBytesView))
        }
        func channelInactive(context: ChannelHandlerContext) { self.continuation.finish() }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    let channel: any Channel
    private var iterator: AsyncStream<[UInt8]>.Iterator
    private var received: [UInt8] = []
    private(set) var format = WireFormat.protobuf

    private init(_ channel: any Channel, _ bytes: AsyncStream<[UInt8]>) {
        self.channel = channel
        self.iterator = bytes.makeAsyncIterator()
    }

    /// - Parameter receiveBuffer: bytes the kernel keeps for a reader that does not read.
    static func connect(port: Int, receiveBuffer: Int? = nil) async throws -> RawClient {
        let (bytes, continuation) = AsyncStream<[UInt8]>.makeStream()
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Collector(continuation))
            }
        }
        if let receiveBuffer {
            bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: receiveBuffer)
        }
        return RawClient(try await bootstrap.connect(host: "127.0.0.1", port: port).get(), bytes)
    }

    static func open(port: Int, as format: WireFormat = .protobuf, receiveBuffer: Int? = nil) async throws -> RawClient
    {
        let client = try await Self.connect(port: port, receiveBuffer: receiveBuffer)
        client.format = format
        try await client.send(text: Self.handshake(protocols: format.subprotocol))
        let head = try await client.head()
        guard head.hasPrefix("HTTP/1.1 101 ") else { throw UnexpectedAnswer(text: head) }
        return client
    }

    struct UnexpectedAnswer: Error { var text: String }

    static func handshake(
        path: String = "/v1/connect", protocols: String? = "tidings.v1.json", version: String = "13",
        key: String = "dGhlIHNhbXBsZSBub25jZQ=="
    ) -> String {
        var lines = [
            "GET \(path) HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: keep-alive, Upgrade",
            "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: \(version)",
        ]
        if let protocols { lines.append("Sec-WebSocket-Protocol: \(protocols)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    // MARK: - Out

    func send(text: String) async throws { try await self.send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async throws { try await self.channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

    func send(frames: [ClientFrame]) async throws {
        let opcode: UInt8 = self.format == .json ? 0x1 : 0x2
        try await self.send(frames.flatMap { Self.frame(opcode: opcode, FrameCodec.encode($0, as: self.format)) })
    }

    func send(_ frame: ClientFrame) async throws {
        try await self.send(
            Self.frame(opcode: self.format == .json ? 0x1 : 0x2, FrameCodec.encode(frame, as: self.format)))
    }

    static func frame(opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, isMasked: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | opcode]
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch payload.count {
        case ..<126: bytes.append(mask | UInt8(payload.count))
        case ..<65_536: bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
        default:
            bytes.append(mask | 127)
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(payload.count >> shift & 0xff)) }
        }
        guard isMasked else { return bytes + payload }
        let key: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]
        return bytes + key + payload.enumerated().map { $1 ^ key[$0 & 3] }
    }

    // MARK: - In

    /// False at the end.
    private func more() async -> Bool {
        guard let bytes = await self.iterator.next() else { return false }
        self.received += bytes
        return true
    }

    func head() async throws -> String {
        while true {
            let end = Array("\r\n\r\n".utf8)
            if let index = self.received.indices.first(where: { self.received[$0...].starts(with: end) }) {
                defer { self.received.removeFirst(index + 4) }
                return String(decoding: self.received[..<index], as: UTF8.self)
            }
            guard await self.more() else {
                throw UnexpectedAnswer(text: String(decoding: self.received, as: UTF8.self))
            }
        }
    }

    /// What comes behind the head of an answer, by its length.
    func body(of head: String) async throws -> String {
        let length = APIResponse(status: 0, head: head, text: "").header("Content-Length").flatMap { Int($0) } ?? 0
        while self.received.count < length {
            guard await self.more() else { throw UnexpectedAnswer(text: head) }
        }
        defer { self.received.removeFirst(length) }
        return String(decoding: self.received[..<length], as: UTF8.self)
    }

    /// What has come up to there, with it.
    func text(until end: String) async throws -> String {
        while true {
            let text = String(decoding: self.received, as: UTF8.self)
            if let range = text.range(of: end) { return String(text[..<range.upperBound]) }
            guard await self.more() else { throw UnexpectedAnswer(text: text) }
        }
    }

    func rest() async -> String {
        while await self.more() {}
        defer { self.received = [] }
        return String(decoding: self.received, as: UTF8.self)
    }

    /// Nil at the end of the connection.
    func next() async -> Frame? {
        while true {
            if let frame = self.take() { return frame }
            guard await self.more() else { return nil }
        }
    }

    private func take() -> Frame? {
        guard self.received.count >= 2 else { return nil }
        var length = Int(self.received[1] & 0x7f)
        var start = 2
        let more = length == 126 ? 2 : length == 127 ? 8 : 0
        guard self.received.count >= 2 + more else { return nil }
        if more > 0 { length = self.received[2..<2 + more].reduce(0) { $0 << 8 | Int($1) } }
        start += more
        guard self.received.count >= start + length else { return nil }
        defer { self.received.removeFirst(start + length) }
        return Frame(opcode: self.received[0] & 0x0f, payload: Array(self.received[start..<start + length]))
    }

    /// Nil at a close frame or the end.
    func nextFrame() async throws -> ServerFrame? {
        while let frame = await self.next() {
            switch frame.opcode {
            case 0x1, 0x2: return try FrameCodec.decodeServerFrame(frame.payload, as: self.format)
            case 0x8: return nil
            default: continue
            }
        }
        return nil
    }

    func problem() async throws -> ServerFrame.Problem? {
        while let frame = try await self.nextFrame() {
            if case .problem(let problem, isFatal: true) = frame { return problem }
        }
        return nil
    }

    func close() async { try? await self.channel.close() }
}
