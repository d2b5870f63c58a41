/// A sender's message before the server has accepted it.
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
    /// Whom it addresses by name.
    public var mentions: Mentions
    /// The members of a group or discussion it is for, sorted, without repeats; empty for all of them.
    public var recipients: [UserID]
    /// How long after acceptance it is worth a push and a place on the screen, in milliseconds, 1 or more; nil for as
    /// long as the server keeps it.
    public var lifetimeMilliseconds: Int64?
    /// How its notification looks and sounds, beside `pushText`; nil for what conversation and app say.
    public var push: PushOptions? {
        get { self.sharedPush?.options }
        set { self.sharedPush = SharedPushOptions(newValue) }
    }
    private var sharedPush: SharedPushOptions?
    /// The account it is sent as, by one of its operators: its kind is the conversation's. Nil for a person's own.
    public var account: UserID?

    /// A draft.
    public init(
        clientMessageID: ClientMessageID, conversation: ConversationID, objectName: ObjectName, content: String,
        flags: MessageFlags = .normal, pushText: String? = nil, mentions: Mentions = .none, recipients: [UserID] = [],
        lifetimeMilliseconds: Int64? = nil, push: PushOptions? = nil, account: UserID? = nil
    ) {
        self.sharedPush = SharedPushOptions(push)
        self.clientMessageID = clientMessageID
        self.conversation = conversation
        self.objectName = objectName
        self.content = content
        self.flags = flags
        self.pushText = pushText
        self.mentions = mentions
        self.recipients = recipients
        self.lifetimeMilliseconds = lifetimeMilliseconds
        self.account = account
    }

    /// How many members a message may be directed to.
    public static let recipientsMax = 100
    /// The longest lifetime: 30 days, in milliseconds.
    public static let lifetimeMax: Int64 = 2_592_000_000
    /// The largest content in bytes of UTF-8.
    public static let contentBytesMax = 32_768
    /// The largest push text in bytes of UTF-8.
    public static let pushTextBytesMax = 1_024

    /// Throws `InvalidField` for an id, target, content, push text or option that breaks its rule; the rest needs the
    /// conversation.
    public func validate() throws(InvalidField) {
        _ = try ClientMessageID.validated(self.clientMessageID.rawValue, field: "client_message_id")
        _ = try UserID.validated(self.conversation.target, field: "conversation.target")
        _ = try ObjectName.validated(self.objectName.rawValue, field: "object_name")
        guard !self.content.isEmpty else { throw InvalidField(field: "content", rule: "must not be empty") }
        try InvalidField.check(self.content.utf8.count, atMost: Self.contentBytesMax, "content", unit: " bytes")
        if let text = self.pushText {
            try InvalidField.check(text.utf8.count, atMost: Self.pushTextBytesMax, "push_text", unit: " bytes")
            if !text.isEmpty { try InvalidField.checkVisible(text, "push_text") }
        }
        if let push = self.push {
            try push.validate()
            try InvalidField.check(
                push.text == nil || self.pushText == nil, "push.text", "must not be set beside push_text")
        }
        try self.validateAddressees()
        if let account {
            try InvalidField.check(
                self.conversation.type.isService, "account",
                "must be left out in a conversation of type \(self.conversation.type.rawValue)")
            _ = try UserID.validated(account.rawValue, field: "account")
        }
        if let lifetime = self.lifetimeMilliseconds {
            try InvalidField.check(lifetime, in: 1...Self.lifetimeMax, "lifetime_ms", unit: " milliseconds")
        }
    }

    private func validateAddressees() throws(InvalidField) {
        if case .users(let users) = self.mentions {
            try InvalidField.check(users.count, in: 1...Mentions.usersMax, "mentions.users")
            for user in users { _ = try UserID.validated(user.rawValue, field: "mentions.users") }
        }
        if self.mentions != .none, self.conversation.type.targetIsPeer {
            throw InvalidField(
                field: "mentions", rule: "must be none in a conversation of type \(self.conversation.type.rawValue)")
        }
        guard !self.recipients.isEmpty else { return }
        try InvalidField.check(
            self.conversation.type == .group || self.conversation.type == .discussion, "recipients",
            "must be empty but in a group or discussion, got type \(self.conversation.type.rawValue)")
        try InvalidField.check(self.recipients.count, atMost: Self.recipientsMax, "recipients")
        for user in self.recipients { _ = try UserID.validated(user.rawValue, field: "recipients") }
    }
}

