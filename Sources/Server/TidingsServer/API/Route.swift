import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// A row of the table of routes: who may ask for what, whose limits count, and what answers. The file of each resource has its rows.
struct Route: Sendable {
    typealias Answer<Subject> = @Sendable (Subject, Request, APIContext) async throws -> Response
    typealias Handler<Subject> = @Sendable (API) -> Answer<Subject>
    typealias BareHandler = @Sendable (API) -> @Sendable (Request, APIContext) async throws -> Response

    enum Access: Sendable {
        /// As `API.authorize` has it.
        case app(APIScope, limited: Limited?, role: OperatorRole?, Handler<AppID>)
        case operators(OperatorRole, BareHandler)
        /// The handler looks at who asks.
        case open(BareHandler)
    }

    let method: HTTPRequest.Method
    let path: String
    let access: Access
    /// The members of the query that are known.
    var query: [String] = []
    /// As of `API.checkQuery`.
    var hasBody: Bool?

    static func open(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping BareHandler) -> Self {
        Self(method: method, path: path, access: .open(handler))
    }

    /// Answers by tus, to the owner of the upload. A fault of theirs is told by tus, too, so that the handler asks who they are.
    static func upload(
        _ method: HTTPRequest.Method, _ path: String,
        by owner: @escaping @Sendable (API) -> @Sendable (Request, APIContext) async throws -> MediaShelf.Owner,
        _ handler:
            @escaping @Sendable (API) -> @Sendable (Request, APIContext, MediaShelf.Owner) async throws -> Response
    ) -> Self {
        .open(method, path) { api in
            let (owner, answer) = (owner(api), handler(api))
            return { request, context in
                try await api.tus(request, context) {
                    try await answer(request, context, try await owner(request, context))
                }
            }
        }
    }

    /// For operators.
    static func operators(
        _ method: HTTPRequest.Method, _ path: String, _ role: OperatorRole, query: [String] = [], hasBody: Bool? = nil,
        _ handler: @escaping BareHandler
    ) -> Self {
        Self(method: method, path: path, access: .operators(role, handler), query: query, hasBody: hasBody)
    }

    /// For operators, about the app of the path, which goes on below it.
    static func managed(
        _ method: HTTPRequest.Method, _ path: String, _ role: OperatorRole, query: [String] = [], hasBody: Bool? = nil,
        _ handler: @escaping Handler<ManagedApp>
    ) -> Self {
        .operators(method, Self.path("v1/apps/{app}", path), role, query: query, hasBody: hasBody) { api in
            let answer = handler(api)
            return { request, context in try await answer(try api.known(context), request, context) }
        }
    }

    /// For an app's backend and for operators, below the app.
    static func app(
        _ method: HTTPRequest.Method, _ path: String, _ scope: APIScope, limited: Limited? = nil, query: [String] = [],
        role: OperatorRole? = nil, hasBody: Bool? = nil, _ handler: @escaping Handler<AppID>
    ) -> Self {
        Self(
            method: method, path: Self.path("v1/apps/{app}", path),
            access: .app(scope, limited: limited, role: role, handler), query: query, hasBody: hasBody)
    }

    /// As `app`, about the person of the path, which goes on below them.
    static func user(
        _ method: HTTPRequest.Method, _ path: String, _ scope: APIScope, limited: Limited? = nil, query: [String] = [],
        hasBody: Bool? = nil, _ handler: @escaping Handler<UserKey>
    ) -> Self {
        .app(method, Self.path("users/{user}", path), scope, limited: limited, query: query, hasBody: hasBody) { api in
            let answer = handler(api)
            return { app, request, context in
                try await answer(UserKey(app: app, user: try api.person(context)), request, context)
            }
        }
    }

    /// Joins two parts of a path; the second may be empty.
    static func path(_ base: String, _ rest: String) -> String { rest.isEmpty ? base : "\(base)/\(rest)" }
}

extension API {
    func add(_ routes: [Route], to router: Router<Context>) {
        for route in routes {
            let path = RouterPath(route.path)
            switch route.access {
            case .app(let scope, let limited, let role, let handler):
                let answer = handler(self)
                router.on(path, method: route.method) { request, context in
                    let app = try self.authorize(
                        request, context, scope, limited: limited, query: route.query, role: role,
                        hasBody: route.hasBody)
                    return try await answer(app, request, context)
                }
            case .operators(let role, let handler):
                let answer = handler(self)
                router.on(path, method: route.method) { request, context in
                    try self.authorizeOperator(
                        request, context, role, query: route.query, hasBody: route.hasBody)
                    return try await answer(request, context)
                }
            case .open(let handler): router.on(path, method: route.method, use: handler(self))
            }
        }
    }
}

/// Whose share a route takes from (docs/inside/decisions/0014-limits.md); other routes are not limited.
enum Limited: Sendable {
    case messages
    case requests

    func question(_ app: AppID) -> QuotaQuestion {
        switch self {
        case .messages: .messages(app)
        case .requests: .requests(app)
        }
    }
}

/// `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers). A token bucket is told as what it holds, `q`, and the seconds
/// in which it fills, `w`; of what is left, `r`, the seconds until it is full again, `t`.
enum RateLimitHeaders {
    static func add(_ quotas: [RateQuota], to headers: inout HTTPFields) {
        guard !quotas.isEmpty, let policy = HTTPField.Name("RateLimit-Policy"), let limit = HTTPField.Name("RateLimit")
        else { return }
        headers[policy] = quotas.map { "\"\($0.name)\";q=\($0.limit.burst);w=\($0.limit.fillSeconds)" }
            .joined(separator: ", ")
        headers[limit] = quotas.map { "\"\($0.name)\";r=\($0.remaining);t=\(($0.fullIn + 999) / 1_000)" }
            .joined(separator: ", ")
    }
}

extension RateQuota {
    /// The configuration's name for the limit: `limits.app.messages` is `app.messages`.
    fileprivate var name: String { "\(self.scope.rawValue).\(self.kind.rawValue)" }
}
