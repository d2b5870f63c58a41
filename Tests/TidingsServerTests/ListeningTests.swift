import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `Open files` {
    private func budget(_ limit: Int, gateway: Int = 100_000) -> DescriptorBudget {
        var configuration = ServerConfiguration()
        configuration.gateway.connectionsMax = gateway
        return DescriptorBudget(limit: limit, configuration)
    }

    @Test func `are divided so that some are left over, and the gateway gets the most`() {
        let budget = self.budget(600)
        #expect((budget.gateway, budget.api, budget.phone) == (354, 59, 59))
        #expect(600 - budget.gateway - budget.api - budget.phone == DescriptorBudget.reserve)
    }

    @Test func `of which there are plenty give every listener what it is configured to have`() {
        let budget = self.budget(1_048_576)
        #expect((budget.gateway, budget.api, budget.phone) == (100_000, 1_024, 1_024))
        #expect(self.budget(.max) == self.budget(.max))
    }

    @Test func `are never given to more connections than there are of them`() {
        for limit in [0, 1, 32, 64, 100, 256, 1_024, 65_536] {
            let budget = self.budget(limit)
            #expect(budget.gateway >= 1)
            #expect(budget.api >= DescriptorBudget.httpMin)
            #expect(budget.gateway + budget.api + budget.phone < max(limit, 4 * DescriptorBudget.httpMin))
        }
    }
}

@Suite struct `An HTTP connection` {
    private struct Rig {
        let registry = PrometheusRegistry()
        let connections: HTTPConnections
        let channel = EmbeddedChannel()

        init(max: Int = 10) throws {
            self.connections = HTTPConnections(
                .api, connectionsMax: max, limits: .init(), metrics: ServerMetrics(factory: self.registry))
            try self.add(self.channel)
        }

        func add(_ channel: EmbeddedChannel) throws {
            try channel.pipeline.syncOperations.addHandler(HTTPDeadlines(self.connections))
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func head(_ channel: EmbeddedChannel? = nil) throws {
            try (channel ?? self.channel).writeInbound(
                HTTPServerRequestPart.head(.init(version: .http1_1, method: .POST, uri: "/")))
        }

        func end(_ channel: EmbeddedChannel? = nil) throws {
            try (channel ?? self.channel).writeInbound(HTTPServerRequestPart.end(nil))
        }

        func answer(_ channel: EmbeddedChannel? = nil) throws {
            let channel = channel ?? self.channel
            try channel.writeOutbound(
                HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok)))
            try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        }

        func readAnswer() throws -> (head: HTTPResponseHead, problem: JSONValue) {
            guard case .head(let head) = try self.channel.readOutbound(as: HTTPServerResponsePart.self),
                case .body(.byteBuffer(let body)) = try self.channel.readOutbound(as: HTTPServerResponsePart.self),
                case .end(nil) = try self.channel.readOutbound(as: HTTPServerResponsePart.self)
            else { throw ChannelError.eof }
            return (head, try JSONValue(parsing: Array(body.readableBytesView)))
        }

        /// Lets time pass, the last millisecond of it alone: it is open before, and closed after.
        func closes(after milliseconds: Int64) -> Bool {
            self.channel.embeddedEventLoop.advanceTime(by: .milliseconds(milliseconds - 1))
            guard self.channel.isActive else { return false }
            self.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
            return !self.channel.isActive
        }

