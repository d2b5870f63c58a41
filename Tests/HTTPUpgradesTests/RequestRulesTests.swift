import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTPUpgrades

/// A connection whose requests are let in as `METHOD target`, and answered by the test.
private final class Connection {
    let channel = EmbeddedChannel()

    init(contentMax: Int? = nil) throws {
        try self.channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false)
        try self.channel.pipeline.syncOperations.addHandlers([RequestRules(contentMax: contentMax), UpgradeOffers()])
        try self.channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func read(_ text: String) throws -> [String] {
        try self.channel.writeInbound(ByteBuffer(string: text))
        var found: [String] = []
        while let part = try self.channel.readInbound(as: HTTPServerRequestPart.self) {
            switch part {
            case .head(let head): found.append("\(head.method) \(head.uri)")
            case .body(let bytes): found.append(String(buffer: bytes))
            case .end: break
            }
        }
        return found
    }

    /// The answer of a route.
    func answer(_ headers: HTTPHeaders = ["content-length": "2"], _ body: String? = "ok") throws {
        try self.channel.writeOutbound(
            HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok, headers: headers)))
        if let body { try self.channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(.init(string: body)))) }
        try self.channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }

    /// What has been written since.
    func written() throws -> String {
        var text = ""
        while let bytes = try self.channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }

    /// An embedded channel knows no half-closure: it closes whole.
    var isOpen: Bool { self.channel.isActive }
}

@Suite struct `A request, by its head` {
    private static let host = "Host: a.example"

    /// Line, headers and the status that refuses it; 200 where it is let in.
    private static let heads: [(head: String, status: Int)] = [
        ("GET / HTTP/1.1|Host: a", 200), ("GET / HTTP/1.1|Host: a.example:80", 200),
        ("GET / HTTP/1.1|Host: [::1]:7480", 200),
        ("GET / HTTP/1.1|Host: [::1]", 200), ("GET / HTTP/1.1|Host:", 200), ("GET / HTTP/1.1|Host: \ta\t ", 200),
        ("GET / HTTP/1.1|host: A", 200),
        ("GET / HTTP/1.0", 200), ("GET / HTTP/1.0|Host: a", 200), ("OPTIONS * HTTP/1.1|Host: a", 200),
        ("GET http://a/x HTTP/1.1|Host: a", 200), ("GET HTTP://A HTTP/1.1|Host: a", 200),
        ("GET https://a:1/x?y HTTP/1.1|Host: a:1", 200), ("GET http://b/ HTTP/1.0", 200),
        ("GET /x?u=http://b/ HTTP/1.1|Host: a", 200),
        ("GET / HTTP/1.1", 400), ("GET / HTTP/1.1|Host: a|Host: a", 400), ("GET / HTTP/1.0|Host: a|Host: b", 400),
        ("GET / HTTP/1.1|Host: [::1].evil.example", 400), ("GET / HTTP/1.1|Host: [::1]x", 400),
        ("GET / HTTP/1.1|Host: [::1", 400), ("GET / HTTP/1.1|Host: [::1]]", 400), ("GET / HTTP/1.1|Host: a b", 400),
        ("GET / HTTP/1.1|Host: a, b", 400), ("GET / HTTP/1.1|Host: a:b", 400), ("GET / HTTP/1.1|Host: a:1:2", 400),
        ("GET / HTTP/1.1|Host: me@a", 400), ("GET / HTTP/1.1|Host: a/b", 400), ("GET / HTTP/1.1|Host: a?b", 400),
        ("GET / HTTP/1.1|Host: \u{e9}", 400), ("GET / HTTP/1.1|Host: ::1", 400),
        ("GET http://b/ HTTP/1.1|Host: a", 400), ("GET http://a.evil/ HTTP/1.1|Host: a", 400),
        ("GET http://me@a/ HTTP/1.1|Host: a", 400), ("GET http://a:80/ HTTP/1.1|Host: a", 400),
        ("GET ftp://a/ HTTP/1.1|Host: a", 400), ("GET /a#b HTTP/1.1|Host: a", 400),
        ("POST / HTTP/1.1|Host: a|Transfer-Encoding: chunked", 200),
        ("POST / HTTP/1.1|Host: a|Transfer-Encoding: Chunked", 200),
        ("POST / HTTP/1.1|Host: a|Transfer-Encoding: gzip, chunked", 501),
        ("POST / HTTP/1.1|Host: a|Transfer-Encoding: gzip|Transfer-Encoding: chunked", 501),
        ("POST / HTTP/1.1|Host: a|Transfer-Encoding: identity, chunked", 501),
        ("POST / HTTP/1.0|Host: a|Transfer-Encoding: chunked", 501),
        ("POST / HTTP/1.1|Host: a|Content-Length: 5|Content-Encoding: identity", 200),
        ("GET / HTTP/1.1|Host: a|Content-Encoding: gzip", 200),
        ("POST / HTTP/1.1|Host: a|Content-Length: 0|Content-Encoding: gzip", 200),
        ("POST / HTTP/1.1|Host: a|Content-Length: 5|Content-Encoding: gzip", 415),
        ("PATCH / HTTP/1.1|Host: a|Transfer-Encoding: chunked|Content-Encoding: br", 415),
        ("POST / HTTP/1.1|Host: a|Content-Length: 5|Content-Encoding: identity, zstd", 415),
        ("POST / HTTP/1.1|Host: a|Content-Length: 5|Expect: 100-Continue", 200),
        ("POST / HTTP/1.0|Host: a|Content-Length: 5|Expect: 200-ok", 200),
        ("POST / HTTP/1.1|Host: a|Content-Length: 5|Expect: 200-ok", 417),
        ("POST / HTTP/1.1|Host: a|Content-Length: 5|Expect: 100-continue, x", 417),
        ("GET / HTTP/1.1|Host: a|Expect: x", 417),
    ]

