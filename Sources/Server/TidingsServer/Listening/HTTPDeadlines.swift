import HTTPTypes
import HTTPUpgrades
import NIOCore
import NIOHTTP1
import TidingsModel

/// Keeps one HTTP connection's time limits and tells `HTTPConnections` what it waits for. Each limit runs from when the wait began,
/// however many bytes come meanwhile: a client that sends one now and then gains nothing. Hummingbird's own idle time-out begins anew
/// with each part of a body, so it is not used.
final class HTTPDeadlines: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connections: HTTPConnections
    private var awaited = HTTPConnections.Closing.header
    private var deadline = NIODeadline.distantFuture
    private var timer: Scheduled<Void>?
    private var timerDeadline = NIODeadline.distantFuture
    /// Requests whose head has come and whose answer is not written.
    private var unanswered = 0
    private var isReadingBody = false
    /// Of the request whose body is being read.
    private var requestID = ""
    private var isWritingAnswer = false
    /// The answer goes on for as long as the client wants: only what is written has to be read in time.
    private var isStreaming = false
    private var unreadWrites = 0
    private var hasHungUp = false
    /// A request could not be read, so nothing behind it can.
    private var isRefused = false

    init(_ connections: HTTPConnections) { self.connections = connections }

    /// Added by Hummingbird behind its HTTP codec: puts the deadlines before it, where the parts are NIO's own.
    final class Installer: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = Never

        private let connections: HTTPConnections

        init(_ connections: HTTPConnections) { self.connections = connections }

        func handlerAdded(context: ChannelHandlerContext) {
            let pipeline = context.pipeline.syncOperations
            do {
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                try pipeline.addHandler(HTTPDeadlines(self.connections), position: .after(decoder))
            } catch {
                // Without limits it is not let in.
                context.close(promise: nil)
            }
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.connections.add(context.channel)
        self.beginWaiting(for: .header, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.leave(context) }

    func channelInactive(context: ChannelHandlerContext) {
        self.leave(context)
        context.fireChannelInactive()
    }

    /// A client that has hung up while it is told a stream: nothing else would show it before the next write.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { self.hasHungUp = true }
        if self.hasHungUp, self.isStreaming { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    /// A head that cannot be read is answered here, since NIO's own answer has no problem in it. Of a body that cannot be read the operation
    /// tells; behind a request that is not answered yet NIO answers.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What comes behind it is not read either.
        guard !self.isRefused else { return }
        guard let error = error as? HTTPParserError, self.unanswered == 0, !self.isReadingBody else {
            return context.fireErrorCaught(error)
        }
        self.isRefused = true
        let rule =
            error == .headerOverflow
            ? "must have a request line and headers of at most \(UpgradeOffers.headBytesMax) bytes, and "
                + "\(UpgradeOffers.headersMax) headers"
            : "must be an HTTP/1.1 request (RFC 9112)"
        self.requestID = RequestID.make(from: nil)
        self.beginWaiting(for: .header, context)
        self.writeAnswer(APIProblem(.badRequest, field: "request", rule: rule), context)
        // Closed whole, it would be reset under a client that still sends, before that has read the answer (RFC 9112, section 9.6).
        context.close(mode: .output, promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(var head):
            self.unanswered += 1
            self.isReadingBody = true
            self.beginWaiting(for: .body, context)
            // Decided here, so that the audit log has the id that a body which does not come in time is answered with.
            let given = head.headers[RequestID.header]
            self.requestID = RequestID.make(from: given.count == 1 ? given[0] : nil)
            head.headers.replaceOrAdd(name: RequestID.header, value: self.requestID)
            return context.fireChannelRead(self.wrapInboundOut(.head(head)))
        case .body: break
        case .end:
            self.isReadingBody = false
            self.beginWaiting(for: self.unanswered > 0 ? .answer : .idle, context)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var promise = promise
        switch self.unwrapOutboundIn(data) {
        case .head(let head):
            self.isWritingAnswer = true
            self.isStreaming = head.headers["content-type"].first == EventStream.contentType
            if self.isStreaming, self.awaited == .answer { self.deadline = .distantFuture }
            if self.isStreaming, self.hasHungUp {
                promise?.fail(ChannelError.inputClosed)
                return context.close(promise: nil)
            }
        case .body: if self.isStreaming { promise = self.followWrite(promise, context) }
        case .end:
            self.isWritingAnswer = false
            self.isStreaming = false
            self.unanswered -= 1
            if !self.isReadingBody { self.beginWaiting(for: self.unanswered > 0 ? .answer : .idle, context) }
        }
        context.write(data, promise: promise)
    }

    // MARK: - Deadlines

    private func beginWaiting(for awaited: HTTPConnections.Closing, _ context: ChannelHandlerContext) {
        let isWaiting = awaited != .answer
        if isWaiting != (self.awaited != .answer) || awaited == .idle {
            self.connections.setWaiting(isWaiting, context.channel)
        }
        self.awaited = awaited
        guard awaited != .answer || !self.isStreaming else { return self.limitUnreadWrites(context) }
        self.deadline = context.eventLoop.now + .milliseconds(Int64(self.milliseconds))
        // A deadline that has been put off costs the timer one look.
        if self.deadline < self.timerDeadline { self.arm(context) }
    }

    private func followWrite(
        _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) -> EventLoopPromise<Void> {
        let promise = promise ?? context.eventLoop.makePromise()
        self.unreadWrites += 1
        if self.unreadWrites == 1, self.awaited == .answer { self.limitUnreadWrites(context) }
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.unreadWrites -= 1
            if self.isStreaming, self.awaited == .answer { self.limitUnreadWrites(context) }
        }
        return promise
    }

    /// Of a stream: from when the first part that is not read was written, or the one before it was.
    private func limitUnreadWrites(_ context: ChannelHandlerContext) {
        guard self.unreadWrites > 0 else { return self.deadline = .distantFuture }
        self.deadline = context.eventLoop.now + .milliseconds(Int64(self.milliseconds))
        if self.deadline < self.timerDeadline { self.arm(context) }
    }

    private var milliseconds: Int {
        switch self.awaited {
        case .header: self.connections.limits.headerMilliseconds
        case .body: self.connections.limits.bodyMilliseconds
        case .idle, .answer, .full: self.connections.limits.idleMilliseconds
        }
    }

    private func arm(_ context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timerDeadline = self.deadline
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: self.deadline) {
            self.timerDeadline = .distantFuture
            self.timer = nil
            if self.deadline <= context.eventLoop.now {
                self.expire(context)
            } else if self.deadline < .distantFuture {
                self.arm(context)
            }
        }
    }

    private func leave(_ context: ChannelHandlerContext) {
        self.connections.remove(context.channel)
        self.timer?.cancel()
        self.timer = nil
        self.deadline = .distantFuture
    }

    private func expire(_ context: ChannelHandlerContext) {
        self.connections.countClosing(self.awaited)
        if self.awaited == .body, self.unanswered > 0, !self.isWritingAnswer {
            let rule = "must come within \(self.connections.limits.bodyMilliseconds) ms"
            self.writeAnswer(APIProblem(.told(.timedOut), field: "body", rule: rule), context)
        }
        context.close(promise: nil)
    }

    private func writeAnswer(_ problem: APIProblem, _ context: ChannelHandlerContext) {
        let bytes = ByteBuffer(bytes: problem.json(requestID: self.requestID).serialized)
        let headers: HTTPHeaders = [
            "content-type": APIProblem.contentType, "content-length": "\(bytes.readableBytes)",
            "connection": "close", RequestID.header: self.requestID,
        ]
        let status = HTTPResponseStatus(statusCode: problem.status.code)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        context.write(self.wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }
}
