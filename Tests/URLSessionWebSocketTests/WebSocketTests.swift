import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import Synchronization
import Testing

@testable import APNsSimulator
@testable import URLSessionWebSocket

/// A server on the loopback interface: sends every message back. A text it takes for an order: `close 4000 why`, `drop`, `ping`.
private final class EchoServer: Sendable {
    private let channel: any Channel
    var port: Int { self.channel.localAddress?.port ?? 0 }

    init(_ context: NIOSSLContext? = nil, protocol chosen: String? = "chat", accepts: Bool = true) async throws {
        self.channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    let upgrader = NIOWebSocketServerUpgrader(
                        maxFrameSize: 1 << 20,
                        shouldUpgrade: { channel, _ in
                            let headers: HTTPHeaders = chosen.map { ["Sec-WebSocket-Protocol": $0] } ?? [:]
                            return channel.eventLoop.makeSucceededFuture(accepts ? headers : nil)
                        },
                        upgradePipelineHandler: { channel, _ in
                            channel.eventLoop.makeCompletedFuture {
                                try channel.pipeline.syncOperations.addHandler(EchoHandler())
                            }
                        })
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                        withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
                    if !accepts { try channel.pipeline.syncOperations.addHandler(RefusalHandler()) }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func close() async { try? await self.channel.close() }
}

private final class EchoHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = self.unwrapInboundIn(data)
        let bytes = frame.unmaskedData
        switch frame.opcode {
        case .text: self.obey(String(buffer: bytes), context)
        case .binary: self.answer(.binary, bytes, context)
        case .ping: self.answer(.pong, bytes, context)
        case .connectionClose:
            self.answer(.connectionClose, bytes, context)
            context.close(promise: nil)
        default: break
        }
    }

    private func obey(_ order: String, _ context: ChannelHandlerContext) {
        let words = order.split(separator: " ", maxSplits: 2)
        switch words.first {
        case "close":
            var bytes = ByteBuffer()
            if words.count > 1 { bytes.writeInteger(UInt16(words[1]) ?? 1000) }
            if words.count > 2 { bytes.writeString(String(words[2])) }
            self.answer(.connectionClose, bytes, context)
        case "drop": context.close(promise: nil)
        case "silence": break
        default: self.answer(.text, ByteBuffer(string: order), context)
        }
    }

    private func answer(_ opcode: WebSocketOpcode, _ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        context.writeAndFlush(
            self.wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: bytes)), promise: nil)
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

private final class Delegate: URLSessionWebSocketDelegate {
    private let told: AsyncStream<String>.Continuation
    let lines: AsyncStream<String>

    init() { (self.lines, self.told) = AsyncStream.makeStream() }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) { self.told.yield("opened \(`protocol` ?? "-")") }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) { self.told.yield("closed \(closeCode.rawValue) \(String(decoding: reason ?? Data(), as: UTF8.self))") }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.told.yield(error == nil ? "done" : "failed")
    }
}

private final class Bench {
    let delegate = Delegate()
    let session: URLSession
    let task: URLSessionWebSocketTask
    private var lines: AsyncStream<String>.Iterator

    init(_ url: String, authority: String? = nil) throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.certificateAuthorityFile = authority
        self.session = URLSession(configuration: configuration, delegate: self.delegate, delegateQueue: nil)
        self.task = self.session.webSocketTask(with: try #require(URL(string: url)), protocols: ["chat"])
        self.lines = self.delegate.lines.makeAsyncIterator()
    }

    func next() async -> String? { await self.lines.next() }

    func send(_ message: URLSessionWebSocketTask.Message) async -> (any Error)? {
        await withCheckedContinuation { done in self.task.send(message) { done.resume(returning: $0) } }
    }

    func receive() async -> String {
        await withCheckedContinuation { done in
            self.task.receive { result in
                switch result {
                case .success(.data(let data)): done.resume(returning: "data \(data.count)")
                case .success(.string(let text)): done.resume(returning: text)
                case .failure(let error):
                    done.resume(
                        returning: "failed \((error as? URLError)?.code == .dataLengthExceedsMaximum ? "too long" : "")"
                    )
                }
            }
        }
    }

