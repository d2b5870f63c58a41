import NIOCore

/// The common part of both sides of a connection: frames, settings, windows, header blocks, the table of streams. ``next()`` reads one
/// frame and does what concerns the connection; what concerns a stream's message differs between the sides.
struct SessionCore {
    struct Local: Hashable {
        var maxConcurrentStreams: UInt32?
        var initialWindowSize = 65_535
        var headerTableSize = 4_096
    }

    enum Incoming {
        case headers(StreamID, HeaderList, endStream: Bool)
        /// `flowLength` counts the padding too.
        case data(StreamID, ByteBuffer, flowLength: Int, endStream: Bool)
        case reset(StreamID, HTTP2ErrorCode)
        case streamFault(StreamID, HTTP2ErrorCode, String)
        case settings
        case settingsAcknowledged
        case ping(UInt64)
        case pingAcknowledged(UInt64)
        case goAway(StreamID, HTTP2ErrorCode, [UInt8])
        case windowOpened(Int)
        case streamWindowOpened
        case nothing
    }

    private struct OpenBlock {
        var stream: StreamID
        var endStream: Bool
        var bytes: ByteBuffer
    }

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let largestWindow = 0x7fff_ffff
    static let connectionWindow = 65_535

    let isServer: Bool
    private let headerBlockLimit: Int
    var reader: HTTP2FrameReader
    var writer: FrameWriter
    var encoder = HeaderEncoder()
    private var decoder: HeaderDecoder
    private var awaitsPreface: Bool
    private var awaitsSettings = true
    private var block: OpenBlock?

    var peer = PeerSettings()
    var local = Local()
    /// Oldest first.
    private(set) var unacknowledged = CircularBuffer<Local>()

    var streams = StreamTable()
    var highest: StreamID = 0
    /// The highest stream that was reset: frames for closed streams up to it were sent before the other side heard of the reset, and are
    /// dropped; above, they break a rule (RFC 9113 §5.1).
    var highestReset: StreamID = 0
    var controlFrameBudget = ControlFrameBudget()
    var isClosed = false

    var sendWindow = Self.connectionWindow
    var unsentBytes = 0
    /// In the order they came. May name streams that are over.
    var queue = CircularBuffer<StreamID>()
    /// Since the side looked last.
    var sent: [StreamID] = []
    private var receiveWindow = Self.connectionWindow
    var withholdsWindow = false

    init(
        isServer: Bool, _ announced: Local, maxFrameSize: Int, headerListLimit: Int, others: [(UInt16, UInt32)],
        allocator: ByteBufferAllocator
    ) {
        self.isServer = isServer
        self.awaitsPreface = isServer
        self.headerBlockLimit = max(65_536, headerListLimit)
        self.reader = HTTP2FrameReader(maxFrameSize: maxFrameSize)
        self.writer = FrameWriter(allocator: allocator)
        self.decoder = HeaderDecoder(tableSizeLimit: 4_096, listSizeMax: self.headerBlockLimit)
        if !isServer { self.writer.raw(Self.preface) }
        self.announce(announced, [(0x6, UInt32(clamping: headerListLimit))] + others)
    }

    // MARK: Settings

    /// Announces the settings that differ from the last announcement, and `others`.
    mutating func announce(_ next: Local, _ others: [(UInt16, UInt32)] = []) {
        let last = self.unacknowledged.last ?? self.local
        var values: [(UInt16, UInt32)] = []
        if next.headerTableSize != last.headerTableSize { values.append((0x1, UInt32(clamping: next.headerTableSize))) }
        if next.maxConcurrentStreams != last.maxConcurrentStreams {
            values.append((0x3, next.maxConcurrentStreams ?? UInt32(Self.largestWindow)))
        }
        if next.initialWindowSize != last.initialWindowSize {
            values.append((0x4, UInt32(clamping: next.initialWindowSize)))
        }
        self.unacknowledged.append(next)
        self.writer.settings(values + others)
    }

