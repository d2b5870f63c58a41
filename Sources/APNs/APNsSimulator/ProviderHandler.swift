import APNsCore
import APNsModel
import HTTP2Connection
import NIOCore
import NIOSSL
import NIOTLS

final class ProviderHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let engine: SimulatorEngine
    private let host: ProviderHost
    private var id: APNsService.ConnectionID?
    private var context: ChannelHandlerContext?
    /// Below TLS; nil before the connection has come, and after it.
    private var door: FrontDoor?
    private var certificate: ClientCertificateFacts?
    /// Nil until TLS is through.
    private var session: ServerSession?
    private var events: [ServerSession.Event] = []
    private var isReading = false
    /// GOAWAY has been written: what is open is answered, then the connection is closed.
    private var isLeaving = false
    /// The last `authorization` and what was found out about it: verified once, not for every push.
    private var known: (authorization: String, keys: Int, facts: ProviderTokenFacts)?

    /// The largest limit of a body (APNs reference, section 6).
    private static let payloadBytesMax = APNsPushType.allCases.reduce(APNsBroadcast.payloadBytesMax) {
        max($0, $1.payloadBytesMax)
    }

    init(engine: SimulatorEngine, host: ProviderHost) {
        self.engine = engine
        self.host = host
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Nothing has been read yet.
    func arrived(through door: FrontDoor) {
        self.door = door
        self.id = self.engine.arrived(self, host: self.host)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let id = self.id { self.engine.closed(id) }
        self.id = nil
        self.door = nil
        self.session = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    // MARK: TLS

    func verify(_ chain: [NIOSSLCertificate], _ promise: EventLoopPromise<NIOSSLVerificationResult>) {
        guard let facts = self.engine.facts(of: chain.first) else {
            self.door?.endHandshake(with: .handshakeFailure)
            return promise.succeed(.failed)
        }
        if let alert = self.engine.alert(on: facts) {
            self.door?.endHandshake(with: alert)
            return promise.succeed(.failed)
        }
        self.certificate = facts
        promise.succeed(.certificateVerified)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
            self.opened(context, negotiated: negotiated)
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// ALPN `h2`, or none at all: then HTTP/2 is assumed (APNs reference, section 2).
    private func opened(_ context: ChannelHandlerContext, negotiated: String?) {
        self.door?.forgetHandshake()
        guard let id = self.id, negotiated == nil || negotiated == "h2" else { return context.close(promise: nil) }
        if self.certificate == nil {
            // A session that was resumed shows no certificate again.
            let shown = try? context.channel.pipeline.syncOperations.nioSSL_peerCertificate()
            self.certificate = self.engine.facts(of: shown ?? nil)
        }
        var configuration = ServerSession.Configuration()
        configuration.maxConcurrentStreams = UInt32(
            clamping: self.engine.initialStreamLimit(hasCertificate: self.certificate != nil))
        configuration.headerListLimit = self.engine.headerListBytesMax
        // One byte more than any payload may have: what is cut there is too large by every limit.
        configuration.bodyLimit = Self.payloadBytesMax + 1
        self.session = ServerSession(configuration, allocator: context.channel.allocator)
        self.engine.opened(id, host: self.host, certificate: self.certificate)
        self.write()
    }

    // MARK: In

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.isReading = true
        self.session?.receive(self.unwrapInboundIn(data), into: &self.events)
        // The window that reading has opened goes out before the work on what was read: a provider a round trip away waits
        // for nothing else (APNs reference, section 3.2).
        if let output = self.session?.takeOutput() {
            context.writeAndFlush(self.wrapOutboundOut(output), promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        for event in self.events { self.handle(event) }
        self.events.removeAll(keepingCapacity: true)
        self.isReading = false
        self.engine.cycleEnded()
        self.write()
        context.fireChannelReadComplete()
    }

    private func handle(_ event: ServerSession.Event) {
        switch event {
        case .request(let stream, let request): self.received(request, on: stream)
        // Nothing of it can be read, so it is malformed (RFC 9113, section 8.1.1).
        case .headersTooLong(let stream): self.session?.reset(stream, .protocolError)
        case .connectionError: self.isLeaving = true
        case .reset, .streamRefused, .streamFailed, .settings, .settingsAcknowledged, .ping, .pingAcknowledged,
            .goAway, .bodySent:
            break
        }
    }

    private func received(_ request: ServerSession.Request, on stream: StreamID) {
        guard let id = self.id, !self.isLeaving else {
            // Complete only after GOAWAY: the service does not know the connection any more.
            self.session?.reset(stream, .refusedStream)
            return
        }
        var wire = WireRequest(method: "", path: "", headers: [], body: request.body)
        wire.headers.reserveCapacity(request.headers.count)
        var authorization: String?
        for field in request.headers {
            let (name, value) = (field.name, field.value)
            switch name {
            case ":method": wire.method = value
            case ":path": wire.path = value
            case ":authority": wire.authority = value
            case ":scheme": break
            default:
                if authorization == nil, name == "authorization" { authorization = value }
                wire.headers.append(WireRequest.Header(name: name, value: value))
            }
        }
        self.engine.received(wire, stream: Int64(stream), on: id, token: self.facts(authorization))
    }

    private func facts(_ authorization: String?) -> ProviderTokenFacts {
        guard let authorization else { return .absent }
        let keys = self.engine.keyChanges
        if let known = self.known, known.keys == keys, known.authorization == authorization { return known.facts }
        let facts = self.engine.facts(of: authorization)
        self.known = (authorization, keys, facts)
        return facts
    }

    // MARK: Out

    func respond(_ response: APNsResponse, body: [UInt8], on stream: Int64) {
        var fields: [HeaderField] = []
        fields.reserveCapacity(4)
        for (name, value) in response.headerFields(hasBody: !body.isEmpty) { fields.append(HeaderField(name, value)) }
        self.session?.respond(
            StreamID(truncatingIfNeeded: stream), status: response.status, fields: fields, body: body)
    }

    func announce(streamLimit: Int) {
        self.session?.announce(maxConcurrentStreams: UInt32(clamping: streamLimit))
    }

    func reset(stream: Int64, code: UInt32) {
        self.session?.reset(
            StreamID(truncatingIfNeeded: stream), HTTP2ErrorCode(rawValue: code) ?? .internalError)
    }

    func goAway(lastStream: Int64, code: UInt32, debug: [UInt8]) {
        self.session?.goAway(
            lastStream: StreamID(truncatingIfNeeded: lastStream), HTTP2ErrorCode(rawValue: code) ?? .internalError,
            debugData: debug)
        self.isLeaving = true
    }

    /// Ends the handshake, or the connection after it. A handshake that is over cannot fail any more: it is cut.
    func alert(_ alert: TLSAlert) {
        if self.session == nil { self.door?.refuse(with: alert) } else { self.cut() }
    }

    func cut() {
        self.session = nil
        self.door?.cut()
    }

    func fallSilent() {
        self.session = nil
        self.door?.fallSilent()
    }

    func write() {
        guard !self.isReading, let context = self.context else { return }
        if let output = self.session?.takeOutput() {
            context.writeAndFlush(self.wrapOutboundOut(output), promise: nil)
        }
        guard self.isLeaving, let session = self.session, session.isClosed || session.openStreams == 0 else { return }
        self.session = nil
        context.close(promise: nil)
    }
}