    func ping() async -> (any Error)? {
        await withCheckedContinuation { done in self.task.sendPing { done.resume(returning: $0) } }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A WebSocket of a session` {
    @Test func `opens, sends and receives in order, and is closed with its code`() async throws {
        let server = try await EchoServer()
        let bench = try Bench("ws://127.0.0.1:\(server.port)/v1")
        // What is sent early waits.
        let task = bench.task
        async let early = task.sent(.string("early"))
        bench.task.resume()
        #expect(await bench.next() == "opened chat")
        #expect(await early == nil)
        #expect(await bench.send(.data(Data(repeating: 7, count: 70_000))) == nil)
        #expect(await bench.receive() == "early")
        #expect(await bench.receive() == "data 70000")
        #expect(await bench.ping() == nil)
        #expect(bench.task.closeCode == .invalid)
        bench.task.cancel(with: .normalClosure, reason: Data("bye".utf8))
        #expect(await bench.next() == "done")
        #expect(bench.task.closeCode == .normalClosure)
        #expect(bench.task.closeReason == Data("bye".utf8))
        #expect(await bench.send(.string("late")) != nil)
        #expect(await bench.ping() != nil)
        #expect(await bench.receive().hasPrefix("failed"))
        await server.close()
    }

    @Test(arguments: [
        ("close", "closed 1005 "), ("close 1001 restart", "closed 1001 restart"), ("close 4000 why", "closed 0 why"),
    ])
    func `tells with which code the server closes`(order: String, told: String) async throws {
        let server = try await EchoServer()
        let bench = try Bench("ws://127.0.0.1:\(server.port)")
        bench.task.resume()
        #expect(await bench.next() == "opened chat")
        #expect(await bench.send(.string(order)) == nil)
        #expect(await bench.next() == told)
        #expect(await bench.next() == "done")
        #expect(await bench.receive().hasPrefix("failed"))
        await server.close()
    }

    @Test func `fails everything that waits when the connection is lost`() async throws {
        let server = try await EchoServer()
        let bench = try Bench("ws://127.0.0.1:\(server.port)")
        bench.task.resume()
        #expect(await bench.next() == "opened chat")
        let task = bench.task
        async let waiting = task.received()
        #expect(await bench.send(.string("drop")) == nil)
        #expect(await waiting == false)
        #expect(await bench.next() == "failed")
        #expect(bench.task.closeCode == .abnormalClosure)
        await server.close()
    }

    @Test func `takes no message longer than its limit`() async throws {
        let server = try await EchoServer()
        let bench = try Bench("ws://127.0.0.1:\(server.port)")
        bench.task.maximumMessageSize = 1_000
        bench.task.resume()
        #expect(await bench.next() == "opened chat")
        #expect(await bench.send(.data(Data(repeating: 1, count: 1_000))) == nil)
        #expect(await bench.receive() == "data 1000")
        #expect(await bench.send(.data(Data(repeating: 1, count: 1_001))) == nil)
        #expect(await bench.receive() == "failed too long")
        #expect(bench.task.closeCode == .messageTooBig)
        await server.close()
    }

    @Test func `holds what nobody asks for in the network, and loses none of it`() async throws {
        let server = try await EchoServer()
        let bench = try Bench("ws://127.0.0.1:\(server.port)")
        bench.task.resume()
        #expect(await bench.next() == "opened chat")
        for number in 0..<50 { #expect(await bench.send(.string("\(number)")) == nil) }
        for number in 0..<50 { #expect(await bench.receive() == "\(number)") }
        bench.session.invalidateAndCancel()
        #expect(await bench.next() == "failed")
        await server.close()
    }

    @Test func `hears the pong behind messages that nobody has asked for yet, and once all were received`() async throws
    {
        let server = try await EchoServer()
        let bench = try Bench("ws://127.0.0.1:\(server.port)")
        bench.task.resume()
        #expect(await bench.next() == "opened chat")
        for number in 0..<3 { #expect(await bench.send(.string("\(number)")) == nil) }
        #expect(await bench.ping() == nil)
        for number in 0..<3 { #expect(await bench.receive() == "\(number)") }
        #expect(await bench.ping() == nil)
        bench.session.invalidateAndCancel()
        #expect(await bench.next() == "failed")
        await server.close()
    }

    @Test func `is cancelled while a server is silent, and at once`() async throws {
        let server = try await EchoServer()
        let bench = try Bench("ws://127.0.0.1:\(server.port)")
        bench.task.resume()
        #expect(await bench.next() == "opened chat")
        #expect(await bench.send(.string("silence")) == nil)
        let task = bench.task
        async let waiting = task.received()
        bench.task.cancel()
        #expect(await waiting == false)
        #expect(await bench.next() == "failed")
        await server.close()
    }

    @Test(arguments: [(true, "chat"), (true, "other"), (false, "chat")])
    func `does not open where the server refuses, or speaks a protocol nobody offered`(
        accepts: Bool, chosen: String
    ) async throws {
        let server = try await EchoServer(protocol: chosen, accepts: accepts)
        let bench = try Bench("ws://127.0.0.1:\(server.port)")
        bench.task.resume()
        #expect(await bench.next() == (accepts && chosen == "chat" ? "opened chat" : "failed"))
        bench.session.invalidateAndCancel()
        await server.close()
    }

    @Test func `fails where nobody listens, and without a host`() async throws {
        for url in ["ws://127.0.0.1:1/", "ws:///v1"] {
            let bench = try Bench(url)
            bench.task.resume()
            #expect(await bench.next() == "failed")
        }
    }

    @Test func `by TLS trusts the authority it is given, and no other`() async throws {
        let authority = try LocalAuthority(now: Date())
        let pair = try authority.server(host: "localhost", now: Date())
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("voip-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("ca.pem")
        try Data(try authority.pair.certificate.utf8).write(to: file)
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [
                    .certificate(try NIOSSLCertificate(bytes: Array(pair.certificate.utf8), format: .pem))
                ],
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(pair.key.utf8), format: .pem))))
        let server = try await EchoServer(context)
        let bench = try Bench("wss://localhost:\(server.port)", authority: file.path)
        bench.task.resume()
        #expect(await bench.next() == "opened chat")
        #expect(await bench.send(.string("hi")) == nil)
        #expect(await bench.receive() == "hi")
        bench.session.invalidateAndCancel()
        let stranger = try Bench("wss://localhost:\(server.port)")
        stranger.task.resume()
        #expect(await stranger.next() == "failed")
        await server.close()
    }
}

extension URLSessionWebSocketTask {
    fileprivate func sent(_ message: Message) async -> (any Error)? {
        await withCheckedContinuation { done in self.send(message) { done.resume(returning: $0) } }
    }

    fileprivate func received() async -> Bool {
        await withCheckedContinuation { done in
            self.receive { result in
                if case .success = result { done.resume(returning: true) } else { done.resume(returning: false) }
            }
        }
    }
}
