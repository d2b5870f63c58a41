import Foundation
import HTTP2Connection
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL

/// A server of few words behind real TLS, for what the local APNs cannot be made to do: the test says what becomes of
/// each request.
final class WireServer: Sendable {
    /// What a request is met with.
    enum Reply: Sendable {
        case answer(Int, [(String, String)] = [], body: String = "")
        case silence
        case reset(HTTP2ErrorCode)
        /// GOAWAY, then nothing more of this request.
        case goAway(lastStream: StreamID?, debugData: String)
        /// The answer, then GOAWAY.
        case answerAndGoAway(Int)
        /// Close without a word.
        case cut

        /// A push that is taken.
        static let accepted = Reply.answer(200, [("apns-id", "123e4567-e89b-12d3-a456-426614174000")])
    }

    /// A request as it came: the how manieth connection, the stream, and everything in it.
    struct Request: Sendable {
        var connection: Int
        var stream: StreamID
        var headers: HeaderList
        var body: String

        func header(_ name: String) -> String? { self.headers.first(name: name) }
    }

    struct State {
        var connections = 0
        var open = 0
        var requests: [Request] = []
        var held: [@Sendable () -> Void] = []
        var waiting: [(count: Int, CheckedContinuation<Void, Never>)] = []
    }

    let port: Int
    private let channel: any Channel
    private let state: NIOLockedValueBox<State>

    private init(channel: any Channel, state: NIOLockedValueBox<State>) {
        self.channel = channel
        self.state = state
        self.port = channel.localAddress?.port ?? 0
    }

    /// Starts on a free port.
    ///
    /// - Parameters:
    ///   - clients: the authorities whose client certificates are taken; nil asks for none.
    ///   - reply: called on the connection's loop for each request.
    static func start(
        _ papers: Papers, address: String = "127.0.0.1", port: Int = 0, clients: [NIOSSLCertificate]? = nil,
        configuration: ServerSession.Configuration = .init(), _ reply: @escaping @Sendable (Request) -> Reply
    ) async throws -> WireServer {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(papers.server)], privateKey: .privateKey(papers.serverKey))
        tls.applicationProtocols = ["h2"]
        if let clients {
            tls.certificateVerification = .noHostnameVerification
            tls.trustRoots = .certificates(clients)
        }
        let context = try NIOSSLContext(configuration: tls)
        let state = NIOLockedValueBox(State())
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = state.withLockedValue { state in
                        state.connections += 1
                        return state.connections
                    }
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context),
                        Connection(number, ServerSession(configuration), state, reply))
                }
            }
            .bind(host: address, port: port).get()
        return WireServer(channel: channel, state: state)
    }

    func stop() async { try? await self.channel.close() }

    var requests: [Request] { self.state.withLockedValue { $0.requests } }
    var connections: Int { self.state.withLockedValue { $0.connections } }

    /// Waits until so many requests have come.
    func awaitRequests(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = self.state.withLockedValue { state in
                if state.requests.count >= count { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Answers the requests that were met with silence, in their order.
    func release() {
        let held = self.state.withLockedValue { state in
            defer { state.held = [] }
            return state.held
        }
        for answer in held { answer() }
    }

    private final class Connection: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let number: Int
        private var session: ServerSession
        private let state: NIOLockedValueBox<State>
        private let reply: @Sendable (Request) -> Reply

        init(
            _ number: Int, _ session: ServerSession, _ state: NIOLockedValueBox<State>,
            _ reply: @escaping @Sendable (Request) -> Reply
        ) {
            self.number = number
            self.session = session
            self.state = state
            self.reply = reply
        }

        func channelActive(context: ChannelHandlerContext) {
            self.write(context)
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var events: [ServerSession.Event] = []
            self.session.receive(self.unwrapInboundIn(data), into: &events)
            for event in events {
                guard case .request(let stream, let message) = event else { continue }
                let request = Request(
                    connection: self.number, stream: stream, headers: message.headers,
                    body: String(decoding: message.body, as: UTF8.self))
                let woken = self.state.withLockedValue { state in
                    state.requests.append(request)
                    let count = state.requests.count
                    defer { state.waiting.removeAll { $0.count <= count } }
                    return state.waiting.filter { $0.count <= count }.map { $0.1 }
                }
                self.handle(request, context)
                for continuation in woken { continuation.resume() }
            }
            self.write(context)
        }

        private func handle(_ request: Request, _ context: ChannelHandlerContext) {
            switch self.reply(request) {
            case .answer(let status, let fields, let body):
                self.session.respond(
                    request.stream, status: status, fields: fields.map { HeaderField($0.0, $0.1) },
                    body: Array(body.utf8))
            case .silence:
                let box = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                let eventLoop = context.eventLoop
                self.state.withLockedValue { state in
                    state.held.append {
                        eventLoop.execute {
                            box.value.0.session.respond(request.stream, status: 200)
                            box.value.0.write(box.value.1)
                        }
                    }
                }
            case .reset(let code): self.session.reset(request.stream, code)
            case .goAway(let last, let debugData):
                self.session.goAway(lastStream: last, .noError, debugData: Array(debugData.utf8))
            case .answerAndGoAway(let status):
                self.session.respond(request.stream, status: status)
                self.session.goAway(.noError)
            case .cut: context.close(mode: .all, promise: nil)
            }
        }

        private func write(_ context: ChannelHandlerContext) {
            guard let output = self.session.takeOutput() else { return }
            context.writeAndFlush(self.wrapOutboundOut(output), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
