import APNsModel
import HTTP2Connection
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing
import TidingsModel

@testable import APNsClient

@Suite(.timeLimit(.minutes(5))) struct `Connecting` {
    @Test func `spreads connections over the addresses of the name`() async throws {
        let papers = try Papers()
        var configuration = ServerSession.Configuration()
        configuration.maxConcurrentStreams = 1
        let reply: @Sendable (WireServer.Request) -> WireServer.Reply = { $0.stream == 1 ? .accepted : .silence }
        let first = try await WireServer.start(papers, configuration: configuration, reply)
        let second = try await WireServer.start(
            papers, address: "127.0.0.2", port: first.port, configuration: configuration, reply)
        let client = try Wire(papers: papers, server: first).client(addresses: ["127.0.0.1", "127.0.0.2"])
        try await client.send(Wire.request(0))
        async let one = client.outcome(of: Wire.request(1))
        await first.awaitRequests(2)
        async let two = client.outcome(of: Wire.request(2))
        await second.awaitRequests(1)
        first.release()
        _ = await (one, two)
        #expect(first.connections == 1)
        #expect(second.connections == 1)
        await client.shutdown()
        await first.stop()
        await second.stop()
    }

    @Test func `goes on to the next address when one does not answer`() async throws {
        try await Wire.run(
            { _ in .accepted },
            { wire in
                // Nobody listens on the first.
                let client = try wire.client(addresses: ["127.0.0.3", "127.0.0.1"])
                try await client.send(Wire.request())
                await client.shutdown()
            })
    }

    @Test func `asks the resolver of the system`() async throws {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        #expect(try await Resolver.system.addresses("127.0.0.1", eventLoop).get() == ["127.0.0.1"])
        #expect(try await Resolver.system.addresses("localhost", eventLoop).get().contains("127.0.0.1"))
        await #expect(throws: Resolver.Failure.self) {
            try await Resolver.system.addresses("no-such-name.invalid", eventLoop).get()
        }
    }

    @Test func `to a certificate of somebody else stops the sender`() async throws {
        try await Wire.run(
            { _ in .accepted },
            { wire in
                let client = try wire.client { $0.trustRoots = .pem(try Papers().authorityPEM) }
                guard case .stopped(let why) = await client.outcome(of: Wire.request()) else {
                    Issue.record("it was sent")
                    return
                }
                #expect(why.contains("is not trusted; check the trust roots"), "\(why)")
                await client.shutdown()
            })
    }

    @Test func `through a proxy says CONNECT with the credentials`() async throws {
        try await Wire.run(
            { _ in .accepted },
            { wire in
                let proxy = try await TestProxy.start(to: wire.server.port)
                let client = try wire.client {
                    $0.proxy = .init(
                        host: "127.0.0.1", port: proxy.port, credentials: .init(user: "ann", password: "p:w"))
                }
                try await client.send(Wire.request())
                #expect(
                    proxy.heads == [
                        "CONNECT localhost:\(wire.server.port) HTTP/1.1\r\nHost: localhost:\(wire.server.port)\r\n"
                            + "Proxy-Authorization: Basic YW5uOnA6dw==\r\n\r\n"
                    ])
                await client.shutdown()
                await proxy.stop()
            })
    }

    @Test func `through a proxy that refuses says so and stops`() async throws {
        try await Wire.run(
            { _ in .accepted },
            { wire in
                let proxy = try await TestProxy.start(
                    to: wire.server.port, answer: "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
                let client = try wire.client { $0.proxy = .init(host: "127.0.0.1", port: proxy.port) }
                let place = "the proxy 127.0.0.1:\(proxy.port) refuses CONNECT to localhost:\(wire.server.port)"
                #expect(
                    await client.outcome(of: Wire.request())
                        == .stopped("\(place): 407 Proxy Authentication Required"))
                await client.shutdown()
                await proxy.stop()
            })
    }

    @Test func `with a setting that cannot be names it`() throws {
        let papers = try Papers()
        var good = APNsClient.Configuration(environment: .production, credential: try Wire.token())
        good.trustRoots = .pem(papers.authorityPEM)
        func field(_ change: (inout APNsClient.Configuration) -> Void) -> String? {
            var configuration = good
            change(&configuration)
            do throws(InvalidField) {
                _ = try APNsClient(configuration: configuration, logger: Wire.logger)
                return nil
            } catch {
                return error.field
            }
        }
        #expect(field { _ in } == nil)
        #expect(field { $0.name = "" } == "name")
        #expect(field { $0.host = "a b" } == "host")
        #expect(field { $0.port = 65_536 } == "port")
        #expect(field { $0.managementHost = "" } == "management_host")
        #expect(field { $0.managementPort = 0 } == "management_port")
        #expect(field { $0.trustRoots = .pem("nothing") } == "trust_roots")
        #expect(field { $0.proxy = .init(host: "", port: 1) } == "proxy.host")
        #expect(field { $0.proxy = .init(host: "proxy", port: 0) } == "proxy.port")
        #expect(
            field {
                $0.proxy = .init(host: "proxy", port: 1, credentials: .init(user: "a:b", password: ""))
            } == "proxy.credentials")
        #expect(
            field {
                $0.proxy = .init(host: "proxy", port: 1)
                $0.host = "10.0.0.1"
            } == "host")
        #expect(field { $0.queueMax = 0 } == "queue_max")
        #expect(field { $0.connectionsMax = 0 } == "connections_max")
        #expect(field { $0.streamsMax = 0 } == "streams_max")
        #expect(field { $0.retriesMax = 101 } == "retries_max")
        #expect(field { $0.requestDeadline = 0 } == "request_deadline")
        #expect(field { $0.connectTimeout = 0 } == "connect_timeout")
    }

    @Test func `goes to Apple's hosts unless told otherwise`() throws {
        var configuration = APNsClient.Configuration(environment: .sandbox, credential: try Wire.token())
        #expect(configuration.endpoint(of: .push).text == "api.sandbox.push.apple.com:443")
        #expect(configuration.endpoint(of: .push).authority == "api.sandbox.push.apple.com")
        #expect(configuration.endpoint(of: .channels).text == "api-manage-broadcast.sandbox.push.apple.com:2195")
        configuration.environment = .production
        configuration.port = 2_197
        #expect(configuration.endpoint(of: .push).authority == "api.push.apple.com:2197")
        #expect(configuration.endpoint(of: .channels).text == "api-manage-broadcast.push.apple.com:2196")
    }
}

