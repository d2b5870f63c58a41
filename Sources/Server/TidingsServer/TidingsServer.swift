import HTTPUpgrades
import Hummingbird
package import Logging
import MessageStore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ServiceLifecycle
import StoreModel
import TidingsModel
import UnixSignals

/// The server: gateway, HTTP API, core and store in one process (design.md §2). Give it to a `ServiceGroup`, or call
/// `runUntilSignalled()`.
package struct TidingsServer: Service {
    package struct Listening: Equatable, Sendable {
        package var gatewayPort: Int
        package var apiPort: Int
        package var phonePort = 0
    }

    private let configuration: ServerConfiguration
    let logger: Logger
    let audit: AuditLog
    private let outputs: [LogOutput]
    private let registry: PrometheusRegistry
    private let version: String
    private let onReady: @Sendable (Listening) -> Void

    /// - Parameters: audit: where it logs who signed in and who called what; `logger` if nil. outputs: whose dropped lines are
    ///   counted. version: of the program, for operators. registry: what `/metrics` shows; give the one of `MetricsSystem.bootstrap` so that the metrics of libraries are
    ///   there too. onReady: called once, when all ports are open and the store is.
    package init(
        configuration: ServerConfiguration, logger: Logger, audit: Logger? = nil, outputs: [LogOutput] = [],
        version: String = "", registry: PrometheusRegistry = PrometheusRegistry(help: ServerMetric.help),
        onReady: @escaping @Sendable (Listening) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.logger = logger
        self.audit = AuditLog(audit ?? logger)
        self.outputs = outputs
        self.version = version
        self.registry = registry
        self.onReady = onReady
    }

    /// Reads the key files of APNs that the configuration names; opens, connects and listens to nothing.
    /// - Throws: `ConfigurationFaults` with every app whose credential cannot be used.
    package func check() throws {
        try AppImport.checkCredentials(of: self.configuration.apps)
        try APNsClients(self.configuration, group: MultiThreadedEventLoopGroup.singleton, logger: self.logger).check()
    }

    /// Until SIGTERM or SIGINT, then drains.
    package func runUntilSignalled() async throws {
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: self, successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: self.logger))
        try await group.run()
    }

    /// Until it is asked to stop gracefully: then clients are told to come back, the core finishes its work, and the store is closed.
    /// - Throws: `ConfigurationFaults` with everything that keeps it from starting; `StoreFailure` if the store cannot go on later.
    package func run() async throws {
        let faults = self.configuration.validate()
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        let configuration = DescriptorBudget.claim(self.configuration, logger: self.logger)
            .applied(to: self.configuration)
        self.warnOfOpenListeners()

        let groups = (
            gateway: MultiThreadedEventLoopGroup(numberOfThreads: 1),
            // APNs, downloads of keys and the control socket; HTTP has its own, see `HTTPService`.
            auxiliary: MultiThreadedEventLoopGroup(numberOfThreads: 1)
        )
        try await Self.attempt {
            try await self.run(configuration, gatewayLoop: groups.gateway.next(), auxiliary: groups.auxiliary)
        } finally: {
            try? await groups.gateway.shutdownGracefully()
            try? await groups.auxiliary.shutdownGracefully()
            self.logger.log(.info, "stopped", [:])
        }
    }

    /// `defer` cannot wait.
    static func attempt(
        _ body: () async throws -> Void, finally cleanUp: () async -> Void
    ) async throws {
        do {
            try await body()
        } catch {
            await cleanUp()
            throw error
        }
        await cleanUp()
    }

    private func run(
        _ configuration: ServerConfiguration, gatewayLoop: any EventLoop, auxiliary: MultiThreadedEventLoopGroup
    ) async throws {
        let clients = APNsClients(configuration, group: auxiliary, logger: self.logger)
        try clients.check()
        let disk = StoreDisk(path: configuration.store.path)
        let store = try MessageStoreAdapter(configuration, logger: self.logger)
        defer { store.close() }
        let search = store.openSearch(configuration, logger: self.logger)
        defer { search?.close() }
        self.logger.log(
            .info, "store open",
            [
                .path: configuration.store.path, .epoch: "\(store.opening.epoch)",
                .pendingUsers: "\(store.opening.pending.count)",
            ])
        // A server whose first write fails must not say that it is ready.
        if let fault = disk.probe(bytes: StoreDisk.startBytes) {
            throw StoreFailure(reason: "store.path cannot be written: \(fault); make room or repair the disk")
        }
        let (control, registry) = try await self.prepareApps(configuration, store)
        var opening = store.opening
        opening.control = control
        let metrics = ServerMetrics(factory: self.registry)
        try await self.withWebhooks(configuration, store, registry, metrics) { webhooks in
            try await self.serve(
                configuration, store, opening, registry, clients, disk, search, webhooks, metrics,
                gatewayLoop: gatewayLoop, auxiliary: auxiliary)
        }
    }

    private static func watch(_ disk: StoreDisk, on loop: any EventLoop, _ server: ServerLoop) -> RepeatedTask {
        loop.scheduleRepeatedAsyncTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            NIOThreadPool.singleton.runIfActive(eventLoop: loop) { disk.free }.map { free in
                if let free { server.updateFreeBytes(free) }
            }
        }
    }

    private func serve(
        _ configuration: ServerConfiguration, _ store: MessageStoreAdapter, _ opening: StoreOpening,
        _ apps: AppRegistry, _ clients: APNsClients, _ disk: StoreDisk, _ search: (any MessageSearch)?,
        _ webhooks: WebhookDeliveries, _ metrics: ServerMetrics, gatewayLoop: any EventLoop,
        auxiliary: MultiThreadedEventLoopGroup
    ) async throws {
        let (readiness, apiAddress) = (Readiness(), ConsoleAddress(configuration.api.host))
        let tokens = UserTokens(apps, leeway: Int64(configuration.tokens.leewayMilliseconds))
        let keySets = TokenKeyDownload(configuration, group: auxiliary)
        defer { keySets.lookUp.stop() }
        try await tokens.keys.loadFiles(by: keySets.bytes(of:for:))
        let media = try await self.openMedia(configuration, apps, metrics)
        for output in self.outputs { output.countDrops(with: metrics.logDropped) }
        let senders = PushSenders(eventLoop: gatewayLoop) { try clients.sender(for: $0, of: apps) }
        let server = ServerLoop(
            eventLoop: gatewayLoop, configuration: configuration, store: store, senders: senders,
            tokens: tokens, metrics: metrics, readiness: readiness, logger: self.logger, audit: self.audit,
            seed: UInt64.random(in: .min ... .max))
        if let free = disk.free { server.updateFreeBytes(free) }
        let watch = Self.watch(disk, on: gatewayLoop, server)
        defer { watch.cancel() }
        let searchWatch = Self.watch(search, on: gatewayLoop, metrics)
        defer { searchWatch?.cancel() }
        // Before the first connection: a phone that comes back at once after a restart must not be refused.
        let history = HistoryFile(path: "\(configuration.store.path).history", logger: self.logger)
        server.open(opening, histories: history.read())
        let gateway: Gateway
        do {
            gateway = try await Gateway.bind(configuration.gateway, server: server)
        } catch {
            await server.stop()
            throw error
        }
        let access = ConsoleAccess(apps, configuration.console, takesLocal: configuration.takesLocal)
        let status = ServerStatus(
            database: configuration.store.path, schema: MessageStoreAdapter.schema, startedAt: Clocks.now().wall)
        let control = await ControlSocket.bind(
            database: configuration.store.path, group: auxiliary, logger: self.logger,
            self.commands(store, status, access, apiAddress) { await server.execute($0) })
        defer { control?.close() }
        let api = API(
            core: { await server.execute($0) }, store: { await server.read($0) }, metrics: metrics, tokens: tokens,
            keys: APIKeys(apps), readiness: readiness, disk: disk, registry: self.registry,
            bodyBytesMax: configuration.api.bodyBytesMax, proxies: TrustedProxies(configuration.proxy.addresses),
            audit: self.audit, feed: server.feed, access: access, media: media, search: search, status: status,
            version: self.version, clients: clients, phoneHost: PhonesProxy(configuration.console),
            webhookStates: webhooks, connections: HTTPConnections.ofListeners(configuration, metrics))
        let gatewayService = GatewayService(gateway: gateway, server: server, readiness: readiness, logger: self.logger)
        let keyWatch = TokenKeyWatch(
            keys: tokens.keys, interval: .milliseconds(Int64(configuration.tokens.keysRefreshMilliseconds)),
            read: keySets.bytes(of:for:), metrics: metrics, logger: self.logger)
        // Stopped from the last to the first: `/readyz` and `/metrics` answer while the gateway drains.
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: keyWatch)] + self.sweeps(of: media, server)
                    + self.http(api, configuration, onRunning: self.ready(gateway, readiness, apiAddress)) + [
                        // Also when the store has failed: an HTTP connection that is accepted while the listeners are cancelled ends the process
                        // by a trap (NIOAsyncWriter is dropped unfinished), and nobody reads why the store failed.
                        .init(
                            service: gatewayService, successTerminationBehavior: .gracefullyShutdownGroup,
                            failureTerminationBehavior: .gracefullyShutdownGroup)
                    ] + self.upkeep(of: access, server, metrics, history), logger: self.logger))
        try await Self.attempt {
            try await group.run()
        } finally: {
            gateway.stopAccepting()
            await server.stop()
        }
    }

    /// Returns the upkeep of keys, sessions and credentials, and of the last hour.
    private func upkeep(
        of access: ConsoleAccess, _ server: ServerLoop, _ metrics: ServerMetrics, _ history: HistoryFile
    ) -> [ServiceGroupConfiguration.ServiceConfiguration] {
        let expiry = CredentialExpiry(
            registry: access.registry, metrics: metrics, logger: self.logger, now: { Clocks.now().wall },
            report: { server.feed.append([$0], at: Clocks.now()) })
        return [
            .init(service: Upkeep(pause: .seconds(30)) { expiry.look() }),
            .init(service: Upkeep(pause: .seconds(60)) { history.write(server.feed.savedHistories) }),
            .init(
                service: Upkeep(pause: .seconds(60)) {
                    await access.registry.tellUses { await server.execute($0) }
                    await access.sweepSessions { await server.execute($0) }
                }),
        ]
    }

    private func sweeps(
        of media: MediaShelf?, _ server: ServerLoop
    ) -> [ServiceGroupConfiguration.ServiceConfiguration] {
        guard let media else { return [] }
        let sweep = MediaSweep(
            shelf: media, store: { await server.read($0) }, logger: self.logger, now: { Clocks.now().wall })
        return [.init(service: Upkeep(pause: .seconds(30)) { await sweep.sweep() })]
    }

    /// Nil where the server keeps none.
    private func openMedia(
        _ configuration: ServerConfiguration, _ apps: AppRegistry, _ metrics: ServerMetrics
    ) async throws -> MediaShelf? {
        guard !configuration.media.path.isEmpty else { return nil }
        let shelf = MediaShelf(
            path: configuration.media.path, limits: configuration.mediaLimits, registry: apps,
            filesMax: configuration.media.filesMax, metrics: metrics)
        do {
            for path in try await shelf.open(at: Clocks.now().wall) {
                self.logger.log(.error, "the record of a file cannot be read", [.path: path])
            }
            if StoreFile.isOpenToOthers(configuration.media.path) {
                self.logger.log(
                    .warning, "others may look into a folder of files",
                    [.path: configuration.media.path, .field: "media.path", .reason: "chmod 700 keeps them out"])
            }
        } catch {
            throw ConfigurationFaults(
                field: "media.path", rule: "must be a folder that can be written: \(error)",
                remedy: "make the folder, and give it to the server's user")
        }
        return shelf
    }

    private func http(
        _ api: API, _ configuration: ServerConfiguration, onRunning: @escaping @Sendable (Listener, Int) -> Void
    ) -> [ServiceGroupConfiguration.ServiceConfiguration] {
        [(Listener.api, api.router()), (.phone, api.phoneRouter())].compactMap { listener, router in
            api.connections[listener].map { connections in
                .init(
                    service: HTTPService(
                        listener: listener, responder: router.buildResponder(), metrics: api.metrics,
                        connections: connections, configuration: configuration, logger: self.logger,
                        onRunning: { onRunning(listener, $0) }))
            }
        }
    }

    /// Called with each HTTP port that is open; with the last one the server is ready.
    private func ready(
        _ gateway: Gateway, _ readiness: Readiness, _ apiAddress: ConsoleAddress
    ) -> @Sendable (Listener, Int) -> Void {
        let open = NIOLockedValueBox<[Listener: Int]>([:])
        return { listener, port in
            let ports = open.withLockedValue { ports in
                ports[listener] = port
                return ports
            }
            guard let api = ports[.api], let phone = ports[.phone] else { return }
            readiness.state = .ready
            apiAddress.setPort(api)
            let listening = Listening(gatewayPort: gateway.address?.port ?? 0, apiPort: api, phonePort: phone)
            self.logger.log(
                .info, "ready",
                [.address: "gateway \(listening.gatewayPort), api \(listening.apiPort), phone \(listening.phonePort)"])
            self.onReady(listening)
        }
    }

    /// The server has no TLS of its own: anybody on the way could read tokens and messages.
    private func warnOfOpenListeners() {
        for listener in self.configuration.listeners where !listener.isLoopback {
            self.logger.log(
                .warning, "listens beyond this machine without TLS",
                [
                    .field: "\(listener.listener.rawValue).host", .address: "\(listener.host):\(listener.port)",
                    .reason: "let only a proxy that ends TLS reach it",
                ])
        }
    }
}

