import Foundation
import HTTPUpgrades
import Hummingbird
package import Logging
import NIOCore
import NIOPosix
import ServerCore
import ServiceLifecycle
import StoreModel
import TidingsModel
import UnixSignals

/// The server: gateway, HTTP API, core and store in one process (DESIGN §2). A service; give it to a `ServiceGroup`, or call
/// `runUntilSignalled()`.
package struct TidingsServer: Service {
    /// Where a running server listens.
    package struct Listening: Equatable, Sendable {
        /// The gateway's TCP port.
        package var gatewayPort: Int
        /// The HTTP API's TCP port.
        package var apiPort: Int
    }

    private let configuration: ServerConfiguration
    private let logger: Logger
    private let registry: PrometheusRegistry
    private let onReady: @Sendable (Listening) -> Void

    /// A server that does nothing until it is run.
    ///
    /// - Parameters:
    ///   - registry: where its metrics are kept, and what `/metrics` shows; give the one of `MetricsSystem.bootstrap` so that
    ///     the metrics of libraries are there too.
    ///   - onReady: called once, when both ports are open and the store is.
    package init(
        configuration: ServerConfiguration, logger: Logger,
        registry: PrometheusRegistry = PrometheusRegistry(help: ServerMetric.help),
        onReady: @escaping @Sendable (Listening) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.logger = logger
        self.registry = registry
        self.onReady = onReady
    }

    /// Runs until SIGTERM or SIGINT, then drains.
    ///
    /// - Throws: as `run()`.
    package func runUntilSignalled() async throws {
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: self, successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: self.logger))
        try await group.run()
    }

    /// Runs until it is asked to stop gracefully: clients are told to come back, what they and the core still have to do is
    /// done, and the store is closed.
    ///
    /// - Throws: `ConfigurationFaults` with everything that keeps it from starting, each with its remedy; `StoreFailure` if
    ///   the store cannot go on later.
    package func run() async throws {
        let faults = self.configuration.validate()
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        Self.raiseFileLimit(connections: self.configuration.gateway.connectionsMax, logger: self.logger)

        let groups = (
            gateway: MultiThreadedEventLoopGroup(numberOfThreads: 1),
            api: MultiThreadedEventLoopGroup(numberOfThreads: 1)
        )
        let result: Result<Void, any Error>
        do {
            try await self.run(gatewayLoop: groups.gateway.next(), apiGroup: groups.api)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        try? await groups.gateway.shutdownGracefully()
        try? await groups.api.shutdownGracefully()
        self.logger.log(.info, "stopped", [:])
        try result.get()
    }

    private func run(gatewayLoop: any EventLoop, apiGroup: MultiThreadedEventLoopGroup) async throws {
        let senders = try await ApnsSenders(apps: self.configuration.apps, group: apiGroup, logger: self.logger)
        let result: Result<Void, any Error>
        do {
            let disk = StoreDisk(path: self.configuration.store.path)
            let store = try MessageStoreAdapter(self.configuration, logger: self.logger)
            defer { store.close() }
            self.logger.log(
                .info, "store open",
                [
                    .path: self.configuration.store.path, .epoch: "\(store.opening.epoch)",
                    .pendingUsers: "\(store.opening.pending.count)",
                ])
            // Whoever asks must not hear that all is well from a server that ends with its first write.
            if let fault = disk.probe(bytes: StoreDisk.startBytes) {
                throw StoreFailure(reason: "store.path cannot be written: \(fault); make room or repair the disk")
            }
            try await self.serve(store, senders, disk, gatewayLoop: gatewayLoop, apiGroup: apiGroup)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await senders.close()
        try result.get()
    }

    private func serve(
        _ store: MessageStoreAdapter, _ senders: ApnsSenders, _ disk: StoreDisk, gatewayLoop: any EventLoop,
        apiGroup: MultiThreadedEventLoopGroup
    ) async throws {
        let readiness = Readiness()
        let tokens = try await UserTokens(
            apps: self.configuration.apps, leeway: Int64(self.configuration.tokens.leewayMilliseconds))
        try await tokens.keys.load(group: apiGroup, logger: self.logger)
        let server = ServerLoop(
            eventLoop: gatewayLoop, configuration: self.configuration, store: store, senders: senders.byApp,
            tokens: tokens, metrics: ServerMetrics(factory: self.registry), readiness: readiness, logger: self.logger,
            seed: UInt64.random(in: .min ... .max))
        if let free = disk.free { server.measured(free: free) }
        let watch = gatewayLoop.scheduleRepeatedAsyncTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            NIOThreadPool.singleton.runIfActive(eventLoop: gatewayLoop) { disk.free }.map { free in
                if let free { server.measured(free: free) }
            }
        }
        defer { watch.cancel() }
        // Before the first connection: a phone that comes back at once after a restart is not to be refused.
        server.open(store.opening)
        let gateway: Gateway
        do {
            gateway = try await Gateway.bind(self.configuration.gateway, server: server)
        } catch {
            await server.stop()
            throw error
        }
        let control = await ControlSocket.bind(
            database: self.configuration.store.path, group: apiGroup, logger: self.logger
        ) { path in try await store.backUp(to: path) }
        defer { control?.close() }
        let api = Api(
            core: { await server.ask($0) }, metrics: server.metrics, tokens: tokens,
            keys: ApiKeys(apps: self.configuration.apps), readiness: readiness, disk: disk, registry: self.registry,
            bodyBytesMax: self.configuration.api.bodyBytesMax)
        let apiService = ApiService(
            api: api, configuration: self.configuration.api, group: apiGroup, logger: self.logger
        ) {
            port in
            readiness.state = .ready
            let listening = Listening(gatewayPort: gateway.address?.port ?? 0, apiPort: port)
            self.logger.log(
                .info, "ready", [.address: "gateway \(listening.gatewayPort), api \(listening.apiPort)"])
            self.onReady(listening)
        }
        let gatewayService = GatewayService(gateway: gateway, server: server, readiness: readiness, logger: self.logger)
        let keyWatch = TokenKeyWatch(
            keys: tokens.keys, interval: .milliseconds(Int64(self.configuration.tokens.keysRefreshMilliseconds)),
            group: apiGroup, metrics: server.metrics, logger: self.logger)
        // Stopped from the last to the first: `/readyz` and `/metrics` answer while the gateway drains.
        let group = ServiceGroup(
            configuration: .init(
                services: (tokens.keys.isEmpty ? [] : [.init(service: keyWatch)]) + [
                    .init(service: apiService),
                    .init(service: gatewayService, successTerminationBehavior: .gracefullyShutdownGroup),
                ], logger: self.logger))
        let result: Result<Void, any Error>
        do {
            try await group.run()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        gateway.stopAccepting()
        await server.stop()
        try result.get()
    }

    /// Allows as many open files as the system lets this process have: every connection is one.
    private static func raiseFileLimit(connections: Int, logger: Logger) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(resource, &limit)
        // Besides connections there are the database, the listening sockets, the API's connections and those to APNs.
        if limit.rlim_cur < UInt(connections) + 256 {
            logger.log(
                .warning, "fewer files than connections allowed",
                [
                    .field: "gateway.connections_max", .connections: "\(connections)",
                    .reason: "the limit of open files is \(limit.rlim_cur); raise it with ulimit -n",
                ])
        }
    }
}