    @Test(arguments: Self.heads)
    func `is let in or refused with one status, and the connection ends behind a refusal`(head: String, status: Int)
        throws
    {
        let connection = try Connection()
        let text = head.replacing("|", with: "\r\n") + "\r\n\r\n"
        let isIn = !(try connection.read(text)).isEmpty
        #expect(isIn == (status == 200))
        let written = try connection.written()
        guard status != 200 else { return #expect(written.isEmpty) }
        #expect(written.hasPrefix("HTTP/1.1 \(status) "))
        #expect(written.lowercased().contains("connection: close\r\n"))
        #expect(written.contains("accept-encoding: identity") == (status == 415))
        #expect(!connection.isOpen)
    }

    @Test func `is refused after the answers to those before it, and nothing behind it is read`() throws {
        let connection = try Connection()
        let good = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(try connection.read(good + "GET /2 HTTP/1.1\r\n\r\n" + good) == ["GET /1"])
        #expect(try connection.written() == "")
        try connection.answer()
        let written = try connection.written()
        #expect(written.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(written.split(separator: "HTTP/1.1 ").map { $0.prefix(3) } == ["200", "400"])
    }

    @Test func `of HEAD is refused by a head alone`() throws {
        let connection = try Connection()
        #expect(try connection.read("HEAD / HTTP/1.1\r\n\r\n") == [])
        let written = try connection.written()
        #expect(written.hasPrefix("HTTP/1.1 400 ") && written.hasSuffix("\r\n\r\n"))
        #expect(!written.contains("{"))
    }

    @Test(arguments: ["/a/", "//", "//a", "/a//b", "/a/?x", "/a//?x=/"])
    func `is unknown with an empty segment, where no route looks at that`(target: String) throws {
        let connection = try Connection(contentMax: 5)
        #expect(try connection.read("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n") == [])
        #expect(try connection.written().hasPrefix("HTTP/1.1 404 "))
        let other = try Connection(contentMax: 5)
        #expect(try other.read("GET /a/b?x=//&y=/ HTTP/1.1\r\nHost: a\r\n\r\n") == ["GET /a/b?x=//&y=/"])
    }
}

@Suite struct `A client that waits before it sends its body` {
    private static let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    private static let go = "HTTP/1.1 100 Continue\r\n\r\n"

