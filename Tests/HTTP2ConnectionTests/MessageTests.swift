import NIOCore
import Testing

@testable import HTTP2Connection

/// A head that no message may have, and what is said about it.
struct MalformedHead: Sendable, CustomTestStringConvertible {
    var fields: [[String]]
    var rule: String
    var testDescription: String { self.rule }
    var pairs: [(String, String)] { self.fields.map { ($0[0], $0[1]) } }

    init(_ rule: String, _ fields: [[String]]) {
        self.rule = rule
        self.fields = fields
    }

    /// Ordinary fields, wrong in a request, a response and in trailers.
    static let ordinary: [MalformedHead] = [
        .init("a field (APNs-Id) has upper case in its name", [["APNs-Id", "1"]]),
        .init("a field (a b) has a byte in its name that no name has", [["a b", "1"]]),
        .init("a field (a:b) has a colon in its name", [["a:b", "1"]]),
        .init("a field (ä) has a byte in its name that no name has", [["ä", "1"]]),
        .init("a field (a) has a NUL or an end of line in its value", [["a", "b\nc"]]),
        .init("a field (a) has a NUL or an end of line in its value", [["a", "b\rc"]]),
        .init("a field (a) has a NUL or an end of line in its value", [["a", "b\0c"]]),
        .init("a field (a) has a space at an end", [["a", " b"]]),
        .init("a field (a) has a space at an end", [["a", "b\t"]]),
        .init("connection is for HTTP/1.1 (RFC 9113 section 8.2.2)", [["connection", "close"]]),
        .init("proxy-connection is for HTTP/1.1 (RFC 9113 section 8.2.2)", [["proxy-connection", "close"]]),
        .init("keep-alive is for HTTP/1.1 (RFC 9113 section 8.2.2)", [["keep-alive", "1"]]),
        .init("transfer-encoding is for HTTP/1.1 (RFC 9113 section 8.2.2)", [["transfer-encoding", "chunked"]]),
        .init("upgrade is for HTTP/1.1 (RFC 9113 section 8.2.2)", [["upgrade", "h2c"]]),
        .init("te is not “trailers”", [["te", "gzip"]]),
        .init("content-length is no number", [["content-length", "+1"]]),
        .init("content-length is no number", [["content-length", ""]]),
        .init("content-length is no number", [["content-length", "99999999999999999999"]]),
        .init("content-length comes twice", [["content-length", "1"], ["content-length", "2"]]),
    ]
}

@Suite struct `A request's head (RFC 9113 §8.2, §8.3.1)` {
    static let pseudo: [MalformedHead] = [
        .init(":method is missing", [[":scheme", "https"], [":path", "/"]]),
        .init(":scheme is missing", [[":method", "POST"], [":path", "/"]]),
        .init(":path is missing", [[":method", "POST"], [":scheme", "https"]]),
        .init(":method is empty", [[":method", ""], [":scheme", "https"], [":path", "/"]]),
        .init(":scheme is empty", [[":method", "POST"], [":scheme", ""], [":path", "/"]]),
        .init(":path does not begin with a slash", [[":method", "POST"], [":scheme", "https"], [":path", ""]]),
        .init(":path does not begin with a slash", [[":method", "POST"], [":scheme", "https"], [":path", "a"]]),
        .init(":method comes twice", [[":method", "POST"], [":method", "POST"]]),
        .init(":scheme comes twice", [[":scheme", "https"], [":scheme", "https"]]),
        .init(":path comes twice", [[":path", "/"], [":path", "/"]]),
        .init(":authority comes twice", [[":authority", "a"], [":authority", "a"]]),
        .init(":status is no pseudo-header field of a request", [[":status", "200"]]),
        .init(":protocol is no pseudo-header field of a request", [[":protocol", "x"]]),
        .init("CONNECT is not served", [[":method", "CONNECT"], [":authority", "a"]]),
        .init(":authority has a NUL or an end of line in its value", [[":authority", "a\r\nb"]]),
    ]

    @Test(arguments: Self.pseudo)
    func `has each pseudo-header field once, in the foreground`(head: MalformedHead) {
        var bench = ServerBench()
        let events = bench.receive(Wire.headers(1, head.pairs, end: true))
        #expect(events == [.streamFailed(1, .protocolError, head.rule)])
        #expect(bench.output() == ["reset 1 protocolError"])
        #expect(bench.session.openStreams == 0)
    }