/// The gateway's part of the life cycle: drains the core when the process is asked to stop.
private struct GatewayService: Service {
    let gateway: Gateway
    let server: ServerLoop
    let readiness: Readiness
    let logger: Logger

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await self.ended()
        } onGracefulShutdown: {
            self.logger.log(.info, "draining", [:])
            self.readiness.state = .stopping
            self.gateway.stopAccepting()
            self.server.drain()
        }
    }

    private func ended() async throws {
        try await withTaskCancellationHandler {
            try await self.server.ended.futureResult.get()
        } onCancel: {
            // Another service failed: there is nothing to drain for.
            self.server.end()
        }
    }
}

/// The HTTP API's part of the life cycle.
private struct ApiService: Service {
    let api: Api
    let configuration: ServerConfiguration.Api
    let group: MultiThreadedEventLoopGroup
    let logger: Logger
    let onRunning: @Sendable (Int) -> Void

    func run() async throws {
        var quiet = self.logger
        // Hummingbird tells its own address in its own words.
        quiet.logLevel = max(quiet.logLevel, .warning)
        let application = Application(
            router: self.api.router(),
            server: .http1(configuration: .init(additionalChannelHandlers: [UpgradeOffers()])),
            configuration: ApplicationConfiguration(
                address: .hostname(self.configuration.host, port: self.configuration.port), serverName: nil),
            onServerRunning: { channel in self.onRunning(channel.localAddress?.port ?? 0) },
            eventLoopGroupProvider: .shared(self.group), logger: quiet)
        do {
            try await application.run()
        } catch let error as IOError {
            throw ConfigurationFaults([
                ConfigurationFault.address(
                    error, section: "api", host: self.configuration.host, port: self.configuration.port)
            ])
        }
    }
}