    private mutating func settingsFrame(_ frame: HTTP2Frame) throws(ConnectionFault) -> Incoming {
        guard frame.stream == 0 else { throw ConnectionFault(.protocolError, "SETTINGS on a stream") }
        let isAck = frame.flags & FrameFlags.ack != 0
        if self.awaitsSettings, isAck { throw ConnectionFault(.protocolError, "the first frame is no SETTINGS") }
        try self.controlFrameBudget.charge()
        if isAck {
            guard frame.payload.readableBytes == 0 else {
                throw ConnectionFault(.frameSizeError, "an acknowledgement of SETTINGS that is not empty")
            }
            guard let next = self.unacknowledged.popFirst() else {
                throw ConnectionFault(.protocolError, "an acknowledgement of SETTINGS that were not sent")
            }
            self.adopt(next)
            return .settingsAcknowledged
        }
        guard frame.payload.readableBytes % 6 == 0 else {
            throw ConnectionFault(.frameSizeError, "SETTINGS of \(frame.payload.readableBytes) bytes")
        }
        self.awaitsSettings = false
        try self.takeSettings(frame.payload)
        return .settings
    }

    private mutating func adopt(_ next: Local) {
        let difference = next.initialWindowSize - self.local.initialWindowSize
        if next.headerTableSize != self.local.headerTableSize {
            self.decoder.limitTable(to: next.headerTableSize)
        }
        self.local = next
        if difference == 0 { return }
        for id in self.streams.ids {
            guard let place = self.streams.place(of: id) else { continue }
            self.streams[place].receiveWindow += difference
            // What was sent before may be more than the window is now.
            self.reopenWindow(of: id, at: place)
        }
    }

    private mutating func takeSettings(_ payload: ByteBuffer) throws(ConnectionFault) {
        var payload = payload
        var next = self.peer
        var smallestTable = UInt32.max
        while let (identifier, value) = payload.readMultipleIntegers(as: (UInt16, UInt32).self) {
            switch identifier {
            case 0x1:
                next.headerTableSize = value
                smallestTable = min(smallestTable, value)
            case 0x2:
                // A client may not be told to accept pushes (RFC 9113 §6.5.2).
                guard value == 0 || (value == 1 && self.isServer) else {
                    throw ConnectionFault(.protocolError, "ENABLE_PUSH is \(value)")
                }
            case 0x3: next.maxConcurrentStreams = value
            case 0x4:
                guard value <= UInt32(Self.largestWindow) else {
                    throw ConnectionFault(.flowControlError, "INITIAL_WINDOW_SIZE is \(value)")
                }
                next.initialWindowSize = value
            case 0x5:
                guard (16_384...16_777_215).contains(value) else {
                    throw ConnectionFault(.protocolError, "MAX_FRAME_SIZE is \(value)")
                }
                next.maxFrameSize = value
            case 0x6: next.maxHeaderListSize = value
            default: break
            }
        }
        if smallestTable != .max {
            // A dip between has emptied the other side's table all the same (RFC 7541 §4.2).
            self.encoder.limitTable(to: Int(smallestTable))
            self.encoder.limitTable(to: Int(next.headerTableSize))
        }
        let difference = Int(next.initialWindowSize) - Int(self.peer.initialWindowSize)
        self.peer = next
        // First: the other side goes by what was acknowledged before it judges DATA (RFC 9113 §6.5.3).
        self.writer.settingsAck()
        if difference != 0 { try self.shiftSendWindows(by: difference) }
    }

    // MARK: Frames

    /// Nil when there is no whole frame.
    mutating func next() throws(ConnectionFault) -> Incoming? {
        if self.awaitsPreface {
            guard let isThere = self.reader.skip(Self.preface) else { return nil }
            guard isThere else { throw ConnectionFault(.protocolError, "the preface of HTTP/2 is missing") }
            self.awaitsPreface = false
        }
        guard let frame = try self.reader.next() else { return nil }
        let type = FrameType(rawValue: frame.type)
        if self.awaitsSettings, type != .settings {
            throw ConnectionFault(.protocolError, "the first frame is no SETTINGS")
        }
        if let block = self.block, type != .continuation || frame.stream != block.stream {
            throw ConnectionFault(.protocolError, "a frame within the header block of stream \(block.stream)")
        }
        switch type {
        case .data: return try self.dataFrame(frame)
        case .headers: return try self.headersFrame(frame)
        case .priority: return try self.priorityFrame(frame)
        case .rstStream: return try self.resetFrame(frame)
        case .settings: return try self.settingsFrame(frame)
        case .pushPromise: throw ConnectionFault(.protocolError, "PUSH_PROMISE, which is switched off")
        case .ping: return try self.pingFrame(frame)
        case .goAway: return try self.goAwayFrame(frame)
        case .windowUpdate: return try self.windowUpdateFrame(frame)
        case .continuation: return try self.continuationFrame(frame)
        case nil:
            try self.controlFrameBudget.charge()
            return .nothing
        }
    }

