import HTTPTypes
import Hummingbird
import NIOCore
import ServerCore
import StoreModel
import TidingsModel

/// The HTTP API: checks keys and input, asks the core, or the store for what the core adds nothing to, and answers. `OpenAPI.document` describes it.
struct API: Sendable {
    let core: @Sendable (APICommand) async -> APIResult
    /// Reads; writes go by the core.
    let store: @Sendable (StoreCommand) async -> StoreResult
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
    static let routes: [[Route]] = [
        healthRoutes, operationRoutes, managedAppRoutes, operatorRoutes, sessionRoutes, consoleRoutes, auditRoutes,
        phoneRoutes, appKeyRoutes, pushCredentialRoutes, webhookRoutes, messageRoutes, searchRoutes, legRoutes,
        pushRoutes, conversationRoutes, accountRoutes, settingsRoutes, eventRoutes, statisticsRoutes, deviceRoutes,
        registrationRoutes, userRoutes, callRoutes, liveActivityRoutes, broadcastChannelRoutes, testPushRoutes,
        backendMediaRoutes, storageRoutes,
    ]

    /// The routes for phones, on a port of their own. `/healthz` is there for the proxy in front of it.
    private static let phonePortRoutes = [healthRoutes, extensionRoutes, mediaRoutes, installationRoutes]

    func router() -> Router<Context> { self.router(.api, Self.routes) }

    func phoneRouter() -> Router<Context> { self.router(.phone, Self.phonePortRoutes) }

    private func router(_ listener: Listener, _ tables: [[Route]]) -> Router<Context> {
        let router = Router(context: Context.self, options: .autoGenerateHeadEndpoints)
        let routes = RouteTable()
        router.middlewares.add(
            ProblemMiddleware(
                listener: listener, routes: routes, core: self.core, metrics: self.metrics, proxies: self.proxies,
                audit: self.audit, connections: self.connections[listener]))
        for table in tables { self.add(table, to: router) }
        routes.setRoutes(of: router)
        return router
    }

    private static let healthRoutes: [Route] = [
        .open(.get, "healthz") { _ in { _, _ in Response.json(["status": "ok"]) } }
    ]

    private static let operationRoutes: [Route] = [
        .open(.get, "readyz", API.readyz),
        .open(.get, "metrics") { api in
            { _, _ in Response.text(api.registry.text, type: "text/plain; version=0.0.4; charset=utf-8") }
        },
        // Each is made when it is first asked for.
        .open(.get, "openapi.yaml") { _ in { _, _ in Self.document(OpenAPI.bytes, "application/yaml") } },
        .open(.get, "openapi.json") { _ in { _, _ in Self.document(OpenAPI.json, "application/openapi+json") } },
    ]

    private static func document(_ bytes: ByteBuffer, _ type: String) -> Response {
        Response(status: .ok, headers: [.contentType: type], body: .init(byteBuffer: bytes))
    }

    private func readyz(_ request: Request, _ context: Context) async throws -> Response {
        switch self.readiness.state {
        case .ready: return try await self.ready()
        case .starting: throw APIProblem(.starting, rule: "the server is starting")
        case .stopping: throw APIProblem(.stopping, rule: "the server is stopping")
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
