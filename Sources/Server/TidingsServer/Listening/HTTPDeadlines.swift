import Foundation
import HTTPTypes
import HTTPUpgrades
import NIOCore
import NIOHTTP1
import ServerCore
import TidingsModel

/// Keeps one HTTP connection's time limits and tells `HTTPConnections` what it waits for. Each limit runs from when the wait began,
/// however many bytes come meanwhile: a client that sends one now and then gains nothing. Hummingbird's own idle time-out begins anew
/// with each part of a body, so it is not used. An answer has to be read at a least speed (`HTTPPlaces`), and the next request is
/// passed on when all of it is written out: a client that reads nothing has one answer made.
final class HTTPDeadlines: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connections: HTTPConnections
    private var awaited = HTTPConnections.Closing.header
    /// Not of what waits to be read.
    private var waitDeadline = NIODeadline.distantFuture
    private var timer: Scheduled<Void>?
    private var timerDeadline = NIODeadline.distantFuture
    /// The head of a request has come, and its answer is not written out.
    private var isAnswering = false
    private var isReadingBody = false
    /// The id of the request whose body is being read.
    private var requestID = ""
    private var isWritingAnswer = false
    /// The answer goes on for as long as the client wants: only what is written has to be read in time.
    private var isStreaming = false
    /// Bytes that were written and that the socket has not taken.
    private var unread = 0
    /// Parts that came behind the request that is answered, in order.
    private var held = CircularBuffer<Held>()
    private var isReadHeld = false
    /// More has come than is held: once that is answered the connection is closed, and a client asks for the rest again (RFC 9112,
    /// section 9.3.2).
    private var isCut = false
    private var hasHungUp = false
    /// A request could not be read, so nothing behind it can.
    private var isRefused = false

    private enum Held {
        case part(HTTPServerRequestPart)
        case error(any Error)
        case event(Any)
    }

    /// Parts of requests that are held: 150 requests without a body; one read of the socket may bring thousands.
    private static let heldMax = 300
    /// The size of a part of an answer: reading a large one is seen before all of it is read.
    private static let sliceBytes = 8_192

    init(_ connections: HTTPConnections) { self.connections = connections }

    /// Added by Hummingbird behind its HTTP codec: puts the deadlines before it, where the parts are NIO's own.
    final class Installer: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = Never

        private let connections: HTTPConnections

        init(_ connections: HTTPConnections) { self.connections = connections }

        func handlerAdded(context: ChannelHandlerContext) {
            let pipeline = context.pipeline.syncOperations
            Self.boundBuffers(of: context.channel)
            do {
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                try pipeline.addHandler(HTTPDeadlines(self.connections), position: .after(decoder))
            } catch {
                // Without limits it is not let in.
                context.close(promise: nil)
            }
        }

        /// An answer that is not read holds little here and in the system, and what the socket has taken the client has all but read. What
        /// is on its way to a client far off still fills some Mbit/s; a system that knows one of the options not has its own bounds.
        private static func boundBuffers(of channel: any Channel) {
            guard let options = channel.syncOptions else { return }
            try? options.setOption(.writeBufferWaterMark, value: .init(low: 16_384, high: 32_768))
            try? options.setOption(.socketOption(.so_sndbuf), value: 131_072)
            try? options.setOption(.tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)), value: 16_384)
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.noteEvent(.opened, context)
        self.beginWaiting(for: .header, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.leave(context) }

    func channelInactive(context: ChannelHandlerContext) {
        self.leave(context)
        context.fireChannelInactive()
    }

    /// A client that has hung up while it is told a stream: nothing else would show it before the next write.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !self.held.isEmpty || self.isCut { self.hold(.event(event)) } else { self.passOn(event, context) }
    }

    private func passOn(_ event: Any, _ context: ChannelHandlerContext) {
        if case .inputClosed? = event as? ChannelEvent { self.hasHungUp = true }
        if self.hasHungUp, self.isStreaming { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !self.held.isEmpty || self.isCut { self.hold(.error(error)) } else { self.answerError(error, context) }
    }

    /// A head that cannot be read is answered here, since NIO's own answer has no problem in it. Of a body that cannot be read the operation
    /// tells; behind a request that is not answered yet NIO answers.
    private func answerError(_ error: any Error, _ context: ChannelHandlerContext) {
        // What comes behind it is not read either.
        guard !self.isRefused else { return }
        guard let error = error as? HTTPParserError, !self.isAnswering, !self.isReadingBody else {
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
        let part = self.unwrapInboundIn(data)
        guard self.held.isEmpty, !self.isCut, !self.mustWait else { return self.hold(.part(part)) }
        self.takePart(part, context)
    }

    /// A client that is not answered yet need not be listened to.
    func read(context: ChannelHandlerContext) {
        if self.held.isEmpty, !self.isCut { context.read() } else { self.isReadHeld = true }
    }

    private func takePart(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(var head):
            self.isAnswering = true
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
            self.beginWaiting(for: self.isAnswering ? .answer : .idle, context)
        }
        context.fireChannelRead(self.wrapInboundOut(part))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var promise = promise
        switch self.unwrapOutboundIn(data) {
        case .head(let head):
            // Another head follows (RFC 9110, section 15.2).
            guard head.status.code >= 200 else { break }
            self.isWritingAnswer = true
            self.isStreaming = head.headers["content-type"].first == EventStream.contentType
            if self.isStreaming, self.hasHungUp {
                promise?.fail(ChannelError.inputClosed)
                return context.close(promise: nil)
            }
        case .body(.byteBuffer(var bytes)):
            self.countWritten(bytes.readableBytes, context)
            while bytes.readableBytes > Self.sliceBytes, let slice = bytes.readSlice(length: Self.sliceBytes) {
                context.write(
                    self.wrapOutboundOut(.body(.byteBuffer(slice))),
                    promise: self.followWrite(of: Self.sliceBytes, nil, context))
            }
            promise = self.followWrite(of: bytes.readableBytes, promise, context)
            return context.write(self.wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
        case .body(.fileRegion):
            self.countWritten(1, context)
            promise = self.followWrite(of: 1, promise, context)
        case .end:
            self.countWritten(1, context)
            promise = self.followWrite(of: 1, promise, context, isLast: true)
        }
        context.write(data, promise: promise)
    }

    private func noteEvent(_ event: HTTPPlaces<ObjectIdentifier>.Event, _ context: ChannelHandlerContext) {
        self.connections.noteEvent(event, context.channel, at: context.eventLoop.now)
    }

    // MARK: - One request at a time

    /// A request is whole, and its answer is not written out.
    private var mustWait: Bool { self.isAnswering && !self.isReadingBody }

    private func hold(_ held: Held) {
        if self.held.count < Self.heldMax, !self.isCut { self.held.append(held) } else { self.isCut = true }
    }

    private func release(_ context: ChannelHandlerContext) {
        guard !self.held.isEmpty || self.isCut || self.isReadHeld else { return }
        while !self.mustWait, let next = self.held.popFirst() {
            switch next {
            case .part(let part): self.takePart(part, context)
            case .error(let error): self.answerError(error, context)
            case .event(let event): self.passOn(event, context)
            }
        }
        context.fireChannelReadComplete()
        guard self.held.isEmpty else { return }
        if self.isCut {
            if !self.mustWait { context.close(promise: nil) }
        } else if self.isReadHeld {
            self.isReadHeld = false
            context.read()
        }
    }

    /// All of it is in the socket's hands.
    private func finishAnswer(_ context: ChannelHandlerContext) {
        self.isAnswering = false
        self.isWritingAnswer = false
        self.isStreaming = false
        guard !self.isReadingBody else { return }
        self.beginWaiting(for: .idle, context)
        self.release(context)
    }

    // MARK: - Deadlines

    private func beginWaiting(for awaited: HTTPConnections.Closing, _ context: ChannelHandlerContext) {
        let isWaiting = awaited != .answer
        if isWaiting != (self.awaited != .answer) || awaited == .idle {
            self.noteEvent(isWaiting ? .waits : .answers, context)
        }
        self.awaited = awaited
        self.putOff(context)
    }

    /// The limit of what is awaited begins anew.
    private func putOff(_ context: ChannelHandlerContext) {
        self.waitDeadline = context.eventLoop.now + .milliseconds(Int64(self.milliseconds))
        self.armIfEarlier(context)
    }

    /// An answer that does not come, or does not go on, has its own; a stream goes on when there is something to tell.
    private func deadline(_ context: ChannelHandlerContext) -> NIODeadline {
        guard self.awaited == .answer else { return self.waitDeadline }
        if self.unread > 0, let deadline = self.connections.answerDeadline(of: context.channel) { return deadline }
        return self.isStreaming ? .distantFuture : self.waitDeadline
    }

    /// At least one byte, so that also an end without a body is seen to wait.
    private func countWritten(_ bytes: Int, _ context: ChannelHandlerContext) {
        let wasRead = self.unread == 0
        self.unread += max(1, bytes)
        self.noteEvent(.wrote(max(1, bytes)), context)
        if wasRead { self.armIfEarlier(context) }
    }

    private func followWrite(
        of bytes: Int, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext, isLast: Bool = false
    ) -> EventLoopPromise<Void> {
        let promise = promise ?? context.eventLoop.makePromise()
        let bytes = max(1, bytes)
        promise.futureResult.assumeIsolated().whenComplete { result in
            self.unread -= bytes
            guard case .success = result else { return }
            self.noteEvent(.moved(bytes), context)
            if isLast {
                self.finishAnswer(context)
            } else if self.unread == 0, self.awaited == .answer {
                self.putOff(context)
            }
        }
        return promise
    }

    private var milliseconds: Int {
        switch self.awaited {
        case .header: self.connections.limits.headerMilliseconds
        case .body: self.connections.limits.bodyMilliseconds
        case .idle, .answer, .full, .unread: self.connections.limits.idleMilliseconds
        }
    }

    /// A deadline that has been put off costs the timer one look.
    private func armIfEarlier(_ context: ChannelHandlerContext) {
        let deadline = self.deadline(context)
        guard deadline < self.timerDeadline else { return }
        self.timer?.cancel()
        self.timerDeadline = deadline
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.timerDeadline = .distantFuture
            self.timer = nil
            if self.deadline(context) <= context.eventLoop.now {
                self.expire(context)
            } else {
                self.armIfEarlier(context)
            }
        }
    }

    private func leave(_ context: ChannelHandlerContext) {
        self.noteEvent(.closed, context)
        self.timer?.cancel()
        self.timer = nil
        (self.awaited, self.waitDeadline) = (.idle, .distantFuture)
    }

    private func expire(_ context: ChannelHandlerContext) {
        self.connections.countClosing(self.awaited)
        if self.awaited == .body, self.isAnswering, !self.isWritingAnswer {
            let rule = "must come within \(self.connections.limits.bodyMilliseconds) ms"
            self.writeAnswer(APIProblem(.told(.timedOut), field: "body", rule: rule), context)
        }
        if self.awaited == .answer { HTTPConnections.abort(context.channel) } else { context.close(promise: nil) }
    }

    private func writeAnswer(_ problem: APIProblem, _ context: ChannelHandlerContext) {
        let bytes = problem.json(requestID: self.requestID).line
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
