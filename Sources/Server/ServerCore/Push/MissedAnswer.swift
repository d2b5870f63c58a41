package import StoreModel
package import TidingsModel

// What a service extension is answered when it asks for what its phone has missed (`GET /v1/extension/missed`).
extension LogPage {
    /// Whether it is a pushed kind of message that nothing later in the page recalls, deletes or reads, and that no
    /// removal from the group follows (design.md §5).
    private func rings(_ message: Message, at position: LogPosition, for user: UserID) -> Bool {
        guard message.flags.contains(.notified), message.flags.contains(.stored), message.sender != user,
            message.conversation.type != .chatRoom
        else { return false }
        let conversation = message.conversation(seenBy: user)
        return !self.entries.contains { later in
            if let (read, upTo) = later.reading(by: user), read == conversation, upTo >= position { return true }
            return switch later.body {
            case .recall(let recall): recall.message == message.id
            case .deletion(let deletion): deletion.messages.contains(message.id)
            case .read, .message, .custom, .edit, .conversationSettings, .personSettings, .blocked, .change,
                .unknown:
                false
            }
        }
    }

    private func text(of message: Message, in words: NotificationWords) -> PushInfo.Text {
        let names = self.names[ConversationSender(of: message)] ?? MessageNames()
        return PushInfo.Text(
            of: message, title: PushText.title(of: message, names), sender: PushText.sender(of: message, names),
            body: PushText.shortText(of: message, in: words))
    }

    /// The JSON of `APIResult.missed` as one person sees it. Messages that were recalled, deleted or edited over keep
    /// only their position; `hidesContent` leaves out what messages say.
    package func missedAnswer(for user: UserID, in words: NotificationWords, hidesContent: Bool) -> JSONValue {
        let erased = Set(self.erased)
        let entries = self.entries.map { entry -> JSONValue in
            guard !erased.contains(entry.position) else { return ["position": .int(entry.position), "other": true] }
            switch entry.body {
            case .message(let message):
                return self.entry(message, at: entry.position, for: user, in: words, hidesContent: hidesContent)
            case .read(let conversation, let upTo):
                return ["position": .int(entry.position), "read": Self.json(conversation), "up_to": .int(upTo)]
            case .custom: return ["position": .int(entry.position), "custom": true]
            case .edit, .deletion, .conversationSettings, .personSettings, .blocked, .change, .unknown:
                return ["position": .int(entry.position), "other": true]
            case .recall(let recall):
                return [
                    "position": .int(entry.position), "recall": .string(recall.message.description),
                    "conversation": Self.json(recall.conversation),
                ]
            }
        }
        return ["entries": .array(entries), "head": .int(self.head), "unread": .int(self.unread)]
    }

    private func entry(
        _ message: Message, at position: LogPosition, for user: UserID, in words: NotificationWords, hidesContent: Bool
    ) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("position", .int(position)), ("message_id", .string(message.id.description)),
            ("rings", .bool(self.rings(message, at: position, for: user))),
            (
                "text",
                hidesContent
                    ? ["body": .string(words.hidden)] : self.text(of: message, in: words).dictionary
            ), ("hidden", .bool(hidesContent)),
            (
                NotificationPayload.key,
                (try? NotificationPayload(message: message, seenBy: user, at: position)).map {
                    JSONValue.object($0.dictionary)
                } ?? .null
            ), ("sender", .string(message.sender.rawValue)),
            ("push", message.push?.withoutTexts?.json ?? .null),
            ("conversation", Self.json(message.conversation(seenBy: user))),
            ("object_name", .string(message.objectName.rawValue)),
        ]
        if !hidesContent {
            members += [
                ("content", .string(message.content)),
                ("image", message.pushImage(from: self.imageHosts).map { .string($0) } ?? .null),
                ("portrait", .optional(self.names[ConversationSender(of: message)]?.portrait)),
                ("mention", .bool(message.mentions.include(user))), ("reply", .bool(message.answers(user))),
                ("push_text", message.pushText.map { .string($0) } ?? .null),
            ]
        }
        members += [
            ("counted", .bool(message.flags.contains(.counted))),
            ("notified", .bool(message.flags.contains(.notified))), ("sent_at", .int(message.sentAt)),
        ]
        return .members(members)
    }

    private static func json(_ conversation: ConversationID) -> JSONValue {
        ["type": .string(conversation.type.rawValue), "target": .string(conversation.target)]
    }
}
