import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// What the app's backend decides about a person: banned or not, and which tokens are good.
extension API {
    /// Adds the routes.
    func addUserAccounts(to app: RouterGroup<Context>) {
        let user = app.group("users/{user}")
        user.get("account") { try await self.account($0, $1) }
        user.put("ban") { try await self.change($0, $1, .ban) }
        user.delete("ban") { try await self.change($0, $1, .unban) }
        user.post("revoke-tokens") { try await self.revokeTokens($0, $1) }
    }

    /// Asks what was decided about a person.
    func account(of user: UserKey) async throws(APIProblem) -> AccountState {
        switch await self.core(.userAccount(user)) {
        case .userAccount(let account): return account
        case .refused(let problem): throw APIProblem(problem)
        case .accepted, .done, .trace, .page, .unread, .objectNames, .accounts, .bans, .devices, .answer, .missed:
            throw APIProblem.bug
        }
    }

    private func account(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .accounts)
        let account = try await self.account(of: UserKey(app: app, user: try self.person(context)))
        return .json([
            "banned": .bool(account.isBanned), "tokens_not_before": account.tokensNotBefore.map { .int($0) } ?? .null,
        ])
    }

    private func revokeTokens(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .accounts)
        let user = UserKey(app: app, user: try self.person(context))
        let body = try await self.body(request)
        let time = try body.integer("before", in: 0...Int64.max, default: Clocks.now().wall)
        let signsOut = try body.bool("sign_out", default: false)
        try body.refuseUnknown()
        return try await self.done(.changeAccount(user, .revokeTokens(before: time, signsOut: signsOut)))
    }

    private func change(_ request: Request, _ context: Context, _ change: AccountChange) async throws -> Response {
        let app = try self.authorize(request, context, .accounts)
        return try await self.done(.changeAccount(UserKey(app: app, user: try self.person(context)), change))
    }

    private func done(_ command: APICommand) async throws(APIProblem) -> Response {
        switch await self.core(command) {
        case .done: return Response(status: .noContent)
        case .refused(let problem): throw APIProblem(problem)
        case .accepted, .trace, .page, .unread, .objectNames, .accounts, .bans, .devices, .userAccount, .answer,
            .missed:
            throw APIProblem.bug
        }
    }
}
