import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServerCore
import StoreModel
import TidingsModel

extension Api {
    /// The longest and the usual life of a user token, in seconds.
    private static let tokenSeconds: (max: Int64, usual: Int64) = (365 * 86_400, 86_400)

    /// `POST /v1/apps/{app}/tokens`: a user token.
    func issueToken(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .tokens)
        var body = try await self.body(request)
        let user: UserID = try self.identifier(try body.string("user"), "user")
        let seconds = try body.integer(
            "expires_in_seconds", in: 1...Self.tokenSeconds.max, default: Self.tokenSeconds.usual)
        try body.refuseUnknown()
        let expiresAt = Clocks.now().wall / 1_000 + seconds
        guard let token = self.tokens.token(for: UserKey(app: app, user: user), expiresAtSeconds: expiresAt) else {
            throw ApiProblem.bug
        }
        return .json(
            [
                "token": .string(token), "app": .string(app.rawValue), "user": .string(user.rawValue),
                "expires_at": .int(expiresAt),
            ], status: .created)
    }

    /// `POST /v1/apps/{app}/messages`: sends as a person. The client message id makes a repeated request one message.
    func send(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages)
        var body = try await self.body(request)
        let sender: UserID = try self.identifier(try body.string("sender"), "sender")
        let draft = try self.draft(&body)
        switch await self.server.ask(.send(UserKey(app: app, user: sender), draft)) {
        case .accepted(let accepted):
            // Position 0 stands for a repeat (`ServerFrame.SendAccepted`).
            let isRepeat = accepted.position == 0
            return .json(
                [
                    "message_id": .string(accepted.messageID.description),
                    "client_message_id": .string(accepted.clientMessageID.rawValue), "sent_at": .int(accepted.sentAt),
                    "repeated": .bool(isRepeat),
                ], status: isRepeat ? .ok : .created)
        case .refused(let problem): throw ApiProblem(problem)
        case .done, .trace, .page: throw ApiProblem.bug
        }
    }

    private func draft(_ body: inout ApiBody) throws(ApiProblem) -> MessageDraft {
        var place = try body.object("conversation")
        let conversation = ConversationID(
            type: try self.type(try place.string("type"), "conversation.type"), target: try place.string("target"))
        try place.refuseUnknown()
        var flags: MessageFlags = []
        for (name, flag) in [("stored", MessageFlags.stored), ("counted", .counted), ("notified", .notified)]
        where try body.bool(name, default: true) {
            flags.insert(flag)
        }
        let draft = MessageDraft(
            clientMessageID: ClientMessageID(try body.string("client_message_id")), conversation: conversation,
            objectName: ObjectName(try body.optionalString("object_name") ?? ObjectName.text.rawValue),
            content: try body.string("content"), flags: flags, pushText: try body.optionalString("push_text"))
        try body.refuseUnknown()
        do throws(InvalidField) {
            try draft.validate()
        } catch {
            throw ApiProblem(error)
        }
        return draft
    }

    /// `PUT /v1/apps/{app}/conversations/{type}/{id}`: creates a conversation or replaces its members.
    func putConversation(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .conversations)
        let type = try self.type(context.parameters.get("type") ?? "", "type")
        guard !type.targetIsPeer else {
            throw ApiProblem(InvalidField(field: "type", rule: "must be DS, GRP or CHRM: others have no members"))
        }
        let id: UserID = try self.identifier(context.parameters.get("id") ?? "", "id")
        var body = try await self.body(request)
        let name = try body.optionalString("name") ?? ""
        guard name.utf8.count <= 256 else {
            throw ApiProblem(InvalidField(field: "name", rule: "must be at most 256 bytes, got \(name.utf8.count)"))
        }
        var members: [UserID] = []
        for (index, text) in try body.strings("members").enumerated() {
            members.append(try self.identifier(text, "members[\(index)]"))
        }
        try body.refuseUnknown()
        let record = ConversationRecord(
            app: app, conversation: ConversationID(type: type, target: id.rawValue), name: name, members: members)
        switch await self.server.ask(.putConversation(record)) {
        case .done: return Response(status: .noContent)
        case .refused(let problem): throw ApiProblem(problem)
        case .accepted, .trace, .page: throw ApiProblem.bug
        }
    }

    /// `GET /v1/apps/{app}/messages/{id}/trace`: the life of a message, without its text.
    func trace(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace)
        let id = try self.messageID(context.parameters.get("id") ?? "", "id")
        switch await self.server.ask(.trace(app, id)) {
        case .trace(let trace?): return .json(trace.json)
        case .trace(nil):
            throw ApiProblem(.notFound, code: "unknown_message", field: "id", rule: "names no message of this app")
        case .refused(let problem): throw ApiProblem(problem)
        case .accepted, .done, .page: throw ApiProblem.bug
        }
    }
}

extension MessageTrace {
    /// The trace as the API tells it. The content is left out: it belongs to the people, not to operators.
    var json: JSONValue {
        [
            "message_id": .string(self.message.id.description), "sender": .string(self.message.sender.rawValue),
            "conversation": self.message.conversation.json,
            "object_name": .string(self.message.objectName.rawValue),
            "client_message_id": .string(self.message.clientMessageID.rawValue), "sent_at": .int(self.message.sentAt),
            "deliveries": .array(
                self.deliveries.map { ["user": .string($0.user.rawValue), "position": .int($0.position)] }),
            "open_legs": .array(self.open.map(\.json)), "ended_legs": .array(self.ended.map(\.json)),
            "receipts": .array(
                self.receipts.map { receipt in
                    .members(
                        receipt.leg.members + [
                            ("receipt", .string(receipt.receipt.rawValue)), ("at", .int(receipt.at)),
                        ])
                }),
        ]
    }
}

extension ConversationID {
    /// The conversation as the API tells it.
    var json: JSONValue { ["type": .string(self.type.rawValue), "target": .string(self.target)] }
}

extension LegID {
    fileprivate var members: [(String, JSONValue)] {
        [
            ("user", .string(self.user.user.rawValue)),
            ("device", self.device.map { .string($0.rawValue) } ?? .null),
        ]
    }
}

extension OpenLeg {
    fileprivate var json: JSONValue {
        .members(
            self.leg.members + [
                ("wait", .string(self.wait.rawValue)), ("attempts", .int(self.attempts)),
                ("apns_id", self.apnsID.map { .string($0) } ?? .null),
                ("not_before", self.notBefore.map { .int($0) } ?? .null),
            ])
    }
}

extension EndedLeg {
    fileprivate var json: JSONValue {
        .members(
            self.leg.members + [
                ("end", .string(self.end.name)), ("detail", self.end.detail.map { .string($0) } ?? .null),
                ("at", .int(self.at)),
            ])
    }
}
