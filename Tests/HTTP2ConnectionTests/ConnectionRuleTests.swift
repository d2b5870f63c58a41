import HTTP2Connection
import NIOCore
import Testing

/// Bytes after which a connection is over, and how.
struct Offence: Sendable, CustomTestStringConvertible {
    var rule: String
    var bytes: [UInt8]
    var code: HTTP2ErrorCode
    var testDescription: String { self.rule }

    init(_ rule: String, _ code: HTTP2ErrorCode, _ bytes: [UInt8]) {
        self.rule = rule
        self.bytes = bytes
        self.code = code
    }

    /// What neither side may send.
    static let ofBothSides: [Offence] = [
        Offence("§4.2 a frame above MAX_FRAME_SIZE", .frameSizeError, Wire.data(1, 16_385)),
        Offence("§4.3 a block that cannot be decoded", .compressionError, Wire.frame(.headers, 4, stream: 1, [0x80])),
        Offence(
            "§4.3 a table larger than announced", .compressionError,
            Wire.frame(.headers, 4, stream: 1, [0x3f, 0xe2, 0x1f])),
        Offence("§5.1 RST_STREAM on an idle stream", .protocolError, Wire.reset(9, .cancel)),
        Offence("§5.1 WINDOW_UPDATE on an idle stream", .protocolError, Wire.windowUpdate(9, 1)),
        Offence("§5.1 DATA on an idle stream", .protocolError, Wire.data(9, 1)),
        Offence("§5.1.1 HEADERS on an even stream", .protocolError, Wire.response(2)),
        Offence("§6.1 DATA on stream 0", .protocolError, Wire.data(0, 1)),
        Offence("§6.1 all of it padding", .protocolError, Wire.frame(.data, FrameFlags.padded, stream: 1, [3, 0, 0])),
        Offence("§6.1 padded without a length", .frameSizeError, Wire.frame(.data, FrameFlags.padded, stream: 1)),
        Offence("§6.2 HEADERS on stream 0", .protocolError, Wire.response(0)),
        Offence(
            "§6.2 more padding than there is", .protocolError,
            Wire.frame(.headers, FrameFlags.padded | FrameFlags.endHeaders, stream: 1, [9, 0x88])),
        Offence(
            "§6.2 too short for its priority", .frameSizeError,
            Wire.frame(.headers, FrameFlags.priority | FrameFlags.endHeaders, stream: 1, [0, 0, 0, 0])),
        Offence("§6.2 another frame within a block", .protocolError, Self.openBlock + Wire.ping(1)),
        Offence(
            "§6.2 an unknown frame within a block", .protocolError, Self.openBlock + Wire.frame(number: 0xbe, stream: 1)
        ),
        Offence("§6.2 HEADERS within a block", .protocolError, Self.openBlock + Wire.response(1)),
        Offence("§6.3 PRIORITY on stream 0", .protocolError, Wire.frame(.priority, [0, 0, 0, 0, 0])),
        Offence("§6.3 a short PRIORITY", .frameSizeError, Wire.frame(.priority, stream: 9, [0])),
        Offence("§6.4 RST_STREAM on stream 0", .protocolError, Wire.reset(0, .cancel)),
        Offence("§6.4 a long RST_STREAM", .frameSizeError, Wire.frame(.rstStream, stream: 1, [0, 0, 0, 8, 0])),
        Offence("§6.4 a short RST_STREAM", .frameSizeError, Wire.frame(.rstStream, stream: 1, [0, 0, 8])),
        Offence("§6.5 SETTINGS on a stream", .protocolError, Wire.frame(.settings, stream: 1)),
        Offence("§6.5 half a setting", .frameSizeError, Wire.frame(.settings, [0, 3, 0, 0, 0])),
        Offence("§6.5 an ACK that is not empty", .frameSizeError, Wire.frame(.settings, 1, [0, 3, 0, 0, 0, 1])),
        Offence("§6.5 an ACK of nothing", .protocolError, Wire.settingsAck),
        Offence("§6.5.2 ENABLE_PUSH 2", .protocolError, Wire.settings([(2, 2)])),
        Offence("§6.5.2 INITIAL_WINDOW_SIZE 2³¹", .flowControlError, Wire.settings([(4, 0x8000_0000)])),
        Offence("§6.5.2 MAX_FRAME_SIZE 16,383", .protocolError, Wire.settings([(5, 16_383)])),
        Offence("§6.5.2 MAX_FRAME_SIZE 2²⁴", .protocolError, Wire.settings([(5, 16_777_216)])),
        Offence("§6.6 PUSH_PROMISE", .protocolError, Wire.frame(.pushPromise, 4, stream: 1, [0, 0, 0, 2, 0x88])),
        Offence("§6.7 PING on a stream", .protocolError, Wire.frame(.ping, stream: 1, [1, 2, 3, 4, 5, 6, 7, 8])),
        Offence("§6.7 a short PING", .frameSizeError, Wire.frame(.ping, [1, 2, 3, 4, 5, 6, 7])),
        Offence("§6.7 a long PING", .frameSizeError, Wire.frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8, 9])),
        Offence("§6.8 GOAWAY on a stream", .protocolError, Wire.frame(.goAway, stream: 1, [0, 0, 0, 0, 0, 0, 0, 0])),
        Offence("§6.8 a short GOAWAY", .frameSizeError, Wire.frame(.goAway, [0, 0, 0, 0, 0, 0, 0])),
        Offence("§6.9 WINDOW_UPDATE of the connection by 0", .protocolError, Wire.windowUpdate(0, 0)),
        Offence("§6.9 a short WINDOW_UPDATE", .frameSizeError, Wire.frame(.windowUpdate, stream: 1, [0, 0, 1])),
        Offence("§6.9.1 a connection's window above 2³¹−1", .flowControlError, Wire.windowUpdate(0, 0x7fff_ffff)),
        Offence(
            "§6.10 CONTINUATION without a block", .protocolError, Wire.frame(.continuation, 4, stream: 1, [0x88])),
        Offence(
            "§6.10 CONTINUATION of another stream", .protocolError,
            Self.openBlock + Wire.frame(.continuation, 4, stream: 3, [0x88])),
        Offence(
            "§10.5.1 a block without an end", .enhanceYourCalm,
            Self.openBlock
                + (0..<5).flatMap { _ in
                    Wire.frame(.continuation, stream: 1, [UInt8](repeating: 0x88, count: 16_384))
                }),
        Offence("§10.5.1 one byte that stands for many", .enhanceYourCalm, Self.bomb),
    ]

    private static let openBlock = Wire.frame(.headers, 0, stream: 1, [0x88])

    /// A value of 4,000 bytes, put into the table once and named two hundred times.
    private static let bomb: [UInt8] = {
        let value = [UInt8](repeating: 0x61, count: 4_000)
        let literal: [UInt8] = [0x40, 1, 0x78, 0x7f, 0xa1, 0x1e] + value
        return Wire.frame(.headers, 4, stream: 1, literal + [UInt8](repeating: 0xbe, count: 200))
    }()
}

