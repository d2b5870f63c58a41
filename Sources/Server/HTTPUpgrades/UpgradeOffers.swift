package import NIOCore
package import NIOHTTP1

/// Lets an HTTP/1.1 connection go on after a request that offers another protocol, as Java's HttpClient and `curl --http2` do
/// (`Connection: Upgrade`, `Upgrade: h2c`). A server may ignore the offer (RFC 9110, section 7.8). NIO's request decoder reads
/// nothing more behind such a request, since what follows could be the other protocol. So this decodes in front of it, with a fresh
/// decoder behind every request with an offer. Put it behind NIO's HTTP/1.1 handlers before the first byte comes, for example with
/// Hummingbird's `additionalChannelHandlers`, as the last: it has to see each request before a handler that holds requests back. A pipeline
/// without them is closed.
package final class UpgradeOffers: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = Never

    /// The largest size of a request's line and headers together.
    package static let headBytesMax = 80 * 1_024
    package static let headersMax = 1_000

    private let limits: NIOHTTPDecoderLimitConfiguration

    /// - Parameter limits: Hummingbird's own unless given; those of the decoder in the pipeline no longer count.
    package init(limits: NIOHTTPDecoderLimitConfiguration? = nil) { self.limits = limits ?? Self.usual }

    private static var usual: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = Self.headBytesMax
        limits.maxHeaderListSize = Self.headBytesMax
        limits.maxHeaderFieldCount = Self.headersMax
        return limits
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let place = try pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let watch = OfferWatch()
            let decoder = RenewedDecoder(exit: place, watch: watch, limits: self.limits)
            try pipeline.addHandler(ByteToMessageHandler(decoder), position: .before(place.handler))
            try pipeline.addHandler(watch, position: .after(place.handler))
        } catch {
            context.close(promise: nil)
        }
    }
}

private final class RenewedDecoder: ByteToMessageDecoder {
    typealias InboundOut = Never

    /// The place of the usual decoder, which gets no byte: decoded parts go on from there.
    private var exit: ChannelHandlerContext?
    private let watch: OfferWatch
    private let limits: NIOHTTPDecoderLimitConfiguration
    private var decoder: HTTPRequestDecoder

    init(exit: ChannelHandlerContext, watch: OfferWatch, limits: NIOHTTPDecoderLimitConfiguration) {
        self.exit = exit
        self.watch = watch
        self.limits = limits
        self.decoder = HTTPRequestDecoder(limitConfiguration: limits)
    }

    func decoderAdded(context: ChannelHandlerContext) { self.decoder.decoderAdded(context: context) }

    func decoderRemoved(context: ChannelHandlerContext) {
        self.decoder.decoderRemoved(context: context)
        self.exit = nil
    }

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        let state = try self.decoder.decode(context: self.exit ?? context, buffer: &buffer)
        guard self.watch.isBehindOffer else { return state }
        self.watch.isBehindOffer = false
        self.decoder.decoderRemoved(context: context)
        self.decoder = HTTPRequestDecoder(limitConfiguration: self.limits)
        self.decoder.decoderAdded(context: context)
        return buffer.readableBytes > 0 ? .continue : .needMoreData
    }

    func decodeLast(
        context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
    ) throws -> DecodingState {
        while buffer.readableBytes > 0, case .continue = try self.decode(context: context, buffer: &buffer) {}
        return try self.decoder.decodeLast(context: self.exit ?? context, buffer: &buffer, seenEOF: seenEOF)
    }
}

private final class OfferWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    var isBehindOffer = false
    private var hasOffer = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            self.isBehindOffer = false
            self.hasOffer = Self.hasOffer(head)
        case .body: break
        case .end: self.isBehindOffer = self.hasOffer
        }
        context.fireChannelRead(data)
    }

    /// By the rule of the decoder, which also takes CONNECT for an offer. Spaces may surround a name, a tab may only stand before it.
    private static func hasOffer(_ head: HTTPRequestHead) -> Bool {
        guard head.method != .CONNECT else { return true }
        guard head.headers["upgrade"].contains(where: { !$0.isEmpty }) else { return false }
        return head.headers["connection"].contains { value in
            value.split(separator: ",").contains { name in
                let end = name.lastIndex { $0 != " " } ?? name.startIndex
                return name[...end].drop { $0 == " " || $0 == "\t" }.lowercased() == "upgrade"
            }
        }
    }
}
