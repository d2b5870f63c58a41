import APNsClientCore
import APNsModel
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOTLS

/// The top of a connection's pipeline: turns HTTP/2 frames into the dispatcher's events, and its effects into frames.
///
/// It keeps the half-read responses by stream; everything else is decided by the dispatcher.
final class ClientConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private struct PartialResponse {
        var status = 0
        var headers: HPACKHeaders?
        var body: [UInt8] = []
    }

    private let id: APNsDispatcher.ConnectionID
    private let engine: ClientEngine
    private let host: String
    private let port: Int
    private var context: ChannelHandlerContext?
    /// What is left of the connection's window for the other side, as the layer below counted it last.
    private var window: Int?
    private var partial: [HTTP2StreamID: PartialResponse] = [:]
    private var isConnected = false
    private var lastError: (any Error)?
    private var isDirty = false
    private var isClosed = false
    private var handshakeTimer: Scheduled<Void>?
    private let handshakeTimeout: TimeAmount

    /// A response body longer than this is not Apple's; the rest is dropped.
    private static let bodyBytesMax = 4_096

    init(id: APNsDispatcher.ConnectionID, engine: ClientEngine, host: String, port: Int, handshakeTimeout: TimeAmount) {
        self.id = id
        self.engine = engine
        self.host = host
        self.port = port
        self.handshakeTimeout = handshakeTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: In

    func channelActive(context: ChannelHandlerContext) {
        // Given up while TCP was connecting.
        if self.isClosed { return context.close(promise: nil) }
        self.handshakeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: self.handshakeTimeout) {
            self.fail(.unreachable("\(self.host):\(self.port): no TLS handshake in time"))
        }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated)? = event as? TLSUserEvent, !self.isConnected {
            // Apple's servers need no ALPN (apns.md §2); one that chose something else speaks no HTTP/2.
            if let negotiated, negotiated != "h2" {
                self.fail(.refused("\(self.host):\(self.port) speaks \(negotiated), not HTTP/2"))
            } else {
                self.isConnected = true
                self.handshakeTimer?.cancel()
                self.engine.handle(.connected(self.id))
            }
        }
        // Counted by the layer below, frames of reset streams included; the half-way step spares a frame per response.
        if let update = event as? NIOHTTP2WindowUpdatedEvent, update.streamID == .rootStream {
            self.window = update.inboundWindowSize
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.engine.holdFlush()
        let frame = self.unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let headers): self.received(headers, on: frame.streamID)
        case .data(let data): self.received(data, on: frame.streamID)
        case .rstStream(let code):
            self.partial[frame.streamID] = nil
            let stream = Int64(Int(frame.streamID))
            if code == .refusedStream {
                self.engine.handle(.streamRefused(self.id, stream: stream))
            } else {
                self.engine.handle(.streamReset(self.id, stream: stream, code: "\(code)"))
            }
        case .settings(.settings(let settings)):
            for setting in settings where setting.parameter == .maxConcurrentStreams {
                self.engine.handle(.streamLimitAnnounced(self.id, setting.value))
            }
        case .goAway(let lastStream, _, let debugData):
            self.engine.handle(
                .goAwayReceived(
                    self.id, lastStream: Int64(Int(lastStream)),
                    debugData: debugData.map { Array($0.readableBytesView) } ?? [], jitter: ClientEngine.jitter()))
        case .ping(_, ack: true): self.engine.handle(.pingAnswered(self.id))
        case .settings(.ack), .ping, .priority, .pushPromise, .windowUpdate, .alternativeService, .origin: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if let window = self.window, window < 32_768 {
            let step = 65_535 - window
            self.write(HTTP2Frame(streamID: .rootStream, payload: .windowUpdate(windowSizeIncrement: step)))
            // What was heard before this says nothing any more.
            self.window = nil
        }
        self.engine.flush()
        context.fireChannelReadComplete()
    }

    private func received(_ headers: HTTP2Frame.FramePayload.Headers, on stream: HTTP2StreamID) {
        var response = self.partial.removeValue(forKey: stream) ?? PartialResponse()
        // Interim responses (1xx) and trailers say nothing to us.
        if response.status < 200, let status = headers.headers.first(name: ":status").flatMap({ Int($0) }) {
            response.status = status
            response.headers = headers.headers
        }
        if headers.endStream { self.complete(response, on: stream) } else { self.partial[stream] = response }
    }

    private func received(_ data: HTTP2Frame.FramePayload.Data, on stream: HTTP2StreamID) {
        guard case .byteBuffer(let bytes) = data.data else { return }
        guard var response = self.partial.removeValue(forKey: stream) else { return }
        response.body += bytes.readableBytesView.prefix(Self.bodyBytesMax - response.body.count)
        if data.endStream { self.complete(response, on: stream) } else { self.partial[stream] = response }
    }

    private func complete(_ response: PartialResponse, on stream: HTTP2StreamID) {
        let headers = response.headers.map { $0.map { ($0.name, $0.value) } } ?? []
        self.engine.handle(
            .responded(
                self.id, stream: Int64(Int(stream)),
                APNsResponse(status: response.status, headers: headers, body: response.body),
                jitter: ClientEngine.jitter()))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let fault = error as? NIOHTTP2Errors.StreamError {
            self.partial[fault.streamID] = nil
            self.engine.handle(
                .streamReset(self.id, stream: Int64(Int(fault.streamID)), code: "\(fault.baseError)"))
            return
        }
        self.lastError = self.lastError ?? error
        if !self.isConnected { self.fail(ClientTLS.fault(error, host: self.host, port: self.port)) }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        let cause = self.lastError.map { ClientTLS.describe($0) } ?? "closed by the server"
        if self.isConnected {
            self.engine.handle(.connectionClosed(self.id, cause: cause, jitter: ClientEngine.jitter()))
        } else {
            self.fail(.unreachable("\(self.host):\(self.port): \(cause) during the TLS handshake"))
        }
        self.handshakeTimer?.cancel()
        self.engine.forget(self.id)
        self.partial = [:]
        context.fireChannelInactive()
    }

    private func fail(_ fault: APNsDispatcher.ConnectFault) {
        // The dispatcher takes the first word about a connection and ignores the rest.
        self.engine.handle(.connectFailed(self.id, fault, jitter: ClientEngine.jitter()))
        self.context?.close(promise: nil)
    }

    // MARK: Out

    /// Sends a request on a stream: HEADERS and one DATA frame, for no payload is longer than a frame.
    func open(stream: Int64, _ headers: HPACKHeaders, body: [UInt8]) {
        guard let context = self.context else { return }
        let id = HTTP2StreamID(Int(stream))
        self.write(HTTP2Frame(streamID: id, payload: .headers(.init(headers: headers))))
        let bytes = context.channel.allocator.buffer(bytes: body)
        self.write(HTTP2Frame(streamID: id, payload: .data(.init(data: .byteBuffer(bytes), endStream: true))))
    }

    func reset(stream: Int64) {
        let id = HTTP2StreamID(Int(stream))
        self.partial[id] = nil
        self.write(HTTP2Frame(streamID: id, payload: .rstStream(.cancel)))
    }

    func ping() {
        self.write(
            HTTP2Frame(streamID: .rootStream, payload: .ping(HTTP2PingData(withInteger: self.id.rawValue), ack: false)))
    }

    func close() {
        self.isClosed = true
        self.context?.close(promise: nil)
    }

    private func write(_ frame: HTTP2Frame) {
        self.isDirty = true
        self.context?.write(self.wrapOutboundOut(frame), promise: nil)
    }

    /// Hands everything written since the last flush to the socket.
    func flush() {
        guard self.isDirty else { return }
        self.isDirty = false
        self.context?.flush()
    }
}
