#if os(Linux)
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOWebSocket
    import Synchronization
    import Testing
    import TidingsModel
    import TidingsServer
    import TidingsWire
    import URLSessionWebSocket

    @testable import TidingsClient

    /// The events of one connection, in order.
    private final class Events: Sendable {
        private let continuation: AsyncStream<TransportEvent>.Continuation
        let stream: AsyncStream<TransportEvent>
        init() { (self.stream, self.continuation) = AsyncStream.makeStream() }
        func add(_ event: TransportEvent) { self.continuation.yield(event) }
    }

    private struct Connection {
        let connection: any TransportConnection
        private var events: AsyncStream<TransportEvent>.Iterator

        init(to port: Int) throws {
            let events = Events()
            let url = try #require(URL(string: "ws://127.0.0.1:\(port)"))
            self.connection = URLSessionTransport().open(url) { events.add($0) }
            self.events = events.stream.makeAsyncIterator()
        }

        mutating func next() async -> TransportEvent? { await self.events.next() }

        mutating func frame() async throws -> ServerFrame {
            guard case .received(let bytes)? = await self.next() else {
                throw RawClient.UnexpectedAnswer(text: "no frame")
            }
            return try FrameCodec.decodeServerFrame(bytes, as: .protobuf)
        }

        func send(_ frame: ClientFrame) { self.connection.send(FrameCodec.encode(frame, as: .protobuf)) }
    }

    /// Answers the first frame with these texts and its close, all in one write.
    private final class LastWords: ChannelInboundHandler, Sendable {
        typealias InboundIn = WebSocketFrame
        typealias OutboundOut = WebSocketFrame
        private let texts: [String]

        init(_ texts: [String]) { self.texts = texts }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard self.unwrapInboundIn(data).opcode == .binary else { return }
            for text in self.texts {
                let frame = WebSocketFrame(fin: true, opcode: .binary, data: ByteBuffer(string: text))
                context.write(self.wrapOutboundOut(frame), promise: nil)
            }
            var code = ByteBuffer()
            code.write(webSocketErrorCode: .normalClosure)
            let close = WebSocketFrame(fin: true, opcode: .connectionClose, data: code)
            context.writeAndFlush(self.wrapOutboundOut(close), promise: nil)
        }

        static func listen(_ texts: [String], closed: @escaping @Sendable () -> Void) async throws -> any Channel {
            try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    let upgrader = NIOWebSocketServerUpgrader(
                        shouldUpgrade: { channel, _ in
                            channel.eventLoop.makeSucceededFuture([
                                "Sec-WebSocket-Protocol": WireFormat.protobuf.subprotocol
                            ])
                        },
                        upgradePipelineHandler: { channel, _ in
                            channel.closeFuture.whenComplete { _ in closed() }
                            return channel.eventLoop.makeCompletedFuture {
                                try channel.pipeline.syncOperations.addHandler(LastWords(texts))
                            }
                        })
                    return channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                            withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        }
    }

    /// The transport that apps on Apple's systems use, from the same source, against the gateway.
    @Suite(.timeLimit(.minutes(5))) struct `The transport over URLSessionWebSocketTask` {
        @Test func `says hello, sends, receives and pings, and hears its own close`() async throws {
            try await TestServer.with { server in
                var alice = try Connection(to: server.listening.gatewayPort)
                #expect(await alice.next() == .opened)
                alice.send(server.hello("alice"))
                guard case .welcome = try await alice.frame() else {
                    throw RawClient.UnexpectedAnswer(text: "no welcome")
                }
                alice.send(.ping(7))
                #expect(try await alice.frame() == .pong(7))
                let draft = MessageDraft(
                    clientMessageID: "c1", conversation: ConversationID(type: .direct, target: "bob"),
                    objectName: .text,
                    content: #"{"content":"hi"}"#)
                alice.send(.send(draft))
                guard case .sendAccepted(let accepted) = try await alice.frame() else {
                    throw RawClient.UnexpectedAnswer(text: "not accepted")
                }
                #expect(accepted.clientMessageID == "c1")
                alice.connection.close()
                #expect(await alice.next() == .closed(reason: "closed"))
            }
        }

        @Test func `is told when the server refuses it and closes`() async throws {
            try await TestServer.with { server in
                var mallory = try Connection(to: server.listening.gatewayPort)
                #expect(await mallory.next() == .opened)
                mallory.send(server.hello("mallory", token: "no token"))
                guard case .problem(let problem, isFatal: true) = try await mallory.frame() else {
                    throw RawClient.UnexpectedAnswer(text: "no problem")
                }
                #expect(problem.code == .invalidToken)
                guard case .closed = await mallory.next() else { throw RawClient.UnexpectedAnswer(text: "not closed") }
            }
        }

        @Test func `takes no more than it was told, and stops reading when it is asked to`() async throws {
            try await TestServer.with { server in
                var bob = try Connection(to: server.listening.gatewayPort)
                #expect(await bob.next() == .opened)
                bob.connection.setReading(false)
                bob.send(server.hello("bob"))
                bob.connection.setReading(true)
                guard case .welcome = try await bob.frame() else {
                    throw RawClient.UnexpectedAnswer(text: "no welcome")
                }
                bob.connection.limitReceived(to: 1)
                bob.send(.ping(1))
                guard case .closed = await bob.next() else { throw RawClient.UnexpectedAnswer(text: "not closed") }
            }
        }

        @Test func `hands over what the server sent before it closed, however late it reads`() async throws {
            let hasClosed = DispatchSemaphore(value: 0)
            let server = try await LastWords.listen(["welcome", "refused"]) { hasClosed.signal() }
            let events = Events()
            let url = try #require(URL(string: "ws://127.0.0.1:\(server.localAddress?.port ?? 0)"))
            let connection = URLSessionTransport().open(url) { event in
                // The connection has ended before the first frame is asked for.
                if event == .opened { hasClosed.wait() }
                events.add(event)
            }
            connection.send(Array("hello".utf8))
            var told: [TransportEvent] = []
            for await event in events.stream {
                told.append(event)
                if case .closed = event { break }
            }
            #expect(
                told == [
                    .opened, .received(Array("welcome".utf8)), .received(Array("refused".utf8)),
                    .closed(reason: "the server closed the connection"),
                ])
            connection.close()
            try await server.close()
        }

        /// The machine above closes such a connection after two heartbeats (`ConnectionMachine`).
        @Test func `hears nothing of a server that goes silent, and leaves it when told`() async throws {
            let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: "127.0.0.1", port: 0).get()
            var connection = try Connection(to: silent.localAddress?.port ?? 0)
            connection.connection.close()
            // Its own close, or the task's that is cancelled by it: whichever is first.
            guard case .closed = await connection.next() else { throw RawClient.UnexpectedAnswer(text: "not closed") }
            try await silent.close()
        }
    }
#endif
