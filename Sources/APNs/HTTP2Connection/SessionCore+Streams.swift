import NIOCore

extension SessionCore {
    // MARK: Send windows

    mutating func openSendWindow(by increment: Int) throws(ConnectionFault) -> Incoming {
        if increment == 0 { throw ConnectionFault(.protocolError, "WINDOW_UPDATE by 0") }
        guard self.sendWindow + increment <= Self.largestWindow else {
            throw ConnectionFault(.flowControlError, "the connection's window passes 2^31-1")
        }
        self.sendWindow += increment
        self.pump()
        return .windowOpened(increment)
    }

    mutating func openSendWindow(of stream: StreamID, by increment: Int) throws(ConnectionFault) -> Incoming {
        guard let place = self.streams.place(of: stream) else {
            if self.isIdle(stream) {
                throw ConnectionFault(.protocolError, "WINDOW_UPDATE for stream \(stream), which is idle")
            }
            return .nothing
        }
        if increment == 0 { return .streamFault(stream, .protocolError, "WINDOW_UPDATE by 0") }
        guard self.streams[place].sendWindow + increment <= Self.largestWindow else {
            return .streamFault(stream, .flowControlError, "the stream's window passes 2^31-1")
        }
        self.streams[place].sendWindow += increment
        self.enqueue(stream, at: place)
        self.pump()
        return .streamWindowOpened
    }

    /// INITIAL_WINDOW_SIZE shifts the window of every stream (RFC 9113 §6.9.2).
    mutating func shiftSendWindows(by difference: Int) throws(ConnectionFault) {
        for id in self.streams.ids {
            guard let place = self.streams.place(of: id) else { continue }
            self.streams[place].sendWindow += difference
            guard self.streams[place].sendWindow <= Self.largestWindow else {
                throw ConnectionFault(.flowControlError, "INITIAL_WINDOW_SIZE takes a window past 2^31-1")
            }
            self.enqueue(id, at: place)
        }
        self.pump()
    }

    // MARK: Bodies

    /// END_STREAM stands behind the body. - Returns: whether all of it was written.
    mutating func send(_ body: [UInt8], on stream: StreamID, at place: Int) -> Bool {
        self.streams[place].unsent = body[...]
        self.unsentBytes += body.count
        self.write(stream, at: place)
        if self.streams[place].localEnded { return true }
        self.enqueue(stream, at: place)
        return false
    }

    /// In one frame, if that is allowed now and nothing waits before it.
    mutating func sendWhole(_ body: [UInt8], of opened: inout Stream, _ stream: StreamID) -> Bool {
        let count = body.count
        guard count <= self.sendWindow, count <= opened.sendWindow, count <= Int(self.peer.maxFrameSize) else {
            return false
        }
        self.writer.data(stream, body[...], endStream: true)
        self.sendWindow -= count
        opened.sendWindow -= count
        return true
    }

    private mutating func write(_ stream: StreamID, at place: Int) {
        while !self.streams[place].localEnded {
            let waiting = self.streams[place].unsent
            let room = min(self.sendWindow, self.streams[place].sendWindow, Int(self.peer.maxFrameSize))
            guard room > 0 else { return }
            let part = waiting.prefix(room)
            let isLast = part.count == waiting.count
            self.writer.data(stream, part, endStream: isLast)
            self.sendWindow -= part.count
            self.unsentBytes -= part.count
            self.streams[place].sendWindow -= part.count
            self.streams[place].unsent = isLast ? [] : waiting.dropFirst(part.count)
            self.streams[place].localEnded = isLast
        }
    }

    private mutating func enqueue(_ stream: StreamID, at place: Int) {
        guard !self.streams[place].unsent.isEmpty, !self.streams[place].isQueued, self.streams[place].sendWindow > 0
        else { return }
        // Streams that ended while they waited are still named: no more of them than of the others.
        if self.queue.count > 2 * self.streams.count + 16 {
            let streams = self.streams
            self.queue.removeAll { streams.place(of: $0) == nil }
        }
        self.streams[place].isQueued = true
        self.queue.append(stream)
    }

    /// First come, first served.
    private mutating func pump() {
        while self.sendWindow > 0, let stream = self.queue.first {
            guard let place = self.streams.place(of: stream) else {
                self.queue.removeFirst()
                continue
            }
            self.write(stream, at: place)
            if self.streams[place].localEnded { self.sent.append(stream) }
            if self.streams[place].localEnded || self.streams[place].sendWindow <= 0 {
                self.streams[place].isQueued = false
                self.queue.removeFirst()
            }
        }
    }

    // MARK: Messages

    /// RFC 9113 §5.4.2.
    struct StreamFault: Error {
        var code: HTTP2ErrorCode
        var text: String
    }

    /// Keeps the first `limit` bytes of the body.
    mutating func receiveData(
        _ payload: ByteBuffer, flowLength: Int, endStream: Bool, on stream: StreamID, at place: Int,
        keeping limit: Int
    ) throws(StreamFault) {
        guard flowLength <= self.streams[place].receiveWindow else {
            throw StreamFault(code: .flowControlError, text: "\(flowLength) bytes of DATA for a smaller window")
        }
        let length = payload.readableBytes
        self.streams[place].receiveWindow -= flowLength
        self.streams[place].bodyBytes += length
        if let said = self.streams[place].contentLength, self.streams[place].bodyBytes > said {
            throw StreamFault(code: .protocolError, text: "a body longer than its content-length")
        }
        let room = limit - self.streams[place].body.count
        if length <= room {
            self.streams[place].body.append(contentsOf: payload.readableBytesView)
        } else {
            self.streams[place].body.append(contentsOf: payload.readableBytesView.prefix(room))
            self.streams[place].isCut = true
        }
        if endStream {
            try self.receiveEnd(place)
        } else {
            self.reopenWindow(of: stream, at: place)
        }
    }

    mutating func receiveEnd(_ place: Int) throws(StreamFault) {
        self.streams[place].remoteEnded = true
        if !self.streams[place].hasRightLength {
            throw StreamFault(code: .protocolError, text: "a body shorter than its content-length")
        }
    }

    private func wantsMore(_ place: Int) -> Bool {
        !self.streams[place].remoteEnded && !(self.isServer && self.streams[place].isCut)
    }

    /// When half of it is used.
    mutating func reopenWindow(of stream: StreamID, at place: Int) {
        let window = self.local.initialWindowSize
        let used = window - self.streams[place].receiveWindow
        guard used > window / 2, !self.withholdsWindow, self.wantsMore(place) else { return }
        self.streams[place].receiveWindow += used
        self.writer.windowUpdate(stream, by: used)
    }

    // MARK: Ends of streams

    mutating func remove(_ place: Int) {
        self.unsentBytes -= self.streams[place].unsent.count
        self.streams.remove(at: place)
    }

    mutating func reset(_ stream: StreamID, _ code: HTTP2ErrorCode) {
        self.writer.reset(stream, code)
        self.ignore(stream)
    }

    /// Drops whatever still comes for the stream.
    mutating func ignore(_ stream: StreamID) {
        self.highestReset = max(self.highestReset, stream)
        if let place = self.streams.place(of: stream) { self.remove(place) }
    }
}
