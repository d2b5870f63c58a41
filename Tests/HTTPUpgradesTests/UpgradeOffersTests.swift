import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTPUpgrades

private final class Connection {
    private let channel = EmbeddedChannel()
    private var line = ""

    init(limits: NIOHTTPDecoderLimitConfiguration = .init()) throws {
        try self.channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false)
        try self.channel.pipeline.syncOperations.addHandler(UpgradeOffers(limits: limits))
        try self.channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func read(_ text: String) throws -> [String] {
        try self.channel.writeInbound(ByteBuffer(string: text))
        var found: [String] = []
        while let part = try self.channel.readInbound(as: HTTPServerRequestPart.self) {
            switch part {
            case .head(let head): self.line = "\(head.method) \(head.uri) "
            case .body(let bytes): self.line += String(buffer: bytes)
            case .end: found.append(self.line)
            }
        }
        return found
    }

    func close() throws { _ = try self.channel.finish(acceptAlreadyClosed: true) }
}

@Suite struct `A request that offers another protocol` {
    private static let offers = [
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n",
        "connection: upgrade\r\nupgrade: websocket\r\n", "Connection: keep-alive , UPGRADE \r\nUpgrade: a/1, b\r\n",
        "Connection:\tupgrade\r\nUpgrade:h2c\r\n", "Connection: close\r\nConnection: x, upgrade\r\nUpgrade: h2c\r\n",
    ]
    private static let harmless = [
        "Upgrade: h2c\r\n", "Connection: Upgrade\r\n", "Connection: Upgrades\r\nUpgrade: h2c\r\n",
        "Connection: not-upgrade, x\r\nUpgrade: h2c\r\n",
    ]

    /// However the bytes are cut: the decoder must be another one at the very byte behind the request.
    @Test(arguments: Self.offers + Self.harmless, [1, 2, 7, 1_000])
    func `is followed by others on the same connection`(offer: String, piece: Int) throws {
        let connection = try Connection()
        let head = " HTTP/1.1\r\nHost: a\r\n"
        let bytes = [
            "GET /1" + head + offer + "\r\n", "POST /2" + head + offer + "Content-Length: 5\r\n\r\nhello",
            "POST /3" + head + offer + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
            "GET /4" + head + "\r\n", "GET /5" + head + offer + "\r\n",
        ].joined()
        var found: [String] = []
        var rest = Array(bytes.utf8)[...]
        while !rest.isEmpty {
            found += try connection.read(String(decoding: rest.prefix(piece), as: UTF8.self))
            rest = rest.dropFirst(piece)
        }
        #expect(found == ["GET /1 ", "POST /2 hello", "POST /3 abc", "GET /4 ", "GET /5 "])
        try connection.close()
    }

    @Test func `may be a CONNECT, which is answered like any other`() throws {
        let connection = try Connection()
        let bytes = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(try connection.read(bytes) == ["CONNECT a:1 ", "GET /2 "])
        try connection.close()
    }

    @Test func `is held to the limits, before and behind it`() throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 100
        let long = "GET /2 HTTP/1.1\r\nHost: \(String(repeating: "a", count: 200))\r\n\r\n"
        for first in ["", "GET /1 HTTP/1.1\r\nHost: a\r\n\(Self.offers[0])\r\n"] {
            let connection = try Connection(limits: limits)
            #expect(throws: HTTPParserError.headerOverflow) { try connection.read(first + long) }
            try? connection.close()
        }
    }

    @Test func `may be cut off by the end of the connection`() throws {
        let connection = try Connection()
        #expect(try connection.read("GET /1 HTTP/1.1\r\nHost: a\r\n\(Self.offers[0])\r\nGET /2 HT") == ["GET /1 "])
        #expect(throws: (any Error).self) { try connection.close() }
    }
}
