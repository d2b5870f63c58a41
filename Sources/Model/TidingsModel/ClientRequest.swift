/// The number of a request on one connection, chosen by the client, and never used twice on it.
public typealias RequestNumber = UInt64

/// A client's request beside sending and syncing. Answered by one `ClientAnswer`; bad input by `.refused`, and nothing changed.
public enum ClientRequest: Hashable, Sendable {
    case change(ConversationID, ConversationAction)
    /// The person's own within the server's time for it, anybody's as an admin or owner of the group. Answers
    /// `.done`.
    case recall(MessageID)
    /// The person's own, within the server's time for it. Answers `.done`.
    case edit(MessageID, content: String)
    /// For the person alone. Answers `.done`.
    case delete(Deletion)
    /// The level alone. Answers `.done`.
    case setConversationSettings(ConversationID, ConversationSettings)
    /// Where it stands in the person's list, and what waits in it. Answers `.done`.
    case setConversationState(ConversationID, ConversationStateChange)
    case setPersonSettings(PersonSettings)
    /// Refuses messages of a person, or no longer. Answers `.done`.
    case setBlocked(UserID, Bool)
    /// For members. Answers `.conversation`.
    case conversation(ConversationID)
    case settings
    /// Stored messages before one of them, newest first; from the newest for nil. At most 100. Answers `.history`.
    case history(ConversationID, before: MessageID?, limit: UInt32)
    /// Hear a chat room on this connection, from its newest messages on. Answers `.history`.
    case enterRoom(ConversationID, history: UInt32)
    case exitRoom(ConversationID)
    /// Asks for the receipts of a message of the person's own. Answers `.receipts`.
    case receipts(MessageID)
    /// Be told on this connection when these people come and go, and how far they get with the person's one-to-one
    /// messages. Answers `.presence`.
    case watch([UserID])
    case unwatch([UserID])
    /// Continue with another user token of the same person. Answers `.done`.
    case renewToken(String)
    /// The person's own, where the app lets people choose it. Answers `.done`.
    case setProfile(Profile)
    /// Asks for 1 to 100 people and accounts. Answers `.profiles`, in the order asked.
    case profiles([UserID])
    /// The token by which this device is rung (PushKit's, for the topic `<bundle identifier>.voip`), or nil to clear it. Answers
    /// `.done`.
    case registerVoIP(PushRegistration?)
    /// The person's own, sorted by id. Answers `.devices`.
    case devices
    /// Another device of the person's own. Answers `.done`.
    case signOutDevice(DeviceID)
    /// Follow an account of those that people follow, or no longer; its kind and id. Answers `.done`.
    case setFollowing(ConversationID, Bool)
    /// Which accounts the person follows. Answers `.following`.
    case following
    /// Sets the person's tags for the audiences of pushes, out of the app's list and in place of those before. Answers `.tags`.
    case setTags([String])
}

/// The answer to a request.
public enum ClientAnswer: Hashable, Sendable {
    /// Carried out and synced. The position of the entry in the person's own log; 0 if there is none.
    case done(LogPosition)
    /// Done as in `done`, and these people, sorted, were invited instead of being made members.
    case invited([UserID], LogPosition)
    /// Bad input, or try again (`unavailable`); nothing was changed.
    case refused(ServerFrame.Problem)
    case conversation(ConversationInfo)
    case settings(AllSettings)
    case history([Message], hasMore: Bool)
    case receipts(MessageReceipts)
    case presence([Presence])
    case profiles([UserProfile])
    case devices([OwnDevice])
    /// Kinds and ids of accounts that there are, sorted.
    case following([ConversationID])
    /// The tags as they are stored: sorted, each once.
    case tags([String])
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
    /// Only owner and admins may write.
    public var onlyAdminsWrite: Bool
    /// The options of its messages' notifications, which the backend alone is told.
    package var push: PushOptions?

    /// A conversation from its parts.
    public init(
        id: ConversationID, version: UInt64, name: String, portrait: String?, members: [Member], isDissolved: Bool,
        onlyAdminsWrite: Bool = false
    ) {
        self.id = id
        self.version = version
        self.name = name
        self.portrait = portrait
        self.members = members
        self.isDissolved = isDissolved
        self.onlyAdminsWrite = onlyAdminsWrite
    }

    /// Returns true if a person may write here at a moment of the wall clock: a member who is not muted, and an owner or admin where only
    /// these may. In a chat room also people who are no members may write.
    public func mayWrite(_ user: UserID, at wall: Int64) -> Bool {
        guard !self.isDissolved else { return false }
        guard let member = self.members.first(where: { $0.id == user }) else {
            return self.id.type == .chatRoom && !self.onlyAdminsWrite
        }
        return member.mute?.holds(at: wall) != true && (!self.onlyAdminsWrite || member.role != .member)
    }
}

/// Everything a person has set.
public struct AllSettings: Hashable, Sendable {
    /// The settings for all conversations.
    public var person: PersonSettings
    /// The settings of conversations that have their own.
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

    package mutating func set(_ settings: ConversationSettings, for conversation: ConversationID) {
        self.conversations[conversation] = settings == ConversationSettings() ? nil : settings
    }

    /// `blocked` stays sorted.
    package mutating func setBlocked(_ user: UserID, _ isBlocked: Bool) {
        self.blocked.removeAll { $0 == user }
        guard isBlocked else { return }
        let index = self.blocked.firstIndex { user < $0 } ?? self.blocked.endIndex
        self.blocked.insert(user, at: index)
    }
}

/// Something of interest now and never again: told to connections in the foreground, never stored, never pushed.
public enum Signal: Hashable, Sendable {
    case typing(ConversationID, UserID, isTyping: Bool)
    /// In a chat room this connection hears.
    case room(Message)
    case presence(Presence)
    /// A person who is watched has received, or read, the conversation up to a message.
    case receipt(ConversationID, UserID, ReceiptKind, upTo: MessageID)
}