    /// There are no pushes, so even numbers are never opened.
    func isIdle(_ stream: StreamID) -> Bool { stream.isMultiple(of: 2) || stream > self.highest }

    /// For a stream that is not in the table (RFC 9113 §5.1).
    func checkClosed(_ stream: StreamID) throws(ConnectionFault) {
        if self.isIdle(stream) { throw ConnectionFault(.protocolError, "a frame for stream \(stream), which is idle") }
        if stream > self.highestReset {
            throw ConnectionFault(.streamClosed, "a frame for stream \(stream), which is over")
        }
    }

    /// RFC 9113 §6.1.
    private func unpadded(_ frame: HTTP2Frame) throws(ConnectionFault) -> ByteBuffer {
        var payload = frame.payload
        guard frame.flags & FrameFlags.padded != 0 else { return payload }
        guard let length = payload.readInteger(as: UInt8.self) else {
            throw ConnectionFault(.frameSizeError, "a padded frame without a length of padding")
        }
        guard let rest = payload.readSlice(length: payload.readableBytes - Int(length)) else {
            throw ConnectionFault(.protocolError, "more padding than the frame is long")
        }
        return rest
    }

    private mutating func dataFrame(_ frame: HTTP2Frame) throws(ConnectionFault) -> Incoming {
        if frame.stream == 0 { throw ConnectionFault(.protocolError, "DATA without a stream") }
        let endStream = frame.flags & FrameFlags.endStream != 0
        let length = frame.payload.readableBytes
        let payload = try self.unpadded(frame)
        if payload.readableBytes == 0, !endStream { try self.controlFrameBudget.charge() }
        // Counted whatever becomes of the stream (RFC 9113 §6.9).
        guard length <= self.receiveWindow else {
            throw ConnectionFault(.flowControlError, "\(length) bytes of DATA; the window is \(self.receiveWindow)")
        }
        self.receiveWindow -= length
        self.reopenWindow()
        return .data(frame.stream, payload, flowLength: length, endStream: endStream)
    }

    private mutating func headersFrame(_ frame: HTTP2Frame) throws(ConnectionFault) -> Incoming {
        if frame.stream == 0 { throw ConnectionFault(.protocolError, "HEADERS without a stream") }
        var payload = try self.unpadded(frame)
        if frame.flags & FrameFlags.priority != 0, payload.readSlice(length: 5) == nil {
            throw ConnectionFault(.frameSizeError, "HEADERS too short for its priority")
        }
        let endStream = frame.flags & FrameFlags.endStream != 0
        if frame.flags & FrameFlags.endHeaders != 0 {
            return .headers(frame.stream, try self.decode(payload), endStream: endStream)
        }
        let copy = ByteBuffer(bytes: payload.readableBytesView)
        self.block = OpenBlock(stream: frame.stream, endStream: endStream, bytes: copy)
        return .nothing
    }

    private mutating func continuationFrame(_ frame: HTTP2Frame) throws(ConnectionFault) -> Incoming {
        guard var block = self.block else { throw ConnectionFault(.protocolError, "CONTINUATION of nothing") }
        self.block = nil
        if frame.payload.readableBytes == 0 { try self.controlFrameBudget.charge() }
        guard block.bytes.readableBytes + frame.payload.readableBytes <= self.headerBlockLimit else {
            throw ConnectionFault(.enhanceYourCalm, "a header block above \(self.headerBlockLimit) bytes")
        }
        block.bytes.writeImmutableBuffer(frame.payload)
        if frame.flags & FrameFlags.endHeaders == 0 {
            self.block = block
            return .nothing
        }
        return .headers(block.stream, try self.decode(block.bytes), endStream: block.endStream)
    }

