/// The recall of an earlier message (design.md §5 "Recall").
public struct Recall: Hashable, Sendable, Identifiable {
    /// The recall's own id, newer than the message's: its push, too, is a leg with an end.
    public var id: MessageID
    /// The recalled message.
    public var message: MessageID
    /// The conversation as the owner of the log sees it.
    public var conversation: ConversationID
    /// Who withdrew it: its sender, an admin, or nobody by name if it was the app's backend.
    public var sender: UserID
    /// Wall milliseconds since 1970.
    public var at: Int64

    /// A recall from its parts.
    public init(id: MessageID, message: MessageID, conversation: ConversationID, sender: UserID, at: Int64) {
        self.id = id
        self.message = message
        self.conversation = conversation
        self.sender = sender
        self.at = at
    }
}

/// Another content of an earlier message, by its sender. It neither counts nor rings.
public struct Edit: Hashable, Sendable {
    /// The message.
    public var message: MessageID
    /// The conversation as the owner of the log sees it.
    public var conversation: ConversationID
    /// The new content.
    public var content: String
    /// Wall milliseconds since 1970.
    public var at: Int64

    /// An edit from its parts.
    public init(message: MessageID, conversation: ConversationID, content: String, at: Int64) {
        self.message = message
        self.conversation = conversation
        self.content = content
        self.at = at
    }
}

/// Messages the person has deleted for themselves alone, on all their devices.
public struct Deletion: Hashable, Sendable {
    /// The conversation as the person sees it.
    public var conversation: ConversationID
    /// The messages, sorted, without repeats: 1 to `messagesMax`.
    public var messages: [MessageID]

    /// How many messages one deletion may name.
    public static let messagesMax = 100

    /// A deletion from its parts.
    public init(conversation: ConversationID, messages: [MessageID]) {
        self.conversation = conversation
        self.messages = messages
    }
}
