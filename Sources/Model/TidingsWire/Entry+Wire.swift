import SwiftProtobuf
import TidingsModel

extension WireEntry {
    init(_ entry: LogEntry) {
        self.init()
        self.position = entry.position
        switch entry.body {
        case .message(let message): self.message = WireMessage(message)
        case .read(let conversation, let upTo):
            self.read = .with {
                $0.conversation = WireConversation(conversation)
                $0.upTo = upTo
            }
        case .custom(let message): self.custom = WireCustom(message)
        case .recall(let recall):
            self.recall = .with {
                $0.id = recall.id.description
                $0.message = recall.message.description
                $0.conversation = WireConversation(recall.conversation)
                $0.sender = recall.sender.rawValue
                $0.at = recall.at
            }
        case .edit(let edit):
            self.edit = .with {
                $0.message = edit.message.description
                $0.conversation = WireConversation(edit.conversation)
                $0.content = edit.content
                $0.at = edit.at
            }
        case .deletion(let deletion): self.deletion = WireDeletion(deletion)
        case .conversationSettings(let conversation, let settings):
            self.conversationSettings = WireConversationSettings(conversation, settings)
        case .personSettings(let settings): self.personSettings = WirePersonSettings(settings)
        case .blocked(let user, let isBlocked): self.blocked = WireBlocked(user, isBlocked)
        case .change(let change): self.change = WireChange(change)
        case .unknown: break
        }
    }

    func model() throws(FrameError) -> LogEntry {
        guard self.position > 0 else {
            throw .broken("entry.position", "must be at least 1")
        }
        return LogEntry(position: self.position, body: try self.content())
    }

    private func content() throws(FrameError) -> LogEntry.Body {
        switch self.body {
        // A newer server has more kinds; the position counts all the same.
        case nil: return .unknown
        case .message(let message): return .message(try message.model())
        case .read(let read):
            return .read(conversation: try read.conversation.model(field: "read.conversation"), upTo: read.upTo)
        case .custom(let message): return .custom(try message.model())
        case .recall(let recall):
            return .recall(
                Recall(
                    id: try messageID(recall.id, field: "recall.id"),
                    message: try messageID(recall.message, field: "recall.message"),
                    conversation: try recall.conversation.model(field: "recall.conversation"),
                    sender: UserID(recall.sender), at: recall.at))
        case .edit(let edit):
            return .edit(
                Edit(
                    message: try messageID(edit.message, field: "edit.message"),
                    conversation: try edit.conversation.model(field: "edit.conversation"), content: edit.content,
                    at: edit.at))
        case .deletion(let deletion): return .deletion(try deletion.model())
        case .conversationSettings(let settings):
            let (conversation, own) = try settings.model()
            return .conversationSettings(conversation, own)
        case .personSettings(let settings): return .personSettings(try settings.model())
        case .blocked(let blocked): return .blocked(UserID(blocked.user), blocked.isBlocked)
        case .change(let change):
            // An action of a newer server makes the whole entry unknown.
            guard let action = try change.action.model() else { return .unknown }
            return .change(
                ConversationChange(
                    conversation: try change.conversation.model(field: "change.conversation"),
                    version: change.version, action: action, by: change.hasBy ? UserID(change.by) : nil, at: change.at))
        }
    }
}

extension WireChange {
    fileprivate init(_ change: ConversationChange) {
        self.init()
        self.conversation = WireConversation(change.conversation)
        self.version = change.version
        self.action = WireAction(change.action)
        if let by = change.by { self.by = by.rawValue }
        self.at = change.at
    }
}

extension WireCustom {
    fileprivate init(_ message: CustomMessage) {
        self.init()
        self.id = message.id.description
        if let title = message.title { self.title = title }
        self.content = message.content
        if let type = message.contentType { self.contentType = type }
        self.extras = JSONValue.object(message.extras).text
        self.sentAt = message.sentAt
        if let expiry = message.expiresAt { self.expiresAt = expiry }
    }

    fileprivate func model() throws(FrameError) -> CustomMessage {
        // The text may be missing from programs without extras.
        guard let extras = self.extras.isEmpty ? JSONObject() : (try? JSONValue(parsing: self.extras))?.objectValue
        else {
            throw .broken("custom.extras", "must be a JSON object")
        }
        return CustomMessage(
            id: try messageID(self.id, field: "custom.id"), title: self.hasTitle ? self.title : nil,
            content: self.content, contentType: self.hasContentType ? self.contentType : nil, extras: extras,
            sentAt: self.sentAt, expiresAt: self.hasExpiresAt ? self.expiresAt : nil)
    }
}

extension WireMessage {
    init(_ message: TidingsModel.Message) {
        self.init()
        self.id = message.id.description
        self.sender = message.sender.rawValue
        self.conversation = WireConversation(message.conversation)
        self.clientMessageID = message.clientMessageID.rawValue
        self.objectName = message.objectName.rawValue
        self.content = message.content
        self.notStored = !message.flags.contains(.stored)
        self.notCounted = !message.flags.contains(.counted)
        self.notNotified = !message.flags.contains(.notified)
        self.unlisted = message.flags.contains(.unlisted)
        if let text = message.pushText { self.pushText = text }
        self.sentAt = message.sentAt
        self.app = message.app.rawValue
        if let mentions = WireMentions(message.mentions) { self.mentions = mentions }
        self.recipients = message.recipients.map(\.rawValue)
        if let expiry = message.expiresAt { self.expiresAt = expiry }
        if let push = message.push { self.push = push.json.text }
    }

    func model() throws(FrameError) -> TidingsModel.Message {
        TidingsModel.Message(
            id: try messageID(self.id, field: "message.id"), app: AppID(self.app), sender: UserID(self.sender),
            conversation: try self.conversation.model(field: "message.conversation"),
            clientMessageID: ClientMessageID(self.clientMessageID), objectName: ObjectName(self.objectName),
            content: self.content,
            flags: MessageFlags(
                notStored: self.notStored, notCounted: self.notCounted, notNotified: self.notNotified,
                unlisted: self.unlisted),
            pushText: self.hasPushText ? self.pushText : nil, sentAt: self.sentAt,
            mentions: self.hasMentions ? try self.mentions.model() : .none, recipients: sortedUsers(self.recipients),
            expiresAt: self.hasExpiresAt ? self.expiresAt : nil,
            // What a newer server says beside it is nothing for this build; the message counts all the same.
            push: PushOptions(stored: self.hasPush ? self.push : nil))
    }
}
