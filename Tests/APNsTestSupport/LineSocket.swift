import NIOCore
import NIOPosix
package import TidingsModel

/// A TCP connection that speaks lines, for phones and for one HTTP request.
package final class LineSocket: Sendable {
    private let channel: any Channel
    private let lines: AsyncStream<[UInt8]>

    private init(channel: any Channel, lines: AsyncStream<[UInt8]>) {
        self.channel = channel
        self.lines = lines
    }

    /// Connects to a port of this machine.
    package static func connect(port: Int) async throws -> LineSocket {
        let (lines, feed) = AsyncStream.makeStream(of: [UInt8].self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Splitter(feed: feed))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return LineSocket(channel: channel, lines: lines)
    }

    /// Sends a text as it is.
    package func write(_ text: String) async throws {
        try await self.channel.writeAndFlush(self.channel.allocator.buffer(string: text))
    }

    /// The next line as JSON; nil at the end of the connection. Call it from one task at a time.
    package func next() async throws -> JSONValue? {
        for await line in self.lines { return try JSONValue(parsing: line) }
        return nil
    }

    /// Every line until the other side closes.
    package func rest() async -> [String] {
        var all: [String] = []
        for await line in self.lines { all.append(String(decoding: line, as: UTF8.self)) }
        return all
    }

    /// Ends the connection.
    package func close() async { try? await self.channel.close() }

    /// One HTTP/1.1 request; returns the status and the last line of the body.
    package static func http(_ method: String, _ path: String, body: String = "", port: Int) async throws -> (
        Int, JSONValue
    ) {
        let socket = try await LineSocket.connect(port: port)
        let head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        try await socket.write(head + "Content-Length: \(body.utf8.count)\r\n\r\n" + body)
        let lines = await socket.rest()
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return (status, try JSONValue(parsing: lines.last ?? ""))
    }

    private final class Splitter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let feed: AsyncStream<[UInt8]>.Continuation
        private var pending: [UInt8] = []

        init(feed: AsyncStream<[UInt8]>.Continuation) { self.feed = feed }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            for byte in self.unwrapInboundIn(data).readableBytesView {
                guard byte == UInt8(ascii: "\n") else {
                    self.pending.append(byte)
                    continue
                }
                self.feed.yield(self.pending)
                self.pending = []
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            if !self.pending.isEmpty { self.feed.yield(self.pending) }
            self.feed.finish()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