private struct GatewayService: Service {
    let gateway: Gateway
    let server: ServerLoop
    let readiness: Readiness
    let logger: Logger

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await self.waitForEnd()
        } onGracefulShutdown: {
            self.logger.log(.info, "draining", [:])
            self.readiness.state = .stopping
            self.gateway.stopAccepting()
            self.server.drain()
        }
    }

    private func waitForEnd() async throws {
        try await withTaskCancellationHandler {
            try await self.server.ended.futureResult.get()
        } onCancel: {
            // Another service failed: there is nothing to drain for.
            self.server.endWithoutDraining()
        }
    }
}

private struct HTTPService: Service {
    let listener: Listener
    let responder: RouterResponder<APIContext>
    let metrics: ServerMetrics
    let connections: HTTPConnections
    let configuration: ServerConfiguration
    let logger: Logger
    let onRunning: @Sendable (Int) -> Void

    func run() async throws {
        var quiet = self.logger
        // Hummingbird tells its own address in its own words.
        quiet.logLevel = max(quiet.logLevel, .warning)
        let isAPI = self.listener == .api
        let (host, port) =
            isAPI
            ? (self.configuration.api.host, self.configuration.api.port)
            : (self.configuration.phone.host, self.configuration.phone.port)
        let connections = self.connections
        let application = Application(
            responder: self.responder,
            server: .http1(
                configuration: .init(additionalChannelHandlers: [
                    HTTPDeadlines.Installer(connections), RequestRules(answer: APIProblem.answer), UpgradeOffers(),
                ])
            ),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: nil, backlog: 1_024),
            onServerRunning: { channel in await self.started(channel, connections) },
            // Not one that is shut down: Hummingbird's server is freed some time after it has ended, and then still uses its event loop.
            eventLoopGroupProvider: .singleton, logger: quiet)
        do {
            try await application.run()
        } catch let error as IOError {
            throw ConfigurationFaults(address: error, section: self.listener.rawValue, host: host, port: port)
        }
    }

    private func started(_ channel: any Channel, _ connections: HTTPConnections) async {
        let (listener, metrics, logger) = (self.listener, self.metrics, self.logger)
        try? await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(
                AcceptPause(listener, metrics: metrics, logger: logger), position: .first)
        }.get()
        connections.setSocket(channel)
        self.onRunning(channel.localAddress?.port ?? 0)
    }
}
