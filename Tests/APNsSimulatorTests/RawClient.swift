import HTTP2Connection
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import TidingsModel

/// An HTTP/2 client that sends what it is told, and hears everything.
final class RawClient: Sendable {
    enum Heard: Equatable, Sendable {
        case settings(streams: Int?)
        case answer(stream: Int, status: Int, reason: String?)
        case reset(stream: Int, HTTP2ErrorCode)
        case goAway(last: Int, HTTP2ErrorCode, debug: String)
        case pong
        /// TLS has failed; what the library says of the alert.
        case failed(String)
        case closed
    }

    /// How it connects.
    struct Manner: Sendable {
        /// The protocols to offer; none means no ALPN at all.
        var alpn = ["h2"]
        var certificate: (pem: String, key: String)?
        var newestTLS = TLSVersion.tlsv13
        /// Apple's name, as a client would send it that a hosts file led here.
        var name = "api.sandbox.push.apple.com"
    }

    private let channel: any Channel
    private let listener: NIOLoopBound<Listener>
    private let heard: AsyncStream<Heard>

    private init(channel: any Channel, listener: NIOLoopBound<Listener>, heard: AsyncStream<Heard>) {
        self.channel = channel
        self.listener = listener
        self.heard = heard
    }

    static func connect(
        port: Int, authorityPath: String, _ manner: Manner = Manner()
    ) async throws -> RawClient {
        let (heard, feed) = AsyncStream.makeStream(of: Heard.self)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.applicationProtocols = manner.alpn
        tls.trustRoots = .file(authorityPath)
        tls.maximumTLSVersion = manner.newestTLS
        if let certificate = manner.certificate {
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.pem.utf8))
            tls.certificateChain = chain.map { .certificate($0) }
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(certificate.key.utf8), format: .pem))
        }
        let context = try NIOSSLContext(configuration: tls)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let listener = try await loop.submit { NIOLoopBound(Listener(feed: feed), eventLoop: loop) }.get()
        let channel = try await ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: manner.name))
                    try pipeline.addHandler(listener.value)
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return RawClient(channel: channel, listener: listener, heard: heard)
    }

    func send(stream: Int, _ head: RequestHead, body: String) async throws {
        try await self.channel.eventLoop.submit {
            try self.listener.value.session.open(StreamID(stream), head, body: Array(body.utf8))
            self.listener.value.write()
        }.get()
    }

    /// Writes a PING.
    func ping() async throws {
        try await self.channel.eventLoop.submit {
            self.listener.value.session.ping(7)
            self.listener.value.write()
        }.get()
    }

    func next() async -> Heard? {
        for await frame in self.heard { return frame }
        return nil
    }

    /// The next thing that is no SETTINGS.
    func answer() async -> Heard? {
        while let heard = await self.next() {
            if case .settings = heard { continue }
            return heard
        }
        return nil
    }

    func close() async { try? await self.channel.close() }

    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        var session = ClientSession()
        private let feed: AsyncStream<Heard>.Continuation
        private var context: ChannelHandlerContext?

        init(feed: AsyncStream<Heard>.Continuation) { self.feed = feed }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted? = event as? TLSUserEvent { self.write() }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var events: [ClientSession.Event] = []
            self.session.receive(self.unwrapInboundIn(data), into: &events)
            for event in events { if let heard = Self.heard(event) { self.feed.yield(heard) } }
            self.write()
        }

        func write() {
            guard let output = self.session.takeOutput() else { return }
            self.context?.writeAndFlush(self.wrapOutboundOut(output), promise: nil)
        }

        private static func heard(_ event: ClientSession.Event) -> Heard? {
            switch event {
            case .settings(let settings): return .settings(streams: settings.maxConcurrentStreams.map { Int($0) })
            case .response(let stream, let response):
                let reason = (try? JSONValue(parsing: response.body))?["reason"]?.stringValue
                return .answer(stream: Int(stream), status: response.status, reason: reason)
            case .streamReset(let stream, let code): return .reset(stream: Int(stream), code)
            case .goAway(let last, let code, let debug):
                return .goAway(last: Int(last), code, debug: String(decoding: debug, as: UTF8.self))
            case .pingAcknowledged: return .pong
            case .streamFailed(let stream, let code, _): return .reset(stream: Int(stream), code)
            case .connectionError(_, let text): return .failed(text)
            case .windowOpened, .bodySent, .streamNotSent: return nil
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            self.feed.yield(.closed)
            self.feed.finish()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if case .uncleanShutdown? = error as? NIOSSLError {} else { self.feed.yield(.failed("\(error)")) }
            context.close(promise: nil)
        }
    }
}