    /// Apple closes the connection then (APNs reference, section 3.6).
    @Test(arguments: [":method", ":scheme", ":path", ":authority"])
    func `with a pseudo-header field behind an ordinary one ends the connection`(name: String) {
        var bench = ServerBench()
        var fields = Wire.requestHead
        fields.removeAll { $0.0 == name }
        let rule = "\(name) comes after an ordinary field"
        let events = bench.receive(Wire.headers(1, fields + [("a", "b"), (name, "/")], end: true))
        #expect(events == [.connectionError(.protocolError, rule)])
        #expect(bench.output() == ["goaway 1 protocolError \(rule)"])
        #expect(bench.session.isClosed)
    }

    @Test(arguments: MalformedHead.ordinary)
    func `has ordinary fields as HTTP/2 wants them`(head: MalformedHead) {
        var bench = ServerBench()
        let events = bench.receive(Wire.request(1, head.pairs, end: true))
        #expect(events == [.streamFailed(1, .protocolError, head.rule)])
        // The connection goes on.
        #expect(bench.receive(Wire.request(3, end: true)) == [.request(3, ServerBench.request())])
    }

    @Test func `may have te: trailers, no authority, and a content-length that is said twice`() {
        var bench = ServerBench()
        let fields = [
            (":method", "OPTIONS"), (":scheme", "https"), (":path", "*"), ("te", "trailers"), ("host", "a"),
            ("content-length", "0"), ("content-length", "0"),
        ]
        #expect(
            bench.receive(Wire.headers(1, fields, end: true)) == [
                .request(1, .init(headers: HeaderList(fields), body: [], isCut: false))
            ])
    }

    @Test func `may come in several frames, with padding and a priority`() {
        var bench = ServerBench()
        let block = Wire.block(Wire.requestHead)
        let flags = FrameFlags.padded | FrameFlags.priority | FrameFlags.endStream
        let first = Wire.frame(.headers, flags, stream: 1, [2, 0x80, 0, 0, 0, 16] + block.prefix(10) + [0, 0])
        let second = Wire.frame(.continuation, stream: 1, Array(block[10..<20]))
        let third = Wire.frame(.continuation, FrameFlags.endHeaders, stream: 1, Array(block[20...]))
        #expect(bench.receive(first + second) == [])
        #expect(bench.receive(third) == [.request(1, ServerBench.request())])
    }

    @Test func `above the announced size is reported for an answer, and its body dropped`() {
        var bench = ServerBench()
        let long = [("a", String(repeating: "v", count: 8_000))]
        #expect(bench.receive(Wire.request(1, long) + Wire.data(1, 10)) == [.headersTooLong(1)])
        #expect(bench.session.respond(1, status: 431) == true)
        #expect(bench.output() == ["headers 1 end", "reset 1 noError"])
        #expect(bench.receive(Wire.data(1, 10, end: true)) == [])
        #expect(bench.receive(Wire.request(3, long, end: true)) == [.headersTooLong(3)])
        #expect(bench.session.respond(3, status: 431) == true)
        #expect(bench.output() == ["headers 3 end"])
    }
}

@Suite struct `A request's body (RFC 9113 §8.1)` {
    @Test func `is put together from its frames`() {
        var bench = ServerBench()
        let padded = Wire.frame(.data, FrameFlags.padded, stream: 1, [2, 0x61, 0x62, 0, 0])
        #expect(bench.receive(Wire.request(1) + padded + Wire.data(1, 0) + Wire.data(1, [0x63])) == [])
        #expect(bench.receive(Wire.data(1, 0, end: true)) == [.request(1, ServerBench.request([], "abc"))])
    }

    @Test func `may have trailers behind it, which say nothing`() {
        var bench = ServerBench()
        let bytes = Wire.request(1) + Wire.data(1, [0x61]) + Wire.headers(1, [("a", "b")], end: true)
        #expect(bench.receive(bytes) == [.request(1, ServerBench.request([], "a"))])
    }

