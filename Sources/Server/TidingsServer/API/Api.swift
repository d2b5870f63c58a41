import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ServerCore
import TidingsModel

/// The HTTP API: checks keys and input, asks the core, and answers. `OpenAPI.document` describes it.
struct Api: Sendable {
    /// Asks the core.
    let core: @Sendable (ApiCommand) async -> ApiResult
    /// Where requests are counted.
    let metrics: ServerMetrics
    /// Makes user tokens and checks extension tokens.
    let tokens: UserTokens
    /// Checks keys.
    let keys: ApiKeys
    /// Whether the server takes work.
    let readiness: Readiness
    /// The text of `/metrics`.
    let registry: PrometheusRegistry
    /// The largest body in bytes.
    let bodyBytesMax: Int

    typealias Context = BasicRequestContext

    /// All routes.
    func router() -> Router<Context> {
        let router = Router(context: Context.self)
        router.middlewares.add(ProblemMiddleware(metrics: self.metrics))
        self.addOperations(to: router)
        self.addExtension(to: router)
        let app = router.group("v1/apps/{app}")
        app.post("tokens") { try await self.issueToken($0, $1) }
        self.addMessages(to: app)
        self.addConversations(to: app)
        self.addSettings(to: app)
        self.addDevices(to: app)
        self.addUserAccounts(to: app)
        return router
    }

    private func addOperations(to router: Router<Context>) {
        router.get("healthz") { _, _ in Response.json(["status": "ok"]) }
        router.get("readyz") { _, _ in
            switch self.readiness.state {
            case .ready: Response.json(["status": "ready"])
            case .starting: ApiProblem(.serviceUnavailable, code: "starting", rule: "the server is starting").response
            case .stopping: ApiProblem(.serviceUnavailable, code: "stopping", rule: "the server is stopping").response
            }
        }
        router.get("metrics") { _, _ in
            Response.text(self.registry.text, type: "text/plain; version=0.0.4; charset=utf-8")
        }
        router.get("openapi.yaml") { _, _ in Response.text(OpenAPI.document, type: "application/yaml") }
    }

    // MARK: - Who asks

    /// The app of the path, if the request's key may do this there.
    ///
    /// - Throws: `ApiProblem` with status 401 without a key of the app, 403 without the scope.
    func authorize(_ request: Request, _ context: Context, _ scope: ApiScope) throws(ApiProblem) -> AppID {
        guard let key = Self.bearer(request) else {
            throw Self.unauthorized("must be \"Bearer KEY\" with one of the app's API keys")
        }
        let app = AppID(Self.parameter("app", context))
        switch self.keys.access(app: app, key: key, scope: scope) {
        case .granted: return app
        case .unknownKey: throw Self.unauthorized("must hold one of the app's API keys")
        case .missingScope:
            throw ApiProblem(
                .forbidden, code: "missing_scope", field: "Authorization",
                rule: "needs a key with the scope \(scope.rawValue)")
        }
    }

    /// What stands behind `Bearer` (RFC 6750 §2.1).
    static func bearer(_ request: Request) -> String? {
        guard let value = request.headers[.authorization] else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    /// Status 401.
    static func unauthorized(_ rule: String) -> ApiProblem {
        ApiProblem(
            .unauthorized, code: "unauthorized", field: "Authorization", rule: rule,
            headers: [.wwwAuthenticate: "Bearer"])
    }

    /// The request's body as an object.
    func body(_ request: Request) async throws -> ApiBody {
        try ApiBody(Array((try await request.body.collect(upTo: self.bodyBytesMax)).readableBytesView))
    }
}
