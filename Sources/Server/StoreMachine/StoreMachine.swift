import OrderedCollections
package import StoreModel
package import TidingsModel

/// The store behind its writer's thread, which alone uses it. State in memory is always as of the last record; stored rows are behind
/// it, each with the journal position they are at. A change is: decide (`+Commands`), append its record to the journal, apply the
/// record (`+Applying`). After a crash the records after the watermark are applied again, and nothing else.
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
///   past blocks, for the backend, it is to them as to everybody. In a chat room's history the block list of now is asked.
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
///   room's goes into no log. The read cursor of one who is no member after it stands at the entry. Dissolving leaves unread as it is.
/// - **Consent** is asked of who would be made a member of a group or discussion by a person: who has `mayBeAddedBy` `nobody`, or
///   `contacts` and has written to the actor from no device of theirs one to one, is invited. An invitation ends when they become a member, decline,
///   it is withdrawn, or the conversation is dissolved; `putConversation` writes no entry of it.
/// - **Mutes** refuse a message and an edit, not a recall, by the time of the command; they are kept when a member goes.
/// - **recall** is for the backend, the sender within the window, and owner and admin of the conversation at any time. A message
///   recalled already answers them `.noted(nil, …)`, so that a retry is harmless. Then the id must be new, and a sender must still be
///   allowed to write there. Each log that has the message gets a `recall` entry by who recalled it (for the backend the message's
///   sender), and it is unread there no more. Message and edits are empty wherever they are read. `shown` names the ended legs with
///   `accepted`, `settled(shown)` or `settled(notified)`, without those of people for whom it is hushed: no notification has told them of it.
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
///   with the end `disabled` or `signed_out`. A ban takes the place of the one before, and ends by itself at its time; while it holds, the
///   backend's messages in the person's name are refused unless they go past it. The time before which tokens are revoked moves forward only.
/// - **registerInstallations** leaves a token with the device that has it, if that is of the person named or none is. Otherwise it signs in a
///   device of the token's own, of that person or an anonymous one, which takes the token as `setPushState` does.
///   Such a device is signed out where another takes its token.
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
/// - **keepLeg** opens a leg, or replaces its state, unless its device has signed out. **endLeg** closes it and keeps the end; of several ends the first stays.
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
/// - **setFollowing** needs an account with the audience `followers`, or, to follow no longer, nothing. Followers stay kept with another
///   audience, and when the account is taken back. An account with that audience writes to its followers only, by any author.
/// - **readProfiles** tells of another app's account, where the command offers it, the card alone, and as long as it is declared there.
/// - **readPeople** tells of everybody who has an entry in their log, a device that is signed in, a profile, a ban or revoked tokens;
///   accounts with one of these are among them.
/// - **readConversations** tells of every group, discussion and chat room that was ever made, also of one that was dissolved.
/// - **readConversationList** tells of each conversation of which the person's log has a message that stands in lists, by the position of
///   its newest. The message told is the newest of these that they can read in the history, of the last `StoreRules.newestLooksMax`.
/// - **Authors** write as the account that is the message's sender, of the conversation's kind: from a device its owner and its operators,
///   also in `SYS` and `PH`; in the backend's words anybody. A repeat has the same author. The account's operators of now recall and edit
///   its messages as its sender may, and the recall is the account's. An edit of another author's message, in the account's name or the
///   backend in one's own, names no files but those it named; by a person it reaches followers only.
/// - **changeControl** follows `ControlState.apply`. An app needs no record there for people to write in it. A change with an author
///   (`.by`) is kept as a record, carried out or refused, unless it changed nothing; a call (`noteCall`) always. The newest
///   `AuditRecord.countMax` records stay.
/// - **createPush** needs a new id, a valid audience, an object name as `accept` does, an account that is declared where its kind needs
///   one, and fewer than `StoreRules.pushJobsMax` of the app's jobs unfinished.
/// - **stepPush** looks at up to `StoreRules.pushLookFactor` people for each id: at those the audience names, in its order, or else at all
///   people of the store in the order in which they became known. Each person in the audience gets an entry (`clientMessageID` is not
///   asked), unless they have blocked the account and the job heeds blocks, do not follow it where it writes to followers, or are the
///   account. The account's log gets nothing. The step ends at `devicesMax` signed-in devices. A person without one ends `no_device` as in
///   `accept`. The job is `done` when all were looked at.
/// - **Recalling** a job goes through the messages of its steps, and recalls each that was not recalled before, as the backend. In the end the
///   job says nothing any more. What each change does to a job, `StoreRules.job(_:after:at:)` says.
/// - **Counts of a job** grow with each leg that ends naming the job (the first time), with each receipt that is kept for a message of it, and
///   with each of its messages that is recalled, also alone.
/// - **setLabels** replaces aliases or tags. An alias is of one person in an app: the person who had it before has it no longer.
/// - **Bans** are of chat rooms. A banned person is no member; one made a member by `putConversation` is banned no longer.
/// - **setObjectNames** sorts the names and drops repeats; at most `StoreRules.objectNamesMax` valid ones. Messages accepted before stay.
/// - **compareLog** knows the numbered openings, and how far the logs reached when the next one began. Position 0 is every store's log.
/// - **once** first forgets the key's answer if it has expired (`StoreRules.answerLifetime`), then answers `.kept` if there is one. Of
///   the app's answers that have expired it forgets the first `StoreRules.forgottenAtOnce`, by time, then key. An app that keeps as many
///   as it may is refused. Then the command is carried out by its own rules, and `StoreRules.answer(to:)` kept, if there is one.
/// - **Counts** of an app are exact after each command. Messages count until they are recalled, each with the bytes
///   that it says now; those of a push job do not, but the job does, with what it says once, until it is recalled. What is never removed is
///   counted for good: custom messages, jobs, log entries, people, and conversations, also dissolved ones. Devices count until they are unknown.
/// - **trace** knows messages, recalls and custom messages, each by its own id.
/// - **readLegs** goes back through a person's log to the first id before `oldest`, or through the ids of messages and of ends, and answers
///   messages of the app alone.
package final class StoreMachine {
    let configuration: Configuration
    let rows: any Rows

    package var epoch: UInt64 = 0
    package var identity = StoreIdentity()
    /// The number of each known opening, with the first record that is not of it; `.max` for the last opening.
    var openingEnds: [UInt64: JournalPosition] = [:]
    package private(set) var pendingAtOpening: [UserKey] = []
    package private(set) var pushJobsAtOpening: [PushJob] = []
    package var lastMessageID = MessageID(rawValue: 0)
    /// The position of the next record.
    package private(set) var next: JournalPosition = 1
    /// Everything up to here is derived.
    var watermark: JournalPosition = 0
    /// The message index is derived up to here.
    var indexed: JournalPosition = 0

    /// While true, a failure makes the state in memory void.
    private(set) var isApplying = false
    var hasSetAside = false
    /// Each is noted once.
    var notedDamage: Set<String> = []
    /// To be taken out and logged after each piece of work.
    package var notes: [StoreNote] = []

    var peopleByKey: [UserKey: PersonState] = [:]
    /// Several commands about one person often follow each other.
    var lastFound: PersonState?
    /// By number; nil for those not in memory.
    var peopleByNumber: [PersonState?] = [nil]
    /// The bytes of the drafts of all people in memory.
    var draftBytes = 0
    var lastPersonNumber: Int64 = 0
    /// Without a row.
    var newPeople: [PersonState] = []
    /// People whose rows are behind, outside the present round.
    var dirtyPeople: [PersonState] = []

    typealias AccountKey = ConversationKey

    var conversations: [ConversationKey: MembersState] = [:]
    var conversationsByNumber: [Int64: MembersState] = [:]
    var lastConversationNumber: Int64 = 0
    /// Not stored yet, in order. A version with the members of the one before needs no row for them.
    var newVersions: [(conversation: MembersState, version: UInt64, members: [Int64], isNewMembership: Bool)] = []

    /// The messages that the index lacks, in journal order.
    var indexTail: [(message: MessageID, record: JournalPosition)] = []
    /// The records of messages, recalls and custom messages with new ids since the index was derived.
    var acceptedTail: [MessageID: JournalPosition] = [:]
    var revisionTail: OrderedDictionary<MessageID, MessageRevision> = [:]
    var customTail: OrderedDictionary<CustomKey, PersonState.SentMessage> = [:]
    /// By the room's number, in journal order.
    var roomTail: [Int64: [(record: JournalPosition, message: MessageID)]] = [:]
    /// Sorted; few, so all are in memory.
    var objectNames: [AppID: [ObjectName]] = [:]
    /// Few, so all are in memory; no empty dictionaries.
    var accounts: [AppID: StoreRules.Accounts] = [:]
    var accountsTail: Set<AccountKey> = []
    /// How many follow each; without those whom nobody follows.
    var followerCounts: [AccountKey: Int] = [:]
    var followerTail: OrderedDictionary<FollowerKey, Bool> = [:]
    /// Apps and operators; few, so all are in memory.
    package var control = ControlState()
    /// The keys of control records whose rows are behind.
    var controlTail: Set<ControlKey> = []
    /// Not in the table yet; the oldest first.
    var auditTail: [AuditRecord] = []
    var lastAudit: Int64 = 0
    /// Push jobs whose rows are behind, and others that were used lately.
    var pushes: [PushJobID: PushJobState] = [:]
    var unfinishedPushes: [AppID: Int] = [:]
    /// nil for one that is nobody's any more.
    var aliasTail: OrderedDictionary<AliasKey, UserID?> = [:]
    /// The number of entries of steps that are not derived, of those in the present round, and the round of the last step.
    var pushEntriesInTail = 0
    var pushEntriesInRound = 0
    var lastPushRound = -2
    /// People who are in memory because of a push job.
    var passing: [PersonState] = []
    var erasureTail: Set<JournalPosition> = []
    var mediaTail: OrderedSet<MediaMention> = []
    /// Erased texts may still stand in the write-ahead log; unknown at the start.
    var hasErased = true
    var objectNamesTail: Set<AppID> = []
    /// How many answers are kept of each app.
    var keptCounts: [AppID: Int] = [:]
    /// How much is kept of each app; those whose rows are behind, in the order in which they changed.
    var appStorage: [AppID: StorageState] = [:]
    var changedStorage: [StorageState] = []
    var lastCounted: StorageState?
    /// Devices that got a token since the present round of deriving began, and since the one before.
    var tokenTail: [PushToken: Set<DeviceKey>] = [:]
    var tokensInRound: [PushToken: Set<DeviceKey>] = [:]
    var entriesInTail = 0
    var membersInTail = 0

    var round: DerivationRound?
    var roundNumber = 0
    var pace: DerivationPace

    package enum Start {
        /// Writes nothing.
        case reading
        /// Begins the next epoch, given what the state file says and what it takes of an identity that was drawn for it.
        case opening(StoreState?, drawn: StoreIdentity)
        /// In place of an engine whose state is void.
        case instead(of: StoreMachine)
    }

    /// Applies what the journal holds beyond the watermark.
    /// - Parameter setAside: people to be set aside from now on, besides those who are.
    package init(
        rows: any Rows, configuration: Configuration, start: Start, settingAside setAside: [SetAsidePerson] = []
    ) throws {
        self.configuration = configuration
        self.pace = DerivationPace(configuration)
        self.rows = rows
        let store = try rows.load()
        try self.recover(store, settingAside: setAside)
        // Before anything is written: a store that cannot be read is left as it is.
        if case .opening = start {
            self.pendingAtOpening = try self.pending()
            self.pushJobsAtOpening = try self.unfinishedPushJobs(store)
        }
        if case .reading = start { return }
        try self.inTransaction {
            switch start {
            case .reading: break
            case .opening(let state, let drawn): try self.beginOpening(state, drawn: drawn)
            case .instead(let engine):
                self.identity = engine.identity
                self.notedDamage = engine.notedDamage
                self.notes = engine.notes + self.notes
            }
            try self.storeSetAside(setAside)
        }
    }

    package var tailRecords: Int { Int(self.next - 1 - self.watermark) }

    package var tailIsLong: Bool {
        self.tailRecords >= self.configuration.tailRecordsMax || self.entriesInTail >= self.configuration.tailEntriesMax
            || self.membersInTail >= self.configuration.tailEntriesMax
    }

    private func recover(_ store: StoreRow, settingAside setAside: [SetAsidePerson]) throws {
        self.loadIdentity(store)
        self.epoch = store.epoch
        self.watermark = store.watermark
        self.indexed = store.indexed
        self.lastMessageID = store.lastMessageID
        self.objectNames = store.objectNames
        self.accounts = store.accounts
        self.followerCounts = store.followerCounts
        for app in store.apps { self.control.put(app) }
        for record in store.operators { self.control.put(record) }
        self.lastAudit = store.lastAudit
        // tidy: order does not leave: they are counted
        for (app, _) in store.unfinishedPushes { self.unfinishedPushes[app, default: 0] += 1 }
        self.keptCounts = store.keptCounts
        for row in store.storage { self.appStorage[row.app] = StorageState(row) }
        self.lastPersonNumber = store.lastPerson
        self.lastConversationNumber = store.lastConversation
        let setAside = store.setAside + setAside
        // Also of people who were set aside before they had a row: the next new person would come upon what is damaged there.
        for person in setAside where 0...store.numberMax ~= person.number {
            self.lastPersonNumber = max(self.lastPersonNumber, person.number)
        }
        self.peopleByNumber = Array(repeating: nil, count: Int(self.lastPersonNumber) + 1)
        self.placeSetAside(setAside)
        self.next = self.watermark + 1
        while let first = try self.rows.recordsBegin(from: self.next) {
            guard first == self.next else { throw StoredBytesFault.missing("journal record \(self.next)") }
            try self.rows.records(from: first) { record in
                let position = self.next
                self.next += 1
                _ = try self.apply(record, at: position)
                return true
            }
        }
        // They are ahead of the records.
        for use in store.keyUses { self.control.setLastUse(of: use.key, use.at) }
        if self.tailRecords > 0 {
            self.notes.append(.recovered(records: self.tailRecords, watermark: self.watermark))
        }
    }
}

