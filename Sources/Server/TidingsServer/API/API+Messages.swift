import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    static let messageRoutes: [Route] = [
        .app(.post, "messages", .messages, limited: .messages, API.send),
        .app(.get, "messages/{id}", .history, limited: .requests, API.readMessage),
        .app(.patch, "messages/{id}", .messages, limited: .requests, query: ["actor"], API.edit),
        .app(.delete, "messages/{id}", .messages, limited: .requests, query: ["actor"], API.recall),
        .app(.get, "messages/{id}/trace", .trace, API.trace),
        .app(.get, "messages/{id}/receipts", .history, limited: .requests, query: ["actor"], API.receipts),
        .app(
            .get, "conversations/{type}/{id}/messages", .history, limited: .requests, query: ["user"] + Paging.query,
            API.history),
        .app(.post, "custom-messages", .messages, limited: .messages, API.sendCustom),
    ]

    /// The client message id makes a repeated request one message, also without an idempotency key.
    private func send(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, app)
        let sender = try UserID.validated(try body.string("sender"), field: "sender")
        var past: PastRefusals = []
        if try body.bool("ignores_blocks", default: false) { past.insert(.blocks) }
        if try body.bool("ignores_ban", default: false) { past.insert(.ban) }
        let author = try body.optionalString("author")
        let draft = try self.draft(body)
        if let author { context.note.author = try UserID.validated(author, field: "author").rawValue }
        return try await self.send(
            .send(
                UserKey(app: app, user: sender), draft, past: past, author: author.map { UserID($0) }),
            once, context)
    }

    /// A message of the backend to the app itself on people's phones (S4.10).
    private func sendCustom(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
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
        let (accepted, isRepeat) = try await self.ask(command, \.accepted, once: once)
        context.note.made = accepted.messageID.description
        return .json(
            [
                "message_id": accepted.messageID, "client_message_id": accepted.clientMessageID,
                "sent_at": accepted.sentAt, "repeated": isRepeat,
            ], status: isRepeat ? .ok : .created)
    }

    func draft(_ body: APIBody) throws(InvalidField) -> MessageDraft {
        let conversation = try self.conversation(body)
        let (name, content) = try self.typedContent(body)
        var flags: MessageFlags = []
        for (name, flag) in [("stored", MessageFlags.stored), ("counted", .counted), ("notified", .notified)]
        where try body.bool(name, default: true) {
            flags.insert(flag)
        }
        let draft = MessageDraft(
            clientMessageID: ClientMessageID(try body.string("client_message_id")), conversation: conversation,
            objectName: name, content: content, flags: flags, pushText: try body.optionalString("push_text"),
            mentions: try self.mentions(body),
            recipients: try self.people(
                try body.strings("recipients", default: []), "recipients", max: MessageDraft.recipientsMax),
            lifetimeMilliseconds: try body.optionalInteger("lifetime_ms", in: 1...MessageDraft.lifetimeMax),
            push: try body.pushOptions())
        try body.refuseUnknown()
        try draft.validate()
        return draft
    }

    /// Reads a conversation as answers tell it.
    func conversation(_ body: APIBody) throws(InvalidField) -> ConversationID {
        let place = try body.object("conversation", suchAs: #"{"type": "direct", "target": "bob"}"#)
        let type = try self.kind(place, "type", of: "conversation")
        let target = try UserID.validated(try place.string("target"), field: "conversation.target")
        try place.refuseUnknown()
        return ConversationID(type: type, target: target.rawValue)
    }

    /// Reads a kind, with the word for it if that stands there, too.
    func kind(_ place: APIBody, _ member: String, of path: String) throws(InvalidField) -> ConversationType {
        let kind: ConversationType = try self.word(try place.string(member), "\(path).\(member)")
        let name = try place.optionalString("\(member)_name")
        guard name == nil || name == kind.word else { throw place.problem("\(member)_name", "must be \(kind.word)") }
        return kind
    }

    /// Reads `object_name`, and what a message of that type says.
    func typedContent(_ body: APIBody) throws(InvalidField) -> (name: ObjectName, content: String) {
        let name = try body.optionalString("object_name").map { ObjectName(word: $0) } ?? .text
        let said = try self.content(body)
        try self.check(said, of: name, body)
        return (name, said.content)
    }

    /// Reads what a message says, and which member says it: `content`, as text or as an object, or `text`.
    private func content(_ body: APIBody) throws(InvalidField) -> (member: String, content: String) {
        switch (try body.optionalContent("content"), try body.optionalString("text")) {
        case (let content?, nil): return ("content", content)
        case (nil, let text?): return ("text", MessageContent.text(text).json)
        case (.some, .some): throw body.problem("text", "must be left out beside content")
        case (nil, nil): throw body.problem("content", "must be present, or text")
        }
    }

    private func check(
        _ said: (member: String, content: String), of name: ObjectName, _ body: APIBody
    ) throws(InvalidField) {
        guard said.member != "text" || name == .text else {
            throw body.problem("text", "must be left out of a message of type \(name): it has content")
        }
        if let rule = StoreRules.rule(brokenBy: said.content, of: name) { throw body.problem(said.member, rule) }
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

    private func edit(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let id = try self.messageID(try Self.parameter("id", context), "id")
        let actor = try self.actor(request)
        let body = try await self.body(request)
        let said = try self.content(body)
        try body.refuseUnknown()
        let edit = ClientRequest.edit(id, content: said.content)
        try edit.validate()
        // Its type says what it may say. Who may edit it, and whether it is there, the edit itself says.
        if let message = try await self.read(.readMessage(app, id), \.trace)?.message {
            try self.check(said, of: message.objectName, body)
        }
        return try await self.execute(app, actor, edit)
    }

    private func recall(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let id = try self.messageID(try Self.parameter("id", context), "id")
        return try await self.execute(app, try self.actor(request), .recall(id))
    }

    /// Newest first.
    private func history(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let conversation = try self.place(context)
        guard let user = request.member("user") else { throw InvalidField(field: "user", rule: "must be present") }
        let reader = try UserID.validated(user, field: "user")
        let paging = try Paging(request, of: ["user"])
        let before = try paging.after { MessageID($0) }
        let question = ClientRequest.history(conversation, before: before, limit: UInt32(paging.limit))
        let (messages, hasMore) = try await self.history(app, reader, question, before)
        return .json([
            "messages": messages.map(\.json),
            "next": paging.next(after: messages.last?.id.description, hasMore: hasMore),
        ])
    }

    /// A message that is not there was the last one of a page of another store: one that was restored since.
    private func history(
        _ app: AppID, _ reader: UserID, _ question: ClientRequest, _ before: MessageID?
    ) async throws -> (messages: [Message], hasMore: Bool) {
        do {
            return try await self.ask(app, reader, question, \.history)
        } catch let problem as APIProblem where before != nil && problem.code == .told(.unknownMessage) {
            throw Paging.bad
        }
    }

    private func receipts(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let id = try self.messageID(try Self.parameter("id", context), "id")
        let receipts = try await self.ask(app, try self.actor(request), .receipts(id), \.receipts)
        return .json([
            "message_id": receipts.id, "recipients": receipts.recipients, "delivered": receipts.delivered,
            "read": receipts.read,
        ])
    }

    private func trace(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let id = try self.messageID(try Self.parameter("id", context), "id")
        guard let trace = try await self.ask(.trace(app, id), \.trace) else { throw Self.unknownMessage }
        return .json(trace.json)
    }

    /// Tells a message as edited; one that was recalled says nothing. A recall, or a message to the app itself, is none.
    private func readMessage(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let id = try self.messageID(try Self.parameter("id", context), "id")
        guard let found = try await self.read(.readMessage(app, id), \.trace), let message = found.message else {
            throw Self.unknownMessage
        }
        return .json(message.json + ["recall": found.recall])
    }

    private static var unknownMessage: APIProblem {
        APIProblem(.told(.unknownMessage), field: "id", rule: "names no message of this app")
    }
}

extension Message {
    var json: JSONMembers {
        [
            "message_id": self.id, "sender": self.sender, "conversation": self.conversation,
            "object_name": self.objectName, "object_type": self.objectName.word,
            "client_message_id": self.clientMessageID, "content": self.content,
            "counted": self.flags.contains(.counted), "notified": self.flags.contains(.notified),
            "unlisted": self.flags.contains(.unlisted), "push_text": self.pushText, "push": self.push?.json,
            "sent_at": self.sentAt, "mentions": self.mentions.json, "recipients": self.recipients,
            "expires_at": self.expiresAt,
        ]
    }
}

extension Mentions {
    fileprivate var json: JSONMembers? {
        switch self {
        case .none: nil
        case .users(let users): ["users": users]
        case .everyone: ["everyone": true]
        }
    }
}
