package import TidingsModel

/// What the server asks of its store. Commands are carried out in the order given; many share one transaction and one sync,
/// and no result is handed out before that sync (DESIGN P1, §3 "Journal first").
package enum StoreCommand: Hashable, Sendable {
    /// Accept a message: drop a repeat, check the conversation, append one journal record. The rules of this and all other
    /// commands stand at `ReferenceStore`. Without a device the app's backend has sent it, in its sender's name. Answers `.accepted`,
    /// `.duplicate` or `.refused`.
    indirect case accept(message: Message, senderDevice: DeviceID?, room: RoomAccess = RoomAccess())
    /// Create a group, discussion or chat room, or replace its name, portrait and members (a new membership version), as the
    /// backend. Answers `.done` or `.refused`.
    indirect case putConversation(ConversationRecord)
    /// Somebody does something with a conversation that has members. Answers `.changed` or `.refused`.
    indirect case change(ConversationOperation)
    /// Recall a message. Answers `.recalled` or `.refused`.
    indirect case recall(RecallOperation)
    /// Give a message another content. Answers `.noted` (with the editor's entry) or `.refused`.
    indirect case edit(EditOperation)
    /// Delete messages for one person. Answers `.noted` or `.refused`.
    case delete(UserKey, Deletion, at: Int64)
    /// Set how loud a conversation may be. Answers `.noted` or `.refused`.
    indirect case setConversationSettings(UserKey, ConversationID, ConversationSettings, at: Int64)
    /// A level that held until a time is over (`levelUntil` at or before `at`). Answers `.noted`.
    case endLevel(UserKey, ConversationID, at: Int64)
    /// Set what holds everywhere. Answers `.noted` or `.refused`.
    indirect case setPersonSettings(UserKey, PersonSettings, at: Int64)
    /// Refuse somebody's one-to-one messages, or no longer. Answers `.noted` or `.refused`.
    case setBlocked(UserKey, UserID, Bool, at: Int64)
    /// Accept a custom message for people of an app (S4.10). Answers `.accepted`, `.duplicate` or `.refused`.
    indirect case acceptCustom(CustomOperation)
    /// A device signed in (or came back): create it or update what it said of itself. Its token was issued at a time (wall
    /// milliseconds; nil if it does not say). Answers `.device`, or `.refused` if the person is banned or the token revoked.
    case signIn(DeviceKey, platform: String, tokenIssuedAt: Int64? = nil, at: Int64)
    /// A device signed out: its token is forgotten and its legs end `signed_out`. Answers `.done`.
    case signOut(DeviceKey, at: Int64)
    /// The backend bans a person, lets them in again, or revokes their tokens. Answers `.done`.
    case changeAccount(UserKey, AccountChange, at: Int64)
    /// Whether a person is banned, and which of their tokens are good. Answers `.userAccount`.
    case readAccount(UserKey)
    /// The device's push token, or what became of it. Answers `.done`, or `.taken` if another device of the app had the same
    /// token for the same topic and environment: it has none any more. `.refused` for an unknown device. `about`: what APNs has
    /// answered about a registration, which changes nothing if it is not the device's any more, and takes it from nobody; nil if
    /// the device itself registers, or takes its registration back.
    indirect case setPushState(DeviceKey, PushState, about: PushRegistration? = nil)
    /// Move a device's cursors forward; a smaller or equal value changes nothing. Answers `.done`; `.refused` for an unknown device.
    case advance(DeviceKey, settled: LogPosition?, decided: LogPosition?)
    /// The person read a conversation up to and including a position of their own log. Appends a `read` entry to that log unless
    /// the cursor stands there already. Answers `.read` or `.refused`.
    case markRead(UserKey, ConversationID, upTo: LogPosition, at: Int64)
    /// Keep an open leg: waiting, or in flight with its `apns-id` (DESIGN §3 "Push work"). Replaces an earlier state. Answers `.done`.
    case keepLeg(OpenLeg)
    /// A leg ended: the open leg, if any, goes, and the end is kept for the trace. Of several ends of a leg the first stays.
    /// Answers `.done`.
    case endLeg(EndedLeg)
    /// A receipt from the phone about a pushed message (DESIGN §5). One about a message the person has no entry of, or that is
    /// known, changes nothing. Answers `.done`.
    case receipt(LegID, LegReceipt, at: Int64)
    /// Whether what a device says to hold of its person's log is this store's log: an earlier opening with that number is known, and
    /// the entry at that position was there before the next one. After a restored copy it may not be. Answers `.isSameLog`.
    case compareLog(UserKey, HeldLog)
    /// Everything the server core needs to know about a person. Answers `.user`.
    case loadUser(UserKey)
    /// Entries of a person's log after a position, oldest first: at most `limit`, and no more after the first than fit a frame of
    /// `frameBytesMax` by `LogEntry.Body.frameBytes`. Answers `.page`.
    case readLog(UserKey, after: LogPosition, limit: Int, frameBytesMax: Int = .max)
    /// The life of one message, recall or custom message. Answers `.trace`.
    case trace(AppID, MessageID)
    /// A conversation with members as it is now; `asked` by a member, or nil for the backend. Answers `.conversation` or `.refused`.
    case readConversation(AppID, ConversationID, asked: UserID?)
    /// Messages with `.stored` of a conversation as a person sees it, before a message, newest first, as they read now: without
    /// what was recalled, deleted by the person, or directed to others. A chat room's are those of who may hear it. Answers `.history`
    /// or `.refused`.
    case readHistory(UserKey, ConversationID, before: MessageID?, limit: Int, room: RoomAccess = RoomAccess())
    /// Whether a person may write to a conversation as they see it. Answers `.done` or `.refused`.
    case mayWrite(UserKey, ConversationID, room: RoomAccess = RoomAccess())
    /// Who may not come into a chat room; `asked` by its owner or an admin, or nil for the backend. Answers `.bans` or `.refused`.
    case readBans(AppID, ConversationID, asked: UserID?, at: Int64)
    /// What a person has set. Answers `.settings`.
    case readSettings(UserKey)
    /// Who has got a message and who has read it; `asked` by its sender, or nil for the backend. A sender is not told of the reading
    /// of people who block them, whenever it was. Answers `.receipts` or `.refused`.
    case readReceipts(AppID, MessageID, asked: UserID?)
    /// How much a person has not read, in all and in one conversation. Its cost does not grow with the log. Answers `.unread`.
    case readUnread(UserKey, ConversationID?)
    /// Register the app's own object names in place of those registered before; with none, any name is accepted. Answers `.done`
    /// or `.refused`.
    case setObjectNames(AppID, [ObjectName])
    /// The object names an app has registered. Answers `.objectNames`.
    case readObjectNames(AppID)
    /// Declare a person an account of a kind that needs one (CS, MC, MP), or no longer: a conversation with it is what its customers
    /// see. Answers `.done` or `.refused`.
    case setAccount(AppID, ConversationID, isDeclared: Bool)
    /// The accounts of an app. Answers `.accounts`.
    case readAccounts(AppID)
}

