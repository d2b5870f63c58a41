import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization
import Testing

@testable import TidingsClient

/// A WebSocket server on the loopback interface: sends every message back, and says what it was asked.
private final class EchoServer: Sendable {
    private let channel: any Channel
    private let heads = Mutex<[HTTPRequestHead]>([])

    var url: String { "ws://127.0.0.1:\(self.channel.localAddress?.port ?? 0)" }
    var head: HTTPRequestHead? { self.heads.withLock { $0.first } }

    init(accepts: Bool = true) async throws {
        let box = HeadBox()
        self.channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                let upgrader = NIOWebSocketServerUpgrader(
                    maxFrameSize: 1 << 20,
                    shouldUpgrade: { channel, head in
                        box.set(head)
                        let headers: HTTPHeaders = ["Sec-WebSocket-Protocol": "tidings.v1.protobuf"]
                        return channel.eventLoop.makeSucceededFuture(accepts ? headers : nil)
                    },
                    upgradePipelineHandler: { channel, _ in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(EchoHandler())
                        }
                    })
                return channel.pipeline.configureHTTPServerPipeline(
                    withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in })
                ).flatMapThrowing {
                    if !accepts { try channel.pipeline.syncOperations.addHandler(RefusalHandler()) }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        box.server.withLock { $0 = self }
    }

    func close() async throws { try await self.channel.close() }

    private final class HeadBox: Sendable {
        let server = Mutex<EchoServer?>(nil)
        func set(_ head: HTTPRequestHead) { self.server.withLock { $0 }?.heads.withLock { $0.append(head) } }
    }
}

private final class EchoHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = self.unwrapInboundIn(data)
        switch frame.opcode {
        case .binary:
            // In two pieces, as a server may send a large page.
            var bytes = frame.unmaskedData
            let first = bytes.readSlice(length: bytes.readableBytes / 2) ?? ByteBuffer()
            context.write(
                self.wrapOutboundOut(WebSocketFrame(fin: false, opcode: .binary, data: first)), promise: nil)
            context.writeAndFlush(
                self.wrapOutboundOut(WebSocketFrame(fin: true, opcode: .continuation, data: bytes)), promise: nil)
        case .connectionClose: context.close(promise: nil)
        default: break
        }
    }
}

private final class RefusalHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = self.unwrapInboundIn(data) else { return }
        let head = HTTPResponseHead(version: .http1_1, status: .notFound, headers: ["Content-Length": "0"])
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }
}

private struct Listener {
    let connection: any TransportConnection
    var events: AsyncStream<TransportEvent>.Iterator

    init(_ url: String) throws {
        let (stream, continuation) = AsyncStream.makeStream(of: TransportEvent.self)
        self.connection = NIOTransport().open(try #require(URL(string: url))) { event in
            continuation.yield(event)
            if case .closed = event { continuation.finish() }
        }
        self.events = stream.makeAsyncIterator()
    }
}

@Suite struct `The transport on Linux` {
    @Test func `opens at the gateway's path with the subprotocol, and carries messages both ways in order`()
        async throws
    {
        let server = try await EchoServer()
        var listener = try Listener(server.url)
        #expect(await listener.events.next() == .opened)
        #expect(server.head?.uri == "/v1/connect")
        #expect(server.head?.headers.first(name: "Sec-WebSocket-Protocol") == "tidings.v1.protobuf")
        let large = [UInt8](repeating: 7, count: 200_000)
        listener.connection.send([1, 2, 3])
        listener.connection.send(large)
        #expect(await listener.events.next() == .received([1, 2, 3]))
        #expect(await listener.events.next() == .received(large))
        listener.connection.close()
        guard case .closed? = await listener.events.next() else {
            Issue.record("the connection did not close")
            return
        }
        #expect(await listener.events.next() == nil)
        try await server.close()
    }

    @Test func `does not take a message that is longer than it was told`() async throws {
        let server = try await EchoServer()
        var listener = try Listener(server.url)
        #expect(await listener.events.next() == .opened)
        listener.connection.limitReceived(to: 1_000)
        let fitting = [UInt8](repeating: 7, count: 1_000)
        listener.connection.send(fitting)
        listener.connection.send(fitting + [8])
        listener.connection.send([9])
        #expect(await listener.events.next() == .received(fitting))
        #expect(
            await listener.events.next() == .closed(reason: "the server sent 1001 bytes, at most 1000 are taken"))
        #expect(await listener.events.next() == nil)
        try await server.close()
    }

    @Test func `reads no further until it is told to go on`() async throws {
        let server = try await EchoServer()
        var listener = try Listener(server.url)
        #expect(await listener.events.next() == .opened)
        let channel = try #require((listener.connection as? NIOConnection)?.channel)
        listener.connection.setReading(false)
        #expect(try await channel.getOption(.autoRead).get() == false)
        listener.connection.send([1])
        listener.connection.setReading(true)
        #expect(try await channel.getOption(.autoRead).get() == true)
        #expect(await listener.events.next() == .received([1]))
        listener.connection.close()
        try await server.close()
    }

    @Test func `tells that the server does not open a WebSocket`() async throws {
        let server = try await EchoServer(accepts: false)
        var listener = try Listener(server.url)
        guard case .closed(let reason)? = await listener.events.next() else {
            Issue.record("a refused upgrade must end the connection")
            return
        }
        #expect(reason.contains("404"))
        try await server.close()
    }

    @Test func `tells that nobody listens`() async throws {
        let server = try await EchoServer()
        let url = server.url
        try await server.close()
        var listener = try Listener(url)
        guard case .closed(let reason)? = await listener.events.next() else {
            Issue.record("an unreachable server must end the connection")
            return
        }
        #expect(reason.contains("cannot be reached"))
    }
}
