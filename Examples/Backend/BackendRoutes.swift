import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// What the example app asks its backend.
struct BackendRoutes: Sendable {
    typealias Context = BasicRequestContext

    let people: People
    let tokens: UserTokenSource
    /// What a phone is told beside its session: the app, and where the server is.
    let told: [String: String]
    let logger: Logger

    static let bodyBytesMax = 4_096

    /// The method of each path: with another one it is answered 405.
    static let methods: [String: HTTPRequest.Method] = [
        "/healthz": .get, "/sign-in": .post, "/token": .post, "/sign-out": .post,
    ]

    func router() -> Router<Context> {
        let router = Router(context: Context.self, options: .autoGenerateHeadEndpoints)
        router.middlewares.add(ProblemAnswers(logger: self.logger))
        router.get("healthz") { _, _ in Self.json(["status": "ok"]) }
        router.post("sign-in") { request, _ in try await self.signIn(request) }
        router.post("token") { request, _ in try await self.token(request) }
        router.post("sign-out") { request, _ in try await self.signOut(request) }
        return router
    }

    private func signIn(_ request: Request) async throws -> Response {
        let body = try await Self.texts(request, ["user", "password"])
        let (user, password) = (body["user"] ?? "", body["password"] ?? "")
        let session = try await self.people.signIn(user, password: password)
        return Self.json(self.told.merging(["session": session, "user": user]) { $1 })
    }

    private func token(_ request: Request) async throws -> Response {
        guard let user = try await self.people.user(of: try Self.session(request)) else {
            throw BackendProblem.signedOut
        }
        let issued = try await self.tokens.token(of: user)
        return Self.json(issued)
    }

    private func signOut(_ request: Request) async throws -> Response {
        try await self.people.signOut(try Self.session(request))
        return Response(status: .noContent)
    }

    // MARK: Reading and writing

    /// RFC 6750 §2.1.
    private static func session(_ request: Request) throws -> String {
        let parts = (request.headers[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw BackendProblem.signedOut }
        return String(parts[1])
    }

    /// The members of a JSON object, which must be these texts and nothing else.
    private static func texts(_ request: Request, _ names: [String]) async throws -> [String: String] {
        let bytes = try await request.body.collect(upTo: Self.bodyBytesMax)
        let parsed = try? JSONSerialization.jsonObject(with: Data(bytes.readableBytesView))
        guard let members = parsed as? [String: Any] else {
            throw BackendProblem(.badRequest, "malformed_json", field: "body", "must be a JSON object")
        }
        var texts: [String: String] = [:]
        for name in names {
            guard let text = members[name] as? String else {
                throw BackendProblem(.badRequest, "invalid_field", field: name, "must be a string")
            }
            texts[name] = text
        }
        if let unknown = members.keys.sorted().first(where: { !names.contains($0) }) {
            throw BackendProblem(.badRequest, "invalid_field", field: unknown, "is not known here")
        }
        return texts
    }

    static func json(_ value: some Encodable) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let bytes = (try? encoder.encode(value)) ?? Data()
        return Response(
            status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

/// What went wrong, as `application/problem+json` (RFC 9457) with the members `code`, `field` and `rule`.
struct BackendProblem: Error {
    var status: HTTPResponse.Status
    var code: String
    var field: String?
    /// What the field must be, or what to do.
    var rule: String
    var retryAfterSeconds: Int?
    var allow: HTTPRequest.Method?
    /// For the log alone: what the people who run the backend are to know, and nobody at a phone.
    var cause: String?

    init(
        _ status: HTTPResponse.Status, _ code: String, field: String? = nil, _ rule: String,
        retryAfterSeconds: Int? = nil, allow: HTTPRequest.Method? = nil, cause: String? = nil
    ) {
        (self.status, self.code, self.field, self.rule) = (status, code, field, rule)
        (self.retryAfterSeconds, self.allow, self.cause) = (retryAfterSeconds, allow, cause)
    }

    static let wrongPassword = Self(.unauthorized, "wrong_password", "there is no such user with this password")
    static let signedOut = Self(
        .unauthorized, "signed_out", field: "Authorization", "must be \"Bearer SESSION\" of somebody signed in")
    /// While two passwords are looked at.
    static let busy = Self(
        .serviceUnavailable, "busy", "too many sign in at the same time: try again in a moment", retryAfterSeconds: 1)
    static let tooManyGuesses = Self(
        .tooManyRequests, "too_many_guesses", "wrong too often: try again in a minute", retryAfterSeconds: 60)

    var response: Response {
        var headers: HTTPFields = [.contentType: "application/problem+json"]
        if self.status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
        if let seconds = self.retryAfterSeconds { headers[.retryAfter] = "\(seconds)" }
        if let allow { headers[.allow] = allow == .get ? "GET, HEAD" : allow.rawValue }
        var members: [String: String] = [
            "type": "urn:chat:problem:\(self.code)", "title": self.status.reasonPhrase, "code": self.code,
            "rule": self.rule,
            "detail": [self.field, self.rule].compactMap { $0 }.joined(separator: " "),
        ]
        members["field"] = self.field
        var answer = BackendRoutes.json(members)
        answer.status = self.status
        answer.headers = headers
        return answer
    }
}

/// Turns everything that is thrown into a problem.
private struct ProblemAnswers: RouterMiddleware {
    typealias Context = BackendRoutes.Context

    let logger: Logger

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            // The router takes a path with a slash more for the same.
            guard BackendRoutes.methods[request.uri.path] != nil else { throw HTTPError(.notFound) }
            return try await next(request, context)
        } catch {
            let problem = Self.problem(error, of: request)
            if problem.status.code >= 500 {
                self.logger.error(
                    "request failed",
                    metadata: [
                        "path": "\(request.uri.path)", "code": "\(problem.code)",
                        "cause": "\(problem.cause ?? problem.rule)",
                    ])
            }
            return problem.response
        }
    }

    private static func problem(_ error: any Error, of request: Request) -> BackendProblem {
        if let problem = error as? BackendProblem { return problem }
        guard let refusal = error as? any HTTPResponseError else {
            return BackendProblem(
                .internalServerError, "internal", "the backend failed; its log says why", cause: "\(error)")
        }
        switch refusal.status {
        case .notFound:
            if let method = BackendRoutes.methods[request.uri.path] {
                return BackendProblem(
                    .methodNotAllowed, "method_not_allowed", field: "method", "must be \(method.rawValue)",
                    allow: method)
            }
            return BackendProblem(.notFound, "unknown_route", field: "path", "is not served here; see --help")
        case .contentTooLarge:
            return BackendProblem(
                .contentTooLarge, "body_too_large", field: "body",
                "must have at most \(BackendRoutes.bodyBytesMax) bytes")
        default:
            return BackendProblem(refusal.status, "bad_request", "cannot be read: \(refusal.status.reasonPhrase)")
        }
    }
}