        func closed(_ reason: String) -> Bool {
            self.registry.text.contains(
                "tidings_http_connections_closed_total{listener=\"api\",reason=\"\(reason)\"} 1\n")
        }
    }

    @Test func `on which no request comes is closed`() throws {
        let rig = try Rig()
        #expect(rig.closes(after: 10_000))
        #expect(rig.closed("header"))
        #expect(rig.registry.text.contains("tidings_http_connections{listener=\"api\"} 0\n"))
    }

    @Test func `whose body comes a byte at a time is answered that it took too long`() throws {
        let rig = try Rig()
        try rig.head()
        for _ in 0..<5 {
            rig.channel.embeddedEventLoop.advanceTime(by: .seconds(5))
            try rig.channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "x")))
        }
        #expect(rig.closes(after: 5_000))
        #expect(rig.closed("body"))
        guard case .head(let head) = try rig.channel.readOutbound(as: HTTPServerResponsePart.self) else {
            Issue.record("no answer")
            return
        }
        #expect(head.status == .requestTimeout)
        #expect(head.headers["connection"] == ["close"])
    }

    @Test(arguments: [
        (
            HTTPParserError.headerOverflow,
            "request must have a request line and headers of at most 81920 bytes, and 1000 headers"
        ), (.invalidMethod, "request must be an HTTP/1.1 request (RFC 9112)"),
    ]) func `whose request cannot be read is told why and closed`(_ error: HTTPParserError, _ detail: String) throws {
        let rig = try Rig()
        rig.channel.pipeline.fireErrorCaught(error)
        #expect(!rig.channel.isActive)
        let answer = try rig.readAnswer()
        #expect(answer.head.status == .badRequest)
        #expect(answer.head.headers["connection"] == ["close"])
        #expect(answer.head.headers["content-type"] == ["application/problem+json"])
        #expect(answer.problem["code"] == "bad_request" && answer.problem["field"] == "request")
        #expect(answer.problem["detail"] == .string(detail))
        #expect(answer.head.headers[RequestID.header].map(JSONValue.string) == [answer.problem["request_id"]])
    }

    @Test func `whose body cannot be read, or whose next request, is left to those behind`() throws {
        let rig = try Rig()
        try rig.head()
        for isWhole in [false, true] {
            if isWhole { try rig.end() }
            rig.channel.pipeline.fireErrorCaught(HTTPParserError.invalidChunkSize)
            #expect(throws: HTTPParserError.invalidChunkSize) { try rig.channel.throwIfErrorCaught() }
            #expect(rig.channel.isActive)
        }
        #expect(try rig.channel.readOutbound(as: HTTPServerResponsePart.self) == nil)
    }

    @Test func `that is not used again is closed`() throws {
        let rig = try Rig()
        try rig.head()
        try rig.end()
        try rig.answer()
        #expect(rig.closes(after: 60_000))
        #expect(rig.closed("idle"))
    }

    @Test func `whose answer does not come, or is not read, is closed`() throws {
        let rig = try Rig()
        try rig.head()
        try rig.end()
        #expect(rig.closes(after: 60_000))
        #expect(rig.closed("answer"))
    }

    @Test func `whose client hangs up is closed at once if it is told a stream, and not while it gets an answer`()
        throws
    {
        let rig = try Rig()
        try rig.head()
        try rig.end()
        rig.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(rig.channel.isActive)
        // It had gone before the stream began.
        #expect(throws: ChannelError.inputClosed) {
            try rig.channel.writeOutbound(HTTPServerResponsePart.head(Self.stream))
        }
        #expect(!rig.channel.isActive)
        let told = try Rig()
        try told.head()
        try told.end()
        try told.channel.writeOutbound(HTTPServerResponsePart.head(Self.stream))
        told.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(!told.channel.isActive)
    }

    @Test func `whose answer goes on is open for as long as what is written is read`() throws {
        let rig = try Rig()
        try rig.head()
        try rig.end()
        try rig.channel.writeOutbound(HTTPServerResponsePart.head(Self.stream))
        for _ in 0..<10 {
            rig.channel.embeddedEventLoop.advanceTime(by: .seconds(59))
            try rig.channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: ":\n\n"))))
        }
        #expect(rig.channel.isActive)
        rig.channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(rig.channel.isActive)
        try rig.channel.writeOutbound(HTTPServerResponsePart.end(nil))
        #expect(rig.closes(after: 60_000))
        #expect(rig.closed("idle"))
    }

    private static let stream = HTTPResponseHead(
        version: .http1_1, status: .ok, headers: ["content-type": "text/event-stream"])

    @Test func `whose answer goes on and is not read is closed`() throws {
        let rig = try Rig()
        try rig.head()
        try rig.end()
        try rig.channel.writeOutbound(HTTPServerResponsePart.head(Self.stream))
        rig.channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        // Not flushed, as to a socket that takes no more.
        let part = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: ":\n\n")))
        rig.channel.write(part, promise: nil)
        rig.channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        rig.channel.write(part, promise: nil)
        #expect(rig.closes(after: 30_000))
        #expect(rig.closed("answer"))
    }

    @Test func `makes room for another if it has waited longest, and is spared while it is answered`() throws {
        let rig = try Rig(max: 2)
        try rig.head()
        try rig.end()
        let (second, third) = (EmbeddedChannel(), EmbeddedChannel())
        try rig.add(second)
        try rig.add(third)
        for channel in [rig.channel, second, third] { channel.embeddedEventLoop.run() }
        #expect(rig.channel.isActive)
        #expect(!second.isActive)
        #expect(third.isActive)
        #expect(rig.closed("full"))
        #expect(rig.registry.text.contains("tidings_http_connections{listener=\"api\"} 2\n"))
        _ = try? third.finish()
        _ = try? rig.channel.finish()
    }

    @Test func `that takes the place of another makes its listener pause`() throws {
        final class Ear: ChannelInboundHandler {
            typealias InboundIn = Never
            var heard = 0
            func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
                if event is AcceptPause.Full { self.heard += 1 }
            }
        }
        let rig = try Rig(max: 2)
        let ear = Ear()
        let socket = EmbeddedChannel(handler: ear)
        rig.connections.setSocket(socket)
        let (second, third) = (EmbeddedChannel(), EmbeddedChannel())
        try rig.add(second)
        socket.embeddedEventLoop.run()
        #expect(ear.heard == 0)
        try rig.add(third)
        socket.embeddedEventLoop.run()
        #expect(ear.heard == 1)
        for channel in [rig.channel, second, third, socket] { _ = try? channel.finish() }
    }

    @Test func `is turned away if all others are being answered`() throws {
        let rig = try Rig(max: 1)
        try rig.head()
        try rig.end()
        let second = EmbeddedChannel()
        try rig.add(second)
        second.embeddedEventLoop.run()
        #expect(rig.channel.isActive)
        #expect(!second.isActive)
        _ = try? rig.channel.finish()
    }
}

