import APNsClientCore
import APNsModel
import HTTP2Connection
import NIOCore
import NIOTLS

/// The one handler of ours on a connection: what it reads becomes the dispatcher's events by way of the session, and
/// the dispatcher's effects become bytes, one write for each cycle.
///
/// It keeps how far the connection is; everything else is decided by the dispatcher.
final class ClientConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case connecting
        case open
        case over
    }

    let id: APNsDispatcher.ConnectionID
    private let engine: APNsClientEngine
    private let place: String
    private var phase = Phase.connecting
    private var session: ClientSession
    private var events: [ClientSession.Event] = []
    private var channel: (any Channel)?
    private var context: ChannelHandlerContext?
    private var timeout: Scheduled<Void>?
    private var window = 65_535
    /// The limit the dispatcher knows; nil before the first SETTINGS.
    private var limit: Int?
    private var hasAnswered = false
    private var lastError: (any Error)?

    init(
        id: APNsDispatcher.ConnectionID, engine: APNsClientEngine, place: String,
        session: ClientSession.Configuration
    ) {
        self.id = id
        self.engine = engine
        self.place = place
        self.session = ClientSession(session)
    }

    var isOpen: Bool { self.phase == .open }

    // MARK: Connecting

    /// The connection has a channel, which may take so long until TLS stands.
    ///
    /// - Throws: if it was given up meanwhile.
    func begin(_ channel: any Channel, timeout: TimeAmount) throws {
        guard self.phase == .connecting else { throw ChannelError.ioOnClosedChannel }
        self.channel = channel
        self.timeout = channel.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
            self.fail(.unreachable("\(self.place): no connection in time"))
        }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        if self.phase == .over { context.close(promise: nil) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated)? = event as? TLSUserEvent, self.phase == .connecting {
            // Apple's servers need no ALPN (APNs reference, section 2); one that chose something else speaks no HTTP/2.
            if let negotiated, negotiated != "h2" {
                self.fail(.refused("\(self.place) speaks \(negotiated), not HTTP/2"))
            } else {
                self.phase = .open
                self.timeout?.cancel()
                self.engine.opened(self)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// It did not come about. The dispatcher takes the first word about an attempt.
    func fail(_ fault: APNsDispatcher.ConnectFault) {
        guard self.phase != .over else { return }
        self.endConnection()
        self.engine.failed(self, fault)
        self.closeChannel()
    }

    func close() {
        guard self.phase != .over else { return }
        let wasOpen = self.phase == .open
        if wasOpen { self.session.goAway() }
        self.endConnection()
        if wasOpen { self.write() }
        self.closeChannel()
    }

    private func endConnection() {
        self.phase = .over
        self.timeout?.cancel()
    }

    private func closeChannel() { self.channel?.close(promise: nil) }

    // MARK: In

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.phase == .open else { return }
        self.engine.beginCycle()
        var events: [ClientSession.Event] = []
        swap(&events, &self.events)
        self.session.receive(self.unwrapInboundIn(data), into: &events)
        self.reportWindow()
        for event in events where self.phase == .open { self.report(event) }
        events.removeAll(keepingCapacity: true)
        self.events = events
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.engine.endCycle()
        context.fireChannelReadComplete()
    }

    /// The session has the windows already: bytes it did not write for streams that are over are free again, too.
    private func reportWindow() {
        let free = self.session.freeSendWindow
        guard free > self.window else { return }
        let opened = free - self.window
        self.window = free
        self.engine.handle(.windowOpened(self.id, by: Int64(opened)))
    }

    private func report(_ event: ClientSession.Event) {
        switch event {
        case .settings(let settings):
            let limit = settings.maxConcurrentStreams.map { Int($0) } ?? .max
            guard limit != self.limit else { break }
            self.limit = limit
            self.engine.limited(self, limit)
        case .response(let stream, let message):
            self.hasAnswered = true
            var response = APNsResponse(status: message.status)
            for field in message.headers.fields { response.read(field.name, field.value) }
            if !response.isSuccess { response.readRefusal(message.body) }
            if let refusal = response.refusal { self.engine.met(refusal.reason.metricName) }
            self.engine.handle(
                // Only a refusal can ask for a pause; the system's randomness costs a call of the kernel.
                .responded(
                    self.id, stream: Int64(stream), response,
                    jitter: response.isSuccess ? 0 : APNsClientEngine.jitter()),
                answer: APNsClientAnswer(response: response, message: message))
        case .streamReset(let stream, .refusedStream):
            self.engine.met("stream_refused")
            self.engine.handle(.streamRefused(self.id, stream: Int64(stream)))
        case .streamReset(let stream, let code):
            self.engine.met("stream_reset")
            self.engine.handle(.streamReset(self.id, stream: Int64(stream), code: "\(code)"))
        case .streamFailed(let stream, _, let rule):
            self.engine.met("stream_broken")
            self.engine.handle(.streamReset(self.id, stream: Int64(stream), code: rule))
        case .streamNotSent(let stream, _):
            self.engine.met("stream_reset")
            self.engine.handle(.streamNotSent(self.id, stream: Int64(stream)))
        case .goAway(let lastStream, _, let debugData):
            self.engine.met("go_away")
            self.engine.handle(
                .goAwayReceived(
                    self.id, lastStream: Int64(lastStream), debugData: debugData, jitter: APNsClientEngine.jitter()))
        case .pingAcknowledged: self.engine.handle(.pingAnswered(self.id))
        // Told by its sum, see above.
        case .windowOpened, .bodySent: break
        case .connectionError(_, let rule):
            self.write()
            self.lose("APNs broke a rule of HTTP/2: \(rule)")
            self.closeChannel()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.lastError = self.lastError ?? error
        switch self.phase {
        case .connecting: self.fail(ClientTLS.fault(error, at: self.place))
        case .open:
            // With TLS 1.3 our side of the handshake is over before the server has seen our certificate.
            if !self.hasAnswered, let fault = ClientTLS.alert(error, at: self.place) { self.fail(fault) }
        case .over: break
        }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        let cause = self.lastError.map { ClientTLS.describe($0) } ?? "closed by the server"
        switch self.phase {
        case .connecting: self.fail(.unreachable("\(self.place): \(cause) during the TLS handshake"))
        case .open: self.lose(cause)
        case .over: break
        }
        self.channel = nil
        context.fireChannelInactive()
    }

    private func lose(_ cause: String) {
        let unsent = self.session.unsentStreams
        self.endConnection()
        self.engine.lost(self, cause: cause, unsent: unsent.map { Int64($0) })
    }

    // MARK: Out

    enum Opening {
        case taken
        /// Why is among the events that have not been reported yet.
        case notTaken
        case impossible
    }

    func open(stream: Int64, _ request: PendingRequest, _ heads: inout PushHeads) -> Opening {
        guard self.phase == .open else { return .notTaken }
        guard let stream = StreamID(exactly: stream) else { return .impossible }
        do throws(ClientSession.OpenRefusal) {
            try request.open(stream, on: &self.session, &heads)
            self.window -= request.payloadBytes
        } catch {
            switch error {
            case .closed, .goingAway, .streamLimit: return .notTaken
            case .streamNotRising, .streamsExhausted, .headersTooLong, .invalidField: return .impossible
            }
        }
        return .taken
    }

    func reset(stream: Int64) {
        guard self.phase == .open, let stream = StreamID(exactly: stream) else { return }
        self.session.reset(stream, .cancel)
        self.reportWindow()
    }

    func ping() {
        // Connections live for days: what the server was allowed in small frames is not held against it for ever.
        self.session.forgive()
        self.session.ping(self.id.rawValue)
    }

    /// Hands everything written since the last flush to the socket.
    func flush() {
        guard self.phase == .open else { return }
        self.write()
    }

    private func write() {
        guard let context = self.context, let output = self.session.takeOutput() else { return }
        context.writeAndFlush(self.wrapOutboundOut(output), promise: nil)
    }
}