@Suite struct `A connection whose server breaks a rule` {
    static let ofServers: [Offence] = [
        Offence("§5.1 HEADERS on an idle stream", .protocolError, Wire.response(9)),
        Offence("§6.5.2 ENABLE_PUSH 1 from a server", .protocolError, Wire.settings([(2, 1)])),
    ]

    @Test(arguments: Offence.ofBothSides + Self.ofServers)
    func `is ended with the code of the rule`(offence: Offence) throws {
        var bench = ClientBench()
        try bench.open(1)
        _ = bench.session.takeOutput()
        let events = bench.receive(offence.bytes)
        guard case .connectionError(let code, let text)? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(code == offence.code)
        #expect(bench.output().last == "goaway 0 \(offence.code) \(text)")
        #expect(bench.session.isClosed)
        // Nothing is read or written any more.
        #expect(bench.receive(Wire.ping(1)) == [])
        bench.session.ping(1)
        bench.session.goAway()
        bench.session.reset(1, .cancel)
        #expect(throws: ClientSession.OpenRefusal.closed) { try bench.open(3) }
        #expect(bench.output() == [])
    }

    @Test func `does not begin with anything but SETTINGS (§3.4)`() {
        for bytes in [Wire.ping(1), Wire.settingsAck, Wire.frame(number: 0xbe)] {
            var bench = ClientBench(settings: nil)
            #expect(bench.receive(bytes) == [.connectionError(.protocolError, "the first frame is no SETTINGS")])
        }
    }
}

@Suite struct `A connection whose client breaks a rule` {
    static let ofClients: [Offence] = [
        Offence("§5.1.1 a stream below one that was opened", .streamClosed, Wire.request(7) + Wire.request(5)),
        Offence("§5.1 WINDOW_UPDATE on an even stream", .protocolError, Wire.windowUpdate(2, 1)),
    ]

    @Test(arguments: Offence.ofBothSides + Self.ofClients)
    func `is ended with the code of the rule`(offence: Offence) {
        var bench = ServerBench()
        _ = bench.receive(Wire.request(1))
        let events = bench.receive(offence.bytes)
        guard case .connectionError(let code, let text)? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(code == offence.code)
        #expect(bench.output().last == "goaway \(bench.session.highestStream) \(offence.code) \(text)")
        #expect(bench.session.isClosed)
        #expect(bench.receive(Wire.ping(1)) == [])
        bench.session.ping(1)
        bench.session.goAway()
        bench.session.reset(1, .cancel)
        bench.session.announce(maxConcurrentStreams: 1)
        #expect(bench.session.respond(1, status: 200) == false)
        #expect(bench.output() == [])
    }

    @Test func `does not begin with anything but the preface and SETTINGS (§3.4)`() {
        for (bytes, text) in [
            (Array("GET / HTTP/1.1\r\n".utf8), "the preface of HTTP/2 is missing"),
            (Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\rX".utf8), "the preface of HTTP/2 is missing"),
            (Wire.preface + Wire.ping(1), "the first frame is no SETTINGS"),
            (Wire.preface + Wire.settingsAck, "the first frame is no SETTINGS"),
        ] {
            var bench = ServerBench(isStarted: false)
            #expect(bench.receive(bytes) == [.connectionError(.protocolError, text)])
        }
    }

    @Test func `may send its preface byte by byte`() {
        var bench = ServerBench(isStarted: false)
        for byte in Wire.preface { #expect(bench.receive([byte]) == []) }
        #expect(bench.receive(Wire.settings()) == [.settings(PeerSettings())])
    }

    @Test func `is told no higher last stream than an earlier GOAWAY said`() {
        var bench = ServerBench()
        _ = bench.receive(Wire.request(1) + Wire.request(3))
        bench.session.goAway(lastStream: 1)
        _ = bench.receive(Wire.ping(1) + Wire.data(0, 1))
        #expect(bench.output().last == "goaway 1 protocolError DATA without a stream")
    }
}
