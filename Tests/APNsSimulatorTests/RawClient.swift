import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import TidingsModel

/// An HTTP/2 client that sends what it is told, and hears every frame.
final class RawClient: Sendable {
    enum Heard: Equatable, Sendable {
        case settings([String: Int])
        case answer(stream: Int, status: String, reason: String?)
        case closed
    }

    private let channel: any Channel
    private let frames: AsyncStream<Heard>

    private init(channel: any Channel, frames: AsyncStream<Heard>) {
        self.channel = channel
        self.frames = frames
    }

    /// - Parameter alpn: the protocols to offer; none means no ALPN at all.
    static func connect(port: Int, authorityPath: String, alpn: [String]) async throws -> RawClient {
        let (frames, feed) = AsyncStream.makeStream(of: Heard.self)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.applicationProtocols = alpn
        tls.trustRoots = .file(authorityPath)
        let context = try NIOSSLContext(configuration: tls)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    // Apple's name, as a client would send it that a hosts file led here.
                    try pipeline.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: "api.sandbox.push.apple.com"))
                    try pipeline.addHandler(NIOHTTP2Handler(mode: .client))
                    try pipeline.addHandler(Listener(feed: feed))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return RawClient(channel: channel, frames: frames)
    }

    func send(stream: Int, _ headers: [(String, String)], body: String) async throws {
        let id = HTTP2StreamID(stream)
        let block = HPACKHeaders(headers)
        let bytes = self.channel.allocator.buffer(string: body)
        let frames = [
            HTTP2Frame(streamID: id, payload: .headers(.init(headers: block))),
            HTTP2Frame(streamID: id, payload: .data(.init(data: .byteBuffer(bytes), endStream: true))),
        ]
        for frame in frames { self.channel.write(frame, promise: nil) }
        self.channel.flush()
    }

    func next() async -> Heard? {
        for await frame in self.frames { return frame }
        return nil
    }

    func close() async { try? await self.channel.close() }

    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame
        private let feed: AsyncStream<Heard>.Continuation
        private var statuses: [HTTP2StreamID: String] = [:]

        init(feed: AsyncStream<Heard>.Continuation) { self.feed = feed }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = self.unwrapInboundIn(data)
            switch frame.payload {
            case .settings(.settings(let settings)):
                var values: [String: Int] = [:]
                for setting in settings { values["\(setting.parameter)"] = setting.value }
                self.feed.yield(.settings(values))
            case .headers(let headers):
                let status = headers.headers.first(name: ":status") ?? ""
                if headers.endStream {
                    self.feed.yield(.answer(stream: Int(frame.streamID), status: status, reason: nil))
                } else {
                    self.statuses[frame.streamID] = status
                }
            case .data(let data):
                guard case .byteBuffer(let bytes) = data.data, data.endStream else { return }
                let body = try? JSONValue(parsing: bytes.readableBytesView)
                let status = self.statuses[frame.streamID] ?? ""
                let reason = body?["reason"]?.stringValue
                self.feed.yield(.answer(stream: Int(frame.streamID), status: status, reason: reason))
            default: break
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            self.feed.yield(.closed)
            self.feed.finish()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
