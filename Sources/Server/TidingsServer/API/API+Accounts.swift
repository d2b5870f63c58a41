import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    func addAccounts(to app: RouterGroup<Context>) {
        app.get("accounts") { try await self.accounts($0, $1) }
        app.get("accounts/{type}/{id}") { try await self.account($0, $1) }
        app.put("accounts/{type}/{id}") { try await self.putAccount($0, $1) }
        app.delete("accounts/{type}/{id}") { try await self.deleteAccount($0, $1) }
        app.get("accounts/{type}/{id}/followers") { try await self.followers($0, $1) }
        app.put("accounts/{type}/{id}/followers/{user}") { try await self.setFollowing($0, $1, true) }
        app.delete("accounts/{type}/{id}/followers/{user}") { try await self.setFollowing($0, $1, false) }
    }

    private func accounts(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings, query: Paging.query)
        let paging = try Paging(request)
        // One more says whether there are more.
        let question = APICommand.accounts(
            app, after: try paging.after(Self.account(named:)), limit: paging.limit + 1)
        guard case .accounts(let accounts) = try await self.result(of: question) else { throw APIProblem.bug }
        let (page, next) = try paging.page(
            of: accounts, by: \.account.id, text: Self.text(of:), read: Self.account(named:))
        return .json(["accounts": .array(page.map(\.json)), "next": next])
    }

    private func account(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        return .json(try await self.account(try self.accountID(context), of: app).json)
    }

    private func account(_ id: ConversationID, of app: AppID) async throws -> AccountInfo {
        guard case .accounts(let accounts) = try await self.result(of: .accounts(app, only: id)) else {
            throw APIProblem.bug
        }
        guard let account = accounts.first else { throw APIProblem.noAccount(id) }
        return account
    }

    private static func text(of account: ConversationID) -> String { "\(account.type.rawValue)/\(account.target)" }

    private static func account(named text: String) -> ConversationID? {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard parts.count == 2, let type = ConversationType(rawValue: String(parts[0])) else { return nil }
        return ConversationID(type: type, target: String(parts[1]))
    }

    func accountID(_ context: Context) throws(InvalidField) -> ConversationID {
        let account = try self.place(context)
        try InvalidField.check(
            account.type.isService, "type", "must be CS, SYS, MC, MP or PH: others have no accounts")
        return account
    }

    /// Without a body it is declared if it is not yet, and left as it is otherwise.
    private func putAccount(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        let id = try self.accountID(context)
        let bytes = try await self.bytes(request)
        guard !bytes.isEmpty else { return try await self.execute(.setAccount(app, id, isDeclared: true)) }
        let body = try APIBody(bytes)
        let owner = try body.optionalString("owner")
        let operators = try self.people(
            try body.strings("operators", default: []), "operators", max: ServiceAccount.operatorsMax)
        let audience = try body.optionalString("audience")
        try body.refuseUnknown()
        var account = ServiceAccount(id, operators: operators)
        if let owner { account.owner = try UserID.validated(owner, field: "owner") }
        if let audience { account.audience = try self.word(audience, "audience") }
        return try await self.execute(.putAccount(app, account))
    }

    private func followers(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings, query: Paging.query)
        let id = try self.accountID(context)
        let paging = try Paging(request)
        let after = try paging.after { UserID($0) }
        _ = try await self.account(id, of: app)
        let question = APICommand.followers(app, id, after: after, limit: paging.limit)
        guard case .followers(let users, let hasMore) = try await self.result(of: question) else {
            throw APIProblem.bug
        }
        return .json([
            "followers": .array(users.map { .string($0.rawValue) }),
            "next": paging.next(after: users.last?.rawValue, hasMore: hasMore),
        ])
    }

    private func setFollowing(_ request: Request, _ context: Context, _ isFollowing: Bool) async throws -> Response {
        let app = try self.authorize(request, context, .settings, limited: .requests)
        let id = try self.accountID(context)
        return try await self.execute(app, try self.person(context), .setFollowing(id, isFollowing))
    }

    private func deleteAccount(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        return try await self.execute(.setAccount(app, try self.accountID(context), isDeclared: false))
    }
}

extension APIProblem {
    fileprivate static func noAccount(_ id: ConversationID) -> APIProblem {
        APIProblem(
            .unknownAccount, field: "id", rule: "names no account of kind \(id.type.rawValue) of this app")
    }
}

extension AccountInfo {
    fileprivate var json: JSONValue {
        [
            "kind": .string(self.account.id.type.rawValue), "id": .string(self.account.id.target),
            "owner": .optional(self.account.owner?.rawValue),
            "operators": .array(self.account.operators.map { .string($0.rawValue) }),
            "audience": .string(self.account.audience.rawValue), "name": .optional(self.profile.name),
            "portrait": .optional(self.profile.portrait), "followers": .int(Int64(self.followers)),
        ]
    }
}