@Suite struct `The address of a client` {
    private let proxies = TrustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"])

    private func client(_ peer: String, _ forwardedFor: String?) -> String? {
        self.proxies.client(peer: IPAddress(peer), forwardedFor: forwardedFor)?.description
    }

    @Test func `is the peer's if that is no trusted proxy, whatever it says`() {
        #expect(self.client("203.0.113.7", nil) == "203.0.113.7")
        #expect(self.client("203.0.113.7", "192.0.2.1") == "203.0.113.7")
        #expect(self.client("11.0.0.1", "192.0.2.1") == "11.0.0.1")
    }

    @Test func `is the last one that a trusted proxy did not have itself`() {
        #expect(self.client("127.0.0.1", "192.0.2.1") == "192.0.2.1")
        #expect(self.client("127.0.0.1", "198.51.100.9, 192.0.2.1, 10.1.2.3") == "192.0.2.1")
        #expect(self.client("fd00::1", "2001:db8::5, 10.1.2.3") == "2001:db8::5")
    }

    @Test func `ends at what cannot be read`() {
        #expect(self.client("127.0.0.1", "unknown") == "127.0.0.1")
        #expect(self.client("127.0.0.1", "192.0.2.1, , 10.1.2.3") == "192.0.2.1")
        #expect(self.client("127.0.0.1", "192.0.2.1, x, 10.1.2.3") == "10.1.2.3")
        #expect(self.client("127.0.0.1", "10.9.9.9") == "10.9.9.9")
    }

    @Test func `may have a port, brackets, or be IPv4 written as IPv6`() {
        #expect(self.client("::ffff:127.0.0.1", "192.0.2.1:4711") == "192.0.2.1")
        #expect(self.client("127.0.0.1", "[2001:db8::5]:4711") == "2001:db8::5")
        #expect(self.client("127.0.0.1", "::ffff:192.0.2.1") == "192.0.2.1")
    }

    @Test func `is counted by the whole of IPv4, and by the subscriber's part of IPv6`() {
        func network(_ peer: String, _ forwardedFor: String? = nil) -> String {
            self.proxies.remote(peer: IPAddress(peer), forwardedFor: forwardedFor).network
        }
        #expect(network("192.0.2.1") == "192.0.2.1")
        #expect(network("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64")
        #expect(network("10.1.2.3", "192.0.2.1") == "192.0.2.1")
        // Who is behind a proxy that does not say is not known: all of them would be counted as one.
        #expect(network("10.1.2.3") == "")
        #expect(network("127.0.0.1") == "")
        #expect(self.proxies.remote(peer: nil, forwardedFor: "192.0.2.1") == .unknown)
    }

    @Test func `of a proxy is refused in the configuration unless it is one`() {
        for text in ["", "proxy", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "::1/129", "1.2.3"] {
            #expect(IPNetwork(text) == nil, "\(text)")
        }
        for text in ["10.0.0.0/8", "192.0.2.1", "::/0", "0.0.0.0/0", "fd00::/8"] {
            #expect(IPNetwork(text) != nil, "\(text)")
        }
    }

    @Test func `of a listener is warned of unless only this machine can connect`() {
        for (host, isLoopback) in [
            ("127.0.0.1", true), ("127.1.2.3", true), ("::1", true), ("localhost", true), ("0.0.0.0", false),
            ("::", false), ("192.0.2.1", false), ("chat.example.com", false),
        ] {
            #expect(
                ServerConfiguration.ListenerAddress(listener: .api, host: host, port: 1).isLoopback == isLoopback,
                "\(host)")
        }
    }
}

@Suite struct `A request's id` {
    @Test func `is the client's if it is short and visible, otherwise a new one`() {
        for given in ["abc-1", "a\"b,c", String(repeating: "x", count: 128)] {
            #expect(RequestID.make(from: given) == given)
        }
        for given in ["", "two words", "tab\t", "ü", String(repeating: "x", count: 129), nil] as [String?] {
            let id = RequestID.make(from: given)
            #expect(id != given)
            #expect(id.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        }
    }
}
