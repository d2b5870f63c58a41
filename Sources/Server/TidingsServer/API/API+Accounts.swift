import Foundation
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// The accounts an app has declared, and who is banned from its chat rooms.
extension API {
    /// Adds the routes of accounts and bans.
    func addAccounts(to app: RouterGroup<Context>) {
        app.get("accounts") { try await self.accounts($0, $1) }
        app.put("accounts/{type}/{id}") { try await self.setAccount($0, $1, isDeclared: true) }
        app.delete("accounts/{type}/{id}") { try await self.setAccount($0, $1, isDeclared: false) }
        let room = app.group("conversations/{type}/{id}")
        room.get("bans") { try await self.bans($0, $1) }
        room.put("bans/{user}") { try await self.ban($0, $1) }
        room.delete("bans/{user}") { try await self.unban($0, $1) }
    }

    private func accounts(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        switch await self.core(.accounts(app)) {
        case .accounts(let accounts):
            return .json([
                "accounts": .array(
                    accounts.map { ["kind": .string($0.type.rawValue), "id": .string($0.target)] })
            ])
        case .refused(let problem): throw APIProblem(problem)
        case .userAccount, .accepted, .done, .trace, .page, .unread, .objectNames, .bans, .devices, .answer, .missed:
            throw APIProblem.bug
        }
    }

    private func setAccount(_ request: Request, _ context: Context, isDeclared: Bool) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        let account = try self.place(context)
        guard account.type.needsAccount else {
            throw APIProblem(InvalidField(field: "type", rule: "must be CS, MC or MP: others have no accounts"))
        }
        switch await self.core(.setAccount(app, account, isDeclared: isDeclared)) {
        case .done: return Response(status: .noContent)
        case .refused(let problem): throw APIProblem(problem)
        case .userAccount, .accepted, .trace, .page, .unread, .objectNames, .accounts, .bans, .devices, .answer,
            .missed:
            throw APIProblem.bug
        }
    }

    private func bans(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .conversations, query: ["actor"])
        let room = try self.place(context, hasMembers: true)
        let actor = try self.actor(request)
        switch await self.core(.bans(app, room, actor: actor)) {
        case .bans(let bans):
            return .json([
                "bans": .array(
                    bans.map { ["user": .string($0.user.rawValue), "until": $0.until.map { .int($0) } ?? .null] })
            ])
        case .refused(let problem): throw APIProblem(problem)
        case .userAccount, .accepted, .done, .trace, .page, .unread, .objectNames, .accounts, .devices, .answer,
            .missed:
            throw APIProblem.bug
        }
    }

    private func ban(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .conversations, query: ["actor"])
        let room = try self.place(context, hasMembers: true)
        let user = try self.person(context)
        let body = try await self.body(request)
        let until = try body.optionalInteger("until", in: 1...Int64.max)
        try body.refuseUnknown()
        return try await self.done(app, try self.actor(request), .change(room, .ban([user], until: until)))
    }

    private func unban(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .conversations, query: ["actor"])
        let room = try self.place(context, hasMembers: true)
        let user = try self.person(context)
        return try await self.done(app, try self.actor(request), .change(room, .unban([user])))
    }
}
