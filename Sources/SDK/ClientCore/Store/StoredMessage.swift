public import TidingsModel

/// A message in the local store.
public struct StoredMessage: Hashable, Sendable, Identifiable {
    /// The message.
    public var message: Message
    /// The conversation as this person sees it.
    public var conversation: ConversationID
    /// The position in the person's log.
    public var position: LogPosition
    /// True if it counts as unread.
    public var isUnread: Bool
    /// True if the sender has recalled it; its content is gone then.
    public var isRecalled = false
    /// True if the sender has changed its content.
    public var isEdited = false
    /// True if it addresses this person by name, by id or with everybody.
    public var mentionsMe = false
    /// True if the server has lost it, as when a copy of its database was put back: it stands in no log, and its `position` is no log
    /// position.
    public var isOnlyHere = false

    /// Positions from here on are in no log: they keep the order of messages that the server has lost.
    package static let beyondLog: LogPosition = 1 << 62

    package init(
        message: Message, conversation: ConversationID, position: LogPosition, isUnread: Bool, isRecalled: Bool = false,
        isEdited: Bool = false, mentionsMe: Bool = false, isOnlyHere: Bool = false
    ) {
        self.message = message
        self.conversation = conversation
        self.position = position
        self.isUnread = isUnread
        self.isRecalled = isRecalled
        self.isEdited = isEdited
        self.mentionsMe = mentionsMe
        self.isOnlyHere = isOnlyHere
    }

    /// The message's id.
    public var id: MessageID { self.message.id }
    /// The text of a text message or of an answer; nil for other types.
    public var text: String? { self.message.text }
    /// The typed content; `custom` for types of the app's own and for content that is not what its object name promises.
    public var content: MessageContent { self.message.typedContent }

    /// It says nothing any more; whether it counts as unread stays.
    package mutating func recall() {
        self.isRecalled = true
        self.message.content = "{}"
        self.message.pushText = nil
        self.message.push = nil
    }

    /// Replaces the content. A recalled message stays recalled.
    package mutating func edit(_ content: String) {
        guard !self.isRecalled else { return }
        self.message.content = content
        self.isEdited = true
    }
}

/// A conversation with its newest message.
public struct ConversationSummary: Hashable, Sendable, Identifiable {
    /// The conversation as this person sees it.
    public var conversation: ConversationID
    /// The newest message.
    public var last: StoredMessage
    /// How many messages are unread.
    public var unread: Int
    /// How many of the unread messages mention this person.
    public var mentions = 0
    /// How loud it may be.
    public var level: NotificationLevel
    /// The name of a group or discussion; nil for other kinds, and while it is not known.
    public var name: String?
    /// The image of a group or discussion, a URL.
    public var portrait: String?
    /// Nobody can write any more.
    public var isDissolved = false
    /// Since when the person has it pinned, wall milliseconds since 1970; nil if it is not.
    public var pinnedAt: Int64?
    /// True if it stands in `archivedConversations`.
    public var isArchived: Bool
    /// The text that the person has typed there and not sent.
    public var draft: ConversationDraft?

    package init(
        conversation: ConversationID, last: StoredMessage, count: LocalUnreadCounts.Count, level: NotificationLevel,
        settings: ConversationSettings?, name: String?, portrait: String?, isDissolved: Bool
    ) {
        self.pinnedAt = settings?.pinnedAt
        self.isArchived = settings?.isArchived ?? false
        self.draft = settings?.draft
        self.conversation = conversation
        self.last = last
        self.unread = count.unread
        self.mentions = count.mentions
        self.level = level
        self.name = name
        self.portrait = portrait
        self.isDissolved = isDissolved
    }

    /// The conversation.
    public var id: ConversationID { self.conversation }

    /// The pinned ones first, the one pinned last before all others; then by the newest message.
    package static func comesFirst(_ left: ConversationSummary, _ right: ConversationSummary) -> Bool {
        (left.pinnedAt ?? .min, left.last.id) > (right.pinnedAt ?? .min, right.last.id)
    }
}