    @Test(arguments: MalformedHead.ordinary + [MalformedHead(":path stands in trailers", [[":path", "/"]])])
    func `has no malformed trailers`(head: MalformedHead) {
        var bench = ServerBench()
        let events = bench.receive(Wire.request(1) + Wire.headers(1, head.pairs, end: true))
        #expect(events == [.streamFailed(1, .protocolError, head.rule)])
    }

    @Test func `has no HEADERS in between`() {
        var bench = ServerBench()
        let events = bench.receive(Wire.request(1) + Wire.headers(1, [("a", "b")]))
        #expect(events == [.streamFailed(1, .protocolError, "trailers that do not end the stream")])
    }

    @Test(arguments: ["0", "2", "4"])
    func `is as long as content-length says`(said: String) {
        var bench = ServerBench()
        let request = Wire.request(1, [("content-length", said)])
        let events = bench.receive(request + Wire.data(1, 3, end: true))
        let word = Int(said)! < 3 ? "longer" : "shorter"
        #expect(events == [.streamFailed(1, .protocolError, "a body \(word) than its content-length")])
        let none = bench.receive(Wire.request(3, [("content-length", "1")], end: true))
        #expect(none == [.streamFailed(3, .protocolError, "a body shorter than its content-length")])
        let right = bench.receive(Wire.request(5, [("content-length", "3")]) + Wire.data(5, 3, end: true))
        #expect(right == [.request(5, ServerBench.request([("content-length", "3")], "xxx"))])
    }

    @Test func `that is too long is given cut, answered, and the rest not waited for`() {
        var configuration = ServerSession.Configuration()
        configuration.bodyLimit = 4
        var bench = ServerBench(configuration)
        #expect(bench.receive(Wire.request(1) + Wire.data(1, 4)) == [])
        #expect(bench.receive(Wire.data(1, 1)) == [.request(1, ServerBench.request([], "xxxx", isCut: true))])
        #expect(bench.receive(Wire.data(1, 5)) == [])
        #expect(bench.session.respond(1, status: 413, body: Array("no".utf8)) == true)
        #expect(bench.output() == ["headers 1", "data 1 2 end", "reset 1 noError"])
        #expect(bench.session.openStreams == 0)
        #expect(bench.receive(Wire.data(1, 5, end: true)) == [])
    }

    @Test func `that is too long and has ended is answered as any other`() {
        var configuration = ServerSession.Configuration()
        configuration.bodyLimit = 4
        var bench = ServerBench(configuration)
        let events = bench.receive(Wire.request(1) + Wire.data(1, 9, end: true))
        #expect(events == [.request(1, ServerBench.request([], "xxxx", isCut: true))])
        #expect(bench.session.respond(1, status: 413) == true)
        #expect(bench.output() == ["headers 1 end"])
    }

    @Test func `of exactly the limit is whole`() {
        var configuration = ServerSession.Configuration()
        configuration.bodyLimit = 4
        var bench = ServerBench(configuration)
        let events = bench.receive(Wire.request(1) + Wire.data(1, 4, end: true))
        #expect(events == [.request(1, ServerBench.request([], "xxxx"))])
    }
}

@Suite struct `A response (RFC 9113 §8.1, §8.3.2)` {
    static let pseudo: [MalformedHead] = [
        .init(":status is missing", [["a", "b"]]),
        .init(":status is not 100…999", [[":status", "99"]]),
        .init(":status is not 100…999", [[":status", "2x0"]]),
        .init(":status is not 100…999", [[":status", "1000"]]),
        .init(":status is not 100…999", [[":status", "099"]]),
        .init(":status comes twice", [[":status", "200"], [":status", "200"]]),
        .init(":status comes after an ordinary field", [["a", "b"], [":status", "200"]]),
        .init(":path is no pseudo-header field of a response", [[":status", "200"], [":path", "/"]]),
        .init(":status is 101", [[":status", "101"]]),
        .init("an interim response ends the stream", [[":status", "103"]]),
    ]

    private static func opened(_ streams: [StreamID] = [1]) throws -> ClientBench {
        var bench = ClientBench()
        for stream in streams { try bench.open(stream) }
        _ = bench.session.takeOutput()
        return bench
    }

