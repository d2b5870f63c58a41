package import NIOCore

/// The server's side of one HTTP/2 connection as a value: bytes in, events out; commands in, bytes out (RFC 9113).
///
/// Used like ``ClientSession``. Requests are given whole; several DATA frames and trailers are put together here.
package struct ServerSession {
    /// What a server decides for a connection when it accepts it.
    package struct Configuration: Hashable, Sendable {
        /// Streams a client may have open at once; `nil` announces no limit.
        package var maxConcurrentStreams: UInt32?
        /// The table the client's encoder may use, in bytes, 0…65,536.
        package var headerTableSize = 4_096
        /// The receive window a stream starts with, in bytes, 0…2³¹−1.
        package var initialWindowSize = 65_535
        /// The longest frame payload that is taken, in bytes, 16,384…16,777,215.
        package var maxFrameSize = 16_384
        /// The longest request header list that is taken, announced to the client; 8,000 is Apple's (APNs reference,
        /// section 3.1).
        package var headerListLimit = 8_000
        /// How much of a body is kept, in bytes. A longer request is given as soon as it passes this.
        package var bodyLimit = 5_120
        /// Whether streams above a lowered limit are refused although the client had not acknowledged it yet.
        package var refusesBeforeAcknowledged = false

        /// The values of Apple's service, without a stream limit.
        package init() {}
    }

    /// A request, whole unless it is cut.
    package struct Request: Equatable, Sendable {
        /// All fields of its head, pseudo-header fields first.
        package var headers: HeaderList
        /// At most `bodyLimit` bytes of the body.
        package var body: [UInt8]
        /// The body is longer than `bodyLimit`; the request is given before its end and the rest is dropped.
        package var isCut: Bool

        /// A request of these parts.
        package init(headers: HeaderList, body: [UInt8], isCut: Bool = false) {
            self.headers = headers
            self.body = body
            self.isCut = isCut
        }
    }

    /// What happened, in the order of the bytes.
    package enum Event: Equatable, Sendable {
        /// A request to be answered by ``respond(_:status:fields:body:)`` or ``reset(_:_:)``.
        case request(StreamID, Request)
        /// A request whose header list is longer than `headerListLimit`, to be answered (431, or what Apple does) or
        /// reset.
        case headersTooLong(StreamID)
        /// The client gave a stream up; it is forgotten. Not reported before a request was.
        case reset(StreamID, HTTP2ErrorCode)
        /// A stream above the limit, or after GOAWAY's last stream, was refused and is forgotten.
        case streamRefused(StreamID)
        /// The client broke a rule on this stream, which has been reset; the text names the rule.
        case streamFailed(StreamID, HTTP2ErrorCode, String)
        /// The client announced SETTINGS; they are in force and acknowledged. The first comes before any other event.
        case settings(PeerSettings)
        /// The client acknowledged the oldest SETTINGS that were not acknowledged.
        case settingsAcknowledged
        /// A PING, which has been answered.
        case ping(UInt64)
        /// A PING of ours was answered.
        case pingAcknowledged(UInt64)
        /// The client opens no more streams.
        case goAway(lastStream: StreamID, HTTP2ErrorCode, debugData: [UInt8])
        /// The rest of a response that had to wait for a window has been written.
        case bodySent(StreamID)
        /// The client broke a rule of the connection. GOAWAY is in the output; write it and close. Nothing follows.
        case connectionError(HTTP2ErrorCode, String)
    }

    let configuration: Configuration
    var core: SessionCore
    /// The last stream that is processed, once GOAWAY was sent.
    private(set) var lastStream: StreamID?
    private(set) var announcedLimit: UInt32?

    /// A fresh connection. SETTINGS are in the output at once.
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

    /// Takes bytes from the socket, all of them, and appends what they mean. Keeps the part of a frame that is not
    /// whole.
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

    /// The bytes to write, or `nil`. The storage is used again once the owner has let go of it.
    package mutating func takeOutput() -> ByteBuffer? { self.core.writer.take() }

    // MARK: Commands

    /// Answers a stream: HEADERS at once, the body as far as the windows allow, the rest when they open. When the
    /// request has
    /// not ended, RST_STREAM with `noError` follows the answer (RFC 9113 §8.1).
    ///
    /// - Returns: Whether the stream was waiting for an answer. `false` when the client has given it up, and when a
    /// field may
    ///   not be sent; the stream is reset then.
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

    /// Ends a stream with RST_STREAM. Does nothing for one that is over.
    package mutating func reset(_ stream: StreamID, _ code: HTTP2ErrorCode) {
        if self.core.isClosed || self.core.streams.place(of: stream) == nil { return }
        self.core.reset(stream, code)
    }

    /// Announces another stream limit, up or down; `nil` announces 2³¹−1. In force once the client has acknowledged it,
    /// or at
    /// once with `refusesBeforeAcknowledged`.
    package mutating func announce(maxConcurrentStreams: UInt32?) {
        if self.core.isClosed { return }
        var next = self.core.unacknowledged.last ?? self.core.local
        next.maxConcurrentStreams = maxConcurrentStreams
        self.announcedLimit = maxConcurrentStreams
        self.core.announce(next)
    }

    /// Says that streams above `lastStream` are not processed; they are dropped from here on.
    ///
    /// - Parameter lastStream: ``highestStream`` unless given; never above what an earlier GOAWAY said.
    package mutating func goAway(
        lastStream: StreamID? = nil, _ code: HTTP2ErrorCode = .noError, debugData: [UInt8] = []
    ) {
        if self.core.isClosed { return }
        let last = min(lastStream ?? self.core.highest, self.lastStream ?? .max)
        self.lastStream = last
        for stream in self.core.streams.ids where stream > last { self.core.ignore(stream) }
        self.core.writer.goAway(lastStream: last, code, debugData: debugData)
    }

    /// Asks for a sign of life.
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

    /// Gives back what the client has used of its allowance for frames that carry nothing (see `ControlFrameBudget`).
    package mutating func forgive() { self.core.controlFrameBudget.forgive() }

    // MARK: Counters

    /// What the client has announced.
    package var peer: PeerSettings { self.core.peer }
    /// The highest stream the client has opened; 0 before the first.
    package var highestStream: StreamID { self.core.highest }
    /// Streams without an end so far.
    package var openStreams: Int { self.core.streams.count }
    /// SETTINGS that the client has not acknowledged.
    package var unacknowledgedSettings: Int { self.core.unacknowledged.count }
    /// Whether the connection has failed; nothing is read or written any more.
    package var isClosed: Bool { self.core.isClosed }
}
