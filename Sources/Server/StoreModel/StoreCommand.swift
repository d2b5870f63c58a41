package import TidingsModel

/// Commands are carried out in the order given; many share one transaction and one sync, and no result is handed out
/// before that sync (design.md P1, §3 "Journal first"). The rules of each stand at `StoreMachine`.
/// Times here and in results are wall milliseconds.
package enum StoreCommand: Hashable, Sendable {
    /// Without a device the app's backend has sent it, in its sender's name, and may go `past` refusals. `push` are the app's options for what the message and its
    /// conversation leave open. `author` has written it as the account that is its sender: from `senderDevice`, or as the backend
    /// says. It is kept with the message, and never in it. Answers `.accepted`, `.duplicate` or `.refused`.
    indirect case accept(
        message: Message, senderDevice: DeviceID?, room: RoomAccess = RoomAccess(), past: PastRefusals = [],
        push: PushOptions? = nil, author: UserID? = nil)
    /// Creates, or replaces name, portrait, options and members as the backend. Answers `.done` or `.refused`.
    indirect case putConversation(ConversationRecord)
    indirect case change(ConversationOperation)
    indirect case recall(RecallOperation)
    /// Answers `.noted` (with the editor's entry) or `.refused`.
    indirect case edit(EditOperation)
    case delete(UserKey, Deletion, at: Int64)
    /// The level alone. Answers `.noted` or `.refused`.
    indirect case setConversationSettings(UserKey, ConversationID, ConversationSettings, at: Int64)
    /// Where it stands in the person's list, or the draft in it. Answers `.noted` or `.refused`.
    indirect case setConversationState(UserKey, ConversationID, ConversationStateChange, at: Int64)
    /// The level's time is over (`levelUntil` at or before `at`). Answers `.noted`.
    case endLevel(UserKey, ConversationID, at: Int64)
    indirect case setPersonSettings(UserKey, PersonSettings, at: Int64)
    case setBlocked(UserKey, UserID, Bool, at: Int64)
    indirect case acceptCustom(CustomOperation)
    /// Creates or updates the device. `tokenIssuedAt` is wall milliseconds; nil if the token does not say. Answers
    /// `.device`, or `.refused` if the person is banned or the token revoked.
    case signIn(DeviceKey, platform: String, tokenIssuedAt: Int64? = nil, at: Int64)
    case signOut(DeviceKey, at: Int64)
    case changeAccount(UserKey, AccountChange, at: Int64)
    case readAccount(UserKey)
    /// Sets the profiles of people and accounts, all or none; an empty one forgets. `isOwn`: the person has asked, not the backend. Answers
    /// `.done` or `.refused`.
    case setProfiles(AppID, [UserProfile], isOwn: Bool)
    /// `offered` are accounts (`MP`) of other apps, by what they are called in this one: where the app has no profile of that id itself,
    /// the card of one that is declared there is told. Answers `.profiles`, in the order asked.
    case readProfiles(AppID, [UserID], offered: [UserID: UserKey] = [:])
    /// Answers `.done`, `.taken` if other devices of the app had the same token for the same topic and environment
    /// and have none now, or `.refused` for an unknown device. `about` is the registration about which APNs has
    /// answered: it changes nothing if it is not the device's any more, and takes it from nobody; nil if the device
    /// itself registers, or clears its registration.
    indirect case setPushState(DeviceKey, PushState, about: PushRegistration? = nil)
    /// Registers push tokens that the app's backend brings, which the core has checked. Answers `.installations`, in the same order.
    case registerInstallations(AppID, [ImportedInstallation], at: Int64)
    /// Answers `.done`.
    indirect case setDeviceStatus(DeviceKey, ReportedStatus)
    /// Sets the token for calls, like `setPushState`; nil clears it.
    indirect case setVoIPToken(DeviceKey, VoIPToken?, about: PushRegistration? = nil)
    /// Moves cursors forward only. Answers `.done`; `.refused` for an unknown device.
    case advance(DeviceKey, settled: LogPosition?, decided: LogPosition?)
    /// Up to and including a position of the person's own log. Answers `.read` or `.refused`.
    case markRead(UserKey, ConversationID, upTo: LogPosition, at: Int64)
    /// Waiting, or in flight with its `apns-id` (design.md §3 "Push work"). Replaces an earlier state. Answers `.done`.
    case keepLeg(OpenLeg)
    /// Closes the open leg, if any; of several ends the first stays. Answers `.done`.
    case endLeg(EndedLeg)
    /// design.md §5. Answers `.done`, also if nothing changed.
    case receipt(LegID, LegReceipt, at: Int64)
    /// Asks if an earlier opening with that number is known, and the entry at that position was there before the next one; after a restored
    /// copy it may not be. Answers `.isSameLog`.
    case compareLog(UserKey, HeldLog)
    case loadUser(UserKey)
    /// Oldest first: at most `limit`, and no more after the first than fit a frame of `frameBytesMax` by
    /// `LogEntry.Body.frameBytes`. Answers `.page`.
    case readLog(UserKey, after: LogPosition, limit: Int, frameBytesMax: Int = .max)
    /// Traces a message, recall or custom message. Answers `.trace`.
    case trace(AppID, MessageID)
    /// Reads a message as it is now, at a cost that does not grow with its people. Answers `.trace` without its ways to them.
    case readMessage(AppID, MessageID)
    /// A step of a search; in it a message of many people costs as much as its trace. Answers `.legs`.
    indirect case readLegs(LegQuestion)
    /// `asked` by a member, or nil for the backend; `at` decides which mutes have ended. Answers `.conversation` or `.refused`.
    case readConversation(AppID, ConversationID, asked: UserID?, at: Int64 = 0)
    /// Newest first, as they read now, without what was recalled, deleted by the person, or directed to others.
    /// Answers `.history` or `.refused`.
    case readHistory(UserKey, ConversationID, before: MessageID?, limit: Int, room: RoomAccess = RoomAccess())
    case mayWrite(UserKey, ConversationID, room: RoomAccess = RoomAccess())
    /// `asked` by its owner or an admin, or nil for the backend. Answers `.bans`, for invitations `.invited`, or `.refused`.
    case readRestrictions(RestrictionKind, AppID, ConversationID, asked: UserID?, at: Int64)
    case readSettings(UserKey)
    /// `asked` by its sender, or nil for the backend. A sender is not told of the reading of people who block them.
    /// Answers `.receipts` or `.refused`.
    case readReceipts(AppID, MessageID, asked: UserID?)
    /// Asks if the message is there for the person, and names the media with its newest edit, or is from the person whose portrait it is.
    /// Answers `.mediaUse`.
    indirect case readMedia(UserKey, MediaID, in: MessageID, room: RoomAccess = RoomAccess())
    /// Messages of that sender, or the backend's for nil, that name the media: newest first, at most `MediaUse.listMax`, and one more if an
    /// older one ends later; before them the sender's portrait, if it is that. Answers `.mediaUses`.
    case readMediaUses(AppID, MediaID, by: UserID?)
    /// Its cost does not grow with the log. Answers `.unread`.
    case readUnread(UserKey, ConversationID?)
    /// Replaces the app's names; with none, any name is accepted. Answers `.done` or `.refused`.
    case setObjectNames(AppID, [ObjectName])
    case readObjectNames(AppID)
    /// Declares an account of a service's kind, named as its customers see it, or takes it back; leaves one that is declared already as it
    /// is. Answers `.done` or `.refused`.
    case setAccount(AppID, ConversationID, isDeclared: Bool)
    /// Declares it with everything, or replaces it. Answers `.done` or `.refused`.
    indirect case putAccount(AppID, ServiceAccount)
    /// At most `limit`, after an account; or the one named, if there is one. Answers `.accounts`, sorted.
    case readAccounts(AppID, only: ConversationID? = nil, after: ConversationID? = nil, limit: Int = .max)
    /// Answers `.done`, or `.refused` for following what people do not follow.
    case setFollowing(UserKey, ConversationID, Bool)
    /// At most `limit`, after a person. Answers `.followers`, sorted.
    case readFollowers(AppID, ConversationID, after: UserID?, limit: Int)
    /// Which of the accounts that there are the person follows. Answers `.following`, sorted.
    case readFollowing(UserKey)
    /// Reads counts, at a cost that does not grow with them. Answers `.storageUse`.
    case readStorageUse(AppID)
    /// Reads an app's people: at most `limit`, after a person. Answers `.people`, sorted.
    case readPeople(AppID, after: UserID?, limit: Int)
    /// Groups, discussions and chat rooms of an app: at most `limit`, after a conversation. Answers `.conversations`, sorted.
    case readConversations(AppID, after: ConversationID?, limit: Int)
    /// The conversations of which the person's log has a message that stands in lists, the newest first: at most `limit`, before a place.
    /// It goes through the person's conversations, not through the log. Answers `.conversationList`.
    case readConversationList(UserKey, before: LogPosition?, limit: Int)
    /// A new one: its state, cursor and counts are those of `PushJob.init`. Answers `.pushJob` or `.refused`.
    indirect case createPush(PushJob)
    /// Makes the entries of the next people, each with one of `ids`, which are new and ascending, 1 to `StoreRules.pushStepMax`; of a job
    /// that is `recalling` recalls the next messages, and the ids are those of the recalls. Nobody follows a person with whom they are
    /// signed in on `devicesMax` devices together. Answers `.pushStep` or `.refused`.
    indirect case stepPush(AppID, PushJobID, ids: [MessageID], devicesMax: Int = .max, at: Int64)
    /// Answers `.pushJob`, with nil if the app has no such job, or `.refused`.
    case changePush(AppID, PushJobID, PushJobChange, at: Int64)
    /// Answers `.pushJob`.
    case readPush(AppID, PushJobID)
    /// At most `limit`, the newest first, of those before a job. Answers `.pushJobs`.
    case readPushes(AppID, before: PushJobID?, limit: Int)
    /// How many people of the audience are among the next `limit` people (or names), from `after` on: 0 for the first, then what the
    /// answer before said. Answers `.audience`.
    indirect case countAudience(AppID, PushAudience, after: UInt64, limit: Int)
    /// The message that the job has sent to the person, among the last `StoreRules.pushRecipientLookMax` of the conversation. Answers
    /// `.pushRecipient`.
    case readPushRecipient(UserKey, PushJobID)
    /// Answers `.labels` or `.refused`.
    indirect case setLabels(UserKey, LabelChange)
    /// Answers `.labels`.
    case readLabels(UserKey)
    /// `at` is now: what has ended by then may go. Answers `.control` or `.refused`.
    indirect case changeControl(ControlChange, at: Int64)
    /// Answers `.controlState`.
    case readControl
    /// At most `limit` records of who has asked for what, the newest first. Answers `.audit`.
    case readAudit(AuditQuestion, limit: Int)
    /// Carries a command out and keeps its answer under the request's key, with one sync for both. Answers what the command
    /// answers, or `.kept`, with nothing carried out, if there is an answer under the key already.
    indirect case once(IdempotentRequest, StoreCommand)
    /// `at` is now. Answers `.kept`.
    case readKept(IdempotencyKey, at: Int64)
}

