import NIOCore
import NIOHTTP1
import NIOPosix

/// The answer to one request on a connection of its own, read as fast as it is asked for; the connection ends with it.
final class PhonesAnswer: Sendable {
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// The status that it begins with.
    let status: Int
    private let channel: any Channel
    private let reader: NIOLoopBound<PhonesAnswerReader>

    private static let connectLimit: TimeAmount = .seconds(2)

    /// Sends a request, and waits for the head of its answer.
    /// - Parameter limit: for the head, and for each part of the body.
    /// - Throws: what NIO threw, or `Fault`.
    static func request(
        _ address: PhonesAddress, _ head: HTTPRequestHead, _ body: [UInt8]?, limit: TimeAmount
    ) async throws -> PhonesAnswer {
        let (channel, reader) = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(Self.connectLimit)
            .channelOption(.autoRead, value: false)
            .connect(host: address.host, port: address.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let reader = PhonesAnswerReader(head, body, limit: limit)
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(reader)
                    return (channel, NIOLoopBound(reader, eventLoop: channel.eventLoop))
                }
            }
        do {
            guard case .head(let head)? = try await Self.next(reader, channel) else {
                throw Fault(description: "it did not begin with a head")
            }
            return PhonesAnswer(status: Int(head.status.code), channel: channel, reader: reader)
        } catch {
            channel.close(promise: nil)
            throw error
        }
    }

    private init(status: Int, channel: any Channel, reader: NIOLoopBound<PhonesAnswerReader>) {
        (self.status, self.channel, self.reader) = (status, channel, reader)
    }

    deinit { self.channel.close(promise: nil) }

    /// Nil at the end.
    /// - Throws: what NIO threw, or `Fault`.
    func nextBytes() async throws -> ByteBuffer? {
        while let part = try await Self.next(self.reader, self.channel) {
            if case .body(let bytes) = part { return bytes }
        }
        return nil
    }

    /// The whole body.
    /// - Throws: what NIO threw, or `Fault`, also for more bytes than this.
    func collect(upTo bytesMax: Int) async throws -> ByteBuffer {
        var all = ByteBuffer()
        while let bytes = try await self.nextBytes() {
            guard all.readableBytes + bytes.readableBytes <= bytesMax else {
                throw Fault(description: "it is larger than \(bytesMax) bytes")
            }
            all.writeImmutableBuffer(bytes)
        }
        return all
    }

    /// Looks now and then whether reading may go on, and ends the connection when not. What it returns stops looking.
    func watch(every interval: TimeAmount, _ mayGoOn: @escaping @Sendable () -> Bool) -> RepeatedTask {
        let channel = self.channel
        return channel.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { task in
            guard !mayGoOn() else { return }
            task.cancel()
            channel.close(promise: nil)
        }
    }

    private static func next(
        _ reader: NIOLoopBound<PhonesAnswerReader>, _ channel: any Channel
    ) async throws -> HTTPClientResponsePart? {
        try await channel.eventLoop.flatSubmit { reader.value.next(on: channel) }.get()
    }
}

/// Bound to its channel's event loop.
private final class PhonesAnswerReader: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let head: HTTPRequestHead
    private let body: [UInt8]?
    private let limit: TimeAmount
    /// The parts that one read of the socket brought beyond the one that was waited for.
    private var parts: [HTTPClientResponsePart] = []
    private var waiting: EventLoopPromise<HTTPClientResponsePart?>?
    private var timer: Scheduled<Void>?
    private var end: Result<Void, any Error>?

    init(_ head: HTTPRequestHead, _ body: [UInt8]?, limit: TimeAmount) {
        self.head = head
        self.body = body
        self.limit = limit
    }

    /// Nil at the end. Nobody asks again before it is answered.
    func next(on channel: any Channel) -> EventLoopFuture<HTTPClientResponsePart?> {
        let loop = channel.eventLoop
        if !self.parts.isEmpty { return loop.makeSucceededFuture(self.parts.removeFirst()) }
        switch self.end {
        case .success?: return loop.makeSucceededFuture(nil)
        case .failure(let error)?: return loop.makeFailedFuture(error)
        case nil: break
        }
        let promise = loop.makePromise(of: HTTPClientResponsePart?.self)
        self.waiting = promise
        let seconds = self.limit.nanoseconds / 1_000_000_000
        let bound = NIOLoopBound(self, eventLoop: loop)
        self.timer = loop.scheduleTask(in: self.limit) {
            bound.value.finish(.failure(PhonesAnswer.Fault(description: "nothing came for \(seconds) seconds")))
            channel.close(promise: nil)
        }
        channel.read()
        return promise.futureResult
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(self.wrapOutboundOut(.head(self.head)), promise: nil)
        if let body = self.body {
            context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        }
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = self.unwrapInboundIn(data)
        if case .end = part { return self.finish(.success(())) }
        guard let waiting = self.takeWaiting() else { return self.parts.append(part) }
        waiting.succeed(part)
    }

    /// A read may have brought less than a part.
    func channelReadComplete(context: ChannelHandlerContext) {
        if self.waiting != nil { context.read() }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.finish(.failure(PhonesAnswer.Fault(description: "the connection was closed")))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.finish(.failure(error))
        context.close(promise: nil)
    }

    private func takeWaiting() -> EventLoopPromise<HTTPClientResponsePart?>? {
        self.timer?.cancel()
        self.timer = nil
        return self.waiting.take()
    }

    private func finish(_ end: Result<Void, any Error>) {
        guard self.end == nil else { return }
        self.end = end
        guard let waiting = self.takeWaiting() else { return }
        switch end {
        case .success: waiting.succeed(nil)
        case .failure(let error): waiting.fail(error)
        }
    }
}
