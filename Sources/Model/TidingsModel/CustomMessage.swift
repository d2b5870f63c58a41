/// A message of the app's backend to the app itself (S4.10–S4.12): handed over while the app is in front, neither counted nor
/// shown, never pushed.
public struct CustomMessage: Hashable, Sendable, Identifiable {
    /// The message's id.
    public var id: MessageID
    /// A title, if the sender gave one.
    public var title: String?
    /// The content, as the app and its backend agreed.
    public var content: String
    /// What the content is, as the app and its backend agreed.
    public var contentType: String?
    /// Further values.
    public var extras: JSONObject
    /// Wall milliseconds since 1970 at which the server took it.
    public var sentAt: Int64

    /// A custom message from its parts.
    public init(
        id: MessageID, title: String? = nil, content: String, contentType: String? = nil,
        extras: JSONObject = JSONObject(), sentAt: Int64
    ) {
        self.id = id
        self.title = title
        self.content = content
        self.contentType = contentType
        self.extras = extras
        self.sentAt = sentAt
    }
}

/// The withdrawal of an earlier message (DESIGN §5 "Recall").
public struct Recall: Hashable, Sendable {
    /// The withdrawn message.
    public var message: MessageID
    /// The conversation as the owner of the log sees it.
    public var conversation: ConversationID
    /// Who withdrew it.
    public var sender: UserID
    /// Wall milliseconds since 1970.
    public var at: Int64

    /// A withdrawal from its parts.
    public init(message: MessageID, conversation: ConversationID, sender: UserID, at: Int64) {
        self.message = message
        self.conversation = conversation
        self.sender = sender
        self.at = at
    }
}
