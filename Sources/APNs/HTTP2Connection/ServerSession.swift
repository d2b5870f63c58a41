package import NIOCore

/// The server's side of one HTTP/2 connection as a value, used like ``ClientSession``. Requests are given whole.
package struct ServerSession {
    package struct Configuration: Hashable, Sendable {
        /// Nil announces no limit.
        package var maxConcurrentStreams: UInt32?
        /// The table the client's encoder may use, in bytes, 0…65,536.
        package var headerTableSize = 4_096
        /// The window of a new stream, in bytes, 0…2³¹−1.
        package var initialWindowSize = 65_535
        /// Bytes of payload, 16,384…16,777,215.
        package var maxFrameSize = 16_384
        /// Announced to the client; 8,000 is Apple's (APNs reference, section 3.1).
        package var headerListLimit = 8_000
        /// In bytes. A longer request is given as soon as it passes this.
        package var bodyLimit = 5_120
        /// True if streams above a lowered limit are refused before the client has acknowledged it.
        package var refusesBeforeAcknowledged = false

        package init() {}
    }

    package struct Request: Equatable, Sendable {
        /// Pseudo-header fields first.
        package var headers: HeaderList
        /// At most `bodyLimit` bytes.
        package var body: [UInt8]
        /// The body is longer; the request was given before its end, and the rest is dropped.
        package var isCut = false
    }

    /// In the order of the bytes.
    package enum Event: Equatable, Sendable {
        case request(StreamID, Request)
        /// Longer than `headerListLimit`; to be answered or reset.
        case headersTooLong(StreamID)
        case reset(StreamID, HTTP2ErrorCode)
        /// It was above the limit, or after GOAWAY's last stream, and is forgotten.
        case streamRefused(StreamID)
        case streamFailed(StreamID, HTTP2ErrorCode, String)
        /// In force and acknowledged. The first comes before any other event.
        case settings(PeerSettings)
        /// The oldest SETTINGS that were not acknowledged.
        case settingsAcknowledged
        case ping(UInt64)
        case pingAcknowledged(UInt64)
        case goAway(lastStream: StreamID, HTTP2ErrorCode, debugData: [UInt8])
        /// Only for responses that had to wait for a window.
        case bodySent(StreamID)
        /// GOAWAY is in the output; write it and close. Nothing follows.
        case connectionError(HTTP2ErrorCode, String)
    }

    let configuration: Configuration
    var core: SessionCore
    private(set) var lastStream: StreamID?
    private(set) var announcedLimit: UInt32?

    /// SETTINGS are in the output at once.
    package init(_ configuration: Configuration = Configuration(), allocator: ByteBufferAllocator = .init()) {
        self.configuration = configuration
        self.announcedLimit = configuration.maxConcurrentStreams
        let maxFrameSize = min(max(configuration.maxFrameSize, 16_384), 16_777_215)
        let local = SessionCore.Local(
            maxConcurrentStreams: configuration.maxConcurrentStreams,
            initialWindowSize: min(max(configuration.initialWindowSize, 0), SessionCore.largestWindow),
            headerTableSize: min(max(configuration.headerTableSize, 0), 65_536))
        // A server like Apple's names also what is as the RFC has it anyway (apns.md §3.1).
        var others = [(UInt16(0x5), UInt32(maxFrameSize))]
        let standard = SessionCore.Local()
        if local.headerTableSize == standard.headerTableSize { others.append((0x1, UInt32(local.headerTableSize))) }
        if local.initialWindowSize == standard.initialWindowSize {
            others.append((0x4, UInt32(local.initialWindowSize)))
        }
        self.core = SessionCore(
            isServer: true, local,
            maxFrameSize: maxFrameSize, headerListLimit: configuration.headerListLimit,
            others: others, allocator: allocator)
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
            self.core.fail(error, lastStream: min(self.core.highest, self.lastStream ?? .max))
            events.append(.connectionError(error.code, error.text))
        }
    }

    /// Nil if there is nothing. The storage is used again once the owner has let go of it.
    package mutating func takeOutput() -> ByteBuffer? { self.core.writer.takeOutput() }

    // MARK: Commands

    /// HEADERS at once, the body as far as the windows allow. When the request has not ended, RST_STREAM with
    /// `noError` follows the answer (RFC 9113 §8.1). - Returns: false when the client has given the stream up, and
    /// when a field may not be sent; the stream is reset then.
    @discardableResult
    package mutating func respond(
        _ stream: StreamID, status: Int, fields: [HeaderField] = [], body: [UInt8] = []
    ) -> Bool {
        guard !self.core.isClosed, let place = self.core.streams.place(of: stream),
            self.core.streams[place].isDelivered, !self.core.streams[place].isAnswered
        else { return false }
        let start = self.core.writer.beginHeaders()
        do throws(FieldFault) {
            try self.core.encoder.encode(status: status, fields, into: &self.core.writer.buffer)
        } catch {
            self.core.writer.dropHeaders(start)
            self.core.reset(stream, .internalError)
            return false
        }
        self.core.writer.finishHeaders(
            start, stream, endStream: body.isEmpty, maxFrameSize: Int(self.core.peer.maxFrameSize))
        self.core.streams[place].isAnswered = true
        self.core.streams[place].localEnded = body.isEmpty
        if body.isEmpty || self.core.send(body, on: stream, at: place) { self.finish(stream) }
        return true
    }

    package mutating func reset(_ stream: StreamID, _ code: HTTP2ErrorCode) {
        if self.core.isClosed || self.core.streams.place(of: stream) == nil { return }
        self.core.reset(stream, code)
    }

    /// Nil announces 2³¹−1. In force once the client has acknowledged it, or at once with
    /// `refusesBeforeAcknowledged`.
    package mutating func announce(maxConcurrentStreams: UInt32?) {
        if self.core.isClosed { return }
        var next = self.core.unacknowledged.last ?? self.core.local
        next.maxConcurrentStreams = maxConcurrentStreams
        self.announcedLimit = maxConcurrentStreams
        self.core.announce(next)
    }

    /// Streams above `lastStream` are dropped. - Parameter lastStream: ``highestStream`` unless given; never above
    /// what an earlier GOAWAY said.
    package mutating func goAway(
        lastStream: StreamID? = nil, _ code: HTTP2ErrorCode = .noError, debugData: [UInt8] = []
    ) {
        if self.core.isClosed { return }
        let last = min(lastStream ?? self.core.highest, self.lastStream ?? .max)
        self.lastStream = last
        for stream in self.core.streams.ids where stream > last { self.core.ignore(stream) }
        self.core.writer.goAway(lastStream: last, code, debugData: debugData)
    }

    package mutating func ping(_ data: UInt64) {
        if !self.core.isClosed { self.core.writer.ping(data, ack: false) }
    }

    /// While set, receive windows are not opened again; what was held back is given when it is unset.
    package var withholdsWindow: Bool {
        get { self.core.withholdsWindow }
        set {
            self.core.withholdsWindow = newValue
            if newValue || self.core.isClosed { return }
            self.core.reopenWindow()
            for stream in self.core.streams.ids {
                guard let place = self.core.streams.place(of: stream) else { continue }
                self.core.reopenWindow(of: stream, at: place)
            }
        }
    }

    /// See `ControlFrameBudget`.
    package mutating func forgive() { self.core.controlFrameBudget.forgive() }

    // MARK: Counters

    package var peer: PeerSettings { self.core.peer }
    /// 0 before the first.
    package var highestStream: StreamID { self.core.highest }
    package var openStreams: Int { self.core.streams.count }
    package var unacknowledgedSettings: Int { self.core.unacknowledged.count }
    package var isClosed: Bool { self.core.isClosed }
}
