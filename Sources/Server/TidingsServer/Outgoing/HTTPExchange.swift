import APNsClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import TidingsModel

/// One request by HTTP/1.1 and its answer, over a connection of its own. Redirects are not followed.
struct HTTPExchange: Sendable {
    struct Answer: Hashable, Sendable {
        var status: Int
        /// The body, `answerBytesMax` at most.
        var bytes: [UInt8]
        /// There was more, which was not read.
        var isCut: Bool
    }

    enum Fault: Error, CustomStringConvertible {
        case noAnswerInTime
        case closed
        /// More bytes than any answer that is meant, as of heads without end.
        case tooLong

        var description: String {
            switch self {
            case .noAnswerInTime: "no answer in time"
            case .closed: "the connection was closed"
            case .tooLong: "the answer does not end"
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
    /// For heads, also interim ones (RFC 9110 §15.2), which may be any number, and for the sizes of chunks.
    static let overheadBytesMax = 65_536

    /// - Parameter trustRootsPath: nil for the system's authorities.
    static func tls(trustRootsPath: String?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let path = trustRootsPath { configuration.trustRoots = try .file(at: path) }
        configuration.applicationProtocols = ["http/1.1"]
        configuration.minimumTLSVersion = .tlsv12
        return try NIOSSLContext(configuration: configuration)
    }

    /// Looks the host up, and takes the first of its addresses that can be connected to.
    ///
    /// - Parameters:
    ///   - networks: where it may go, judged by the addresses that are found; nil for anywhere.
    ///   - owner: whose the name of the host is.
    ///   - deadline: for the look-up, connecting and the whole answer.
    /// - Throws: what NIO threw, `Fault`, `HostLookUp.NotFound`, or `AddressNotAllowed`.
    func run(
        on loop: any EventLoop, by lookUp: HostLookUp, for owner: AppID, within networks: WebhookNetworks?,
        until deadline: NIODeadline
    ) async throws -> Answer {
        let found = try await lookUp.addresses(
            of: self.address.host, port: self.address.port, for: owner, on: loop, until: deadline)
        let admitted = found.filter { socket in
            guard let networks else { return true }
            return Optional(socket).ip.map { networks.admit($0, isSecure: self.address.isSecure) } ?? false
        }
        guard !admitted.isEmpty else { throw AddressNotAllowed() }
        return try await AddressAttempts(until: deadline).first(of: admitted) { socket, time in
            try await self.run(on: loop, to: socket, connectTime: time, until: deadline)
        }
    }

    /// - Parameters:
    ///   - connectTime: for connecting alone, without TLS.
    ///   - deadline: for connecting and the whole answer.
    /// - Throws: what NIO threw, or `Fault`.
    func run(
        on loop: any EventLoop, to socket: SocketAddress, connectTime: TimeAmount, until deadline: NIODeadline
    ) async throws -> Answer {
        let answer = loop.makePromise(of: Answer.self)
        let left = max(.milliseconds(1), deadline - .now())
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(min(connectTime, left))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if self.address.isSecure, let tls = self.tls {
                        let name = self.address.isNumeric ? nil : self.address.host
                        try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
                    }
                    try pipeline.addHandler(AnswerBytes(max: self.answerBytesMax + Self.overheadBytesMax))
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(HTTPAnswerReader(answer, self))
                }
            }
        do {
            let channel = try await bootstrap.connect(to: socket).get()
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

/// None of the allowed networks has an address of the host.
struct AddressNotAllowed: Error, CustomStringConvertible {
    var description: String { "its address is in a network that is not allowed (webhooks.allowed_networks)" }
}

/// Counts all that comes: interim heads do not reach `HTTPAnswerReader`.
private final class AnswerBytes: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var left: Int

    init(max: Int) { self.left = max }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.left -= self.unwrapInboundIn(data).readableBytes
        if self.left >= 0 {
            context.fireChannelRead(data)
        } else {
            context.fireErrorCaught(HTTPExchange.Fault.tooLong)
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

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case HTTPExchange.Fault.tooLong = error, self.status != 0 { return self.finish(isCut: true, context) }
        self.fail(error, context)
    }

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
