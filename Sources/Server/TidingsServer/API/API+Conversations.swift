import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    /// The most members any configuration allows (`policy.members_max`).
    private static let membersMax = 3_000

    func addConversations(to app: RouterGroup<Context>) {
        app.get("conversations") { try await self.conversations($0, $1) }
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
        conversation.put("only-admins-write") { try await self.setOnlyAdminsWrite($0, $1) }
    }

    func putConversation(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .conversations)
        let conversation = try self.place(context, hasMembers: true)
        let body = try await self.body(request)
        let name = try body.optionalString("name") ?? ""
        if !name.isEmpty { try ConversationAction.rename(name).validate() }
        let portrait = try body.optionalString("portrait")
        try ConversationAction.setPortrait(portrait).validate()
        let members = try self.members(try body.textsOrObjects("members"))
        let push = try body.pushOptions()
        try body.refuseUnknown()
        let record = ConversationRecord(
            app: app, conversation: conversation, name: name, portrait: portrait, members: members, push: push)
        return try await self.execute(.putConversation(record))
    }

    /// Members by id, or with role and nickname.
    private func members(_ list: [APIBody.TextOrObject]) throws(InvalidField) -> [Member] {
        try InvalidField.check(list.count, atMost: Self.membersMax, "members", unit: " people")
        var members: [Member] = []
        for (index, element) in list.enumerated() {
            let field = "members[\(index)]"
            switch element {
            case .text(let id): members.append(Member(try UserID.validated(id, field: field)))
            case .object(let body):
                let user = try UserID.validated(try body.string("user"), field: "\(field).user")
                let role: MemberRole = try self.word(try body.optionalString("role") ?? "member", "\(field).role")
                let nickname = try body.optionalString("nickname")
                try body.refuseUnknown()
                if let nickname { try DisplayName.check(nickname, field: "\(field).nickname") }
                members.append(Member(user, role: role, nickname: nickname))
            }
        }
        return members
    }

    /// The actor owns the new conversation.
    private func createConversation(_ request: Request, _ context: Context) async throws -> Response {
        let (app, conversation, actor) = try self.subject(request, context)
        let (body, once) = try await self.keyedBody(request, context, app)
        let name = try body.string("name")
        let portrait = try body.optionalString("portrait")
        let members = try self.people(try body.strings("members"), "members", max: Self.membersMax)
        try body.refuseUnknown()
        let action = ConversationAction.create(name: name, portrait: portrait, members: members)
        let invited = try await self.change(app, actor, conversation, action, once: once)
        return .json(
            [
                "type": .string(conversation.type.rawValue), "target": .string(conversation.target),
                "invited": JSONValue(invited),
            ], status: .created)
    }

    /// Groups, discussions and chat rooms.
    private func conversations(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .conversations, query: Paging.query)
        let paging = try Paging(request)
        let after = try paging.after { text -> ConversationID? in
            let parts = text.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let type = ConversationType(rawValue: String(parts[0])) else { return nil }
            return ConversationID(type: type, target: String(parts[1]))
        }
        let question = APICommand.conversations(app, after: after, limit: paging.limit)
        guard case .conversations(let found, let hasMore) = try await self.result(of: question) else {
            throw APIProblem.bug
        }
        let last = found.last.map { "\($0.id.type.rawValue) \($0.id.target)" }
        return .json([
            "conversations": .array(found.map(\.json)), "next": paging.next(after: last, hasMore: hasMore),
        ])
    }

    private func conversation(_ request: Request, _ context: Context) async throws -> Response {
        let (app, conversation, actor) = try self.subject(request, context)
        guard case .conversation(let info) = try await self.answer(app, actor, .conversation(conversation)) else {
            throw APIProblem.bug
        }
        return .json(info.json)
    }

    private func dissolve(_ request: Request, _ context: Context) async throws -> Response {
        let (app, conversation, actor) = try self.subject(request, context)
        return try await self.execute(app, actor, .change(conversation, .dissolve))
    }

    private func removeMember(_ request: Request, _ context: Context) async throws -> Response {
        let (app, conversation, actor) = try self.subject(request, context)
        return try await self.execute(app, actor, .change(conversation, .remove([try self.person(context)])))
    }

    /// Which conversation a request is about, and who asks.
    func subject(_ request: Request, _ context: Context) throws -> (AppID, ConversationID, UserID?) {
        let app = try self.authorize(request, context, .conversations, limited: .requests, query: ["actor"])
        return (app, try self.place(context, hasMembers: true), try self.actor(request))
    }

    /// What the request is about, and its body; `carryOut` follows with what is to be done.
    func change(_ request: Request, _ context: Context) async throws -> ChangeRequest {
        let (app, conversation, actor) = try self.subject(request, context)
        let (body, once) = try await self.keyedBody(request, context, app)
        return ChangeRequest(app: app, conversation: conversation, actor: actor, body: body, once: once)
    }

    func carryOut(_ action: ConversationAction, _ change: ChangeRequest) async throws -> Response {
        try change.body.refuseUnknown()
        return try await self.execute(
            change.app, change.actor, .change(change.conversation, action), once: change.once)
    }

    private func rename(_ request: Request, _ context: Context) async throws -> Response {
        let change = try await self.change(request, context)
        return try await self.carryOut(.rename(try change.body.string("name")), change)
    }

    private func setPortrait(_ request: Request, _ context: Context) async throws -> Response {
        let change = try await self.change(request, context)
        return try await self.carryOut(.setPortrait(try change.body.optionalString("portrait")), change)
    }

    private func addMembers(_ request: Request, _ context: Context) async throws -> Response {
        let change = try await self.change(request, context)
        let users = try self.people(try change.body.strings("users"), "users")
        try change.body.refuseUnknown()
        let invited = try await self.change(
            change.app, change.actor, change.conversation, .add(users), once: change.once)
        return invited.isEmpty ? Response(status: .noContent) : .json(["invited": JSONValue(invited)])
    }

    private func setOnlyAdminsWrite(_ request: Request, _ context: Context) async throws -> Response {
        let change = try await self.change(request, context)
        return try await self.carryOut(.setOnlyAdminsWrite(try change.body.bool("only_admins_write")), change)
    }

    private func setRole(_ request: Request, _ context: Context) async throws -> Response {
        let change = try await self.change(request, context)
        let (user, role) = (try self.person(context), try change.body.string("role"))
        return try await self.carryOut(.setRole(user, try self.word(role, "role")), change)
    }

    private func setNickname(_ request: Request, _ context: Context) async throws -> Response {
        let change = try await self.change(request, context)
        let (user, nickname) = (try self.person(context), try change.body.optionalString("nickname"))
        return try await self.carryOut(.setNickname(user, nickname), change)
    }
}

/// A request to change a conversation.
struct ChangeRequest {
    var app: AppID
    var conversation: ConversationID
    var actor: UserID?
    var body: APIBody
    var once: Once?
}

extension ListedConversation {
    fileprivate var json: JSONValue {
        [
            "conversation": self.id.json, "name": .string(self.name), "portrait": .optional(self.portrait),
            "members": .int(Int64(self.members)), "is_dissolved": .bool(self.isDissolved),
        ]
    }
}
