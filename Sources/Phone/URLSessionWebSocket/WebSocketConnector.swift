import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// Opens a task's connection: TCP, TLS for `wss`, the upgrade (RFC 6455 §4).
struct WebSocketConnector {
    private let task: URLSessionWebSocketTask
    private let configuration: URLSessionConfiguration
    /// The most a frame may hold, whatever the task's own limit is.
    private static let frameBytesMax = 1 << 26

    init(task: URLSessionWebSocketTask, _ configuration: URLSessionConfiguration) {
        self.task = task
        self.configuration = configuration
    }

    func connect(_ url: URL, _ protocols: [String]) {
        let task = self.task
        let isSecure = url.scheme == "wss" || url.scheme == "https"
        guard let host = url.host, !host.isEmpty else {
            task.fail(URLError(.badURL))
            return task.complete()
        }
        let port = url.port ?? (isSecure ? 443 : 80)
        let file = self.configuration.certificateAuthorityFile
        let start = UpgradeStart(
            host: host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)", path: Self.path(of: url),
            protocols: protocols, task: task)
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connectTimeout(.milliseconds(Int64(self.configuration.timeoutIntervalForRequest * 1_000)))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if isSecure {
                        var configuration = TLSConfiguration.makeClientConfiguration()
                        if let file { configuration.trustRoots = .file(file) }
                        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(
                                context: try NIOSSLContext(configuration: configuration),
                                serverHostname: isAddress ? nil : host))
                    }
                    try Self.upgrade(channel, start, protocols, task)
                }
            }
        bootstrap.connect(host: host, port: port).whenComplete { result in
            switch result {
            case .success(let channel): channel.closeFuture.whenComplete { _ in task.complete() }
            case .failure(let error):
                task.fail(error)
                task.complete()
            }
        }
    }

    private static func path(of url: URL) -> String {
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
        let path = parts?.percentEncodedPath ?? ""
        return (path.isEmpty ? "/" : path) + (parts?.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    private static func upgrade(
        _ channel: any Channel, _ start: UpgradeStart, _ protocols: [String], _ task: URLSessionWebSocketTask
    ) throws {
        let upgrader = NIOWebSocketClientUpgrader(
            maxFrameSize: Self.frameBytesMax, automaticErrorHandling: true
        ) { channel, head in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                pipeline.removeHandler(start, promise: nil)
                let chosen = head.headers.first(name: "Sec-WebSocket-Protocol")
                // RFC 6455 §4.1: a protocol that was not offered ends the connection.
                if let chosen, !protocols.contains(chosen) {
                    task.fail(URLError(.badServerResponse))
                    return channel.close(promise: nil)
                }
                try pipeline.addHandlers([
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 4_096,
                        maxAccumulatedFrameSize: Self.frameBytesMax),
                    WebSocketFrames(task: task, protocol: chosen),
                ])
            }
        }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHTTPClientHandlers(withClientUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
        try pipeline.addHandler(start)
    }
}

/// Asks for the upgrade, and reports a refusal.
private final class UpgradeStart: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart
    private let host: String
    private let path: String
    private let protocols: [String]
    private let task: URLSessionWebSocketTask

    init(host: String, path: String, protocols: [String], task: URLSessionWebSocketTask) {
        self.host = host
        self.path = path
        self.protocols = protocols
        self.task = task
    }

    func channelActive(context: ChannelHandlerContext) {
        var headers = HTTPHeaders()
        headers.add(name: "Host", value: self.host)
        headers.add(name: "Content-Length", value: "0")
        if !self.protocols.isEmpty {
            headers.add(name: "Sec-WebSocket-Protocol", value: self.protocols.joined(separator: ", "))
        }
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: self.path, headers: headers)
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head = self.unwrapInboundIn(data) else { return }
        self.task.fail(URLError(.badServerResponse))
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.task.fail(error)
        context.close(promise: nil)
    }
}

/// The frames of an open WebSocket; pings are answered (RFC 6455 §5.5.2).
private final class WebSocketFrames: ChannelInboundHandler, Sendable {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame
    private let task: URLSessionWebSocketTask
    private let chosen: String?

    init(task: URLSessionWebSocketTask, protocol chosen: String?) {
        self.task = task
        self.chosen = chosen
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // After the upgrade has finished changing the pipeline.
        let channel = context.channel
        context.eventLoop.execute { self.task.opened(channel, protocol: self.chosen) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = self.unwrapInboundIn(data)
        var data = frame.unmaskedData
        let count = data.readableBytes
        switch frame.opcode {
        case .binary: self.task.received(.data(Data(data.readableBytesView)), bytes: count, on: context.channel)
        case .text: self.task.received(.string(String(buffer: data)), bytes: count, on: context.channel)
        case .ping:
            let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: data)
            context.writeAndFlush(self.wrapOutboundOut(pong), promise: nil)
        case .pong: self.task.receivedPong()
        case .connectionClose:
            let answer = data.getSlice(at: data.readerIndex, length: min(2, count)) ?? ByteBuffer()
            let code = data.readInteger(as: UInt16.self).map { Int($0) }
            self.task.closed(code, count > 2 ? Data(data.readableBytesView) : nil)
            let close = WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: answer)
            context.writeAndFlush(self.wrapOutboundOut(close)).whenComplete { [channel = context.channel] _ in
                channel.close(promise: nil)
            }
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.task.fail(error)
        context.close(promise: nil)
    }
}
