package import TidingsModel

/// The store as a pure value: the contract that `MessageStore` is held against, and the World's disk. A crash is an assignment: keep the
/// committed copy, drop the other. To spare the copying, a batch can be held back until its sync is due; a crash before loses it.
///
/// # Rules
/// - **accept** checks in this order. A repeat, with the app, sender and client message id of an accepted message (this version
///   keeps all), answers `.duplicate`, so that a retried send gets the first answer; with another conversation, object name or
///   content (while the first is as it was sent) it is refused. The id must be new. The object name must be built in, or
///   registered if the app has registered any. A group, discussion or chat room must exist and not be dissolved; for other kinds
///   the target is a person, known or not. `StoreRules.refusal`: `SYS` and `PH` are the backend's (a message without a device); in
///   `CS`, `MC` and `MP` sender or target is an account of that kind; a block refuses the sender in all of these kinds; the sender
///   of a group or discussion is a member; that of a chat room is not banned, and a member or, if it is open, inside. Recipients
///   of a directed message are members. The message becomes an entry of sender and peer (one if they are the same), of the
///   members, or of sender and recipients, also without `.stored`; a chat room's enters no log. For each of them but the sender
///   who has no signed-in device, the leg without a device ends `no_device` at the time of the message.
/// - **Blocks** are asked when a message is stored, and hold for that message from then on. In a group or discussion each member who
///   has blocked the sender gets `Message.hushed`: it counts and mentions for them neither now nor when it is read again. With
///   `ignoresBlocks`, for the backend, it is to them as to everybody. In a chat room's history the block list of now is asked.
/// - **Positions** are counted per person in commit order, from 1, without gaps.
/// - **Message ids** are unique among messages, recalls and custom messages.
/// - **Unread** counts, per conversation, messages of others after the read cursor that have `.counted` and were neither recalled nor
///   deleted by the person; **mentions** are those that mention the person, by id or with everybody. In total, `unread` leaves out
///   muted conversations (level `.blocked`; a level with an end counts until `endLevel`), `unreadWithMuted` and `mentions` do not.
/// - **markRead** needs a conversation with entries of the person, and a position not past the head. A position at or below the cursor
///   changes nothing; otherwise the cursor moves and a `read` entry follows.
/// - **putConversation** with the same name, portrait, options and members changes nothing, unless it was dissolved: then it exists again.
///   Anything else is a new membership version. It writes no entries, and leaves earlier ones.
/// - **change** follows `ConversationRules.decide`; a person who would come in by it and has blocked the actor refuses it whole.
///   `ConversationRules.plan` makes one or two changes of it; without a change it answers `.changed([])`. With each the version grows by
///   one, and everybody who was a member before or is one after, or whom it invites, gets a `change` entry as they may see it; a chat
///   room's goes into no log. For somebody who is no member after it the read cursor stands at the entry. Dissolving leaves unread as it is.
/// - **Consent** is asked of who would be made a member of a group or discussion by a person: who has `mayBeAddedBy` `nobody`, or
///   `contacts` and has written to the actor from no device of theirs one to one, is invited. An invitation ends when they become a member, decline,
///   it is withdrawn, or the conversation is dissolved; `putConversation` writes no entry of it.
/// - **Mutes** refuse a message and an edit, not a recall, by the time of the command; they are kept when a member goes.
/// - **recall** is for the backend, the sender within the window, and owner and admin of the conversation at any time. A message
///   recalled already answers them `.noted(nil, …)`, so that a retry is harmless. Then the id must be new, and a sender must still be
///   allowed to write there. Each log that has the message gets a `recall` entry by who recalled it (for the backend the message's
///   sender), and it is unread there no more. Message and edits are empty wherever they are read. `shown` names the ended legs with
///   `accepted` or `settled(shown)`, without those of people for whom it is hushed: no notification has told them of it.
/// - **edit** is the same for sender and backend only, with an `edit` entry; a recalled message cannot be edited, and the same content
///   changes nothing. Then the message has the new content wherever it is read, without its push text, and earlier edits are empty.
/// - **delete** takes 1 to 100 messages, repeats dropped, each with an entry of the person in that conversation and not deleted before.
///   They are unread no more; one `deletion` entry names them.
/// - **setConversationSettings, setConversationState, endLevel, setPersonSettings, setBlocked** without a change do nothing; otherwise the
///   person's log gets one entry, with unread after it. Settings with nothing in them are none. The first and the third change the level
///   alone; an end at or before the command's time is refused. The second follows `AllSettings.settings(of:after:at:)`, and no count
///   depends on it. Person settings that do not say by whom the person may be added leave that as it was.
/// - **acceptCustom** with the app and client message id of an earlier custom message answers `.duplicate`. Otherwise the id must be
///   new; each recipient, known or not, gets a `custom` entry that counts for nobody.
/// - **changeAccount** without a change does nothing. `ban`, and `revokeTokens` with `signsOut`, sign out all devices as `signOut` does,
///   with the end `disabled` or `signed_out`. The time before which tokens are revoked moves forward only.
/// - **setProfiles** takes 1 to `StoreRules.profilesMax` valid ones, all or none; of repeats the last stays. A person may not give
///   themselves the name of one of the app's accounts, in a profile or as a nickname, without regard to case and spaces.
/// - **Names** in answers are those of now: a sender is called by their nickname in the conversation, or else by their profile.
/// - **signIn** is refused for a banned person and a revoked token: issued before the time, or without one. A device that is new or had
///   signed out gets `since`, `settled` and `decided` at the head and push state `.none`; another only platform and time. Of devices
///   that are signed out the `DeviceRecord.signedOutMax` that signed in last are kept (at the same time, the larger ids); the others
///   become unknown, their legs do not.
/// - **signOut** clears the push state and ends legs `signed_out`: open ones, and those without an end of entries after the cursors, of
///   messages (`own_device` if sent from this device) and of recalls whose message this device has shown, or may have. A device
///   unknown or signed out is left alone.
/// - **setPushState** of a signed-out device changes nothing. A registration takes the token, for topic and environment, from every other
///   device of the app that is registered or quarantined with it: those have `.none`, and their open legs end `no_token` at the time
///   of the registration. With `about` it changes nothing unless that is the device's registration, and takes nothing from others.
/// - **setDeviceStatus** replaces what the device has reported; of a device unknown or signed out it changes nothing.
/// - **setVoIPToken** of a signed-out device changes nothing. A token is taken, for topic and environment, from every other device of the
///   app that has it. With `about` it changes nothing unless that is the device's. A sign-out clears it, a sign-in leaves it.
/// - **advance** moves each cursor forward only, and not past the head.
/// - **keepLeg** opens a leg, or replaces its state. **endLeg** closes it and keeps the end; of several ends the first stays.
/// - **receipt** is kept for a message, recall or custom message that the person has an entry of; of several with the same leg and name
///   the first. Any other changes nothing.
/// - **readConversation** answers a member, or the backend, also for a dissolved one.
/// - **readLog** gives messages and edits as they read now, and settings of a conversation with its draft of now. `erased` names those that are for no device any more, with empty texts:
///   messages recalled, or deleted by the person, edits of them, and all edits of a message but the last.
/// - **readHistory** gives messages with `.stored` that the person has an entry of, newest entry first, before that of `before`, as they
///   read now, without those recalled or deleted by the person; `before` must have an entry in that conversation. In a chat room that
///   exists, everybody who is not banned sees every message in the order accepted; in one that is not open only members.
/// - **setAccount, putAccount** need a service's kind and valid ids; an app has at most `StoreRules.accountsMax`. Messages accepted
///   before stay. An account that is declared again has what `putAccount` says, or nothing.
/// - **setFollowing** needs an account with the audience `followers`, or, to follow no longer, nothing. Who follows stays kept with another
///   audience, and when the account is taken back. An account with that audience writes to its followers only, for whomever it is.
/// - **readProfiles** tells of another app's account, where the command offers it, the card alone, and as long as it is declared there.
/// - **readPeople** tells of everybody who has an entry in their log, a device that is signed in, a profile, a ban or revoked tokens;
///   accounts with one of these are among them.
/// - **readConversations** tells of every group, discussion and chat room that was ever made, also of one that was dissolved.
/// - **readConversationList** tells of each conversation of which the person's log has a message, by the position of its newest. The
///   message told is the newest that they can read in the history, of the last `StoreRules.newestLooksMax`.
/// - **Authors** write as the account that is the message's sender, of the conversation's kind: from a device its owner and its
///   operators, also in `SYS` and `PH`; in the backend's words anybody. A repeat has the same author. The account's operators of now
///   recall and edit what was sent as it as its sender may, and the recall is the account's. An edit of what somebody else has written, in
///   the account's name or the backend in one's own, names no files but those it named; by a person it reaches followers only.
/// - **changeControl** follows `ControlState.apply`. An app needs no record there for people to write in it. What somebody has asked
///   for (`.by`) is kept as a record, carried out or refused, unless it changed nothing; of calls (`noteCall`) always. The newest
///   `AuditRecord.countMax` records stay.
/// - **createPush** needs a new id, a valid audience, an object name as `accept` does, an account that is declared where its kind needs
///   one, and fewer than `StoreRules.pushJobsMax` of the app's jobs unfinished.
/// - **stepPush** looks at up to `StoreRules.pushLookFactor` people for each id: at those the audience names, in its order, or else at all
///   people of the store in the order in which they became known. Whoever is in the audience gets an entry, without `clientMessageID` being
///   asked: not who has blocked the account (unless the job ignores blocks), does not follow it where it writes to followers, or is the account. The
///   account's own log gets nothing. It ends with the person by whom it has reached `devicesMax` signed-in devices. A person without a signed-in device ends `no_device` as in `accept`. The job is `done` when all were looked at.
/// - **Recalling** a job goes through the messages of its steps, and recalls each that was not recalled before, as the backend. In the end the
///   job says nothing any more. What each change does to a job, `StoreRules.job(_:after:at:)` says.
/// - **Counts of a job** grow with each leg that ends naming the job (the first time), with each receipt that is kept for a message of it, and
///   with each of its messages that is recalled, also alone.
/// - **setLabels** replaces aliases or tags. An alias is of one person in an app: whoever had it before has it no longer.
/// - **Bans** are of chat rooms. A banned person is no member; one made a member by `putConversation` is banned no longer.
/// - **setObjectNames** sorts the names and drops repeats; at most `StoreRules.objectNamesMax` valid ones. Messages accepted before stay.
/// - **compareLog** knows the numbered openings, and how far the logs reached when the next one began. Position 0 is every store's log.
/// - **once** first forgets the key's answer if it has expired (`StoreRules.answerLifetime`), then answers `.kept` if there is one. Of
///   the app's answers that have expired it forgets the first `StoreRules.forgottenAtOnce`, by time, then key. An app that keeps as many
///   as it may is refused. Then the command is carried out by its own rules, and `StoreRules.answer(to:)` kept, if there is one.
/// - **trace** knows messages, recalls and custom messages, each by its own id.
/// - **readLegs** goes back through a person's log to the first id before `oldest`, or through the ids of messages and of ends, and answers
///   messages of the app alone.
package struct ReferenceStore: Hashable, Sendable {
    /// Grows by one with each opening; 0 before the first.
    package private(set) var epoch: UInt64 = 0
    /// Also of recalls and custom messages.
    package internal(set) var lastMessageID = MessageID(rawValue: 0)
    var people = People()
    /// Devices registered or quarantined with a registration: who registers it takes it from them.
    var holders: [Holding: Set<DeviceKey>] = [:]
    var conversations: [ConversationKey: Conversation] = [:]
    var messages: [MessageID: Accepted] = [:]
    var others: [MessageID: Other] = [:]
    var objectNames: [AppID: [ObjectName]] = [:]
    /// No empty dictionaries.
    var accounts: [AppID: StoreRules.Accounts] = [:]
    /// No empty sets and dictionaries.
    var followers: [AppID: [ConversationID: Set<UserID>]] = [:]
    /// Apps, their keys and secrets, and operators: about no person, and in no partition.
    var control = ControlState()
    /// Of what was asked for, the oldest first, at most `AuditRecord.countMax`.
    var audit: [AuditRecord] = []
    /// No empty dictionaries.
    var kept: [AppID: [IdempotencyKey: KeptAnswer]] = [:]
    var pushes: [PushJobID: KeptPush] = [:]
    /// Legs of jobs that are in their counts.
    var countedEnds: Set<LegID> = []
    /// Who is called so; no empty dictionaries.
    var aliases: [AppID: [String: UserID]] = [:]
    var sent: [SentKey: MessageID] = [:]
    var custom: [CustomKey: CustomSent] = [:]
    var ended: [MessageID: Ends] = [:]
    var receipts: [MessageID: [ReceiptKey: Int64]] = [:]
    /// Numbered openings, oldest first, each with the heads of all logs when it began.
    private var openings: [NumberedOpening] = []

    struct Person: Hashable, Sendable {
        var log: [LogEntry] = []
        var counts = UnreadCounts()
        var cursors: [ConversationID: Cursor] = [:]
        var deleted: Set<MessageID> = []
        var lastEdits: [MessageID: LogPosition] = [:]
        /// Recalls whose message was unread until then, outside muted conversations.
        var wereUnread: Set<LogPosition> = []
        /// Messages whose sender was blocked when they were stored, and their recalls.
        var hushed: Set<LogPosition> = []
        var settings = AllSettings()
        var account = AccountState()
        var profile = Profile()
        var labels = PersonLabels()
        var devices: [DeviceID: DeviceRecord] = [:]
        var openLegs: [LegID: OpenLeg] = [:]

        var head: LogPosition { LogPosition(self.log.count) }
        var isSignedIn: Bool { self.devices.values.contains { !$0.isSignedOut } }
        var signedIn: Int { self.devices.values.count { !$0.isSignedOut } }
        /// Otherwise others may have named them, and that is all.
        var isKnown: Bool {
            self.head > 0 || self.isSignedIn || !self.profile.isEmpty || self.account != AccountState()
                || !self.labels.isEmpty
        }
        var isPending: Bool {
            !self.openLegs.isEmpty
                || self.devices.values.contains { !$0.isSignedOut && max($0.settled, $0.decided) < self.head }
        }
    }

    struct Holding: Hashable, Sendable {
        var app: AppID
        var registration: PushRegistration
    }

    struct Cursor: Hashable, Sendable {
        var unread = 0
        var mentions = 0
        var upTo: LogPosition = 0
        var hasWritten = false

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
        /// A chat room's, in the order they were accepted.
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
        /// nil for the backend's.
        var device: DeviceID?
        var deliveries: [Delivery]
        var isRecalled = false
        var recall: MessageID?
        /// nil unless it was edited.
        var content: String?
        /// Who has written it as the account that is its sender.
        var author: UserID?

        /// Whose media it may name.
        var writer: UserID { self.device == nil ? self.message.sender : self.author ?? self.message.sender }
    }

    struct Other: Hashable, Sendable {
        var subject: MessageTrace.Subject
        var deliveries: [Delivery]
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

    package init() {}

    private struct NumberedOpening: Hashable, Sendable {
        var number: UInt64
        /// By the places of the people there were.
        var heads: [LogPosition]
    }

    /// Every earlier owner's batches are refused from now on. `number` is `StoreIdentity.opening`; 0 for none.
    package mutating func open(number: UInt64 = 0) -> StoreOpening {
        self.epoch += 1
        if number > 0 {
            self.openings.append(
                NumberedOpening(number: number, heads: self.people.indices.map { self.people[$0].head }))
        }
        let pending = self.people.indices.filter { self.people[$0].isPending }.map { self.people.keys[$0] }
        return StoreOpening(
            epoch: self.epoch, lastMessageID: self.lastMessageID, pending: pending.sorted(), control: self.control,
            pushJobs: self.pushes.values.map(\.job).filter(\.state.isUnfinished).sorted { $0.id < $1.id })
    }

    /// One result per command. Throws `StaleEpoch`, with nothing carried out, if `epoch` is not that of the last
    /// opening.
    package mutating func apply(_ batch: [StoreCommand], epoch: UInt64) throws(StaleEpoch) -> [StoreResult] {
        guard epoch == self.epoch else { throw StaleEpoch(presented: epoch, current: self.epoch) }
        return batch.map { self.carryOut($0) }
    }

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

    // tidy: long because it is one switch over the commands.
    mutating func carryOut(_ command: StoreCommand) -> StoreResult {
        switch command {
        case .accept(let message, let device, let room, let ignoresBlocks, let push, let author):
            self.accept(
                message, from: device, room: room, ignoresBlocks: ignoresBlocks, push: push, by: author)
        case .putConversation(let record): self.putConversation(record)
        case .change(let operation): self.changeConversation(operation)
        case .recall(let operation): self.recall(operation)
        case .edit(let operation): self.edit(operation)
        case .delete(let key, let deletion, _): self.delete(key, deletion)
        case .setConversationSettings(let key, let conversation, let settings, let at):
            self.setConversationSettings(key, conversation, settings, at: at)
        case .setConversationState(let key, let conversation, let change, let at):
            self.setConversationState(key, conversation, change, at: at)
        case .endLevel(let key, let conversation, let at): self.endLevel(key, conversation, at: at)
        case .setPersonSettings(let key, let settings, _): self.setPersonSettings(key, settings)
        case .setBlocked(let key, let user, let isBlocked, _): self.setBlocked(key, user, isBlocked: isBlocked)
        case .acceptCustom(let operation): self.acceptCustom(operation)
        case .signIn(let key, let platform, let issuedAt, let at):
            self.signIn(key, platform: platform, tokenIssuedAt: issuedAt, at: at)
        case .changeAccount(let key, let change, let at): self.changeAccount(key, change, at: at)
        case .readAccount(let key): .userAccount(self.people.read(key) { $0.account } ?? AccountState())
        case .setProfiles(let app, let profiles, let isOwn): self.setProfiles(profiles, of: app, isOwn: isOwn)
        // tidy: order does not leave: these are a list
        case .readProfiles(let app, let users, let offered):
            .profiles(users.map { self.card(of: $0, in: app, offered: offered[$0]) })
        case .signOut(let key, let at): self.signOut(key, at: at)
        case .setPushState(let key, let state, let about): self.setPushState(key, state, about: about)
        case .setDeviceStatus(let key, let status): self.setDeviceStatus(key, status)
        case .setVoIPToken(let key, let token, let about): self.setVoIPToken(key, token, about: about)
        case .advance(let key, let settled, let decided): self.advance(key, settled: settled, decided: decided)
        case .markRead(let key, let conversation, let upTo, _): self.markRead(key, conversation, upTo: upTo)
        case .keepLeg(let leg): self.keepLeg(leg)
        case .endLeg(let end): self.endLeg(end)
        case .receipt(let leg, let receipt, let at): self.keepReceipt(leg, receipt, at: at)
        case .compareLog(let key, let held): .isSameLog(self.isSame(held, of: key))
        case .loadUser(let key): .user(self.record(of: key))
        case .readLog(let key, let after, let limit, let bytes):
            .page(self.page(of: key, after: after, limit: limit, frameBytesMax: bytes))
        case .trace(let app, let id): .trace(self.trace(of: id, in: app).map { self.withReports($0) })
        case .readLegs(let question): .legs(self.legs(question))
        case .readConversation(let app, let conversation, let user, let at):
            self.conversation(conversation, of: app, for: user, at: at)
        case .readHistory(let key, let conversation, let before, let limit, let room):
            self.history(of: key, in: conversation, before: before, limit: limit, room: room)
        case .mayWrite(let key, let conversation, let room): self.mayWrite(key, conversation, room: room)
        case .readRestrictions(let kind, let app, let conversation, let user, let at):
            self.restrictions(kind, conversation, of: app, asked: user, at: at)
        case .readSettings(let key): .settings(self.settings(of: key))
        case .readReceipts(let app, let message, let user): self.receipts(of: message, in: app, asked: user)
        case .readMedia(let key, let media, let message, let room):
            .mediaUse(self.mediaUse(of: media, in: message, by: key, room: room))
        case .readMediaUses(let app, let media, let owner): .mediaUses(self.mediaUses(of: media, by: owner, in: app))
        case .readUnread(let key, let conversation): .unread(self.unread(of: key, in: conversation))
        case .setObjectNames(let app, let names): self.setObjectNames(names, of: app)
        case .readObjectNames(let app): .objectNames(self.objectNames[app] ?? [])
        case .setAccount(let app, let account, let isDeclared):
            self.setAccount(account, of: app, isDeclared: isDeclared)
        case .putAccount(let app, let account): self.putAccount(account, of: app)
        case .readAccounts(let app, let account, let after, let limit):
            .accounts(self.accounts(of: app, only: account, after: after, limit: limit))
        case .setFollowing(let key, let account, let isFollowing): self.setFollowing(key, account, isFollowing)
        case .readFollowers(let app, let account, let after, let limit):
            self.followers(of: account, in: app, after: after, limit: limit)
        case .readFollowing(let key): .following(self.following(key))
        case .readPeople(let app, let after, let limit): self.people(of: app, after: after, limit: limit)
        case .readConversations(let app, let after, let limit):
            self.conversations(of: app, after: after, limit: limit)
        case .readConversationList(let key, let before, let limit):
            self.conversationList(of: key, before: before, limit: limit)
        case .createPush(let job): self.createPush(job)
        case .stepPush(let app, let id, let ids, let most, let at):
            self.stepPush(id, of: app, ids: ids, devicesMax: most, at: at)
        case .changePush(let app, let id, let change, let at): self.changePush(id, of: app, change, at: at)
        case .readPush(let app, let id): .pushJob(self.push(id, of: app))
        case .readPushes(let app, let before, let limit): self.readPushes(of: app, before: before, limit: limit)
        case .countAudience(let app, let audience, let after, let limit):
            self.countAudience(audience, of: app, after: after, limit: limit)
        case .readPushRecipient(let key, let id): .pushRecipient(self.pushRecipient(key, of: id))
        case .setLabels(let key, let change): self.setLabels(key, change)
        case .readLabels(let key): .labels(self.labels(of: key))
        case .changeControl(let change, let at): self.changeControl(change, at: at)
        case .readControl: .controlState(self.control)
        case .readAudit(let question, let limit): self.readAudit(question, limit: limit)
        case .once(let request, let command): self.carryOut(command, once: request)
        case .readKept(let key, let at): .kept(self.kept(key, at: at))
        }
    }
}
