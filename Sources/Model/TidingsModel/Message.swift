/// What a sender wants to say, before the server has accepted it.
public struct MessageDraft: Hashable, Sendable {
    /// The sender's id of the message; a retry carries the same one.
    public var clientMessageID: ClientMessageID
    /// The conversation as the sender sees it.
    public var conversation: ConversationID
    /// The type of the content (S0.13).
    public var objectName: ObjectName
    /// The content, UTF-8 JSON as the object name defines it; for `RC:TxtMsg` an object with `content`. At most 32,768 bytes.
    public var content: String
    /// How the message counts.
    public var flags: MessageFlags
    /// The text a push shows, or nil for the kind's default.
    public var pushText: String?

    /// A draft.
    public init(
        clientMessageID: ClientMessageID, conversation: ConversationID, objectName: ObjectName, content: String,
        flags: MessageFlags = .normal, pushText: String? = nil
    ) {
        self.clientMessageID = clientMessageID
        self.conversation = conversation
        self.objectName = objectName
        self.content = content
        self.flags = flags
        self.pushText = pushText
    }

    /// The largest content in bytes of UTF-8.
    public static let contentBytesMax = 32_768
    /// The largest push text in bytes of UTF-8.
    public static let pushTextBytesMax = 1_024

    /// Checks everything that can be checked without knowing the conversation.
    ///
    /// - Throws: `InvalidField` for an id, target, content or push text that breaks its rule.
    public func validate() throws(InvalidField) {
        _ = try ClientMessageID.validated(self.clientMessageID.rawValue, field: "client_message_id")
        _ = try UserID.validated(self.conversation.target, field: "conversation.target")
        _ = try ObjectName.validated(self.objectName.rawValue, field: "object_name")
        guard !self.content.isEmpty else { throw InvalidField(field: "content", rule: "must not be empty") }
        guard self.content.utf8.count <= Self.contentBytesMax else {
            throw InvalidField(
                field: "content", rule: "must be at most \(Self.contentBytesMax) bytes, got \(self.content.utf8.count)")
        }
        if let text = self.pushText, text.utf8.count > Self.pushTextBytesMax {
            throw InvalidField(
                field: "push_text", rule: "must be at most \(Self.pushTextBytesMax) bytes, got \(text.utf8.count)")
        }
    }
}

/// How a message counts.
public struct MessageFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Kept in history. A command message is not.
    public static let stored = MessageFlags(rawValue: 1 << 0)
    /// Counts as unread for its recipients.
    public static let counted = MessageFlags(rawValue: 1 << 1)
    /// May ring: as a local notification or a push.
    public static let notified = MessageFlags(rawValue: 1 << 2)

    /// Stored, counted and notified.
    public static let normal: MessageFlags = [.stored, .counted, .notified]
}

/// A message the server has accepted: it is synced to disk and will not change.
public struct Message: Hashable, Sendable {
    /// The id, unique in the server.
    public var id: MessageID
    /// The app (tenant).
    public var app: AppID
    /// Who sent it.
    public var sender: UserID
    /// The conversation as the *sender* sees it.
    public var conversation: ConversationID
    /// The sender's id of the message.
    public var clientMessageID: ClientMessageID
    /// The type of the content (S0.13).
    public var objectName: ObjectName
    /// The content.
    public var content: String
    /// How the message counts.
    public var flags: MessageFlags
    /// The text a push shows, or nil for the kind's default.
    public var pushText: String?
    /// When the server accepted it, wall milliseconds since 1970.
    public var sentAt: Int64

    /// A message from its parts.
    public init(
        id: MessageID, app: AppID, sender: UserID, conversation: ConversationID, clientMessageID: ClientMessageID,
        objectName: ObjectName, content: String, flags: MessageFlags, pushText: String?, sentAt: Int64
    ) {
        self.id = id
        self.app = app
        self.sender = sender
        self.conversation = conversation
        self.clientMessageID = clientMessageID
        self.objectName = objectName
        self.content = content
        self.flags = flags
        self.pushText = pushText
        self.sentAt = sentAt
    }

    /// The conversation as `user` sees it: for the recipient of a one-to-one message the target is the sender (S0.16).
    public func conversation(seenBy user: UserID) -> ConversationID {
        self.conversation.type.targetIsPeer && user != self.sender
            ? ConversationID(type: self.conversation.type, target: self.sender.rawValue) : self.conversation
    }
}

/// One entry of a person's log: something that changes what the person should see.
public struct LogEntry: Hashable, Sendable {
    /// The position in the person's log, 1 or more, without gaps.
    public var position: LogPosition
    /// What happened.
    public var body: Body

    /// What a log entry can be.
    public enum Body: Hashable, Sendable {
        /// A message in one of the person's conversations, sent by the person or by somebody else.
        case message(Message)
        /// The person has read a conversation up to and including a log position of their own, on one of their devices.
        case read(conversation: ConversationID, upTo: LogPosition)
        /// A message of the app's backend to the app itself (S4.10).
        case custom(CustomMessage)
        /// An earlier message was withdrawn.
        case recall(Recall)
    }

    /// An entry at a position.
    public init(position: LogPosition, body: Body) {
        self.position = position
        self.body = body
    }
}