/// What somebody wants to do with a conversation that has members.
package struct ConversationOperation: Hashable, Sendable {
    /// The app.
    package var app: AppID
    /// The conversation.
    package var conversation: ConversationID
    /// What is to be done.
    package var action: ConversationAction
    /// Who does it; nil for the backend, which may do everything.
    package var actor: UserID?
    /// The most members it may have, 1 or more.
    package var membersMax: Int
    /// Who may make, join and add.
    package var policy: ConversationPolicy
    /// Wall milliseconds.
    package var at: Int64

    /// An operation from its parts; without a policy the standard one of the kind holds.
    package init(
        app: AppID, conversation: ConversationID, action: ConversationAction, actor: UserID?,
        membersMax: Int = ConversationRecord.membersMax, policy: ConversationPolicy? = nil, at: Int64
    ) {
        self.app = app
        self.conversation = conversation
        self.action = action
        self.actor = actor
        self.membersMax = membersMax
        self.policy = policy ?? .standard(for: conversation.type)
        self.at = at
    }
}

/// The recall of a message.
package struct RecallOperation: Hashable, Sendable {
    /// The id of the recall; new.
    package var id: MessageID
    /// The app.
    package var app: AppID
    /// The message.
    package var message: MessageID
    /// Who recalls it; nil for the backend, which may always.
    package var actor: UserID?
    /// How long after it was sent its sender may recall it, in milliseconds.
    package var window: Int64
    /// How its sender stands to the chat room, if it is one.
    package var room: RoomAccess
    /// Wall milliseconds.
    package var at: Int64

    /// A recall from its parts.
    package init(
        id: MessageID, app: AppID, message: MessageID, actor: UserID?, window: Int64, room: RoomAccess = RoomAccess(),
        at: Int64
    ) {
        self.id = id
        self.app = app
        self.message = message
        self.actor = actor
        self.window = window
        self.room = room
        self.at = at
    }
}

/// Another content for a message.
package struct EditOperation: Hashable, Sendable {
    /// The app.
    package var app: AppID
    /// The message.
    package var message: MessageID
    /// Who edits; nil for the backend, which may always.
    package var actor: UserID?
    /// What it is to say.
    package var content: String
    /// How long after it was sent its sender may edit it, in milliseconds.
    package var window: Int64
    /// How its sender stands to the chat room, if it is one.
    package var room: RoomAccess
    /// Wall milliseconds.
    package var at: Int64

    /// An edit from its parts.
    package init(
        app: AppID, message: MessageID, actor: UserID?, content: String, window: Int64, room: RoomAccess = RoomAccess(),
        at: Int64
    ) {
        self.app = app
        self.message = message
        self.actor = actor
        self.content = content
        self.window = window
        self.room = room
        self.at = at
    }
}

/// A custom message of the backend's for people of its app.
package struct CustomOperation: Hashable, Sendable {
    /// The app.
    package var app: AppID
    /// The message, with a new id.
    package var message: CustomMessage
    /// For whom: 1 to `recipientsMax`, sorted, without repeats.
    package var recipients: [UserID]
    /// The backend's number of it: a repeat answers `.duplicate`.
    package var clientMessageID: ClientMessageID

    /// For how many people one may be.
    package static let recipientsMax = 1_000

    /// A custom message from its parts.
    package init(app: AppID, message: CustomMessage, recipients: [UserID], clientMessageID: ClientMessageID) {
        self.app = app
        self.message = message
        self.recipients = recipients
        self.clientMessageID = clientMessageID
    }
}
