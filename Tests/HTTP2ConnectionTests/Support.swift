import NIOCore

@testable import HTTP2Connection

/// Builds frames byte by byte, also such as no session would write.
enum Wire {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    static func frame(
        _ type: FrameType, _ flags: UInt8 = 0, stream: StreamID = 0, _ payload: [UInt8] = []
    ) -> [UInt8] {
        Self.frame(number: type.rawValue, flags, stream: stream, payload)
    }

    static func frame(number: UInt8, _ flags: UInt8 = 0, stream: StreamID = 0, _ payload: [UInt8] = []) -> [UInt8] {
        Self.bytes(UInt32(payload.count)).dropFirst() + [number, flags] + Self.bytes(stream) + payload
    }

    static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    static func settings(_ values: [(UInt16, UInt32)] = []) -> [UInt8] {
        Self.frame(
            .settings,
            values.flatMap {
                [UInt8(truncatingIfNeeded: $0.0 >> 8), UInt8(truncatingIfNeeded: $0.0)] + Self.bytes($0.1)
            })
    }

    static func frame(_ type: FrameType, _ payload: [UInt8]) -> [UInt8] { Self.frame(type, 0, stream: 0, payload) }

    static let settingsAck = Self.frame(.settings, FrameFlags.ack)

    static func windowUpdate(_ stream: StreamID, _ increment: UInt32) -> [UInt8] {
        Self.frame(.windowUpdate, stream: stream, Self.bytes(increment))
    }

    static func reset(_ stream: StreamID, _ code: HTTP2ErrorCode) -> [UInt8] {
        Self.frame(.rstStream, stream: stream, Self.bytes(code.rawValue))
    }

    static func goAway(_ last: StreamID, _ code: HTTP2ErrorCode = .noError, _ debug: String = "") -> [UInt8] {
        Self.frame(.goAway, Self.bytes(last) + Self.bytes(code.rawValue) + Array(debug.utf8))
    }

    static func ping(_ last: UInt8, ack: Bool = false) -> [UInt8] {
        Self.frame(.ping, ack ? FrameFlags.ack : 0, [0, 0, 0, 0, 0, 0, 0, last])
    }

    static func frame(_ type: FrameType, _ flags: UInt8, _ payload: [UInt8]) -> [UInt8] {
        Self.frame(type, flags, stream: 0, payload)
    }

    static func data(_ stream: StreamID, _ count: Int, end: Bool = false) -> [UInt8] {
        Self.data(stream, [UInt8](repeating: UInt8(ascii: "x"), count: count), end: end)
    }

    static func data(_ stream: StreamID, _ bytes: [UInt8], end: Bool = false) -> [UInt8] {
        Self.frame(.data, end ? FrameFlags.endStream : 0, stream: stream, bytes)
    }