/// The person or the app that a command is about.
package enum StoreSubject: Hashable, Sendable {
    case person(UserKey)
    /// Nobody in particular.
    case app(AppID)
    /// Operators, and the whole server.
    case server
}

extension StoreCommand {
    package var about: StoreSubject {
        switch self {
        case .accept(let message, _, _, _, _, _): .person(UserKey(app: message.app, user: message.sender))
        case .putConversation(let record): .app(record.app)
        case .change(let operation): .app(operation.app)
        case .recall(let operation): .app(operation.app)
        case .edit(let operation): .app(operation.app)
        case .acceptCustom(let operation): .app(operation.app)
        case .delete(let user, _, _), .setConversationSettings(let user, _, _, _),
            .setConversationState(let user, _, _, _), .endLevel(let user, _, _), .setPersonSettings(let user, _, _),
            .setBlocked(let user, _, _, _), .markRead(let user, _, _, _), .changeAccount(let user, _, _),
            .readAccount(let user), .loadUser(let user), .readLog(let user, _, _, _),
            .readHistory(let user, _, _, _, _),
            .readSettings(let user), .readUnread(let user, _), .readConversationList(let user, _, _),
            .mayWrite(let user, _, _), .setFollowing(let user, _, _), .readFollowing(let user),
            .compareLog(let user, _), .readMedia(let user, _, _, _), .readPushRecipient(let user, _),
            .setLabels(let user, _), .readLabels(let user):
            .person(user)
        case .signIn(let device, _, _, _), .signOut(let device, _), .setPushState(let device, _, _),
            .setVoIPToken(let device, _, _), .setDeviceStatus(let device, _), .advance(let device, _, _):
            .person(device.user)
        case .keepLeg(let open): .person(open.leg.user)
        case .endLeg(let ended): .person(ended.leg.user)
        case .receipt(let leg, _, _): .person(leg.user)
        case .trace(let app, _), .readConversation(let app, _, _, _), .readReceipts(let app, _, _),
            .setObjectNames(let app, _), .readObjectNames(let app), .readRestrictions(_, let app, _, _, _),
            .setAccount(let app, _, _), .putAccount(let app, _), .readAccounts(let app, _, _, _),
            .readFollowers(let app, _, _, _), .readPeople(let app, _, _), .readConversations(let app, _, _),
            .registerInstallations(let app, _, _), .setProfiles(let app, _, _), .readMessage(let app, _),
            .readProfiles(let app, _, _), .readMediaUses(let app, _, _), .readStorageUse(let app),
            .stepPush(let app, _, _, _, _), .changePush(let app, _, _, _), .readPush(let app, _),
            .readPushes(let app, _, _), .countAudience(let app, _, _, _):
            .app(app)
        case .createPush(let job): .app(job.app)
        case .readLegs(let question):
            if let user = question.user { .person(UserKey(app: question.app, user: user)) } else { .app(question.app) }
        case .changeControl(let change, _): change.app.map { .app($0) } ?? .server
        case .readControl: .server
        case .readAudit(let question, _): question.app.map { .app($0) } ?? .server
        case .once(_, let command): command.about
        case .readKept(let key, _): .app(key.app)
        }
    }

