import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

/// The HTTP API: checks keys and input, asks the core, and answers. `OpenAPI.document` describes it.
struct API: Sendable {
    let core: @Sendable (APICommand) async -> APIResult
    let metrics: ServerMetrics
    let tokens: UserTokens
    let keys: APIKeys
    let readiness: Readiness
    let disk: StoreDisk
    let registry: PrometheusRegistry
    let bodyBytesMax: Int
    let proxies: TrustedProxies
    let audit: AuditLog
    let feed: EventFeed
    let access: ConsoleAccess
    /// Nil where the server keeps none.
    var media: MediaShelf?
    /// Nil where the server keeps no index.
    var search: (any MessageSearch)?
    /// Nil while the store is not open.
    var status: ServerStatus?
    var version = ""
    /// Ask APNs about push credentials; nil where nobody does.
    var clients: APNsClients?
    /// Nil where phones are off.
    var phoneHost: PhonesProxy?
    /// How it goes with the webhooks' deliveries.
    var webhookStates: any WebhookStates = NoWebhookStates()
    /// Count who is answered; none where nobody is.
    var connections: [Listener: HTTPConnections] = [:]

    typealias Context = APIContext

    /// The routes of backends and operators.
    func router() -> Router<Context> { self.router(.api) { self.addRoutes(to: $0) } }

    /// The routes for phones, on a port of their own. `/healthz` is there for the proxy in front of it.
    func phoneRouter() -> Router<Context> {
        self.router(.phone) { router in
            self.addHealth(to: router)
            self.addExtension(to: router)
            self.addMedia(to: router)
            self.addInstallations(to: router)
        }
    }

    private func router(_ listener: Listener, _ add: (Router<Context>) -> Void) -> Router<Context> {
        let router = Router(context: Context.self, options: .autoGenerateHeadEndpoints)
        let routes = RouteTable()
        router.middlewares.add(
            ProblemMiddleware(
                listener: listener, routes: routes, core: self.core, metrics: self.metrics, proxies: self.proxies,
                audit: self.audit, connections: self.connections[listener]))
        add(router)
        routes.setRoutes(of: router)
        return router
    }

    private func addRoutes(to router: Router<Context>) {
        self.addHealth(to: router)
        self.addOperations(to: router)
        self.addApps(to: router)
        self.addOperators(to: router)
        self.addSessions(to: router)
        self.addConsole(to: router)
        self.addAudit(to: router)
        self.addServer(to: router)
        self.addPhones(to: router)
        let app = router.group("v1/apps/{app}")
        self.addAppKeys(to: app)
        self.addClientKeys(to: app)
        self.addPushCredentials(to: app)
        self.addWebhooks(to: app)
        self.addWebhookDeliveries(to: app)
        app.post("tokens") { try await self.issueToken($0, $1) }
        self.addMessages(to: app)
        self.addSearch(to: app)
        self.addLegs(to: app)
        self.addPushes(to: app)
        self.addLabels(to: app)
        self.addConversations(to: app)
        self.addAccounts(to: app)
        self.addRestrictions(to: app)
        self.addSettings(to: app)
        self.addReading(to: app)
        self.addEvents(to: app)
        self.addStatistics(to: app)
        self.addDevices(to: app)
        self.addUserAccounts(to: app)
        self.addUsers(to: app)
        self.addProfiles(to: app)
        self.addCalls(to: app)
        self.addLiveActivities(to: app)
        self.addBroadcastChannels(to: app)
        self.addTestPushes(to: app)
        self.addBackendMedia(to: app)
    }

    private func addHealth(to router: Router<Context>) {
        router.get("healthz") { _, _ in Response.json(["status": "ok"]) }
    }

    private func addOperations(to router: Router<Context>) {
        router.get("readyz") { _, _ in
            switch self.readiness.state {
            case .ready: return try await self.ready()
            case .starting: throw APIProblem(.starting, rule: "the server is starting")
            case .stopping: throw APIProblem(.stopping, rule: "the server is stopping")
            }
        }
        router.get("metrics") { _, _ in
            Response.text(self.registry.text, type: "text/plain; version=0.0.4; charset=utf-8")
        }
        router.get("openapi.yaml") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/yaml"], body: .init(byteBuffer: OpenAPI.bytes))
        }
    }

    private func ready() async throws -> Response {
        if let fault = await self.disk.fault(monotonic: Clocks.now().monotonic) {
            throw APIProblem(.storageUnwritable, field: "store.path", rule: "cannot be written: \(fault)")
        }
        return Response.json(["status": "ready", "storage": self.readiness.isStorageFull ? "full" : "ok"])
    }

    // Not inlined, as the next one: the optimiser of Swift 6.3.1 crashes on some handlers into which it has inlined a wait for the body.
    @inline(never) func body(_ request: Request) async throws -> APIBody { try APIBody(try await self.bytes(request)) }

    @inline(never) func bytes(_ request: Request) async throws -> [UInt8] {
        guard Self.contentLength(of: request) ?? 0 <= self.bodyBytesMax else { throw HTTPError(.contentTooLarge) }
        return Array((try await request.body.collect(upTo: self.bodyBytesMax)).readableBytesView)
    }

    /// Returns the body's length before it has come; nil where it comes in chunks.
    static func contentLength(of request: Request) -> Int64? { request.headers[.contentLength].flatMap { Int64($0) } }
}
