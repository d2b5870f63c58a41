import APNsCore
import APNsModel
import NIOCore
import NIOHPACK
import NIOHTTP2
import TidingsModel

/// The top of a provider connection's pipeline: collects HTTP/2 frames into requests and writes answers.
final class ProviderHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private struct PartialRequest {
        var headers: HPACKHeaders
        var body: [UInt8] = []
    }

    private let engine: SimulatorEngine
    private let environment: PushEnvironment
    private var id: APNsService.ConnectionID?
    private var context: ChannelHandlerContext?
    /// What is left of the connection's window for the other side, as the layer below counted it last.
    private var window: Int?
    private var partial: [HTTP2StreamID: PartialRequest] = [:]
    /// Streams whose request was taken before its end, because it was too long.
    private var unfinished: Set<HTTP2StreamID> = []
    private var isReading = false
    /// The last `authorization` and what was found out about it: verified once, not for every push.
    private var known: (authorization: String, facts: ProviderTokenFacts)?

    /// One byte more than the longest body any push may have.
    private static let bodyBytesMax = 5_121

    init(engine: SimulatorEngine, environment: PushEnvironment) {
        self.engine = engine
        self.environment = environment
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        self.id = self.engine.opened(self, environment: self.environment)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let id = self.id { self.engine.closed(id) }
        self.id = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A fault of one stream has been answered with RST_STREAM by the layer below.
        if let fault = error as? NIOHTTP2Errors.StreamError {
            self.partial[fault.streamID] = nil
            return
        }
        context.close(promise: nil)
    }

    // MARK: In

    /// The connection's window stays at 65,535 and is opened again in steps of about half of it (apns.md §3.2).
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let update = event as? NIOHTTP2WindowUpdatedEvent, update.streamID == .rootStream {
            self.window = update.inboundWindowSize
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.isReading = true
        let frame = self.unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let headers):
            // A second block on a stream is trailers, which say nothing here.
            if self.partial[frame.streamID] == nil, !self.unfinished.contains(frame.streamID) {
                self.partial[frame.streamID] = PartialRequest(headers: headers.headers)
            }
            if headers.endStream { self.ended(frame.streamID) }
        case .data(let data):
            self.received(data, on: frame.streamID)
        case .rstStream:
            self.partial[frame.streamID] = nil
            self.unfinished.remove(frame.streamID)
        case .priority, .settings, .pushPromise, .ping, .goAway, .windowUpdate, .alternativeService, .origin: break
        }
    }

    private func received(_ data: HTTP2Frame.FramePayload.Data, on stream: HTTP2StreamID) {
        guard case .byteBuffer(let bytes) = data.data else { return }
        guard var request = self.partial.removeValue(forKey: stream) else {
            if data.endStream { self.unfinished.remove(stream) }
            return
        }
        request.body += bytes.readableBytesView.prefix(Self.bodyBytesMax - request.body.count)
        self.partial[stream] = request
        if data.endStream {
            self.ended(stream)
        } else if request.body.count >= Self.bodyBytesMax {
            // Long enough to be refused: answer without waiting for the rest.
            self.unfinished.insert(stream)
            self.ended(stream)
        }
    }

    private func ended(_ stream: HTTP2StreamID) {
        guard let partial = self.partial.removeValue(forKey: stream), let id = self.id else { return }
        var request = WireRequest(
            method: partial.headers.first(name: ":method") ?? "", path: partial.headers.first(name: ":path") ?? "",
            headers: [], body: partial.body)
        request.headers.reserveCapacity(partial.headers.count)
        for (name, value, _) in partial.headers where !name.hasPrefix(":") {
            request.headers.append(WireRequest.Header(name: name, value: value))
        }
        self.engine.received(request, stream: Int64(Int(stream)), on: id, token: self.facts(request["authorization"]))
    }

    private func facts(_ authorization: String?) -> ProviderTokenFacts {
        guard let authorization else { return .absent }
        if let known = self.known, known.authorization == authorization { return known.facts }
        let facts = self.engine.verifier.facts(authorization)
        self.known = (authorization, facts)
        return facts
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if let window = self.window, window < 32_768 {
            let step = 65_535 - window
            self.write(HTTP2Frame(streamID: .rootStream, payload: .windowUpdate(windowSizeIncrement: step)))
            // What was heard before this says nothing any more.
            self.window = nil
        }
        self.isReading = false
        self.context?.flush()
        context.fireChannelReadComplete()
    }

    // MARK: Out

    /// Answers a request: HEADERS alone for 200, otherwise with Apple's JSON (apns.md §8).
    func respond(_ response: APNsResponse, on number: Int64) {
        let stream = HTTP2StreamID(Int(number))
        let body = response.body
        var headers = HPACKHeaders()
        headers.add(name: ":status", value: String(response.status))
        if let apnsID = response.apnsID { headers.add(name: "apns-id", value: apnsID, indexing: .nonIndexable) }
        if let uniqueID = response.uniqueID {
            headers.add(name: "apns-unique-id", value: uniqueID, indexing: .nonIndexable)
        }
        if let retryAfter = response.retryAfter { headers.add(name: "retry-after", value: String(retryAfter)) }
        if !body.isEmpty { headers.add(name: "content-type", value: "application/json") }
        self.write(
            HTTP2Frame(streamID: stream, payload: .headers(.init(headers: headers, endStream: body.isEmpty))))
        if !body.isEmpty, let context = self.context {
            let bytes = context.channel.allocator.buffer(bytes: body)
            self.write(HTTP2Frame(streamID: stream, payload: .data(.init(data: .byteBuffer(bytes), endStream: true))))
        }
        if self.unfinished.remove(stream) != nil {
            // The rest of the request is not wanted (RFC 9113 §8.1). The answer goes out first: a reset drops what
            // waits.
            self.flush()
            self.write(HTTP2Frame(streamID: stream, payload: .rstStream(.noError)))
        }
        if !self.isReading { self.flush() }
    }

    func announce(streamLimit: Int) {
        let settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: streamLimit)]
        self.write(HTTP2Frame(streamID: .rootStream, payload: .settings(.settings(settings))))
    }

    /// Ends the connection without a word.
    func cut() { self.context?.close(promise: nil) }

    func flush() { self.context?.flush() }

    private func write(_ frame: HTTP2Frame) { self.context?.write(self.wrapOutboundOut(frame), promise: nil) }
}