/// How a message counts.
public struct MessageFlags: OptionSet, Hashable, Sendable {
    /// One bit for each flag.
    public let rawValue: UInt8
    /// Flags by their bits; unknown ones are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Kept in history. A command message is not.
    public static let stored = MessageFlags(rawValue: 1 << 0)
    /// Counts as unread for its recipients.
    public static let counted = MessageFlags(rawValue: 1 << 1)
    /// May ring: as a local notification or a push.
    public static let notified = MessageFlags(rawValue: 1 << 2)
    /// Stands in no list of conversations: a push that has none. Of what a client sends it is dropped.
    public static let unlisted = MessageFlags(rawValue: 1 << 3)

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
    /// How a push job's text reaches the notification; nil for the usual way. The server's own affair: no frame carries it.
    package var textMode: PushTextMode?
    /// The text a push shows, or nil for the kind's default.
    public var pushText: String?
    /// When the server accepted it, wall milliseconds since 1970.
    public var sentAt: Int64
    /// Whom it addresses by name.
    public var mentions: Mentions
    /// The members of a group or discussion it is for, sorted; empty for all of them.
    public var recipients: [UserID]
    /// From when on it is not worth a push or a place on the screen, wall milliseconds since 1970; nil for never.
    public var expiresAt: Int64?
    /// How its notification looks and sounds: the message's own options over the conversation's and the app's; nil for none.
    public var push: PushOptions? {
        get { self.sharedPush?.options }
        set { self.sharedPush = SharedPushOptions(newValue) }
    }
    package private(set) var sharedPush: SharedPushOptions?
    /// The push job whose message it is; nil for any other. The server's own affair: no frame carries it.
    package var pushJob: MessageID?
    /// The devices of its person that a push job's message is for, sorted; empty for all of them. The server's own affair, too.
    package var devices: [DeviceID] = []

    package func isFor(_ device: DeviceID) -> Bool { self.devices.isEmpty || self.devices.contains(device) }

    /// A message from its parts.
    public init(
        id: MessageID, app: AppID, sender: UserID, conversation: ConversationID, clientMessageID: ClientMessageID,
        objectName: ObjectName, content: String, flags: MessageFlags, pushText: String?, sentAt: Int64,
        mentions: Mentions = .none, recipients: [UserID] = [], expiresAt: Int64? = nil, push: PushOptions? = nil
    ) {
        self.sharedPush = SharedPushOptions(push)
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
        self.mentions = mentions
        self.recipients = recipients
        self.expiresAt = expiresAt
    }

    /// Takes from the conversation's options, then from the app's, what the message leaves open.
    package mutating func fillPush(conversation: PushOptions?, app: PushOptions?) {
        guard conversation != nil || app != nil else { return }
        var options = (self.push ?? PushOptions()).merged(over: conversation).merged(over: app)
        if self.pushText != nil { options.text = nil }
        self.push = options.nonEmpty
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
    /// The event.
    public var body: Body

    /// The body of a log entry. Large bodies are indirect: an entry is held in many places on its way to every device, and a copy costs one
    /// count.
    public enum Body: Hashable, Sendable {
        indirect case message(Message)
        /// Up to and including a position of the person's own log, on one of their devices.
        case read(conversation: ConversationID, upTo: LogPosition)
        indirect case custom(CustomMessage)
        indirect case recall(Recall)
        indirect case edit(Edit)
        /// By the person, for themselves.
        case deletion(Deletion)
        /// Replaces the settings before.
        indirect case conversationSettings(ConversationID, ConversationSettings)
        /// Replaces the settings before.
        indirect case personSettings(PersonSettings)
        case blocked(UserID, Bool)
        indirect case change(ConversationChange)
        /// An entry from a newer server that this build does not know: a bare position.
        case unknown
    }

    /// An entry at a position.
    public init(position: LogPosition, body: Body) {
        self.position = position
        self.body = body
    }
}