/// A proxy that reads one head for each connection, answers it, and then carries bytes to a port.
final class TestProxy: Sendable {
    let port: Int
    private let channel: any Channel
    private let seen: NIOLockedValueBox<[String]>

    private init(_ channel: any Channel, _ seen: NIOLockedValueBox<[String]>) {
        self.channel = channel
        self.seen = seen
        self.port = channel.localAddress?.port ?? 0
    }

    static func start(
        to port: Int, answer: String = "HTTP/1.1 200 Connection established\r\n\r\n"
    ) async throws -> TestProxy {
        let seen = NIOLockedValueBox<[String]>([])
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Inbound(port, answer, seen))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return TestProxy(channel, seen)
    }

    var heads: [String] { self.seen.withLockedValue { $0 } }
    func stop() async { try? await self.channel.close() }

    private final class Inbound: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let port: Int
        private let answer: String
        private let seen: NIOLockedValueBox<[String]>
        private var head = ""
        private var far: (any Channel)?

        init(_ port: Int, _ answer: String, _ seen: NIOLockedValueBox<[String]>) {
            self.port = port
            self.answer = answer
            self.seen = seen
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = self.unwrapInboundIn(data)
            if let far = self.far { return far.writeAndFlush(bytes, promise: nil) }
            self.head += String(buffer: bytes)
            guard self.head.hasSuffix("\r\n\r\n") else { return }
            self.seen.withLockedValue { $0.append(self.head) }
            let near = context.channel
            let box = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Outbound(near))
                    }
                }
                .connect(host: "127.0.0.1", port: self.port)
                .whenSuccess { channel in
                    let (proxy, context) = box.value
                    proxy.far = channel
                    context.writeAndFlush(proxy.wrapOutboundOut(ByteBuffer(string: proxy.answer)), promise: nil)
                }
        }

        func channelInactive(context: ChannelHandlerContext) { self.far?.close(promise: nil) }
    }

    private final class Outbound: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let near: any Channel
        init(_ near: any Channel) { self.near = near }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.near.writeAndFlush(self.unwrapInboundIn(data), promise: nil)
        }
        func channelInactive(context: ChannelHandlerContext) { self.near.close(promise: nil) }
    }
}
