import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// Anonymous people, one for each installation of an app (docs/decisions/0049-anonymous-people.md).
extension API {
    private static let installationTokenSeconds: Int64 = 86_400

    /// For phones, on their port.
    func addInstallations(to router: Router<Context>) {
        let group = router.group("v1/installations")
        group.post { try await self.createInstallation($0, $1) }
        group.post("{user}/token") { try await self.renewInstallation($0, $1) }
    }

    private func createInstallation(_ request: Request, _ context: Context) async throws -> Response {
        guard let key = Self.bearer(request), let app = self.apps.app(ofClientKey: key) else {
            throw Self.unauthorized("must be \"Bearer KEY\" with a client key of an app, which is not revoked")
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
        let bytes = try await self.bytes(request)
        try APIBody(bytes.isEmpty ? Array("{}".utf8) : bytes).refuseUnknown()
        let result = await self.core(
            .installation(user, renewalIssuedAt: issuedAt, from: context.client.network))
        if case .refused(let problem) = result {
            throw problem.code == .tokenRevoked ? Self.unauthorizedRenewal : APIProblem(problem)
        }
        guard case .mayIssueToken(let now) = result else { throw APIProblem.bug }
        let expiresAt = now / 1_000 + Self.installationTokenSeconds
        guard let token = self.tokens.token(for: user, issuedAt: now, expiresAtSeconds: expiresAt) else {
            throw APIProblem.bug
        }
        guard issuedAt == nil else { return .json(["token": .string(token), "expires_at": .int(expiresAt)]) }
        guard let renewal = self.tokens.renewal(for: user, issuedAt: now) else { throw APIProblem.bug }
        return .json(
            [
                "app": .string(user.app.rawValue), "user": .string(user.user.rawValue), "token": .string(token),
                "expires_at": .int(expiresAt), "renewal": .string(renewal),
            ], status: .created)
    }
}