    /// Literals without indexing: whatever the fields are, they are written.
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { [0] + Self.string($0.0) + Self.string($0.1) }
    }

    private static func string(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
        var rest = bytes.count - 127
        var length: [UInt8] = [127]
        while rest >= 128 {
            length.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }

    static func headers(_ stream: StreamID, _ fields: [(String, String)], end: Bool = false) -> [UInt8] {
        Self.frame(
            .headers, FrameFlags.endHeaders | (end ? FrameFlags.endStream : 0), stream: stream, Self.block(fields))
    }

    static let requestHead = [
        (":method", "POST"), (":scheme", "https"), (":authority", "a"), (":path", "/3/device/0"),
    ]

    static func request(_ stream: StreamID, _ more: [(String, String)] = [], end: Bool = false) -> [UInt8] {
        Self.headers(stream, Self.requestHead + more, end: end)
    }

    static func response(
        _ stream: StreamID, _ status: String = "200", _ more: [(String, String)] = [], end: Bool = true
    ) -> [UInt8] {
        Self.headers(stream, [(":status", status)] + more, end: end)
    }

    /// One line for each frame.
    static func describe(_ output: ByteBuffer?) -> [String] {
        guard var output else { return [] }
        var lines: [String] = []
        if output.readableBytesView.starts(with: Self.preface) {
            output.moveReaderIndex(forwardBy: Self.preface.count)
            lines.append("preface")
        }
        var reader = HTTP2FrameReader(maxFrameSize: 16_777_215)
        reader.append(output)
        while let frame = try? reader.next() { lines.append(Self.describe(frame)) }
        return lines
    }

    private static func describe(_ frame: HTTP2Frame) -> String {
        var payload = frame.payload
        let length = payload.readableBytes
        let isAck = frame.flags & FrameFlags.ack != 0
        let end = frame.flags & FrameFlags.endStream != 0 ? " end" : ""
        func number() -> UInt32 { payload.readInteger() ?? 0 }
        func code() -> String { HTTP2ErrorCode(rawValue: number()).map { "\($0)" } ?? "?" }
        switch FrameType(rawValue: frame.type) {
        case .data: return "data \(frame.stream) \(length)\(end)"
        case .headers:
            let open = frame.flags & FrameFlags.endHeaders == 0 ? " open" : ""
            return "headers \(frame.stream)\(open)\(end)"
        case .continuation:
            let open = frame.flags & FrameFlags.endHeaders == 0 ? " open" : ""
            return "continuation \(frame.stream)\(open)"
        case .rstStream: return "reset \(frame.stream) \(code())"
        case .settings:
            if isAck { return "settings ack" }
            var values = ""
            while let identifier = payload.readInteger(as: UInt16.self) { values += " \(identifier)=\(number())" }
            return "settings\(values)"
        case .ping: return "ping\(isAck ? " ack" : "") \(payload.readInteger(as: UInt64.self) ?? 0)"
        case .goAway:
            let last = number()
            return "goaway \(last) \(code()) \(payload.readString(length: payload.readableBytes) ?? "")"
        case .windowUpdate: return "window \(frame.stream) \(number())"
        case .priority, .pushPromise, nil: return "frame \(frame.type)"
        }
    }
}

/// A client session whose server is the test.
struct ClientBench {
    var session: ClientSession

    /// Past the exchange of SETTINGS, unless told otherwise.
    init(_ configuration: ClientSession.Configuration = .init(), settings: [(UInt16, UInt32)]? = []) {
        self.session = ClientSession(configuration)
        guard let settings else { return }
        _ = self.receive(Wire.settings(settings) + Wire.settingsAck)
        _ = self.session.takeOutput()
    }

    mutating func receive(_ bytes: [UInt8]) -> [ClientSession.Event] {
        var events: [ClientSession.Event] = []
        self.session.receive(ByteBuffer(bytes: bytes), into: &events)
        return events
    }

    mutating func output() -> [String] { Wire.describe(self.session.takeOutput()) }

    /// Opens a stream for a push with a body of as many bytes.
    mutating func open(_ stream: StreamID, _ bodyBytes: Int = 10) throws {
        try self.session.open(
            stream, RequestHead(authority: "a", path: "/3/device/\(stream)"),
            body: [UInt8](repeating: UInt8(ascii: "b"), count: bodyBytes))
    }

    static func response(
        _ status: Int, _ headers: [(String, String)] = [], _ body: String = "", isCut: Bool = false
    ) -> ClientSession.Response {
        ClientSession.Response(
            status: status, headers: HeaderList([(":status", "\(status)")] + headers), body: Array(body.utf8),
            isCut: isCut)
    }
}

/// A server session whose client is the test.
struct ServerBench {
    var session: ServerSession

    init(_ configuration: ServerSession.Configuration = .init(), isStarted: Bool = true) {
        self.session = ServerSession(configuration)
        guard isStarted else { return }
        _ = self.receive(Wire.preface + Wire.settings() + Wire.settingsAck)
        _ = self.session.takeOutput()
    }

    mutating func receive(_ bytes: [UInt8]) -> [ServerSession.Event] {
        var events: [ServerSession.Event] = []
        self.session.receive(ByteBuffer(bytes: bytes), into: &events)
        return events
    }

    mutating func output() -> [String] { Wire.describe(self.session.takeOutput()) }

    static func request(
        _ more: [(String, String)] = [], _ body: String = "", isCut: Bool = false
    ) -> ServerSession.Request {
        ServerSession.Request(
            headers: HeaderList(Wire.requestHead + more), body: Array(body.utf8), isCut: isCut)
    }
}
