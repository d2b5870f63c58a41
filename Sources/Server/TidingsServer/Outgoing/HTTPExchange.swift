import APNsClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One request by HTTP/1.1 and its answer, over a connection of its own. Redirects are not followed.
struct HTTPExchange: Sendable {
    struct Answer: Hashable, Sendable {
        var status: Int
        /// Of the body, `answerBytesMax` at most.
        var bytes: [UInt8]
        /// There was more, which was not read.
        var isCut: Bool
    }

    enum Fault: Error, CustomStringConvertible {
        case noAnswerInTime
        case closed

        var description: String {
            switch self {
            case .noAnswerInTime: "no answer in time"
            case .closed: "the connection was closed"
            }
        }
    }

    var address: HTTPAddress
    var method = HTTPMethod.GET
    /// Besides `host`, `connection` and `content-length`.
    var headers: [(String, String)] = []
    var body: [UInt8] = []
    /// For `https:`.
    var tls: NIOSSLContext?
    var answerBytesMax: Int

    /// - Parameter trustRootsPath: nil for the system's authorities.
    static func tls(trustRootsPath: String?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let path = trustRootsPath { configuration.trustRoots = try .file(at: path) }
        configuration.applicationProtocols = ["http/1.1"]
        configuration.minimumTLSVersion = .tlsv12
        return try NIOSSLContext(configuration: configuration)
    }

    /// - Parameters:
    ///   - socket: where to connect to; nil to look the host up.
    ///   - connectTime: for connecting to the socket alone, without TLS; nil for as long as there is.
    ///   - deadline: for connecting and the whole answer.
    /// - Throws: what NIO threw, or `Fault`.
    func run(
        on loop: any EventLoop, to socket: SocketAddress? = nil, connectTime: TimeAmount? = nil,
        until deadline: NIODeadline
    ) async throws -> Answer {
        let answer = loop.makePromise(of: Answer.self)
        let left = max(.milliseconds(1), deadline - .now())
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(min(connectTime ?? left, left))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if self.address.isSecure, let tls = self.tls {
                        let name = self.address.isNumeric ? nil : self.address.host
                        try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
                    }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(HTTPAnswerReader(answer, self))
                }
            }
        do {
            let connecting =
                socket.map { bootstrap.connect(to: $0) }
                ?? bootstrap.connect(host: self.address.host, port: self.address.port)
            let channel = try await connecting.get()
            let timer = loop.scheduleTask(deadline: deadline) {
                answer.fail(Fault.noAnswerInTime)
                channel.close(promise: nil)
            }
            defer {
                timer.cancel()
                channel.close(promise: nil)
            }
            return try await answer.futureResult.get()
        } catch {
            answer.fail(error)
            throw error
        }
    }
}

private final class HTTPAnswerReader: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let answer: EventLoopPromise<HTTPExchange.Answer>
    private let exchange: HTTPExchange
    private var status = 0
    private var bytes: [UInt8] = []
    private var isDone = false

    init(_ answer: EventLoopPromise<HTTPExchange.Answer>, _ exchange: HTTPExchange) {
        self.answer = answer
        self.exchange = exchange
    }

    func channelActive(context: ChannelHandlerContext) {
        var head = HTTPRequestHead(
            version: .http1_1, method: self.exchange.method, uri: self.exchange.address.target)
        head.headers.add(name: "host", value: self.exchange.address.authority)
        for (name, value) in self.exchange.headers { head.headers.add(name: name, value: value) }
        head.headers.add(name: "connection", value: "close")
        if !self.exchange.body.isEmpty {
            head.headers.add(name: "content-length", value: "\(self.exchange.body.count)")
        }
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        if !self.exchange.body.isEmpty {
            let buffer = context.channel.allocator.buffer(bytes: self.exchange.body)
            context.write(self.wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
        }
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head): self.status = Int(head.status.code)
        case .body(let part):
            let room = self.exchange.answerBytesMax - self.bytes.count
            self.bytes += part.readableBytesView.prefix(room)
            if part.readableBytes > room { self.finish(isCut: true, context) }
        case .end: self.finish(isCut: false, context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { self.fail(HTTPExchange.Fault.closed, context) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.fail(error, context) }

    private func finish(isCut: Bool, _ context: ChannelHandlerContext) {
        guard !self.isDone else { return }
        self.isDone = true
        self.answer.succeed(HTTPExchange.Answer(status: self.status, bytes: self.bytes, isCut: isCut))
        context.close(promise: nil)
    }

    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        guard !self.isDone else { return }
        self.isDone = true
        self.answer.fail(error)
        context.close(promise: nil)
    }
}
