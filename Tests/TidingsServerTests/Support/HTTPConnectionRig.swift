import NIOCore
import NIOEmbedded
import NIOHTTP1
import TidingsModel

@testable import TidingsServer

/// A connection of a listener, without a socket and on a clock of its own.
struct HTTPConnectionRig {
    let registry = PrometheusRegistry()
    let connections: HTTPConnections
    let channel = EmbeddedChannel()

    init(max: Int = 10, limits: ServerConfiguration.Http = .init()) throws {
        self.connections = HTTPConnections(
            .api, connectionsMax: max, limits: limits, metrics: ServerMetrics(factory: self.registry))
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

    /// The head of an answer and so much of it, not flushed, as to a socket that takes no more.
    func write(bytes: Int, _ channel: EmbeddedChannel? = nil) {
        let channel = channel ?? self.channel
        channel.write(HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok)), promise: nil)
        channel.write(
            HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(repeating: 0, count: bytes))), promise: nil)
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
