import APNsCore
import HTTPUpgrades
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import TidingsModel

struct RunningSimulator: Sendable {
    let addresses: APNsSimulator.Addresses
    private let group: MultiThreadedEventLoopGroup
    let engine: SimulatorEngine
    private let listeners: [any Channel]
    private let control: Task<Void, any Error>

    static func start(
        _ configuration: APNsSimulator.Configuration, _ material: SimulatorMaterial, folder: StateFolder, logger: Logger
    ) async throws -> RunningSimulator {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var listeners: [any Channel] = []
        do {
            let engine = try Self.engine(
                configuration, material, folder: folder, logger: logger, eventLoop: group.next())
            let secrets = TrafficSecrets()
            let tls = try Self.tls(material, secrets)
            func listen(
                _ field: String, _ port: Int, _ body: @escaping @Sendable (any Channel) throws -> Void
            ) async throws -> Int {
                let channel = try await Self.listen(group, configuration.host, port, field: field, body)
                listeners.append(channel)
                return channel.localAddress?.port ?? port
            }
            let way = configuration.way
            func provider(_ field: String, _ port: Int?, _ host: ProviderHost) async throws -> Int? {
                guard let port else { return nil }
                return try await listen(field, port) { channel in
                    try Self.addProvider(to: channel, engine: engine, tls: tls, secrets, host, way)
                }
            }
            let port = try await provider("port", configuration.port, .push(.sandbox))
            let productionPort = try await provider("production_port", configuration.productionPort, .push(.production))
            let channelPort = try await provider("channel_port", configuration.channelPort, .channels(.sandbox))
            let productionChannelPort = try await provider(
                "production_channel_port", configuration.productionChannelPort, .channels(.production))
            let courierPort = try await listen("courier_port", configuration.courierPort) { channel in
                try channel.pipeline.syncOperations.addHandler(CourierHandler(engine: engine))
            }
            let (control, controlPort) = try await Self.startControl(configuration, engine, logger: logger)
            return RunningSimulator(
                addresses: APNsSimulator.Addresses(
                    port: port ?? configuration.port, productionPort: productionPort,
                    channelPort: channelPort ?? configuration.channelPort,
                    productionChannelPort: productionChannelPort, courierPort: courierPort, controlPort: controlPort,
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
        _ configuration: APNsSimulator.Configuration, _ material: SimulatorMaterial, folder: StateFolder,
        logger: Logger, eventLoop: any EventLoop
    ) throws(InvalidField) -> SimulatorEngine {
        let key = ProviderKey(keyID: material.keyID, teamID: material.teamID, topics: configuration.topics)
        let rules = configuration.rules(keys: [key])
        try rules.validate()
        let plan = try configuration.faultsFile.map { (path) throws(InvalidField) in try FaultText(path: path) }
        var store: StateStore?
        var core = APNsService(configuration: rules)
        if let path = configuration.stateDatabase {
            let opened = try StateStore(path: path) { logger.error("state database: \($0)") }
            core = try APNsService(configuration: rules, restoring: try opened.records())
            store = opened
        }
        let engine = SimulatorEngine(
            core: core, verifier: TokenVerifier(keys: material.publicKeys, isStrict: configuration.isStrict),
            folder: folder, authority: material.authority, store: store, logEntriesMax: configuration.logEntriesMax,
            logger: logger, eventLoop: eventLoop)
        if let plan { eventLoop.execute { engine.setFaults(plan) } }
        return engine
    }

    /// ALPN `h2`, or none at all; a client that offers HTTP/1.1 only is told so, and its connection closed (APNs
    /// reference, section 2). A client certificate is optional; `ProviderHandler` verifies it.
    private static func tls(_ material: SimulatorMaterial, _ secrets: TrafficSecrets) throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: material.chain.map { .certificate($0) }, privateKey: .privateKey(material.serverKey))
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2", "http/1.1"]
        tls.certificateVerification = .optionalVerification
        tls.keyLogCallback = { secrets.recordSecret($0) }
        return try NIOSSLContext(configuration: tls)
    }

    private static func addProvider(
        to channel: any Channel, engine: SimulatorEngine, tls: NIOSSLContext, _ secrets: TrafficSecrets,
        _ host: ProviderHost, _ way: ArtificialLink.Way?
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        let provider = ProviderHandler(engine: engine, host: host)
        let door = FrontDoor(secrets: secrets, provider: provider)
        if let way { try pipeline.addHandler(ArtificialLink(way)) }
        try pipeline.addHandler(door)
        try pipeline.addHandler(
            NIOSSLServerHandler(context: tls, customVerificationCallback: { provider.verify($0, $1) }))
        try pipeline.addHandler(provider)
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

    private static func startControl(
        _ configuration: APNsSimulator.Configuration, _ engine: SimulatorEngine, logger: Logger
    ) async throws -> (Task<Void, any Error>, Int) {
        let (ports, announce) = AsyncThrowingStream.makeStream(of: Int.self)
        // What stops the server is thrown; the rest of its log is about single connections.
        var quiet = logger
        quiet.logLevel = .critical
        let application = Application(
            router: ControlAPI.router(engine: engine),
            server: .http1(
                configuration: .init(additionalChannelHandlers: [
                    RequestRules(contentMax: ControlAPI.bodyBytesMax), UpgradeOffers(),
                ])),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.controlPort),
                serverName: "tidings-apns"),
            onServerRunning: { channel in
                announce.yield(channel.localAddress?.port ?? configuration.controlPort)
                announce.finish()
            },
            // Not one that is shut down: Hummingbird's server is freed some time after it has ended, and then still uses its event loop.
            eventLoopGroupProvider: .singleton, logger: quiet)
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
