import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// Anonymous people (docs/inside/decisions/0049-anonymous-people.md), and push tokens that a backend brings before its phones connect here.
extension API {
    private static let installationTokenSeconds: Int64 = 86_400

    /// For phones, on their port.
    static let installationRoutes: [Route] = [
        .open(.post, "v1/installations", API.createInstallation),
        .open(.post, "v1/installations/{user}/token", API.renewInstallation),
    ]

    private func createInstallation(_ request: Request, _ context: Context) async throws -> Response {
        guard let key = Self.bearer(request), let app = self.apps.app(ofClientKey: key) else {
            throw self.wrongKey(
                request, .ofClient, else: "must be \"Bearer KEY\" with a client key of an app, which is not revoked")
        }
        let user = UserKey(app: app.record.id, user: .anonymous(Array(APIKeys.drawBytes().prefix(16))))
        return try await self.installation(request, context, user, renewalIssuedAt: nil)
    }

    private func renewInstallation(_ request: Request, _ context: Context) async throws -> Response {
        let named = try Self.parameter("user", context)
        guard let text = Self.bearer(request), let renewal = self.tokens.checked(renewal: text),
            renewal.user.user.rawValue == named
        else { throw Self.unauthorizedRenewal }
        return try await self.installation(request, context, renewal.user, renewalIssuedAt: renewal.issuedAt)
    }

    private static let unauthorizedRenewal = Self.unauthorized(
        "must be \"Bearer RENEWAL\" with what was told when the person was made, and not revoked since")

    /// - Parameter issuedAt: of what renews; nil for a new person.
    private func installation(
        _ request: Request, _ context: Context, _ user: UserKey, renewalIssuedAt issuedAt: Int64?
    ) async throws -> Response {
        context.note.user = user.user.rawValue
        context.share.question = .installations(from: context.client.network)
        try Self.checkQuery(request, [])
        guard self.apps.app(user.app)?.record.isSuspended == false else { throw APIKeys.Refusal.suspended.problem }
        try await self.optionalBody(request).refuseUnknown()
        let result = await self.core(
            .installation(user, renewalIssuedAt: issuedAt, from: context.client.network))
        if case .refused(let problem) = result {
            throw problem.code == .tokenRevoked ? Self.unauthorizedRenewal : APIProblem(problem)
        }
        let now = try result.mayIssueToken.orBug()
        let expiresAt = now / 1_000 + Self.installationTokenSeconds
        let token = try self.tokens.token(for: user, issuedAt: now, expiresAtSeconds: expiresAt).orBug()
        guard issuedAt == nil else { return .json(["token": token, "expires_at": expiresAt * 1_000]) }
        let renewal = try self.tokens.renewal(for: user, issuedAt: now).orBug()
        return .json(
            ["app": user.app, "user": user.user, "token": token, "expires_at": expiresAt * 1_000, "renewal": renewal],
            status: .created)
    }

    /// For backends.
    static let registrationRoutes: [Route] = [
        .app(.post, "installations", .settings, limited: .requests, API.registerInstallations)
    ]

    /// Good ones are kept though others are refused.
    private func registerInstallations(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, app)
        let lines = try body.list("installations").enumerated().map { index, line in
            Result { () throws(InvalidField) in try self.installation(line, "installations[\(index)]") }
        }
        try body.refuseUnknown()
        try InvalidField.check(lines.count, in: 1...ImportedInstallation.listMax, "installations")
        let outcomes = try await self.ask(.registerInstallations(app, lines), \.installations, once: once)
        return .json(["results": outcomes.enumerated().map { $1.told("installations[\($0)]") }])
    }

    private func installation(_ line: APIBody, _ path: String) throws(InvalidField) -> ImportedInstallation {
        let registration = PushRegistration(
            token: PushToken(try line.string("token").lowercased()),
            environment: try self.word(try line.string("environment"), "\(path).environment"),
            topic: try line.string("topic"))
        let words = [registration.environment.rawValue, registration.topic, registration.token.rawValue]
        let digest = SHA256.hash(data: Data(words.joined(separator: " ").utf8))
        var installation = ImportedInstallation(
            registration, of: nil, tags: try line.optionalStrings("tags"), digest: Array(digest.prefix(16)))
        if let user = try line.optionalString("user") {
            installation.user = try UserID.validated(user, field: "\(path).user")
        }
        try line.refuseUnknown()
        return installation
    }
}

extension InstallationOutcome {
    fileprivate func told(_ path: String) -> JSONMembers {
        switch self {
        case .registered(let device, _): return device.key.told + ["status": "registered"]
        case .updated(let key): return key.told + ["status": "updated"]
        case .refused(let problem):
            let field = problem.field.hasPrefix(path) ? problem.field : "\(path).\(problem.field)"
            return ["status": "refused", "code": problem.code.rawValue, "field": field, "rule": problem.rule]
        }
    }
}
