import APNsCore
import Hummingbird
import Logging
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL
import TidingsModel

/// A simulator whose ports are open.
struct RunningSimulator: Sendable {
    let addresses: APNsSimulator.Addresses
    private let group: MultiThreadedEventLoopGroup
    private let engine: SimulatorEngine
    private let listeners: [any Channel]
    private let control: Task<Void, any Error>

    /// Opens every port, or none.
    static func start(
        _ configuration: APNsSimulator.Configuration, _ material: SimulatorMaterial, logger: Logger
    ) async throws -> RunningSimulator {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var listeners: [any Channel] = []
        do {
            let engine = Self.engine(configuration, material, logger: logger, eventLoop: group.next())
            let tls = try Self.tls(material)
            func listen(
                _ field: String, _ port: Int, _ body: @escaping @Sendable (any Channel) throws -> Void
            ) async throws -> Int {
                let channel = try await Self.listen(group, configuration.host, port, field: field, body)
                listeners.append(channel)
                return channel.localAddress?.port ?? port
            }
            let limit = configuration.streamsBeforeToken
            let port = try await listen("port", configuration.port) { channel in
                try Self.addProvider(to: channel, engine: engine, tls: tls, .sandbox, streamLimit: limit)
            }
            var productionPort: Int?
            if let wanted = configuration.productionPort {
                productionPort = try await listen("production_port", wanted) { channel in
                    try Self.addProvider(to: channel, engine: engine, tls: tls, .production, streamLimit: limit)
                }
            }
            let courierPort = try await listen("courier_port", configuration.courierPort) { channel in
                try channel.pipeline.syncOperations.addHandler(CourierHandler(engine: engine))
            }
            let (control, controlPort) = try await Self.startControl(configuration, engine, group, logger: logger)
            return RunningSimulator(
                addresses: APNsSimulator.Addresses(
                    port: port, productionPort: productionPort, courierPort: courierPort, controlPort: controlPort,
                    teamID: material.teamID, keyID: material.keyID, privateKeyPath: material.privateKeyPath,
                    authorityPath: material.authorityPath, credentialPath: material.credentialPath),
                group: group, engine: engine, listeners: listeners, control: control)
        } catch {
            for listener in listeners { try? await listener.close() }
            try? await group.shutdownGracefully()
            throw error
        }
    }

    func stop() async {
        self.control.cancel()
        _ = await self.control.result
        for listener in self.listeners { try? await listener.close() }
        try? await self.engine.eventLoop.submit { self.engine.stop() }.get()
        try? await self.group.shutdownGracefully()
    }

    private static func engine(
        _ configuration: APNsSimulator.Configuration, _ material: SimulatorMaterial, logger: Logger,
        eventLoop: any EventLoop
    ) -> SimulatorEngine {
        let key = ProviderKey(keyID: material.keyID, teamID: material.teamID, topics: configuration.topics)
        let rules = APNsService.Configuration(
            keys: [key], streamsBeforeToken: configuration.streamsBeforeToken,
            streamsAfterToken: configuration.streamsAfterToken, waitingPerAppMax: configuration.waitingPerAppMax)
        return SimulatorEngine(
            core: APNsService(configuration: rules),
            verifier: TokenVerifier(
                keyID: material.keyID, publicKey: material.publicKey, isStrict: configuration.isStrict),
            logEntriesMax: configuration.logEntriesMax, logger: logger, eventLoop: eventLoop)
    }

    /// ALPN `h2`, or none at all: then HTTP/2 is assumed (apns.md §2).
    private static func tls(_ material: SimulatorMaterial) throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: material.chain.map { .certificate($0) }, privateKey: .privateKey(material.serverKey))
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2"]
        return try NIOSSLContext(configuration: tls)
    }

    /// The settings of apns.md §3.1.
    private static func addProvider(
        to channel: any Channel, engine: SimulatorEngine, tls: NIOSSLContext, _ environment: PushEnvironment,
        streamLimit: Int
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(NIOSSLServerHandler(context: tls))
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .headerTableSize, value: 4_096),
            HTTP2Setting(parameter: .maxConcurrentStreams, value: streamLimit),
            HTTP2Setting(parameter: .initialWindowSize, value: 65_535),
            HTTP2Setting(parameter: .maxFrameSize, value: 16_384),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 8_000),
        ]
        // Tests cancel and ping by the thousand; that is what a simulator is for.
        connection.controlFrameRateLimit.maximumCount = 100_000
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = 100_000
        try pipeline.addHandler(
            NIOHTTP2Handler(mode: .server, connectionConfiguration: connection, streamConfiguration: stream))
        try pipeline.addHandler(ProviderHandler(engine: engine, environment: environment))
    }

    private static func listen(
        _ group: MultiThreadedEventLoopGroup, _ host: String, _ port: Int, field: String,
        _ body: @escaping @Sendable (any Channel) throws -> Void
    ) async throws -> any Channel {
        do {
            return try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 1_024)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try body(channel) }
                }
                .bind(host: host, port: port).get()
        } catch {
            throw InvalidField(field: field, rule: "must be free to listen on: \(host):\(port): \(error)")
        }
    }

    /// Starts the control port and waits until it listens.
    private static func startControl(
        _ configuration: APNsSimulator.Configuration, _ engine: SimulatorEngine, _ group: MultiThreadedEventLoopGroup,
        logger: Logger
    ) async throws -> (Task<Void, any Error>, Int) {
        let (ports, announce) = AsyncThrowingStream.makeStream(of: Int.self)
        // What stops the server is thrown; the rest of its log is about single connections.
        var quiet = logger
        quiet.logLevel = .critical
        let application = Application(
            router: ControlAPI.router(engine: engine),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.controlPort),
                serverName: "tidings-apns"),
            onServerRunning: { channel in
                announce.yield(channel.localAddress?.port ?? configuration.controlPort)
                announce.finish()
            },
            eventLoopGroupProvider: .shared(group), logger: quiet)
        let task = Task<Void, any Error> {
            do {
                try await application.run()
            } catch {
                announce.finish(throwing: error)
                throw error
            }
        }
        do {
            for try await port in ports { return (task, port) }
        } catch {
            let place = "\(configuration.host):\(configuration.controlPort)"
            throw InvalidField(field: "control_port", rule: "must be free to listen on: \(place): \(error)")
        }
        throw InvalidField(field: "control_port", rule: "could not be opened")
    }
}