    private mutating func decode(_ block: ByteBuffer) throws(ConnectionFault) -> HeaderList {
        do throws(HeaderDecoder.Fault) {
            return try self.decoder.decode(block)
        } catch {
            switch error {
            case .malformed: throw ConnectionFault(.compressionError, "a header block that cannot be decoded")
            case .listTooLong:
                throw ConnectionFault(.enhanceYourCalm, "a header list above \(self.headerBlockLimit) bytes")
            }
        }
    }

    private mutating func priorityFrame(_ frame: HTTP2Frame) throws(ConnectionFault) -> Incoming {
        if frame.stream == 0 { throw ConnectionFault(.protocolError, "PRIORITY without a stream") }
        try self.controlFrameBudget.charge()
        if frame.payload.readableBytes == 5 { return .nothing }
        guard self.streams.place(of: frame.stream) != nil else {
            throw ConnectionFault(.frameSizeError, "PRIORITY of \(frame.payload.readableBytes) bytes")
        }
        return .streamFault(frame.stream, .frameSizeError, "PRIORITY of \(frame.payload.readableBytes) bytes")
    }

    private mutating func resetFrame(_ frame: HTTP2Frame) throws(ConnectionFault) -> Incoming {
        guard let code = frame.payload.getInteger(at: frame.payload.readerIndex, as: UInt32.self),
            frame.payload.readableBytes == 4
        else { throw ConnectionFault(.frameSizeError, "RST_STREAM of \(frame.payload.readableBytes) bytes") }
        if self.isIdle(frame.stream) {
            throw ConnectionFault(.protocolError, "RST_STREAM for stream \(frame.stream), which is idle")
        }
        try self.controlFrameBudget.charge()
        return .reset(frame.stream, HTTP2ErrorCode(rawValue: code) ?? .internalError)
    }

    private mutating func pingFrame(_ frame: HTTP2Frame) throws(ConnectionFault) -> Incoming {
        guard frame.stream == 0 else { throw ConnectionFault(.protocolError, "PING on a stream") }
        guard let data = frame.payload.getInteger(at: frame.payload.readerIndex, as: UInt64.self),
            frame.payload.readableBytes == 8
        else { throw ConnectionFault(.frameSizeError, "PING of \(frame.payload.readableBytes) bytes") }
        try self.controlFrameBudget.charge()
        if frame.flags & FrameFlags.ack != 0 { return .pingAcknowledged(data) }
        self.writer.ping(data, ack: true)
        return .ping(data)
    }

    private mutating func goAwayFrame(_ frame: HTTP2Frame) throws(ConnectionFault) -> Incoming {
        guard frame.stream == 0 else { throw ConnectionFault(.protocolError, "GOAWAY on a stream") }
        var payload = frame.payload
        guard let (last, code) = payload.readMultipleIntegers(as: (UInt32, UInt32).self) else {
            throw ConnectionFault(.frameSizeError, "GOAWAY of \(frame.payload.readableBytes) bytes")
        }
        try self.controlFrameBudget.charge()
        return .goAway(
            last & 0x7fff_ffff, HTTP2ErrorCode(rawValue: code) ?? .internalError, Array(payload.readableBytesView))
    }

    private mutating func windowUpdateFrame(_ frame: HTTP2Frame) throws(ConnectionFault) -> Incoming {
        guard let value = frame.payload.getInteger(at: frame.payload.readerIndex, as: UInt32.self),
            frame.payload.readableBytes == 4
        else { throw ConnectionFault(.frameSizeError, "WINDOW_UPDATE of \(frame.payload.readableBytes) bytes") }
        try self.controlFrameBudget.charge()
        let increment = Int(value & 0x7fff_ffff)
        return frame.stream == 0
            ? try self.openSendWindow(by: increment)
            : try self.openSendWindow(of: frame.stream, by: increment)
    }

    // MARK: The connection's receive window

    /// When half of it is used (APNs reference, section 3.2).
    mutating func reopenWindow() {
        let used = Self.connectionWindow - self.receiveWindow
        guard used > Self.connectionWindow / 2, !self.withholdsWindow else { return }
        self.receiveWindow += used
        self.writer.windowUpdate(0, by: used)
    }

    // MARK: The end

    mutating func fail(_ fault: ConnectionFault, lastStream: StreamID) {
        self.isClosed = true
        self.writer.goAway(lastStream: lastStream, fault.code, debugData: fault.text.utf8)
    }
}
