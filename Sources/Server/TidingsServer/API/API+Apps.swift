import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

extension API {
    private static let tokenSeconds: (max: Int64, usual: Int64) = (365 * 86_400, 86_400)

    func issueToken(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .tokens)
        let (body, once) = try await self.keyedBody(request, context, app)
        let user = try UserID.validated(try body.string("user"), field: "user")
        context.note.user = user.rawValue
        let seconds = try body.integer(
            "expires_in_seconds", in: 1...Self.tokenSeconds.max, default: Self.tokenSeconds.usual)
        try await self.confirm(body, request, context)
        let key = UserKey(app: app, user: user)
        // A token follows from when it was issued, so a repeat needs no more than that: no token is kept anywhere.
        guard case .mayIssueToken(let now) = try await self.result(of: .issueToken(key), once: once) else {
            throw APIProblem.bug
        }
        let expiresAt = now / 1_000 + seconds
        guard let token = self.tokens.token(for: key, issuedAt: now, expiresAtSeconds: expiresAt) else {
            throw APIProblem.bug
        }
        return .json(
            [
                "token": .string(token), "app": .string(app.rawValue), "user": .string(user.rawValue),
                "expires_at": .int(expiresAt),
            ], status: .created)
    }
}
