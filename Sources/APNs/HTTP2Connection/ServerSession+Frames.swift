import NIOCore

extension ServerSession {
    mutating func handle(
        _ incoming: SessionCore.Incoming, into events: inout [Event]
    ) throws(ConnectionFault) {
        switch incoming {
        case .headers(let stream, let headers, let endStream):
            guard let place = self.core.streams.place(of: stream) else {
                return try self.opened(stream, headers, endStream: endStream, into: &events)
            }
            do throws(SessionCore.StreamFault) {
                try self.receivedTrailers(headers, endStream: endStream, on: stream, at: place, into: &events)
            } catch {
                try self.fail(stream, error.code, error.text, into: &events)
            }
        case .data(let stream, let payload, let flowLength, let endStream):
            guard let place = self.core.streams.place(of: stream) else { return try self.core.checkClosed(stream) }
            do throws(SessionCore.StreamFault) {
                try self.received(
                    payload, flowLength: flowLength, endStream: endStream, on: stream, at: place, into: &events)
            } catch {
                try self.fail(stream, error.code, error.text, into: &events)
            }
        case .reset(let stream, let code):
            guard let place = self.core.streams.place(of: stream) else { return }
            let isKnown = self.core.streams[place].isDelivered
            self.core.remove(place)
            if isKnown { events.append(.reset(stream, code)) }
        case .streamFault(let stream, let code, let text): try self.fail(stream, code, text, into: &events)
        case .settings:
            events.append(.settings(self.core.peer))
            self.reportSent(into: &events)
        case .settingsAcknowledged: events.append(.settingsAcknowledged)
        case .ping(let data): events.append(.ping(data))
        case .pingAcknowledged(let data): events.append(.pingAcknowledged(data))
        case .goAway(let last, let code, let debugData):
            events.append(.goAway(lastStream: last, code, debugData: debugData))
        case .windowOpened, .streamWindowOpened: self.reportSent(into: &events)
        case .nothing: break
        }
    }

    // MARK: Requests

    private mutating func opened(
        _ stream: StreamID, _ headers: HeaderList, endStream: Bool, into events: inout [Event]
    ) throws(ConnectionFault) {
        guard !stream.isMultiple(of: 2) else {
            throw ConnectionFault(.protocolError, "stream \(stream), which a client may not open")
        }
        guard stream > self.core.highest else { return try self.core.checkClosed(stream) }
        self.core.highest = stream
        if let last = self.lastStream, stream > last {
            // Not processed, as GOAWAY has said; nothing is answered (RFC 9113 §6.8).
            try self.core.controlFrameBudget.charge()
            self.core.ignore(stream)
            events.append(.streamRefused(stream))
            return
        }
        if let limit = self.streamLimit, self.core.streams.count >= Int(limit) {
            try self.core.controlFrameBudget.charge()
            self.core.reset(stream, .refusedStream)
            events.append(.streamRefused(stream))
            return
        }
        let facts: FieldRules.Facts
        do throws(FieldRules.Malformed) {
            facts = try FieldRules.request(headers)
        } catch {
            if error.isOrder { throw ConnectionFault(.protocolError, error.rule) }
            return try self.fail(stream, .protocolError, error.rule, into: &events)
        }
        var request = Stream(
            sendWindow: Int(self.core.peer.initialWindowSize), receiveWindow: self.core.local.initialWindowSize)
        request.contentLength = facts.contentLength
        request.headers = headers
        let isTooLong = facts.listSize > self.configuration.headerListLimit
        if isTooLong {
            request.headers = nil
            request.isDelivered = true
            request.isCut = true
        }
        let place = self.core.streams.insert(stream, request)
        if isTooLong { events.append(.headersTooLong(stream)) }
        guard endStream else { return }
        do throws(SessionCore.StreamFault) {
            try self.core.receiveEnd(place)
            self.deliver(stream, at: place, into: &events)
        } catch {
            try self.fail(stream, error.code, error.text, into: &events)
        }
    }

    /// Before the client has acknowledged another limit, whichever is larger.
    private var streamLimit: UInt32? {
        if self.configuration.refusesBeforeAcknowledged { return self.announcedLimit }
        guard var largest = self.core.local.maxConcurrentStreams else { return nil }
        for announced in self.core.unacknowledged {
            guard let limit = announced.maxConcurrentStreams else { return nil }
            largest = max(largest, limit)
        }
        return largest
    }

    private mutating func receivedTrailers(
        _ headers: HeaderList, endStream: Bool, on stream: StreamID, at place: Int, into events: inout [Event]
    ) throws(SessionCore.StreamFault) {
        if self.core.streams[place].remoteEnded {
            throw SessionCore.StreamFault(code: .streamClosed, text: "HEADERS after the request's end")
        }
        do throws(FieldRules.Malformed) {
            try FieldRules.trailers(headers)
            if !endStream { throw FieldRules.Malformed(rule: "trailers that do not end the stream") }
        } catch {
            throw SessionCore.StreamFault(code: .protocolError, text: error.rule)
        }
        try self.core.receiveEnd(place)
        self.deliver(stream, at: place, into: &events)
    }

    private mutating func received(
        _ payload: ByteBuffer, flowLength: Int, endStream: Bool, on stream: StreamID, at place: Int,
        into events: inout [Event]
    ) throws(SessionCore.StreamFault) {
        if self.core.streams[place].remoteEnded {
            throw SessionCore.StreamFault(code: .streamClosed, text: "DATA after the request's end")
        }
        // Of a request that was given already, nothing more is kept.
        let limit = self.core.streams[place].isDelivered ? 0 : self.configuration.bodyLimit
        try self.core.receiveData(
            payload, flowLength: flowLength, endStream: endStream, on: stream, at: place, keeping: limit)
        if endStream || self.core.streams[place].isCut { self.deliver(stream, at: place, into: &events) }
    }

    private mutating func deliver(_ stream: StreamID, at place: Int, into events: inout [Event]) {
        if self.core.streams[place].isDelivered { return }
        let received = self.core.streams[place]
        self.core.streams[place].isDelivered = true
        self.core.streams[place].headers = nil
        self.core.streams[place].body = []
        events.append(
            .request(
                stream,
                Request(headers: received.headers ?? HeaderList(), body: received.body, isCut: received.isCut)))
    }

    // MARK: Ends

    mutating func finish(_ stream: StreamID) {
        guard let place = self.core.streams.place(of: stream) else { return }
        self.core.controlFrameBudget.reward()
        if self.core.streams[place].remoteEnded {
            self.core.remove(place)
        } else {
            self.core.reset(stream, .noError)
        }
    }

    private mutating func fail(
        _ stream: StreamID, _ code: HTTP2ErrorCode, _ text: String, into events: inout [Event]
    ) throws(ConnectionFault) {
        try self.core.controlFrameBudget.charge()
        self.core.reset(stream, code)
        events.append(.streamFailed(stream, code, text))
    }

    private mutating func reportSent(into events: inout [Event]) {
        for stream in self.core.sent {
            self.finish(stream)
            events.append(.bodySent(stream))
        }
        self.core.sent.removeAll(keepingCapacity: true)
    }
}
