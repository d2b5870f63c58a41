package import NIOCore
package import NIOHTTP1

/// Keeps the rules of HTTP/1.1 that NIO and Hummingbird leave to their user: what `RequestFault` names is refused, and the connection closed
/// behind it; `Expect` is answered (RFC 9110 §10.1.1); a connection ends where its client wants or needs it, HTTP/1.0 gets no chunks
/// (RFC 9112 §6.1, §9.3), and an answer to HEAD ends with its head. Name it behind whatever counts requests, which does not see what is
/// refused, and in front of `UpgradeOffers`.
package final class RequestRules: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = Never
    /// Headers and body of a refusal, of the request with these headers.
    package typealias Answer = @Sendable (RequestFault, HTTPHeaders) -> (headers: HTTPHeaders, body: String)

    /// To be sent outwards by what begins to read a body: a client that waits for that may go on. An answer without it is by the head alone.
    package struct BodyWanted: Sendable { package init() {} }

    private let contentMax: Int?
    private let answer: Answer

    /// - Parameter contentMax: of a body in bytes: a larger one is refused, no client waits with a smaller one, and a path with an empty
    ///   segment is unknown. Nil where the routes decide all this, and send `BodyWanted`.
    package init(contentMax: Int? = nil, answer: @escaping Answer = { fault, _ in fault.problem }) {
        (self.contentMax, self.answer) = (contentMax, answer)
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RuleKeeper(self.contentMax, self.answer), position: .after(decoder))
        } catch {
            context.close(promise: nil)
        }
    }
}

private final class RuleKeeper: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// A request that was let in and whose answer is not written.
    private struct Exchange {
        let isOld: Bool
        let isHead: Bool
        var keepsOpen: Bool
        /// The client sends no body before it is told to.
        var isWaiting: Bool
        /// NIO ends an answer without a length by a chunk, which is no part of one to HEAD.
        var endsWithHead = false
    }

    private let contentMax: Int?
    private let answer: RequestRules.Answer
    private var exchanges = CircularBuffer<Exchange>()
    /// Told when what came before it is answered; nothing behind it is read.
    private var fault: (RequestFault, HTTPRequestHead)?

    init(_ contentMax: Int?, _ answer: @escaping RequestRules.Answer) {
        (self.contentMax, self.answer) = (contentMax, answer)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if self.fault == nil { context.fireErrorCaught(error) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.fault == nil else { return }
        guard case .head(var head) = self.unwrapInboundIn(data) else {
            if let last = self.exchanges.indices.last { self.exchanges[last].isWaiting = false }
            return context.fireChannelRead(data)
        }
        do throws(RequestFault) {
            try RequestFault.check(head, contentMax: self.contentMax)
        } catch {
            self.fault = (error, head)
            return self.refuse(context)
        }
        let isOld = head.version != .http1_1
        let isWaiting = !isOld && head.headers.contains(name: "expect")
        self.exchanges.append(
            Exchange(
                isOld: isOld, isHead: head.method == .HEAD, keepsOpen: head.isKeepAlive,
                isWaiting: isWaiting && self.contentMax == nil))
        // Hummingbird ends a connection by this word alone, in small letters.
        if !head.isKeepAlive { head.headers.replaceOrAdd(name: "connection", value: "close") }
        context.fireChannelRead(self.wrapInboundOut(.head(head)))
        if isWaiting, self.contentMax != nil { self.sendContinue(context) }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is RequestRules.BodyWanted else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        if let first = self.exchanges.indices.first, self.exchanges[first].isWaiting {
            self.exchanges[first].isWaiting = false
            self.sendContinue(context)
        }
        promise?.succeed()
    }

    private func sendContinue(_ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(self.wrapOutboundOut(.head(head)), promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // Without one it is the answer to what could not be read.
        guard let first = self.exchanges.indices.first else { return context.write(data, promise: promise) }
        switch self.unwrapOutboundIn(data) {
        case .head(var head):
            self.decideEnd(of: &self.exchanges[first], &head)
            context.write(self.wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            let exchange = self.exchanges.removeFirst()
            let end = exchange.endsWithHead ? self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))) : data
            context.write(end, promise: promise)
            if exchange.keepsOpen { self.refuse(context) } else { self.endOutput(context) }
        }
    }

    private func decideEnd(of exchange: inout Exchange, _ head: inout HTTPResponseHead) {
        let hasLength = head.headers.contains(name: "content-length")
        let needsClosing = exchange.isOld && !hasLength && !exchange.isHead && head.status.mayHaveResponseBody
        exchange.endsWithHead = exchange.isHead && !hasLength
        // NIO's encoder makes no chunks then.
        if needsClosing { head.version = .http1_0 }
        // A client that has waited may send its body all the same: nothing tells whether what comes is that, or another request.
        if exchange.isWaiting || needsClosing || !head.isKeepAlive { exchange.keepsOpen = false }
        let word = exchange.keepsOpen ? "keep-alive" : "close"
        if exchange.isOld || !exchange.keepsOpen { head.headers.replaceOrAdd(name: "connection", value: word) }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        guard let (fault, request) = self.fault, self.exchanges.isEmpty else { return }
        var (headers, body) = self.answer(fault, request.headers)
        headers.add(contentsOf: [("content-length", "\(body.utf8.count)"), ("connection", "close")])
        // RFC 9110 §15.5.16.
        if fault == .contentCoding { headers.add(name: "accept-encoding", value: "identity") }
        let head = HTTPResponseHead(version: .http1_1, status: fault.row.status, headers: headers)
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD {
            context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
        }
        context.write(self.wrapOutboundOut(.end(nil)), promise: nil)
        self.endOutput(context)
    }

    /// Closed whole, it would be reset under a client that still sends, before that has read the answer (RFC 9112 §9.6).
    private func endOutput(_ context: ChannelHandlerContext) {
        context.flush()
        context.close(mode: .output, promise: nil)
    }
}
