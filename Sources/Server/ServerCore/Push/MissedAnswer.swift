package import StoreModel
package import TidingsModel

// What a service extension is answered when it asks for what its phone has missed (`GET /v1/extension/missed`).
extension LogPage {
    /// Returns true for a pushed kind of message that nothing later in the page recalls, deletes or reads, and that no removal from the
    /// group follows (design.md §5).
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
        let entries = self.entries.objects { entry in
            guard !erased.contains(entry.position) else { return ["position": entry.position, "other": true] }
            switch entry.body {
            case .message(let message):
                return self.entry(message, at: entry.position, for: user, in: words, hidesContent: hidesContent)
            case .read(let conversation, let upTo):
                return ["position": entry.position, "read": conversation, "up_to": upTo]
            case .custom: return ["position": entry.position, "custom": true]
            case .edit, .deletion, .conversationSettings, .personSettings, .blocked, .change, .unknown:
                return ["position": entry.position, "other": true]
            case .recall(let recall):
                return ["position": entry.position, "recall": recall.message, "conversation": recall.conversation]
            }
        }
        return JSONMembers(["entries": entries, "head": self.head, "unread": self.unread]).json
    }

    private func entry(
        _ message: Message, at position: LogPosition, for user: UserID, in words: NotificationWords, hidesContent: Bool
    ) -> JSONMembers {
        var members: JSONMembers = [
            "position": position, "message_id": message.id, "rings": self.rings(message, at: position, for: user),
            "text": hidesContent
                ? JSONMembers(["body": words.hidden]).json : self.text(of: message, in: words).dictionary,
            "hidden": hidesContent,
            NotificationPayload.key: try? NotificationPayload(message: message, seenBy: user, at: position).dictionary,
            "sender": message.sender, "push": message.push?.withoutTexts?.json,
            "conversation": message.conversation(seenBy: user), "object_name": message.objectName,
        ]
        if !hidesContent {
            members += [
                "content": message.content, "image": message.pushImage(from: self.imageHosts),
                "portrait": self.names[ConversationSender(of: message)]?.portrait,
                "mention": message.mentions.include(user), "reply": message.answers(user),
                "push_text": message.pushText,
            ]
        }
        return members + [
            "counted": message.flags.contains(.counted), "notified": message.flags.contains(.notified),
            "sent_at": message.sentAt,
        ]
    }
}
