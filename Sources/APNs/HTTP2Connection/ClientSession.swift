package import NIOCore

/// The client's side of one HTTP/2 connection as a value: bytes in, events out; commands in, bytes out (RFC 9113).
/// The session is always ahead of its events: ``open(_:_:body:)`` may refuse for a reason whose event the owner has
/// not come to yet. One thread at a time.
package struct ClientSession {
    package struct Configuration: Hashable, Sendable {
        /// The size of a response's body, in bytes, that is kept; the rest is read and dropped.
        package var bodyLimit = 4_096
        /// Announced to the server; longer ones fail their stream.
        package var headerListLimit = 16_384
        /// The table the server's encoder may use, in bytes, 0…65,536.
        package var headerTableSize = 4_096

        package init() {}
    }

    /// Interim responses (1xx) and trailers are dropped.
    package struct Response: Equatable, Sendable {
        package var status: Int
        /// `:status` included.
        package var headers: HeaderList
        /// At most `bodyLimit` bytes.
        package var body: [UInt8]
        package var isCut = false
    }

    /// In the order of the bytes.
    package enum Event: Equatable, Sendable {
        /// In force and acknowledged. The first comes before any other event.
        case settings(PeerSettings)
        case response(StreamID, Response)
        /// Without a complete response. `refusedStream`: nothing was processed (RFC 9113 §8.7). Unknown codes count
        /// as `internalError` (§7).
        case streamReset(StreamID, HTTP2ErrorCode)
        /// The server broke a rule, which the text names. Whether the request was processed is unknown.
        case streamFailed(StreamID, HTTP2ErrorCode, String)
        /// The stream ended before END_STREAM of its request was written: nothing was there to be processed. The text
        /// names the code or the rule.
        case streamNotSent(StreamID, String)
        /// Streams above `lastStream` were not processed and are forgotten here; those up to it may still be
        /// answered. May come several times, never with a higher `lastStream`.
        case goAway(lastStream: StreamID, HTTP2ErrorCode, debugData: [UInt8])
        case pingAcknowledged(UInt64)
        /// By WINDOW_UPDATE on stream 0.
        case windowOpened(by: Int)
        /// Only for bodies that had to wait for a window.
        case bodySent(StreamID)
        /// GOAWAY is in the output; write it and close. Nothing follows.
        case connectionError(HTTP2ErrorCode, String)
    }

    /// Nothing of the stream has been written.
    package enum OpenRefusal: Error, Hashable, Sendable {
        case closed
        case goingAway
        case streamLimit
        /// The number is not odd, or not above the last one.
        case streamNotRising
        /// 2³¹−1 is passed (RFC 9113 §5.1.1).
        case streamsExhausted
        case headersTooLong(limit: Int)
        case invalidField(String, String)
    }

    private let configuration: Configuration
    private var core: SessionCore
    private var lastStream: StreamID?
    private var hasSentGoAway = false

    /// Preface and SETTINGS are in the output at once.
    package init(_ configuration: Configuration = Configuration(), allocator: ByteBufferAllocator = .init()) {
        self.configuration = configuration
        // ENABLE_PUSH 0: nobody asked for anything to be pushed.
        self.core = SessionCore(
            isServer: false, .init(headerTableSize: min(max(configuration.headerTableSize, 0), 65_536)),
            maxFrameSize: 16_384, headerListLimit: configuration.headerListLimit, others: [(0x2, 0)],
            allocator: allocator)
    }

    // MARK: Bytes

    /// Takes all bytes; keeps the part of a frame that is not whole.
    package mutating func receive(_ bytes: ByteBuffer, into events: inout [Event]) {
        if self.core.isClosed { return }
        self.core.reader.append(bytes)
        do throws(ConnectionFault) {
            while let incoming = try self.core.next() { try self.handle(incoming, into: &events) }
            self.core.reader.settle()
        } catch {
            // The server opens no streams: the last one is 0.
            self.core.fail(error, lastStream: 0)
            events.append(.connectionError(error.code, error.text))
        }
    }

    /// Nil if there is nothing. The storage is used again once the owner has let go of it.
    package mutating func takeOutput() -> ByteBuffer? { self.core.writer.takeOutput() }

    // MARK: Commands

    /// HEADERS at once, the body as far as the windows allow. - Parameter stream: odd and above all numbers used
    /// before.
    package mutating func open(_ stream: StreamID, _ head: RequestHead, body: [UInt8]) throws(OpenRefusal) {
        try self.check(stream, listSize: head.listSize)
        let start = self.core.writer.beginHeaders()
        do throws(FieldFault) {
            try self.core.encoder.encode(head, into: &self.core.writer.buffer)
        } catch {
            self.core.writer.dropHeaders(start)
            throw .invalidField(error.name, error.rule)
        }
        self.begin(stream, headersFrom: start, isHead: head.method == "HEAD", body: body)
    }

    /// One of many requests whose heads are alike. - Parameter path: what follows the prefix that all have. -
    /// Parameter fields: this request's own.
    package mutating func open(
        _ stream: StreamID, _ head: FixedHead, path: String, fields: [HeaderField], body: [UInt8]
    ) throws(OpenRefusal) {
        var listSize = head.listSize + path.utf8.count
        for field in fields { listSize += field.size }
        try self.check(stream, listSize: listSize)
        let start = self.core.writer.beginHeaders()
        do throws(FieldFault) {
            try self.core.encoder.encode(head, path: path, fields, into: &self.core.writer.buffer)
        } catch {
            self.core.writer.dropHeaders(start)
            throw .invalidField(error.name, error.rule)
        }
        self.begin(stream, headersFrom: start, isHead: head.method == "HEAD", body: body)
    }

    private func check(_ stream: StreamID, listSize: Int) throws(OpenRefusal) {
        if self.core.isClosed { throw .closed }
        if self.lastStream != nil || self.hasSentGoAway { throw .goingAway }
        if stream > 0x7fff_ffff { throw .streamsExhausted }
        if stream.isMultiple(of: 2) || stream <= self.core.highest { throw .streamNotRising }
        if let limit = self.core.peer.maxConcurrentStreams, self.core.streams.count >= Int(limit) {
            throw .streamLimit
        }
        if let limit = self.core.peer.maxHeaderListSize, listSize > Int(limit) {
            throw .headersTooLong(limit: Int(limit))
        }
    }

    private mutating func begin(_ stream: StreamID, headersFrom start: Int, isHead: Bool, body: [UInt8]) {
        self.core.writer.finishHeaders(
            start, stream, endStream: body.isEmpty, maxFrameSize: Int(self.core.peer.maxFrameSize))
        self.core.highest = stream
        var opened = Stream(
            sendWindow: Int(self.core.peer.initialWindowSize), receiveWindow: self.core.local.initialWindowSize)
        opened.isHead = isHead
        opened.localEnded = body.isEmpty || self.core.sendWhole(body, of: &opened, stream)
        let place = self.core.streams.insert(stream, opened)
        if !opened.localEnded { _ = self.core.send(body, on: stream, at: place) }
    }

    package mutating func reset(_ stream: StreamID, _ code: HTTP2ErrorCode) {
        if self.core.isClosed || self.core.streams.place(of: stream) == nil { return }
        self.core.reset(stream, code)
    }

    /// Answered by `pingAcknowledged` with the same number.
    package mutating func ping(_ data: UInt64) {
        if !self.core.isClosed { self.core.writer.ping(data, ack: false) }
    }

    /// Streams that are open go on; ``open(_:_:body:)`` refuses from here on.
    package mutating func goAway(_ code: HTTP2ErrorCode = .noError, debugData: [UInt8] = []) {
        if self.core.isClosed { return }
        self.hasSentGoAway = true
        self.core.writer.goAway(lastStream: 0, code, debugData: debugData)
    }

    /// An owner whose connections live for days calls it from time to time, for example with each PING (see
    /// `ControlFrameBudget`).
    package mutating func forgive() { self.core.controlFrameBudget.forgive() }

    // MARK: Counters

    package var peer: PeerSettings { self.core.peer }
    package var openStreams: Int { self.core.streams.count }
    /// Less what waits to be sent; may be negative.
    package var freeSendWindow: Int { self.core.sendWindow - self.core.unsentBytes }
    /// Open streams whose END_STREAM has not been written, in rising order: certainly not processed.
    package var unsentStreams: [StreamID] { self.core.streams.ids.filter { self.isUnsent($0) } }
    package func isUnsent(_ stream: StreamID) -> Bool {
        self.core.streams.place(of: stream).map { !self.core.streams[$0].localEnded } ?? false
    }
    package var isClosed: Bool { self.core.isClosed }

    // MARK: What a frame means

    private mutating func handle(
        _ incoming: SessionCore.Incoming, into events: inout [Event]
    ) throws(ConnectionFault) {
        switch incoming {
        case .headers(let stream, let headers, let endStream):
            guard let place = self.core.streams.place(of: stream) else { return try self.core.checkClosed(stream) }
            let isInterim: Bool
            do throws(SessionCore.StreamFault) {
                isInterim = try self.received(headers, endStream: endStream, on: stream, at: place, into: &events)
            } catch {
                isInterim = false
                try self.fail(stream, error.code, error.text, into: &events)
            }
            if isInterim { try self.core.controlFrameBudget.charge() }
        case .data(let stream, let payload, let flowLength, let endStream):
            guard let place = self.core.streams.place(of: stream) else { return try self.core.checkClosed(stream) }
            do throws(SessionCore.StreamFault) {
                if self.core.streams[place].headers == nil {
                    throw SessionCore.StreamFault(code: .protocolError, text: "DATA before the response's HEADERS")
                }
                try self.core.receiveData(
                    payload, flowLength: flowLength, endStream: endStream, on: stream, at: place,
                    keeping: self.configuration.bodyLimit)
                if endStream { self.complete(stream, at: place, into: &events) }
            } catch {
                try self.fail(stream, error.code, error.text, into: &events)
            }
        case .reset(let stream, let code):
            guard let place = self.core.streams.place(of: stream) else { return }
            let wasSent = self.core.streams[place].localEnded
            self.core.remove(place)
            // A refusal says as much by itself, and is known as one.
            let isTold = wasSent || code == .refusedStream
            events.append(isTold ? .streamReset(stream, code) : .streamNotSent(stream, "\(code)"))
        case .streamFault(let stream, let code, let text): try self.fail(stream, code, text, into: &events)
        case .settings:
            events.append(.settings(self.core.peer))
            self.reportSent(into: &events)
        case .pingAcknowledged(let data): events.append(.pingAcknowledged(data))
        case .goAway(let last, let code, let debugData):
            let last = min(last, self.lastStream ?? last)
            self.lastStream = last
            for stream in self.core.streams.ids where stream > last { self.core.ignore(stream) }
            events.append(.goAway(lastStream: last, code, debugData: debugData))
        case .windowOpened(let increment):
            events.append(.windowOpened(by: increment))
            self.reportSent(into: &events)
        case .streamWindowOpened: self.reportSent(into: &events)
        case .settingsAcknowledged, .ping, .nothing: break
        }
    }

    /// - Returns: whether the response is an interim one.
    private mutating func received(
        _ headers: HeaderList, endStream: Bool, on stream: StreamID, at place: Int, into events: inout [Event]
    ) throws(SessionCore.StreamFault) -> Bool {
        do throws(FieldRules.Malformed) {
            if self.core.streams[place].headers == nil {
                let facts = try FieldRules.response(headers)
                if facts.status < 200 {
                    if endStream { throw FieldRules.Malformed(rule: "an interim response ends the stream") }
                    return true
                }
                if facts.listSize > self.configuration.headerListLimit {
                    throw FieldRules.Malformed(rule: "a header list of \(facts.listSize) bytes")
                }
                self.core.streams[place].headers = headers
                self.core.streams[place].status = facts.status
                self.core.streams[place].contentLength = facts.contentLength
            } else {
                try FieldRules.trailers(headers)
                if !endStream { throw FieldRules.Malformed(rule: "trailers that do not end the stream") }
            }
        } catch {
            throw SessionCore.StreamFault(code: .protocolError, text: error.rule)
        }
        if endStream {
            try self.core.receiveEnd(place)
            self.complete(stream, at: place, into: &events)
        }
        return false
    }

    private mutating func complete(_ stream: StreamID, at place: Int, into events: inout [Event]) {
        let received = self.core.streams[place]
        self.core.controlFrameBudget.reward()
        if received.localEnded {
            self.core.remove(place)
        } else {
            // Answered before it was asked completely: the rest is not wanted (RFC 9113 §8.1).
            self.core.reset(stream, .cancel)
        }
        let response = Response(
            status: received.status, headers: received.headers ?? HeaderList(), body: received.body,
            isCut: received.isCut)
        events.append(.response(stream, response))
    }

    private mutating func fail(
        _ stream: StreamID, _ code: HTTP2ErrorCode, _ text: String, into events: inout [Event]
    ) throws(ConnectionFault) {
        try self.core.controlFrameBudget.charge()
        let isUnsent = self.isUnsent(stream)
        self.core.reset(stream, code)
        events.append(isUnsent ? .streamNotSent(stream, text) : .streamFailed(stream, code, text))
    }

    private mutating func reportSent(into events: inout [Event]) {
        for stream in self.core.sent { events.append(.bodySent(stream)) }
        self.core.sent.removeAll(keepingCapacity: true)
    }
}