    @Test func `is given whole`() throws {
        var bench = try Self.opened([1, 3])
        #expect(
            bench.receive(Wire.response(3, "200", [("apns-id", "i")]) + Wire.response(1, "400", end: false)) == [
                .response(3, ClientBench.response(200, [("apns-id", "i")]))
            ])
        #expect(bench.receive(Wire.data(1, [0x7b])) == [])
        #expect(
            bench.receive(Wire.data(1, [0x7d], end: true)) == [.response(1, ClientBench.response(400, [], "{}"))])
        #expect(bench.session.openStreams == 0)
        #expect(bench.output() == [])
    }

    @Test(arguments: Self.pseudo)
    func `has one status, in the foreground`(head: MalformedHead) throws {
        var bench = try Self.opened()
        let events = bench.receive(Wire.headers(1, head.pairs, end: true))
        #expect(events == [.streamFailed(1, .protocolError, head.rule)])
        #expect(bench.output() == ["reset 1 protocolError"])
    }

    @Test(arguments: MalformedHead.ordinary)
    func `has ordinary fields as HTTP/2 wants them`(head: MalformedHead) throws {
        var bench = try Self.opened()
        #expect(
            bench.receive(Wire.response(1, "200", head.pairs)) == [.streamFailed(1, .protocolError, head.rule)])
    }

    @Test func `may have interim ones before it and trailers behind it`() throws {
        var bench = try Self.opened()
        let interim = Wire.response(1, "100", end: false) + Wire.response(1, "103", [("link", "x")], end: false)
        let final = Wire.response(1, "200", end: false) + Wire.data(1, [0x61])
        let trailers = Wire.headers(1, [("a", "b")], end: true)
        #expect(
            bench.receive(interim + final + trailers) == [.response(1, ClientBench.response(200, [], "a"))])
    }

    @Test func `has no body before its head, and no HEADERS within its body`() throws {
        var bench = try Self.opened([1, 3, 5])
        #expect(
            bench.receive(Wire.data(1, 1)) == [
                .streamFailed(1, .protocolError, "DATA before the response's HEADERS")
            ])
        #expect(
            bench.receive(Wire.response(3, "103", end: false) + Wire.data(3, 1)) == [
                .streamFailed(3, .protocolError, "DATA before the response's HEADERS")
            ])
        #expect(
            bench.receive(Wire.response(5, end: false) + Wire.headers(5, [("a", "b")])) == [
                .streamFailed(5, .protocolError, "trailers that do not end the stream")
            ])
    }

    @Test func `is as long as content-length says, but for HEAD and 304`() throws {
        var bench = try Self.opened()
        let said = [("content-length", "5")]
        #expect(
            bench.receive(Wire.response(1, "200", said)) == [
                .streamFailed(1, .protocolError, "a body shorter than its content-length")
            ])
        try bench.open(3)
        #expect(
            bench.receive(Wire.response(3, "200", said, end: false) + Wire.data(3, 6)) == [
                .streamFailed(3, .protocolError, "a body longer than its content-length")
            ])
        try bench.open(5)
        #expect(bench.receive(Wire.response(5, "304", said)) == [.response(5, ClientBench.response(304, said))])
        try bench.session.open(7, RequestHead(method: "HEAD", authority: "a", path: "/"), body: [])
        #expect(bench.receive(Wire.response(7, "200", said)) == [.response(7, ClientBench.response(200, said))])
    }

    @Test func `whose head is too long fails its stream`() throws {
        var configuration = ClientSession.Configuration()
        configuration.headerListLimit = 100
        var bench = ClientBench(configuration)
        try bench.open(1)
        let events = bench.receive(Wire.response(1, "200", [("a", String(repeating: "v", count: 100))]))
        #expect(events == [.streamFailed(1, .protocolError, "a header list of 175 bytes")])
    }

    @Test func `that comes before the request was sent ends the sending (§8.1)`() throws {
        var bench = ClientBench(settings: [(4, 10)])
        try bench.open(1, 20)
        _ = bench.session.takeOutput()
        #expect(bench.receive(Wire.response(1, "413")) == [.response(1, ClientBench.response(413))])
        #expect(bench.output() == ["reset 1 cancel"])
        #expect(bench.receive(Wire.reset(1, .noError) + Wire.windowUpdate(1, 100)) == [])
        #expect(bench.session.unsentStreams == [])
        #expect(bench.session.freeSendWindow == 65_535 - 10)
    }
}
