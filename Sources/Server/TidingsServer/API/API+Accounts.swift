import Foundation
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    func addAccounts(to app: RouterGroup<Context>) {
        app.get("accounts") { try await self.accounts($0, $1) }
        app.put("accounts/{type}/{id}") { try await self.setAccount($0, $1, isDeclared: true) }
        app.delete("accounts/{type}/{id}") { try await self.setAccount($0, $1, isDeclared: false) }
    }

    private func accounts(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings, query: Paging.query)
        let paging = try Paging(request)
        guard case .accounts(let accounts) = try await self.result(of: .accounts(app)) else { throw APIProblem.bug }
        let (page, next) = try paging.page(of: accounts, by: { $0 }, text: Self.text(of:), read: Self.account(named:))
        return .json([
            "accounts": .array(page.map { ["kind": .string($0.type.rawValue), "id": .string($0.target)] }),
            "next": next,
        ])
    }

    private static func text(of account: ConversationID) -> String { "\(account.type.rawValue)/\(account.target)" }

    private static func account(named text: String) -> ConversationID? {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard parts.count == 2, let type = ConversationType(rawValue: String(parts[0])) else { return nil }
        return ConversationID(type: type, target: String(parts[1]))
    }

    private func setAccount(_ request: Request, _ context: Context, isDeclared: Bool) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        let account = try self.place(context)
        try InvalidField.check(account.type.needsAccount, "type", "must be CS, MC or MP: others have no accounts")
        return try await self.execute(.setAccount(app, account, isDeclared: isDeclared))
    }
}
