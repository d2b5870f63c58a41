import Foundation
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// What the notification service extension asks, with the token its device received at the last connect (DESIGN §7
/// "Extension").
extension Api {
    /// How many entries one fetch brings at most (DESIGN §5 "Keep-one").
    private static let missedMax: Int64 = 20

    /// Adds the extension's routes.
    func addExtension(to router: Router<Context>) {
        let group = router.group("v1/extension")
        group.post("receipts") { request, _ in try await self.receipt(request) }
        group.get("missed") { request, _ in try await self.missed(request) }
    }

    private static let unauthorizedExtension = Self.unauthorized(
        "must be \"Bearer TOKEN\" with the extension token of the last connect of a device that is signed in")

    private func token(_ request: Request) throws(ApiProblem) -> UserTokens.ExtensionToken {
        guard let token = Self.bearer(request),
            let checked = self.tokens.checked(extensionToken: token, wallMilliseconds: Clocks.now().wall)
        else { throw Self.unauthorizedExtension }
        return checked
    }

    /// Asks the core, which knows whether the device is still signed in.
    private func ask(
        _ question: ExtensionRequest, _ token: UserTokens.ExtensionToken
    ) async throws(ApiProblem) -> ApiResult {
        let result = await self.core(
            .fromExtension(token.device, tokenIssuedAt: token.issuedAt, question))
        guard case .refused(let problem) = result else { return result }
        throw problem.code == .invalidToken ? Self.unauthorizedExtension : ApiProblem(problem)
    }

    private func receipt(_ request: Request) async throws -> Response {
        let token = try self.token(request)
        var body = try await self.body(request)
        let message = try self.messageID(try body.string("message_id"), "message_id")
        guard let receipt = LegReceipt(rawValue: try body.string("receipt")) else {
            throw ApiProblem(InvalidField(field: "receipt", rule: "must be shown or opened"))
        }
        try body.refuseUnknown()
        guard try await self.ask(.receipt(message, receipt), token) == .done else { throw ApiProblem.bug }
        return Response(status: .noContent)
    }

    private func missed(_ request: Request) async throws -> Response {
        let token = try self.token(request)
        let after = try self.number(request, "after", 0...Int64.max, default: nil)
        let limit = try self.number(request, "limit", 1...Self.missedMax, default: Self.missedMax)
        let question = ExtensionRequest.missed(after: LogPosition(after), limit: Int(limit))
        guard case .missed(let page, let words, let hidesContent) = try await self.ask(question, token) else {
            throw ApiProblem.bug
        }
        return .json(page.json(for: token.device.user.user, in: words, hidesContent: hidesContent))
    }
}

extension LogPage {
    /// Whether a phone that has missed the message may tell of it now: it is one that is pushed, and nothing later in the page
    /// withdraws, deletes or has read it (DESIGN §5).
    private func rings(_ message: Message, at position: LogPosition, for user: UserID) -> Bool {
        guard message.flags.contains(.notified), message.flags.contains(.stored), message.sender != user,
            message.conversation.type != .chatRoom
        else { return false }
        let conversation = message.conversation(seenBy: user)
        return !self.entries.contains { later in
            switch later.body {
            case .read(conversation, let upTo): upTo >= position
            case .recall(let recall): recall.message == message.id
            case .deletion(let deletion): deletion.messages.contains(message.id)
            case .read, .message, .custom, .edit, .conversationSettings, .personSettings, .blocked, .change,
                .unknown:
                false
            }
        }
    }

    /// What a notification of a message says, as a push of it would have said.
    private func text(of message: Message, for user: UserID, in words: PushWords) -> PushInfo.Text {
        PushInfo.Text(
            title: PushText.title(
                of: message, seenBy: user, conversationName: self.names[message.conversation] ?? ""),
            body: PushText.shortText(of: message, words: words))
    }

    /// The page as one person sees it.
    fileprivate func json(for user: UserID, in words: PushWords, hidesContent: Bool) -> JSONValue {
        let entries = self.entries.map { entry -> JSONValue in
            switch entry.body {
            case .message(let message):
                [
                    "position": .int(entry.position), "message_id": .string(message.id.description),
                    "rings": .bool(self.rings(message, at: entry.position, for: user)),
                    "text": hidesContent
                        ? ["body": .string(words.hidden)] : self.text(of: message, for: user, in: words).dictionary,
                    "hidden": .bool(hidesContent),
                    NotificationPayload.key: (try? NotificationPayload(message: message, seenBy: user)).map {
                        .object($0.dictionary)
                    } ?? .null,
                    "sender": .string(message.sender.rawValue),
                    "conversation": message.conversation(seenBy: user).json,
                    "object_name": .string(message.objectName.rawValue), "content": .string(message.content),
                    "push_text": message.pushText.map { .string($0) } ?? .null,
                    "counted": .bool(message.flags.contains(.counted)),
                    "notified": .bool(message.flags.contains(.notified)), "sent_at": .int(message.sentAt),
                ]
            case .read(let conversation, let upTo):
                ["position": .int(entry.position), "read": conversation.json, "up_to": .int(upTo)]
            case .custom: ["position": .int(entry.position), "custom": true]
            case .edit, .deletion, .conversationSettings, .personSettings, .blocked, .change, .unknown:
                ["position": .int(entry.position), "other": true]
            case .recall(let recall):
                [
                    "position": .int(entry.position), "recall": .string(recall.message.description),
                    "conversation": recall.conversation.json,
                ]
            }
        }
        return ["entries": .array(entries), "head": .int(self.head), "unread": .int(self.unread)]
    }
}