    /// The person whose unreadable rows keep it from being carried out.
    package var subject: UserKey? { if case .person(let user) = self.about { user } else { nil } }

    /// Nil for what is no tenant's.
    package var app: AppID? {
        switch self.about {
        case .person(let user): user.app
        case .app(let app): app
        case .server: nil
        }
    }
}

package struct ConversationOperation: Hashable, Sendable {
    package var app: AppID
    package var conversation: ConversationID
    package var action: ConversationAction
    /// nil for the backend, which may do everything.
    package var actor: UserID?
    package var membersMax: Int
    package var policy: ConversationPolicy
    package var at: Int64

    /// Without a policy the standard one of the kind holds.
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

package struct RecallOperation: Hashable, Sendable {
    package var id: MessageID
    package var app: AppID
    package var message: MessageID
    /// nil for the backend, which always may.
    package var actor: UserID?
    /// Milliseconds after it was sent, for its sender.
    package var window: Int64
    package var room: RoomAccess
    package var at: Int64

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

package struct EditOperation: Hashable, Sendable {
    package var app: AppID
    package var message: MessageID
    /// nil for the backend, which always may.
    package var actor: UserID?
    package var content: String
    /// Milliseconds after it was sent, for its sender.
    package var window: Int64
    package var room: RoomAccess
    package var at: Int64

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

package struct CustomOperation: Hashable, Sendable {
    package var app: AppID
    package var message: CustomMessage
    /// 1 to `recipientsMax`, sorted, without repeats.
    package var recipients: [UserID]
    /// A repeat answers `.duplicate`.
    package var clientMessageID: ClientMessageID

    package static let recipientsMax = 1_000

    package init(app: AppID, message: CustomMessage, recipients: [UserID], clientMessageID: ClientMessageID) {
        self.app = app
        self.message = message
        self.recipients = recipients
        self.clientMessageID = clientMessageID
    }
}
