#if os(Linux)
    package import Foundation
    package import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL
    import NIOWebSocket
    import Synchronization
    import TidingsWire

    /// WebSocket over NIO (RFC 6455), with TLS for `wss`. One connection is one channel.
    package struct NIOTransport: ClientTransport {
        private let group: any EventLoopGroup
        private let trustRoots: NIOSSLTrustRoots

        /// - Parameter certificateAuthorityFile: a PEM file with the authorities to trust; nil for the system's.
        package init(
            group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, certificateAuthorityFile: String? = nil
        ) {
            self.group = group
            self.trustRoots = certificateAuthorityFile.map { .file($0) } ?? .default
        }

        package func open(_ url: URL, events: @escaping @Sendable (TransportEvent) -> Void) -> any TransportConnection {
            let connection = NIOConnection(events: events)
            let isSecure = url.scheme == "wss" || url.scheme == "https"
            guard let host = url.host, !host.isEmpty else {
                connection.end(reason: "\(url.absoluteString) names no host")
                return connection
            }
            let port = url.port ?? (isSecure ? 443 : 80)
            let trustRoots = self.trustRoots
            let bootstrap = ClientBootstrap(group: self.group)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .connectTimeout(.seconds(10))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        if isSecure {
                            var configuration = TLSConfiguration.makeClientConfiguration()
                            configuration.trustRoots = trustRoots
                            let context = try NIOSSLContext(configuration: configuration)
                            let name = Self.isAddress(host) ? nil : host
                            try channel.pipeline.syncOperations.addHandler(
                                NIOSSLClientHandler(context: context, serverHostname: name))
                        }
                        try Self.upgrade(channel, host: host, port: port, path: url.connectPath, connection: connection)
                    }
                }
            bootstrap.connect(host: host, port: port).whenComplete { result in
                switch result {
                case .success(let channel):
                    channel.closeFuture.whenComplete { _ in connection.end(reason: "the connection was closed") }
                case .failure(let error): connection.end(reason: "\(host):\(port) cannot be reached: \(error)")
                }
            }
            return connection
        }

        private static func isAddress(_ host: String) -> Bool {
            (try? SocketAddress(ipAddress: host, port: 0)) != nil
        }

        private static func upgrade(
            _ channel: any Channel, host: String, port: Int, path: String, connection: NIOConnection
        ) throws {
            let start = UpgradeStart(
                host: host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)", path: path, connection: connection)
            let upgrader = NIOWebSocketClientUpgrader(
                maxFrameSize: FrameCodec.serverFrameBytesCeiling, automaticErrorHandling: true
            ) { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    pipeline.removeHandler(start, promise: nil)
                    if let fault = WebSocketRules.fault(in: head.headers) {
                        connection.explain(fault)
                        return channel.close(promise: nil)
                    }
                    try pipeline.addHandlers([
                        WebSocketRules(connection: connection),
                        NIOWebSocketFrameAggregator(
                            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 4_096,
                            maxAccumulatedFrameSize: FrameCodec.serverFrameBytesCeiling),
                        WebSocketHandler(connection: connection),
                    ])
                }
            }
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHTTPClientHandlers(
                withClientUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
            try pipeline.addHandler(start)
        }
    }

    /// The side of a channel that callers hold: written to before the channel is there, closed exactly once.
    final class NIOConnection: TransportConnection {
        private struct State {
            var channel: (any Channel)?
            var isClosing = false
            var isEnded = false
            var reason: String?
            var receivedBytesMax = FrameCodec.serverFrameBytesMax
            /// A message was too long: everything after it is ignored.
            var isRefusing = false
        }

        private let state = Mutex(State())
        private let events: @Sendable (TransportEvent) -> Void

        init(events: @escaping @Sendable (TransportEvent) -> Void) { self.events = events }

        func send(_ bytes: [UInt8]) {
            guard let channel = self.state.withLock({ $0.isClosing ? nil : $0.channel }) else { return }
            let frame = WebSocketFrame(
                fin: true, opcode: .binary, maskKey: .random(), data: channel.allocator.buffer(bytes: bytes))
            channel.writeAndFlush(frame, promise: nil)
        }

        func close() { self.close(saying: .normalClosure) }

        var channel: (any Channel)? { self.state.withLock { $0.channel } }

        func limitReceived(to bytes: Int) { self.state.withLock { $0.receivedBytesMax = bytes } }

        func setReading(_ isReading: Bool) {
            // A connection that ends meanwhile takes no option, and reads nothing any more.
            self.state.withLock { $0.channel }?.setOption(.autoRead, value: isReading).whenComplete { _ in }
        }

        private func close(saying code: WebSocketErrorCode) {
            let channel = self.state.withLock { state in
                state.isClosing = true
                return state.channel
            }
            guard let channel else { return self.end(reason: "closed before it was open") }
            Self.close(channel, saying: code)
        }

        static func close(_ channel: any Channel, saying code: WebSocketErrorCode) {
            var data = channel.allocator.buffer(capacity: 2)
            data.write(webSocketErrorCode: code)
            Self.close(channel, data)
        }

        static func close(_ channel: any Channel, _ code: ByteBuffer) {
            let frame = WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: code)
            channel.writeAndFlush(frame).whenComplete { _ in channel.close(promise: nil) }
        }

        func opened(_ channel: any Channel) {
            let isWanted = self.state.withLock { state in
                guard !state.isClosing, !state.isEnded else { return false }
                state.channel = channel
                return true
            }
            if isWanted { self.events(.opened) } else { channel.close(promise: nil) }
        }

        func received(_ bytes: [UInt8]) {
            enum Verdict { case taken, tooLong(max: Int), ignored }
            let verdict: Verdict = self.state.withLock { state in
                if state.isRefusing { return .ignored }
                if bytes.count <= state.receivedBytesMax { return .taken }
                state.isRefusing = true
                return .tooLong(max: state.receivedBytesMax)
            }
            switch verdict {
            case .taken: self.events(.received(bytes))
            case .ignored: break
            case .tooLong(let max):
                self.explain("the server sent \(bytes.count) bytes, at most \(max) are taken")
                self.close(saying: .messageTooLarge)
            }
        }

        func explain(_ reason: String) { self.state.withLock { if $0.reason == nil { $0.reason = reason } } }

        func end(reason: String) {
            let told: String? = self.state.withLock { state in
                guard !state.isEnded else { return nil }
                state.isEnded = true
                state.isClosing = true
                state.channel = nil
                return state.reason ?? reason
            }
            if let told { self.events(.closed(reason: told)) }
        }
    }

    /// Requests the upgrade when the channel is ready, and reports a refusal.
    private final class UpgradeStart: ChannelInboundHandler, RemovableChannelHandler, Sendable {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundOut = HTTPClientRequestPart
        private let host: String
        private let path: String
        private let connection: NIOConnection

        init(host: String, path: String, connection: NIOConnection) {
            self.host = host
            self.path = path
            self.connection = connection
        }

        func channelActive(context: ChannelHandlerContext) {
            var headers = HTTPHeaders()
            headers.add(name: "Host", value: self.host)
            headers.add(name: "Content-Length", value: "0")
            headers.add(name: "Sec-WebSocket-Protocol", value: WireFormat.protobuf.subprotocol)
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: self.path, headers: headers)
            context.write(self.wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .head(let head) = self.unwrapInboundIn(data) else { return }
            self.connection.explain("the server answered \(head.status.code) instead of opening a WebSocket")
            context.close(promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            self.connection.explain("the connection failed: \(error)")
            context.close(promise: nil)
        }
    }

    /// The rules for servers that NIO does not check (RFC 6455 §4.1, §5.1, §5.2).
    private final class WebSocketRules: ChannelInboundHandler, Sendable {
        typealias InboundIn = WebSocketFrame
        typealias InboundOut = WebSocketFrame
        private let connection: NIOConnection
        private let hasFailed = Mutex(false)

        init(connection: NIOConnection) { self.connection = connection }

        static func fault(in headers: HTTPHeaders) -> String? {
            let ours = WireFormat.protobuf.subprotocol
            if headers["Sec-WebSocket-Protocol"] != [ours] { return "the server does not speak \(ours)" }
            if !headers["Sec-WebSocket-Extensions"].isEmpty {
                return "the server uses an extension that was not offered"
            }
            return nil
        }

        private static func fault(in frame: WebSocketFrame) -> String? {
            if frame.maskKey != nil { return "the server masked a frame" }
            if frame.rsv1 || frame.rsv2 || frame.rsv3 { return "the server set a reserved bit" }
            switch frame.opcode {
            case .binary, .text, .continuation, .connectionClose, .ping, .pong: return nil
            default: return "the server sent a frame of an unknown kind"
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !self.hasFailed.withLock({ $0 }) else { return }
            guard let fault = Self.fault(in: self.unwrapInboundIn(data)) else { return context.fireChannelRead(data) }
            self.hasFailed.withLock { $0 = true }
            self.connection.explain(fault)
            NIOConnection.close(context.channel, saying: .protocolError)
        }
    }

    /// Frames of an open WebSocket; pings are answered (RFC 6455 §5.5.2).
    private final class WebSocketHandler: ChannelInboundHandler, Sendable {
        typealias InboundIn = WebSocketFrame
        typealias OutboundOut = WebSocketFrame
        private let connection: NIOConnection

        init(connection: NIOConnection) { self.connection = connection }

        func handlerAdded(context: ChannelHandlerContext) {
            // After the upgrade has finished changing the pipeline.
            let channel = context.channel
            context.eventLoop.execute { self.connection.opened(channel) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = self.unwrapInboundIn(data)
            let data = frame.unmaskedData
            switch frame.opcode {
            case .binary, .text: self.connection.received(Array(data.readableBytesView))
            case .ping:
                let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: data)
                context.writeAndFlush(self.wrapOutboundOut(pong), promise: nil)
            case .connectionClose:
                self.connection.explain("the server closed the connection")
                // RFC 6455 §5.5.1: a close frame is answered with its code.
                NIOConnection.close(
                    context.channel, data.getSlice(at: data.readerIndex, length: 2) ?? ByteBuffer())
            default: break
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            self.connection.explain("the connection failed: \(error)")
            context.close(promise: nil)
        }
    }
#endif
