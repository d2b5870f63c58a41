package import TidingsModel

/// The store as a pure value: what every store must answer, command by command. It is the contract; `MessageStore` is held
/// against it, and the World uses it as its disk.
///
/// It is a value, so a crash is an assignment: keep the committed copy, drop the other. To spare the copying, hold a batch back
/// until its sync is due and apply it then; a batch dropped before is a batch the crash has lost.
///
/// # Rules
/// - **accept**: first the repeat: the same app, sender and client message id as an earlier accepted message, within the store's
///   retention (this version keeps everything), answers `.duplicate`, whatever the conversation is by now, so that a retried
///   send always gets the answer of the first; with another conversation, object name or content (as long as the first is as it was
///   sent) it is refused. Then the id must be new. Then the object name: built in, or registered by the app,
///   if it has registered any. Then the conversation: group, discussion and chat room must exist in the app and not be dissolved;
///   for all other kinds the target is a person of the app, who need not be known yet. Then what `StoreRules.refusal` says: `SYS` and
///   `PH` are the backend's (a message without a device); in `CS`, `MC` and `MP` sender or target is an account of that kind; a person
///   who blocks the sender refuses all kinds; a group's or discussion's sender is a member; a chat room's is not banned and a member,
///   or, if it is open, hears it. Then the
///   recipients of a directed message in a group or discussion: members all of them. The message becomes an entry in the log of
///   everyone it concerns (sender and peer, once if they are the same; or the members; or sender and recipients), also without
///   `.stored`; a chat room's message enters no log. For whoever of them has no device that is signed in, and has not sent it, the
///   leg without a device ends `no_device` with it, at the time of the message.
/// - **Positions** are counted per person in commit order, from 1, without gaps.
/// - **Message ids** of messages, recalls and custom messages are given once among all of them.
/// - **Unread** counts, per conversation, entries after the read cursor with a message of somebody else that has `.counted` and was
///   neither recalled nor deleted by the person; **mentions** those of them that mention the person, by id or with everybody. In
///   total, `unread` leaves out muted conversations, `unreadWithMuted` and `mentions` do not. A conversation is muted if its level
///   is `.blocked`; a level with an end counts until `endLevel` is carried out.
/// - **markRead** needs a conversation the person has entries of, and a position not past the head. A cursor never goes back:
///   a position at or below it changes nothing and appends nothing. Otherwise the cursor moves and a `read` entry follows.
/// - **putConversation** with the same name, portrait and members as before changes nothing, unless it was dissolved: then it is
///   one again. Anything else is a new membership version. It writes no entries; entries delivered before stay where they are.
/// - **change**: `ConversationRules.decide` says what is allowed. What changes nothing answers `.changed(nil, …)`. Otherwise the
///   version grows by one and a `change` entry goes into the log of everybody who was a member before or is one after; a chat
///   room's goes into none. Whoever was a member and is none any more has nothing unread there: their cursor stands at the entry.
///   Dissolving leaves unread as it is.
/// - **recall**: the message must be one of the app's. Then who may: the backend; the sender, within the window; owner and admin of
///   the conversation, any time. A message recalled already answers `.noted(nil, …)` to them, so that a retry is harmless. Then the
///   id must be new. A sender must still be one who may write there. A `recall` entry goes into each log that has the message, and it
///   is unread there no more. Its sender is who recalled it, for the backend the message's sender. The message and its edits say
///   nothing any more, wherever they are read. `shown` names the message's ended legs with `accepted` or
///   `settled(shown)`.
/// - **edit**: the same for the sender and the backend only, with an `edit` entry; a recalled message is not edited any more, and the
///   same content again changes nothing. From then on the message says the new content wherever it is read, without the words for its
///   push, and an earlier edit says nothing.
/// - **delete**: 1 to 100 messages, repeats dropped, each with an entry in the person's log in that conversation, none deleted before.
///   They are unread no more; one `deletion` entry names them.
/// - **setConversationSettings, endLevel, setPersonSettings, setBlocked**: what is so already changes nothing; else one entry in the
///   person's own log, with unread after it. Settings without level are none. An end at or before the time of the command is
///   refused.
/// - **acceptCustom**: the same app and client message id as an earlier custom message answers `.duplicate`. Otherwise the id must be
///   new; a `custom` entry goes into the log of each recipient, known or not, and counts for nobody.
/// - **changeAccount**: what is so already changes nothing. `ban`, and `revokeTokens` with `signsOut`, sign out all devices of the
///   person as `signOut` does, with the end `disabled` and `signed_out`. The time before which tokens are revoked moves forward only.
/// - **signIn** of a banned person is refused, and one with a token that was revoked: issued before the time, or without one. One
///   of a new device, or of one that had signed out, sets `since`, `settled` and `decided` to the head and the push
///   state to `.none`; of any other device it only notes platform and time. Of the devices that are signed out a person then keeps
///   the `DeviceRecord.signedOutMax` that signed in last (of those at the same time, the ones with the larger ids); the others are
///   unknown from then on, their legs are not.
/// - **signOut** forgets the push state and ends the device's legs `signed_out`: those that are kept open, and those without an end
///   of entries after its cursors: of messages (`own_device` if it was sent from this device), and of recalls whose message this
///   device has shown, or may have. A device unknown or signed out is left alone.
/// - **setPushState** of a signed-out device changes nothing. A registration takes the token, for the same topic and environment, from
///   every other device of the app that is registered with it or quarantined: their push state is `.none`, and their open legs end
///   `no_token` at the time of the registration. With `about` it changes nothing unless that is the device's registration, and takes
///   nothing from others.
/// - **advance** moves each cursor forward only, and not past the head.
/// - **keepLeg** opens a leg, or replaces its state. **endLeg** closes it and keeps the end; of several ends the first stays.
/// - **receipt** is kept of a message, a recall or a custom message that the person has an entry of, and of several with the same
///   leg and name the first. Any other changes nothing.
/// - **readConversation** tells a member, or the backend, also of a dissolved one.
/// - **readLog** gives messages and edits as they read now. `erased` names those that are for no device any more: messages recalled, or
///   deleted by the person, edits of them, and all edits of a message but the last. Their texts are empty.
/// - **readHistory** gives messages with `.stored` that the person has an entry of, newest entry first, before that of `before`, as
///   they read now, without those recalled or deleted by the person; `before` must have an entry in that conversation. Of a chat
///   room, which must exist and not be dissolved, everybody who is not banned sees every message, in the order they were accepted;
///   in one that is not open its members alone.
/// - **setAccount** needs a kind with accounts and a valid id; an app has at most `StoreRules.accountsMax`. What is so already changes
///   nothing. Messages accepted before stay.
/// - **Bans** are of chat rooms. Who is banned is no member; who is made one by `putConversation` is banned no longer.
/// - **setObjectNames** sorts the names and drops repeats; each must be a valid object name, and there may be at most
///   `StoreRules.objectNamesMax`. Messages accepted before stay.
/// - **compareLog** knows the openings that had a number, and of each how far the logs reached when the next one began. Position 0 is
///   every store's log.
/// - **trace** knows messages, recalls and custom messages, each by its own id.
package struct ReferenceStore: Hashable, Sendable {
    /// Grows by one with each opening; 0 before the first.
    package private(set) var epoch: UInt64 = 0
    /// The largest id of a message, recall or custom message.
    package internal(set) var lastMessageID = MessageID(rawValue: 0)
    var people = People()
    /// The devices whose push state names a registration, registered or quarantined: whoever registers it takes it from them.
    var holders: [Holding: Set<DeviceKey>] = [:]
    var conversations: [ConversationKey: Conversation] = [:]
    var messages: [MessageID: Accepted] = [:]
    /// Recalls and custom messages by their id.
    var others: [MessageID: Other] = [:]
    /// The object names each app has registered, sorted.
    var objectNames: [AppID: [ObjectName]] = [:]
    /// Each app's accounts, as their customers see them; no empty sets.
    var accounts: [AppID: Set<ConversationID>] = [:]
    var sent: [SentKey: MessageID] = [:]
    var custom: [CustomKey: CustomSent] = [:]
    var ended: [MessageID: Ends] = [:]
    var receipts: [MessageID: [ReceiptKey: Int64]] = [:]
    /// The openings that have a number, oldest first, each with the heads of all logs as they were when it began.
    private var openings: [NumberedOpening] = []

    struct Person: Hashable, Sendable {
        var log: [LogEntry] = []
        var counts = UnreadCounts()
        var cursors: [ConversationID: Cursor] = [:]
        var deleted: Set<MessageID> = []
        /// Where the last edit of each message stands.
        var lastEdits: [MessageID: LogPosition] = [:]
        /// Where recalls stand whose message was unread until then, outside muted conversations.
        var wereUnread: Set<LogPosition> = []
        var settings = AllSettings()
        var account = AccountState()
        var devices: [DeviceID: DeviceRecord] = [:]
        var openLegs: [LegID: OpenLeg] = [:]

        var head: LogPosition { LogPosition(self.log.count) }
        /// Whether any device is signed in.
        var isSignedIn: Bool { self.devices.values.contains { !$0.isSignedOut } }
        /// Whether there is work for the server as it starts.
        var isPending: Bool {
            !self.openLegs.isEmpty
                || self.devices.values.contains { !$0.isSignedOut && max($0.settled, $0.decided) < self.head }
        }
    }

    /// A registration within an app.
    struct Holding: Hashable, Sendable {
        var app: AppID
        var registration: PushRegistration
    }

    struct Cursor: Hashable, Sendable {
        var unread = 0
        var mentions = 0
        var upTo: LogPosition = 0

        mutating func add(unread: Int, mentions: Int) {
            self.unread += unread
            self.mentions += mentions
        }
    }

    struct ConversationKey: Hashable, Sendable {
        var app: AppID
        var conversation: ConversationID
    }

    struct Conversation: Hashable, Sendable {
        var stored: StoredConversation
        var members: Set<UserID>
        /// A chat room's messages, in the order they were accepted.
        var messages: [MessageID] = []

        init(_ stored: StoredConversation, messages: [MessageID]) {
            self.stored = stored
            self.members = Set(stored.record.members.map(\.id))
            self.messages = messages
        }
    }

    struct Accepted: Hashable, Sendable {
        /// As it reads now.
        var message: Message
        /// Sent from this device; nil for the backend's.
        var device: DeviceID?
        var deliveries: [Delivery]
        var isRecalled = false
        /// The id of its recall.
        var recall: MessageID?
        /// What it says since it was edited.
        var content: String?
    }

    /// A recall or a custom message.
    struct Other: Hashable, Sendable {
        var subject: MessageTrace.Subject
        var deliveries: [Delivery]

        var app: AppID? {
            switch self.subject {
            case .message(let message): message.app
            case .recall(_, let app), .custom(_, let app): app
            }
        }
    }

    struct SentKey: Hashable, Sendable {
        var sender: UserKey
        var clientMessageID: ClientMessageID
    }

    struct CustomKey: Hashable, Sendable {
        var app: AppID
        var clientMessageID: ClientMessageID
    }

    struct CustomSent: Hashable, Sendable {
        var id: MessageID
        var at: Int64
    }

    struct ReceiptKey: Hashable, Sendable {
        var leg: LegID
        var receipt: LegReceipt
    }

    /// An empty store that has not been opened.
    package init() {}

    private struct NumberedOpening: Hashable, Sendable {
        var number: UInt64
        /// By the places of the people there were.
        var heads: [LogPosition]
    }

    /// Opens the store for a new owner: the epoch grows, and every earlier owner's batches are refused from now on.
    ///
    /// - Parameter number: of this opening (`StoreIdentity.opening`); 0 for none.
    package mutating func open(number: UInt64 = 0) -> StoreOpening {
        self.epoch += 1
        if number > 0 {
            self.openings.append(
                NumberedOpening(number: number, heads: self.people.indices.map { self.people[$0].head }))
        }
        let pending = self.people.indices.filter { self.people[$0].isPending }.map { self.people.keys[$0] }
        return StoreOpening(epoch: self.epoch, lastMessageID: self.lastMessageID, pending: pending.sorted())
    }

    /// Carries out a batch in order.
    ///
    /// - Returns: one result per command.
    /// - Throws: `StaleEpoch` if `epoch` is not the one of the last opening; nothing was carried out.
    package mutating func apply(_ batch: [StoreCommand], epoch: UInt64) throws(StaleEpoch) -> [StoreResult] {
        guard epoch == self.epoch else { throw StaleEpoch(presented: epoch, current: self.epoch) }
        return batch.map { self.carryOut($0) }
    }

    /// Carries out one command.
    ///
    /// - Throws: `StaleEpoch` if `epoch` is not the one of the last opening; nothing was carried out.
    package mutating func apply(_ command: StoreCommand, epoch: UInt64) throws(StaleEpoch) -> StoreResult {
        guard epoch == self.epoch else { throw StaleEpoch(presented: epoch, current: self.epoch) }
        return self.carryOut(command)
    }

    private func isSame(_ held: HeldLog, of key: UserKey) -> Bool {
        guard held.position > 0 else { return true }
        guard let index = self.openings.lastIndex(where: { $0.number == held.opening }),
            let place = self.people.place(of: key)
        else { return false }
        guard index + 1 < self.openings.count else { return held.position <= self.people[place].head }
        let heads = self.openings[index + 1].heads
        return place < heads.count && held.position <= heads[place]
    }

    private mutating func carryOut(_ command: StoreCommand) -> StoreResult {
        switch command {
        case .accept(let message, let device, let room): self.accept(message, from: device, room: room)
        case .putConversation(let record): self.putConversation(record)
        case .change(let operation): self.change(operation)
        case .recall(let operation): self.recall(operation)
        case .edit(let operation): self.edit(operation)
        case .delete(let key, let deletion, _): self.delete(key, deletion)
        case .setConversationSettings(let key, let conversation, let settings, let at):
            self.set(key, conversation, settings, at: at)
        case .endLevel(let key, let conversation, let at): self.endLevel(key, conversation, at: at)
        case .setPersonSettings(let key, let settings, _): self.set(key, settings)
        case .setBlocked(let key, let user, let isBlocked, _): self.set(key, user, isBlocked: isBlocked)
        case .acceptCustom(let operation): self.accept(operation)
        case .signIn(let key, let platform, let issuedAt, let at):
            self.signIn(key, platform: platform, tokenIssuedAt: issuedAt, at: at)
        case .changeAccount(let key, let change, let at): self.change(key, change, at: at)
        case .readAccount(let key): .userAccount(self.people.look(key) { $0.account } ?? AccountState())
        case .signOut(let key, let at): self.signOut(key, at: at)
        case .setPushState(let key, let state, let about): self.setPushState(key, state, about: about)
        case .advance(let key, let settled, let decided): self.advance(key, settled: settled, decided: decided)
        case .markRead(let key, let conversation, let upTo, _): self.markRead(key, conversation, upTo: upTo)
        case .keepLeg(let leg): self.keepLeg(leg)
        case .endLeg(let end): self.endLeg(end)
        case .receipt(let leg, let receipt, let at): self.keepReceipt(leg, receipt, at: at)
        case .compareLog(let key, let held): .isSameLog(self.isSame(held, of: key))
        case .loadUser(let key): .user(self.record(of: key))
        case .readLog(let key, let after, let limit, let bytes):
            .page(self.page(of: key, after: after, limit: limit, frameBytesMax: bytes))
        case .trace(let app, let id): .trace(self.trace(of: id, in: app))
        case .readConversation(let app, let conversation, let user): self.conversation(conversation, of: app, for: user)
        case .readHistory(let key, let conversation, let before, let limit, let room):
            self.history(of: key, in: conversation, before: before, limit: limit, room: room)
        case .mayWrite(let key, let conversation, let room): self.mayWrite(key, conversation, room: room)
        case .readBans(let app, let conversation, let user, let at):
            self.bans(conversation, of: app, asked: user, at: at)
        case .readSettings(let key): .settings(self.settings(of: key))
        case .readReceipts(let app, let message, let user): self.receipts(of: message, in: app, asked: user)
        case .readUnread(let key, let conversation): .unread(self.unread(of: key, in: conversation))
        case .setObjectNames(let app, let names): self.setObjectNames(names, of: app)
        case .readObjectNames(let app): .objectNames(self.objectNames[app] ?? [])
        case .setAccount(let app, let account, let isDeclared):
            self.setAccount(account, of: app, isDeclared: isDeclared)
        case .readAccounts(let app): .accounts((self.accounts[app] ?? []).sorted())
        }
    }
}

