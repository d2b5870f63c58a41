/// The number of a request on one connection, chosen by the client, and never used twice on it.
public typealias RequestNumber = UInt64

/// What a client asks beside sending and syncing. Answered by one `ClientAnswer`; bad input by `.refused`, and nothing changed.
public enum ClientRequest: Hashable, Sendable {
    /// Do something with a conversation that has members. Answers `.done`.
    case change(ConversationID, ConversationAction)
    /// Recall a message: the person's own within the server's time for it, anybody's as an admin or owner of the group.
    /// Answers `.done`.
    case recall(MessageID)
    /// Give a message of the person's own another content, within the server's time for it. Answers `.done`.
    case edit(MessageID, content: String)
    /// Delete messages for the person alone. Answers `.done`.
    case delete(Deletion)
    /// Set how loud a conversation may be. Answers `.done`.
    case setConversationSettings(ConversationID, ConversationSettings)
    /// Set levels by kind, quiet hours, hidden content and language. Answers `.done`.
    case setPersonSettings(PersonSettings)
    /// Refuse messages of somebody, or no longer. Answers `.done`.
    case setBlocked(UserID, Bool)
    /// A conversation with members as it is now: a member's question. Answers `.conversation`.
    case conversation(ConversationID)
    /// What the person has set. Answers `.settings`.
    case settings
    /// Stored messages of a conversation before one of them, newest first; from the newest for nil. At most 100.
    /// Answers `.history`.
    case history(ConversationID, before: MessageID?, limit: UInt32)
    /// Hear a chat room from now on, on this connection, with its newest messages. Answers `.history`.
    case enterRoom(ConversationID, history: UInt32)
    /// Hear it no longer. Answers `.done`.
    case exitRoom(ConversationID)
    /// Who has got a message of the person's own, and who has read it. Answers `.receipts`.
    case receipts(MessageID)
    /// Be told from now on, on this connection, when these people come and go, and how far they get with what the person writes
    /// to each of them alone. Answers `.presence`.
    case watch([UserID])
    /// Be told no longer. Answers `.done`.
    case unwatch([UserID])
    /// Go on with another user token of the same person, before the one of this connection ends. Answers `.done`.
    case renewToken(String)
}

/// What a request is answered.
public enum ClientAnswer: Hashable, Sendable {
    /// It is done and synced. The position of the entry it made in the person's own log; 0 if it made none.
    case done(LogPosition)
    /// Bad input, or try again (`unavailable`); nothing was changed.
    case refused(ServerFrame.Problem)
    /// A conversation with its members.
    case conversation(ConversationInfo)
    /// What the person has set.
    case settings(AllSettings)
    /// Messages, newest first; whether there are older ones.
    case history([Message], hasMore: Bool)
    /// Who has got a message and who has read it.
    case receipts(MessageReceipts)
    /// Whether people are there, sorted by person.
    case presence([Presence])
}

/// A conversation with members as it is now.
public struct ConversationInfo: Hashable, Sendable, Identifiable {
    /// The conversation.
    public var id: ConversationID
    /// The membership version.
    public var version: UInt64
    /// Its name.
    public var name: String
    /// Its image, a URL; nil for none.
    public var portrait: String?
    /// Sorted by id.
    public var members: [Member]
    /// Nobody can write any more.
    public var isDissolved: Bool

    /// A conversation from its parts.
    public init(
        id: ConversationID, version: UInt64, name: String, portrait: String?, members: [Member], isDissolved: Bool
    ) {
        self.id = id
        self.version = version
        self.name = name
        self.portrait = portrait
        self.members = members
        self.isDissolved = isDissolved
    }
}

/// Everything a person has set.
public struct AllSettings: Hashable, Sendable {
    /// What holds everywhere.
    public var person: PersonSettings
    /// What holds in conversations that have settings of their own.
    public var conversations: [ConversationID: ConversationSettings]
    /// Whose messages are refused, sorted.
    public var blocked: [UserID]

    /// Settings from their parts; by default none.
    public init(
        person: PersonSettings = PersonSettings(), conversations: [ConversationID: ConversationSettings] = [:],
        blocked: [UserID] = []
    ) {
        self.person = person
        self.conversations = conversations
        self.blocked = blocked
    }
}

/// Something of interest now and never again: told to connections in the foreground, never stored, never pushed.
public enum Signal: Hashable, Sendable {
    /// Somebody is typing in a conversation, or no longer.
    case typing(ConversationID, UserID, isTyping: Bool)
    /// A message in a chat room this connection hears.
    case room(Message)
    /// Somebody who is watched has come or gone.
    case presence(Presence)
    /// Somebody who is watched has got, or read, what was written in a conversation up to a message.
    case receipt(ConversationID, UserID, ReceiptKind, upTo: MessageID)
}
