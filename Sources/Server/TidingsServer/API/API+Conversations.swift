import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    /// The most members any configuration allows (`policy.members_max`).
    private static let membersMax = 3_000

    private static let listQuery = ["actor"] + Paging.query

    static let conversationRoutes: [Route] = [
        .app(.get, "conversations", .conversations, query: Paging.query, API.conversations),
        .app(.put, "conversations/{type}/{id}", .conversations, API.putConversation),
        .conversation(.post, "", API.createConversation),
        .conversation(.get, "", API.conversation),
        .conversationChange(.delete, "") { _, _, _ in .dissolve },
        .conversationChange(.put, "name") { _, body, _ in .rename(try body.string("name")) },
        .conversationChange(.put, "portrait") { _, body, _ in .setPortrait(try body.optionalString("portrait")) },
        .conversation(.post, "members", API.addMembers),
        .conversationChange(.delete, "members/{user}") { api, _, context in .remove([try api.person(context)]) },
        .conversationChange(.put, "members/{user}/role") { api, body, context in
            .setRole(try api.person(context), try api.word(try body.string("role"), "role"))
        },
        .conversationChange(.put, "members/{user}/nickname") { api, body, context in
            .setNickname(try api.person(context), try body.optionalString("nickname"))
        },
        .conversationChange(.put, "only-admins-write") { _, body, _ in
            .setOnlyAdminsWrite(try body.bool("only_admins_write"))
        },
        .app(.get, "conversations/{type}/{id}/bans", .conversations, query: listQuery) { api in
            { try await api.restrictions(.bans, "bans", $0, $1, $2) }
        },
        .conversationChange(.put, "bans/{user}") { .ban([try $0.person($2)], until: try $1.optionalTime("until")) },
        .conversationChange(.delete, "bans/{user}") { api, _, context in .unban([try api.person(context)]) },
        .app(.get, "conversations/{type}/{id}/mutes", .conversations, query: listQuery) { api in
            { try await api.restrictions(.mutes, "mutes", $0, $1, $2) }
        },
        .conversationChange(.put, "mutes/{user}") { .mute([try $0.person($2)], until: try $1.optionalTime("until")) },
        .conversationChange(.delete, "mutes/{user}") { api, _, context in .unmute([try api.person(context)]) },
        .app(.get, "conversations/{type}/{id}/invitations", .conversations, query: listQuery, API.invitations),
        .conversationChange(.delete, "invitations/{user}") { api, _, context in .withdraw([try api.person(context)]) },
    ]

    private func putConversation(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
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
    private func createConversation(
        _ subject: ConversationSubject, _ request: Request, _ context: Context
    ) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, subject.app)
        let name = try body.string("name")
        let portrait = try body.optionalString("portrait")
        let members = try self.people(try body.strings("members"), "members", max: Self.membersMax)
        try body.refuseUnknown()
        let action = ConversationAction.create(name: name, portrait: portrait, members: members)
        let invited = try await self.ask(subject.app, subject.actor, subject.change(action), \.invited, once: once)
        return .json(subject.conversation.told + ["invited": invited], status: .created)
    }

    /// Groups, discussions and chat rooms.
    private func conversations(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let paging = try Paging(request)
        let after = try paging.after { ConversationID(place: $0) }
        let (found, hasMore) = try await self.read(
            .readConversations(app, after: after, limit: paging.limit), \.conversations)
        let next = paging.next(after: found.last?.id.place, hasMore: hasMore)
        return .json(["conversations": found.map(\.json), "next": next])
    }

    private func conversation(
        _ subject: ConversationSubject, _ request: Request, _ context: Context
    ) async throws -> Response {
        let question = ClientRequest.conversation(subject.conversation)
        return .json(try await self.ask(subject.app, subject.actor, question, \.conversation).json)
    }

    private func addMembers(
        _ subject: ConversationSubject, _ request: Request, _ context: Context
    ) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, subject.app)
        let users = try self.people(try body.strings("users"), "users")
        try body.refuseUnknown()
        let invited = try await self.ask(
            subject.app, subject.actor, subject.change(.add(users)), \.invited, once: once)
        return invited.isEmpty ? Response(status: .noContent) : .json(["invited": invited])
    }

    // MARK: - Who may not come in, who may not write, and who is asked to come in

    private func restrictions(
        _ kind: RestrictionKind, _ name: String, _ app: AppID, _ request: Request, _ context: Context
    ) async throws -> Response {
        let (command, paging) = try self.question(kind, app, request, context)
        let bans = try await self.read(command, \.bans)
        let (page, next) = try paging.page(of: bans, by: \.user, text: \.rawValue, read: { UserID($0) })
        return .json([name: page.objects { ["user": $0.user, "until": $0.until] }, "next": next])
    }

    private func invitations(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let (command, paging) = try self.question(.invitations, app, request, context)
        let people = try await self.read(command, \.invited)
        let (page, next) = try paging.page(of: people, by: \.user, text: \.rawValue, read: { UserID($0) })
        return .json(["invitations": page.objects { ["user": $0.user, "by": $0.by, "at": $0.at] }, "next": next])
    }

    private func question(
        _ kind: RestrictionKind, _ app: AppID, _ request: Request, _ context: Context
    ) throws -> (StoreCommand, Paging) {
        let conversation = try self.place(context, hasMembers: true)
        let command = StoreCommand.readRestrictions(
            kind, app, conversation, asked: try self.actor(request), at: Clocks.now().wall)
        return (command, try Paging(request, of: ["actor"]))
    }
}

/// The conversation that a request is about, and who asks.
struct ConversationSubject {
    var app: AppID
    var conversation: ConversationID
    var actor: UserID?

    func change(_ action: ConversationAction) -> ClientRequest { .change(self.conversation, action) }
}

extension Route {
    /// As `app`, about the conversation of the path, which goes on below it, and for the query's actor.
    static func conversation(
        _ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler<ConversationSubject>
    ) -> Self {
        let path = Self.path("conversations/{type}/{id}", path)
        return .app(method, path, .conversations, limited: .requests, query: ["actor"]) { api in
            let answer = handler(api)
            return { app, request, context in
                let conversation = try api.place(context, hasMembers: true)
                let subject = ConversationSubject(app: app, conversation: conversation, actor: try api.actor(request))
                return try await answer(subject, request, context)
            }
        }
    }

    /// Changes the conversation as path and body say.
    static func conversationChange(
        _ method: HTTPRequest.Method, _ path: String,
        _ action: @escaping @Sendable (API, APIBody, APIContext) throws -> ConversationAction
    ) -> Self {
        .conversation(method, path) { api in
            { subject, request, context in
                let (body, once) = try await api.keyedBody(
                    request, context, subject.app, mayBeEmpty: method == .delete)
                let action = try action(api, body, context)
                try body.refuseUnknown()
                return try await api.execute(subject.app, subject.actor, subject.change(action), once: once)
            }
        }
    }
}

extension ListedConversation {
    fileprivate var json: JSONMembers {
        [
            "conversation": self.id, "name": self.name, "portrait": self.portrait, "members": self.members,
            "is_dissolved": self.isDissolved,
        ]
    }
}

extension ConversationInfo {
    var json: JSONMembers {
        [
            "conversation": self.id, "version": self.version, "name": self.name, "portrait": self.portrait,
            "push": self.push?.json, "is_dissolved": self.isDissolved,
            "members": self.members.objects { member in
                [
                    "user": member.id, "role": member.role, "nickname": member.nickname, "is_muted": member.mute != nil,
                    "muted_until": member.mute?.until,
                ]
            }, "only_admins_write": self.onlyAdminsWrite,
        ]
    }
}