    @Test func `is told to go on when the body is wanted, once, and the connection goes on`() throws {
        let connection = try Connection()
        #expect(try connection.read(Self.head) == ["POST /"])
        #expect(try connection.written() == "")
        for _ in 0..<2 { try connection.channel.triggerUserOutboundEvent(RequestRules.BodyWanted()).wait() }
        #expect(try connection.written() == Self.go)
        #expect(try connection.read("ab") == ["ab"])
        try connection.answer()
        #expect(try connection.written() == "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        #expect(connection.isOpen)
    }

    @Test func `is answered without, and the connection ends: what comes next could be its body`() throws {
        let connection = try Connection()
        #expect(try connection.read(Self.head) == ["POST /"])
        try connection.answer()
        #expect(try connection.written() == "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        #expect(!connection.isOpen)
    }

    @Test func `is not told when it has not waited, or has no body, or speaks HTTP/1.0`() throws {
        for request in [
            Self.head + "ab", Self.head.replacing("Content-Length: 2", with: "Content-Length: 0"),
            Self.head.replacing("HTTP/1.1", with: "HTTP/1.0"),
            Self.head.replacing("Expect: 100-continue\r\n", with: ""),
        ] {
            let connection = try Connection()
            _ = try connection.read(request)
            try connection.channel.triggerUserOutboundEvent(RequestRules.BodyWanted()).wait()
            #expect(try connection.written() == "")
        }
    }

    @Test func `is told at once where every body of that size is taken, and refused beyond it`() throws {
        let connection = try Connection(contentMax: 2)
        #expect(try connection.read(Self.head) == ["POST /"])
        #expect(try connection.written() == Self.go)
        let refused = try Connection(contentMax: 1)
        #expect(try refused.read(Self.head) == [])
        #expect(try refused.written().hasPrefix("HTTP/1.1 413 "))
    }
}

@Suite struct `The end of an answer` {
    private func answered(_ request: String, _ headers: HTTPHeaders, _ body: String?) throws -> (String, isOpen: Bool) {
        let connection = try Connection()
        _ = try connection.read(request.replacing("|", with: "\r\n") + "\r\n\r\n")
        try connection.answer(headers, body)
        return (try connection.written(), connection.isOpen)
    }

    @Test func `is the connection's for HTTP/1.0, but for clients that keep it open and know the length`() throws {
        let length: HTTPHeaders = ["content-length": "2"]
        #expect(
            try self.answered("GET / HTTP/1.0", length, "ok")
                == ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok", false))
        #expect(
            try self.answered("GET / HTTP/1.0|Connection: Keep-Alive", length, "ok")
                == ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\nok", true))
        for keepAlive in ["", "|Connection: keep-alive"] {
            #expect(
                try self.answered("GET / HTTP/1.0\(keepAlive)", [:], "ok")
                    == ("HTTP/1.0 200 OK\r\nconnection: close\r\n\r\nok", false))
        }
    }

    @Test(arguments: ["close", "Close", "CLOSE", "TE, close", "close, keep-alive"])
    func `is the connection's when the client says so in any of its forms`(value: String) throws {
        let (text, isOpen) = try self.answered(
            "GET / HTTP/1.1|Host: a|Connection: \(value)", ["content-length": "2"], "ok")
        #expect(text == "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        #expect(!isOpen)
    }

    @Test func `is a last chunk for others, and the head alone for HEAD`() throws {
        let get = try self.answered("GET / HTTP/1.1|Host: a", [:], "ok")
        #expect(get == ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", true))
        let head = try self.answered("HEAD / HTTP/1.1|Host: a", [:], nil)
        #expect(head == ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", true))
        let measured = try self.answered("HEAD / HTTP/1.1|Host: a", ["content-length": "2"], nil)
        #expect(measured == ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", true))
    }
}
