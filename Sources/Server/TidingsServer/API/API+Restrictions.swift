import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

// Who may not come into a chat room, who may not write in a conversation, and who is asked to come in.
extension API {
    func addRestrictions(to app: RouterGroup<Context>) {
        let conversation = app.group("conversations/{type}/{id}")
        conversation.get("bans") { try await self.restrictions(.bans, "bans", $0, $1) }
        conversation.put("bans/{user}") { try await self.restrict($0, $1) { .ban([$0], until: $1) } }
        conversation.delete("bans/{user}") { try await self.lift($0, $1) { .unban([$0]) } }
        conversation.get("mutes") { try await self.restrictions(.mutes, "mutes", $0, $1) }
        conversation.put("mutes/{user}") { try await self.restrict($0, $1) { .mute([$0], until: $1) } }
        conversation.delete("mutes/{user}") { try await self.lift($0, $1) { .unmute([$0]) } }
        conversation.get("invitations") { try await self.invitations($0, $1) }
        conversation.delete("invitations/{user}") { try await self.lift($0, $1) { .withdraw([$0]) } }
    }

    private func restrictions(
        _ kind: RestrictionKind, _ name: String, _ request: Request, _ context: Context
    ) async throws -> Response {
        let (command, paging) = try self.question(kind, request, context)
        guard case .bans(let bans) = try await self.result(of: command) else { throw APIProblem.bug }
        let (page, next) = try paging.page(of: bans, by: \.user, text: \.rawValue, read: { UserID($0) })
        let list = page.map {
            JSONValue.members([("user", .string($0.user.rawValue)), ("until", .optional($0.until))])
        }
        return .json(.members([(name, .array(list)), ("next", next)]))
    }

    private func invitations(_ request: Request, _ context: Context) async throws -> Response {
        let (command, paging) = try self.question(.invitations, request, context)
        guard case .invited(let people) = try await self.result(of: command) else { throw APIProblem.bug }
        let (page, next) = try paging.page(of: people, by: \.user, text: \.rawValue, read: { UserID($0) })
        return .json([
            "invitations": .array(
                page.map { ["user": .string($0.user.rawValue), "by": .string($0.by.rawValue), "at": .int($0.at)] }),
            "next": next,
        ])
    }

    private func question(
        _ kind: RestrictionKind, _ request: Request, _ context: Context
    ) throws -> (APICommand, Paging) {
        let app = try self.authorize(request, context, .conversations, query: ["actor"] + Paging.query)
        let conversation = try self.place(context, hasMembers: true)
        let actor = try self.actor(request)
        return (.restrictions(kind, app, conversation, actor: actor), try Paging(request, of: ["actor"]))
    }

    /// Until a time in wall milliseconds, or nil for until it is lifted.
    private func restrict(
        _ request: Request, _ context: Context, _ action: (UserID, Int64?) -> ConversationAction
    ) async throws -> Response {
        let change = try await self.change(request, context)
        let user = try self.person(context)
        let until = try change.body.optionalTime("until")
        return try await self.carryOut(action(user, until), change)
    }

    private func lift(
        _ request: Request, _ context: Context, _ action: (UserID) -> ConversationAction
    ) async throws -> Response {
        let (app, conversation, actor) = try self.subject(request, context)
        return try await self.execute(app, actor, .change(conversation, action(try self.person(context))))
    }
}
