import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    func addUserAccounts(to app: RouterGroup<Context>) {
        let user = app.group("users/{user}")
        user.get("account") { try await self.account($0, $1) }
        user.put("ban") { try await self.change($0, $1, .ban) }
        user.delete("ban") { try await self.change($0, $1, .unban) }
        user.post("revoke-tokens") { try await self.revokeTokens($0, $1) }
    }

    func account(of user: UserKey) async throws -> AccountState {
        guard case .userAccount(let account) = try await self.result(of: .userAccount(user)) else {
            throw APIProblem.bug
        }
        return account
    }

    private func account(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .accounts)
        let account = try await self.account(of: UserKey(app: app, user: try self.person(context)))
        return .json([
            "banned": .bool(account.isBanned), "tokens_not_before": .optional(account.tokensNotBefore),
        ])
    }

    private func revokeTokens(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .accounts)
        let user = UserKey(app: app, user: try self.person(context))
        let (body, once) = try await self.keyedBody(request, context, app)
        let time = try body.optionalTime("before") ?? Clocks.now().wall
        let signsOut = try body.bool("sign_out", default: false)
        try body.refuseUnknown()
        let change = AccountChange.revokeTokens(before: time, signsOut: signsOut)
        return try await self.execute(.changeAccount(user, change), once: once)
    }

    private func change(_ request: Request, _ context: Context, _ change: AccountChange) async throws -> Response {
        let app = try self.authorize(request, context, .accounts)
        return try await self.execute(.changeAccount(UserKey(app: app, user: try self.person(context)), change))
    }
}
