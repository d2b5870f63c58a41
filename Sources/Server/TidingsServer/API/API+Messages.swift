import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    func addMessages(to app: RouterGroup<Context>) {
        app.post("messages") { try await self.send($0, $1) }
        app.patch("messages/{id}") { try await self.edit($0, $1) }
        app.delete("messages/{id}") { try await self.recall($0, $1) }
        app.get("messages/{id}/trace") { try await self.trace($0, $1) }
        app.get("messages/{id}/receipts") { try await self.receipts($0, $1) }
        app.get("conversations/{type}/{id}/messages") { try await self.history($0, $1) }
        app.post("custom-messages") { try await self.sendCustom($0, $1) }
    }

    /// The client message id makes a repeated request one message, also without an idempotency key.
    private func send(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .messages)
        let (body, once) = try await self.keyedBody(request, context, app)
        let sender = try UserID.validated(try body.string("sender"), field: "sender")
        let ignoresBlocks = try body.bool("ignores_blocks", default: false)
        let author = try body.optionalString("author")
        let draft = try self.draft(body)
        if let author { context.note.author = try UserID.validated(author, field: "author").rawValue }
        return try await self.send(
            .send(
                UserKey(app: app, user: sender), draft, ignoresBlocks: ignoresBlocks, author: author.map { UserID($0) }),
            once, context)
    }

    /// A message of the backend to the app itself on people's phones (S4.10).
    private func sendCustom(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .messages)
        let (body, once) = try await self.keyedBody(request, context, app)
        let recipients = try self.people(
            try body.strings("recipients"), "recipients", max: CustomOperation.recipientsMax)
        try InvalidField.check(
            recipients.count, in: 1...CustomOperation.recipientsMax, "recipients", unit: " people")
        let id = try ClientMessageID.validated(try body.string("client_message_id"), field: "client_message_id")
        let lifetime = try body.optionalInteger("lifetime_ms", in: 1...MessageDraft.lifetimeMax)
        // Id and time are the core's to give: the lifetime is counted from then.
        let message = CustomMessage(
            id: MessageID(rawValue: 0), title: try body.optionalString("title"), content: try body.string("content"),
            contentType: try body.optionalString("content_type"), extras: try body.members("extras"), sentAt: 0,
            expiresAt: lifetime)
        try body.refuseUnknown()
        try message.validate()
        return try await self.send(
            .sendCustom(app, message, recipients: recipients, clientMessageID: id), once, context)
    }

    private func send(_ command: APICommand, _ once: Once?, _ context: Context) async throws -> Response {
        guard case .accepted(let accepted, let isRepeat) = try await self.result(of: command, once: once) else {
            throw APIProblem.bug
        }
        context.note.made = accepted.messageID.description
        return .json(
            [
                "message_id": .string(accepted.messageID.description),
                "client_message_id": .string(accepted.clientMessageID.rawValue), "sent_at": .int(accepted.sentAt),
                "repeated": .bool(isRepeat),
            ], status: isRepeat ? .ok : .created)
    }

    func draft(_ body: APIBody) throws(InvalidField) -> MessageDraft {
        let place = try body.object("conversation")
        let conversation = ConversationID(
            type: try self.word(try place.string("type"), "conversation.type"), target: try place.string("target"))
        try place.refuseUnknown()
        var flags: MessageFlags = []
        for (name, flag) in [("stored", MessageFlags.stored), ("counted", .counted), ("notified", .notified)]
        where try body.bool(name, default: true) {
            flags.insert(flag)
        }
        let draft = MessageDraft(
            clientMessageID: ClientMessageID(try body.string("client_message_id")), conversation: conversation,
            objectName: ObjectName(try body.optionalString("object_name") ?? ObjectName.text.rawValue),
            content: try body.string("content"), flags: flags, pushText: try body.optionalString("push_text"),
            mentions: try self.mentions(body),
            recipients: try self.people(
                try body.strings("recipients", default: []), "recipients", max: MessageDraft.recipientsMax),
            lifetimeMilliseconds: try body.optionalInteger("lifetime_ms", in: 1...MessageDraft.lifetimeMax),
            push: try body.pushOptions())
        try body.refuseUnknown()
        try draft.validate()
        return draft
    }

    private func mentions(_ body: APIBody) throws(InvalidField) -> Mentions {
        guard let mentions = try body.optionalObject("mentions") else { return .none }
        let isEveryone = try mentions.bool("everyone", default: false)
        let users = try self.people(
            try mentions.strings("users", default: []), "mentions.users", max: Mentions.usersMax)
        try mentions.refuseUnknown()
        guard users.isEmpty else {
            try InvalidField.check(!isEveryone, "mentions.users", "must be empty if everyone is mentioned")
            return .users(users)
        }
        return isEveryone ? .everyone : .none
    }

    private func edit(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .requests, query: ["actor"])
        let id = try self.messageID(try Self.parameter("id", context), "id")
        let actor = try self.actor(request)
        let body = try await self.body(request)
        let content = try body.string("content")
        try body.refuseUnknown()
        return try await self.execute(app, actor, .edit(id, content: content))
    }

    private func recall(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .requests, query: ["actor"])
        let id = try self.messageID(try Self.parameter("id", context), "id")
        return try await self.execute(app, try self.actor(request), .recall(id))
    }

    /// Newest first.
    private func history(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(
            request, context, .history, limited: .requests, query: ["user"] + Paging.query)
        let conversation = try self.place(context)
        guard let user = request.member("user") else {
            throw InvalidField(field: "user", rule: "must be present")
        }
        let reader = try UserID.validated(user, field: "user")
        let paging = try Paging(request, of: ["user"])
        let before = try paging.after { MessageID($0) }
        let question = ClientRequest.history(conversation, before: before, limit: UInt32(paging.limit))
        guard case .history(let messages, let hasMore) = try await self.history(app, reader, question, before) else {
            throw APIProblem.bug
        }
        return .json([
            "messages": .array(messages.map(\.json)),
            "next": paging.next(after: messages.last?.id.description, hasMore: hasMore),
        ])
    }

    /// A message that is not there was the last one of a page of another store: one that was restored since.
    private func history(
        _ app: AppID, _ reader: UserID, _ question: ClientRequest, _ before: MessageID?
    ) async throws -> ClientAnswer {
        do {
            return try await self.answer(app, reader, question)
        } catch let problem as APIProblem where before != nil && problem.code == .told(.unknownMessage) {
            throw Paging.bad
        }
    }

    private func receipts(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .history, limited: .requests, query: ["actor"])
        let id = try self.messageID(try Self.parameter("id", context), "id")
        guard case .receipts(let receipts) = try await self.answer(app, try self.actor(request), .receipts(id)) else {
            throw APIProblem.bug
        }
        return .json([
            "message_id": .string(receipts.id.description), "recipients": .int(Int64(receipts.recipients)),
            "delivered": .array(receipts.delivered.map { .string($0.rawValue) }),
            "read": .array(receipts.read.map { .string($0.rawValue) }),
        ])
    }

    private func trace(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace)
        let id = try self.messageID(try Self.parameter("id", context), "id")
        guard case .trace(let trace) = try await self.result(of: .trace(app, id)) else {
            throw APIProblem.bug
        }
        guard let trace else {
            throw APIProblem(.told(.unknownMessage), field: "id", rule: "names no message of this app")
        }
        return .json(trace.json)
    }
}
