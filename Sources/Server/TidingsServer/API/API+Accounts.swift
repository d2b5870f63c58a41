import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    static let accountRoutes: [Route] = [
        .app(.get, "accounts", .settings, query: Paging.query, API.accounts),
        .app(.get, "accounts/{type}/{id}", .settings, API.account),
        .app(.put, "accounts/{type}/{id}", .settings, API.putAccount),
        .app(.delete, "accounts/{type}/{id}", .settings, API.deleteAccount),
        .app(.get, "accounts/{type}/{id}/followers", .settings, query: Paging.query, API.followers),
        .app(.put, "accounts/{type}/{id}/followers/{user}", .settings, limited: .requests, hasBody: false) { api in
            { app, _, context in try await api.setFollowing(app, context, true) }
        },
        .app(.delete, "accounts/{type}/{id}/followers/{user}", .settings, limited: .requests) { api in
            { app, _, context in try await api.setFollowing(app, context, false) }
        },
    ]

    private func accounts(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let paging = try Paging(request)
        // One more says whether there are more.
        let question = StoreCommand.readAccounts(
            app, after: try paging.after { ConversationID(place: $0) }, limit: paging.limit + 1)
        let accounts = try await self.read(question, \.accounts)
        let (page, next) = try paging.page(of: accounts, by: \.account.id, text: \.place) { ConversationID(place: $0) }
        return .json(["accounts": page.map(\.json), "next": next])
    }

    private func account(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        .json(try await self.account(try self.accountID(context), of: app).json)
    }

    private func account(_ id: ConversationID, of app: AppID) async throws -> AccountInfo {
        let accounts = try await self.read(.readAccounts(app, only: id), \.accounts)
        guard let account = accounts.first else { throw APIProblem.noAccount(id) }
        return account
    }

    func accountID(_ context: Context) throws(InvalidField) -> ConversationID {
        let account = try self.place(context)
        try InvalidField.check(
            account.type.isService, "type",
            "must be customer_service, system, app_public_service, public_service or push_service: others have no accounts"
        )
        return account
    }

    /// Without a body it is declared if it is not yet, and left as it is otherwise.
    private func putAccount(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
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

    private func followers(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let id = try self.accountID(context)
        let paging = try Paging(request)
        let after = try paging.after { UserID($0) }
        _ = try await self.account(id, of: app)
        let (users, hasMore) = try await self.read(
            .readFollowers(app, id, after: after, limit: paging.limit), \.followers)
        return .json(["followers": users, "next": paging.next(after: users.last?.rawValue, hasMore: hasMore)])
    }

    private func setFollowing(_ app: AppID, _ context: Context, _ isFollowing: Bool) async throws -> Response {
        let id = try self.accountID(context)
        return try await self.execute(app, try self.person(context), .setFollowing(id, isFollowing))
    }

    private func deleteAccount(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        try await self.execute(.setAccount(app, try self.accountID(context), isDeclared: false))
    }
}

extension APIProblem {
    fileprivate static func noAccount(_ id: ConversationID) -> APIProblem {
        APIProblem(
            .unknownAccount, field: "id", rule: "names no account of kind \(id.type.rawValue) of this app")
    }
}

extension AccountInfo {
    fileprivate var json: JSONMembers {
        [
            "kind": self.account.id.type, "kind_name": self.account.id.type.word, "id": self.account.id.target,
            "owner": self.account.owner,
            "operators": self.account.operators, "audience": self.account.audience, "name": self.profile.name,
            "portrait": self.profile.portrait, "followers": self.followers,
        ]
    }
}
