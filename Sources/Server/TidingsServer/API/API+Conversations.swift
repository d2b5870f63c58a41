import Foundation
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    /// The most members any configuration allows (`policy.members_max`).
    private static let membersMax = 3_000

    func addConversations(to app: RouterGroup<Context>) {
        let conversation = app.group("conversations/{type}/{id}")
        conversation.put { try await self.putConversation($0, $1) }
        conversation.post { try await self.createConversation($0, $1) }
        conversation.get { try await self.conversation($0, $1) }
        conversation.delete { try await self.dissolve($0, $1) }
        conversation.put("name") { try await self.rename($0, $1) }
        conversation.put("portrait") { try await self.setPortrait($0, $1) }
        conversation.post("members") { try await self.addMembers($0, $1) }
        conversation.delete("members/{user}") { try await self.removeMember($0, $1) }
        conversation.put("members/{user}/role") { try await self.setRole($0, $1) }
        conversation.put("members/{user}/nickname") { try await self.setNickname($0, $1) }
    }

    func putConversation(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .conversations)
        let conversation = try self.place(context, hasMembers: true)
        let body = try await self.body(request)
        let name = try body.optionalString("name") ?? ""
        guard name.utf8.count <= ConversationRecord.nameBytesMax else {
            throw APIProblem(
                field: "name", rule: "must be at most \(ConversationRecord.nameBytesMax) bytes, got \(name.utf8.count)")
        }
        let portrait = try body.optionalString("portrait")
        try self.checked { () throws(InvalidField) in try ConversationAction.setPortrait(portrait).validate() }
        let members = try self.identifiers(try body.strings("members"), "members", max: Self.membersMax)
        try body.refuseUnknown()
        let record = ConversationRecord(
            app: app, conversation: conversation, name: name, portrait: portrait, members: members)
        return try await self.execute(.putConversation(record))
    }

    /// The actor owns the new conversation.
    private func createConversation(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(
            request, context, .conversations, limited: .requests, query: ["actor"])
        let conversation = try self.place(context, hasMembers: true)
        let actor = try self.actor(request)
        let (body, once) = try await self.keyedBody(request, context, app)
        let name = try body.string("name")
        let portrait = try body.optionalString("portrait")
        let members = Set(
            try self.identifiers(try body.strings("members"), "members", max: Self.membersMax)
        ).sorted()
        try body.refuseUnknown()
        let action = ConversationAction.create(name: name, portrait: portrait, members: members)
        _ = try await self.execute(app, actor, .change(conversation, action), once: once)
        return .json(conversation.json, status: .created)
    }

    private func conversation(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(
            request, context, .conversations, limited: .requests, query: ["actor"])
        let conversation = try self.place(context, hasMembers: true)
        guard
            case .conversation(let info) = try await self.answer(
                app, try self.actor(request), .conversation(conversation))
        else { throw APIProblem.bug }
        return .json(info.json)
    }

    private func dissolve(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(
            request, context, .conversations, limited: .requests, query: ["actor"])
        let conversation = try self.place(context, hasMembers: true)
        return try await self.execute(app, try self.actor(request), .change(conversation, .dissolve))
    }

    private func removeMember(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(
            request, context, .conversations, limited: .requests, query: ["actor"])
        let conversation = try self.place(context, hasMembers: true)
        let user = try self.person(context)
        return try await self.execute(app, try self.actor(request), .change(conversation, .remove([user])))
    }

    func change(
        _ request: Request, _ context: Context, _ action: (APIBody) throws(APIProblem) -> ConversationAction
    ) async throws -> Response {
        let app = try self.authorize(
            request, context, .conversations, limited: .requests, query: ["actor"])
        let conversation = try self.place(context, hasMembers: true)
        let actor = try self.actor(request)
        // Only a POST goes by its idempotency key: to put something twice is to put it once.
        let (body, once) =
            request.method == .post
            ? try await self.keyedBody(request, context, app) : (try await self.body(request), nil)
        let change = try action(body)
        try body.refuseUnknown()
        return try await self.execute(app, actor, .change(conversation, change), once: once)
    }

    private func rename(_ request: Request, _ context: Context) async throws -> Response {
        try await self.change(request, context) { (body: APIBody) throws(APIProblem) in
            .rename(try body.string("name"))
        }
    }

    private func setPortrait(_ request: Request, _ context: Context) async throws -> Response {
        try await self.change(request, context) { (body: APIBody) throws(APIProblem) in
            .setPortrait(try body.optionalString("portrait"))
        }
    }

    private func addMembers(_ request: Request, _ context: Context) async throws -> Response {
        try await self.change(request, context) { (body: APIBody) throws(APIProblem) in
            .add(Set(try self.identifiers(try body.strings("users"), "users")).sorted())
        }
    }

    private func setRole(_ request: Request, _ context: Context) async throws -> Response {
        try await self.change(request, context) { (body: APIBody) throws(APIProblem) in
            .setRole(try self.person(context), try self.word(try body.string("role"), "role"))
        }
    }

    private func setNickname(_ request: Request, _ context: Context) async throws -> Response {
        try await self.change(request, context) { (body: APIBody) throws(APIProblem) in
            .setNickname(try self.person(context), try body.optionalString("nickname"))
        }
    }
}