extension ReferenceStore.Person {
    /// Appends an entry to the log.
    mutating func append(_ body: LogEntry.Body, of user: UserID) -> Delivery {
        let position = self.head + 1
        self.log.append(LogEntry(position: position, body: body))
        return Delivery(user: user, position: position, unread: self.counts.unread)
    }

    /// Changes a person, and appends an entry to the log.
    mutating func append(_ body: LogEntry.Body, of user: UserID, after change: (inout Self) -> Void) -> Delivery {
        change(&self)
        return self.append(body, of: user)
    }

    /// Counts messages of a conversation, or no longer with negative numbers.
    mutating func count(_ conversation: ConversationID, unread: Int, mentions: Int) {
        self.cursors[conversation, default: .init()].add(unread: unread, mentions: mentions)
        self.counts.unreadWithMuted += unread
        self.counts.mentions += mentions
        if unread != 0, !self.settings.isMuted(conversation) { self.counts.unread += unread }
    }

    /// Changes settings, and counts anew what is not muted.
    mutating func change(_ change: (inout AllSettings) -> Void) {
        change(&self.settings)
        self.counts.unread = 0
        // tidy: order does not leave: a sum is the same in any order
        for (conversation, cursor) in self.cursors where !self.settings.isMuted(conversation) {
            self.counts.unread += cursor.unread
        }
    }
}