// MARK: - Transactions and the journal

extension StoreMachine {
    /// Carries out batches in one transaction with one sync.
    /// - Parameter refused: which of all commands, counted from 0, are refused because what they write cannot be applied.
    /// - Throws: what the rows said. Then nothing was written, the state in memory is void, and the engine must not be used again.
    package func carryOut(_ batches: [[StoreCommand]], refusing refused: Set<Int> = []) throws -> [[StoreResult]] {
        do {
            var results: [[StoreResult]] = []
            var index = 0
            results.reserveCapacity(batches.count)
            for batch in batches {
                var answers: [StoreResult] = []
                answers.reserveCapacity(batch.count)
                for command in batch {
                    answers.append(try self.answer(command, index: index, refusing: refused))
                    index += 1
                }
                results.append(answers)
            }
            try self.rows.commit()
            return results
        } catch {
            self.rows.rollBack()
            throw error
        }
    }

    /// Commits what `body` writes. If that fails, nothing was written, and what `body` changed in memory is void.
    package func inTransaction<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            let value = try body()
            try self.rows.commit()
            return value
        } catch {
            self.rows.rollBack()
            throw error
        }
    }

    /// Appends a record to the journal and applies it.
    package func write(_ record: JournalRecord) throws -> StoreResult {
        let position = self.next
        try self.rows.append(record, at: position)
        self.next += 1
        self.isApplying = true
        let result = try self.apply(record, at: position)
        self.isApplying = false
        return result
    }

    /// Writes what is no record of the journal in the transaction of the commands, so that one sync makes both durable. If that fails, the
    /// state in memory is void.
    func writeAlong(_ body: () throws -> Void) throws {
        self.isApplying = true
        try body()
        self.isApplying = false
    }

    package func record(at position: JournalPosition) throws -> JournalRecord { try self.rows.record(at: position) }
}
