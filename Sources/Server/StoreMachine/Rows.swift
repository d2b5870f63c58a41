package import StoreModel
package import TidingsModel

/// The rows of a store, in the words of storage: the machine decides what is put, and rows keep it. One machine uses them, on one thread.
///
/// What is put or appended since the last `commit` or `rollBack` is one transaction, which the first of these begins. Reads see it at once.
/// After `commit` has returned, all of it is durable. Where `commit` or a change throws, or the owner gives up, it rolls back: then nothing
/// of the transaction is there, and rows are as of the last commit. A crash leaves the same.
///
/// What is stored and cannot be read is thrown as damage (`StoredBytesFault`, or `UnreadableRow` where it is known whose it is); anything
/// else that is thrown is a failure of the storage. After damage in a read other rows can be read, unless `isTransactionWhole` says that
/// the transaction is gone.
///
/// Lists are in the order that is told; where none is, in any. A body that is called for rows may read others, but not of the same kind.
package protocol Rows: AnyObject {
    // MARK: Transactions

    func put(_ change: RowChange) throws
    func commit() throws
    /// Does nothing outside a transaction.
    func rollBack()
    /// False if the storage has ended the present transaction by itself, after a failure: nothing of it is there any more.
    var isTransactionWhole: Bool { get }

    // MARK: The journal

    /// Appends the record that follows the last one. `position`: its own, one more than that of the one before; the first is 1.
    func append(_ record: JournalRecord, at position: JournalPosition) throws
    /// Throws for one that is not there.
    func record(at position: JournalPosition) throws -> JournalRecord
    /// Calls `body` for the record at `position` and those after it that are stored together with it, at least for that one, until it
    /// returns false. Throws `missing` if there is none. `body` may read other records by `record(at:)`.
    func records(from position: JournalPosition, _ body: (JournalRecord) throws -> Bool) throws
    /// The first position from `position` on at which records can be read without those before it; nil after the last.
    func recordsBegin(from position: JournalPosition) throws -> JournalPosition?
    /// Overwrites the texts of the first of these records (ascending, not empty), and of those after it that are stored together with it:
    /// they read as zeros from then on (`JournalRow.erase`).
    /// - Returns: how many of the records, at least 1.
    func eraseTexts(of records: ArraySlice<JournalPosition>) throws -> Int
    /// Outside a transaction. After it, nothing is left anywhere of what was overwritten, replaced or deleted before.
    func purge() throws

    // MARK: The store

    /// Everything that is all in memory, as of the last commit.
    func load() throws -> StoreRow
    /// People with a signed-in device whose greater cursor (`settled`, `decided`) is before the head of the log, or with an open leg.
    /// Leaves out those who cannot be read.
    func pending() throws -> [UserKey]

    // MARK: People

    func person(_ key: UserKey) throws -> PersonRow?
    func person(_ number: Int64) throws -> PersonRow?
    /// The same without what most of those who ask do not need.
    func personFacts(_ number: Int64) throws -> PersonFacts?
    /// By user, after one; those of whom nothing is known (`PersonSummary` of a person with nothing but a number) are left out.
    func people(of app: AppID, after: UserID?, limit: Int) throws -> [PersonSummary]
    func allPeople() throws -> [UserKey]
    /// The entries of chunks that begin before `end`, from the chunk with the entry `start` on, in order until `body` returns false.
    /// Entries before `start` in its chunk come, too.
    func entries(
        of person: Int64, from start: LogPosition, before end: LogPosition, _ body: (LogChunk.Entry) throws -> Bool
    ) throws
    /// The entries of the last chunk that begins at or before `position`, in order until `body` returns false.
    /// - Returns: where the chunk begins; nil if there is none.
    func chunk(
        of person: Int64, at position: LogPosition, _ body: (LogChunk.Entry) throws -> Bool
    ) throws -> LogPosition?
    /// Not muted and not changed.
    func conversationState(
        _ conversation: ConversationNumber, of person: Int64
    ) throws -> PersonState.ConversationState?
    func conversations(of person: Int64) throws -> [ConversationNumber]
    /// With `listed` above 0 and below `before`; the greatest first.
    func newestConversations(
        of person: Int64, before: LogPosition, limit: Int
    ) throws -> [(number: ConversationNumber, listed: LogPosition)]
    func sentMessage(_ id: ClientMessageID, by person: Int64) throws -> PersonState.SentMessage?
    func sentMessages(by person: Int64, limit: Int) throws -> [(id: ClientMessageID, message: MessageID)]
    /// By device. `key`: the person's.
    func devices(of person: Int64, _ key: UserKey) throws -> [DeviceRecord]
    /// What the signed-in devices have reported, without those that have reported nothing.
    func deviceStatuses(of person: Int64) throws -> [(device: DeviceID, status: ReportedStatus)]
    /// Of any app, with the token for any kind of push.
    func devices(with token: PushToken) throws -> [DeviceKey]
    /// `key`: the person's.
    func openLegs(of person: Int64, _ key: UserKey) throws -> [LegID: OpenLeg]
    /// Not to be called in an operand of `||`, `&&` or `??` that makes the fact: Swift 6.3.1 drops what such an operand throws if it makes
    /// a case of several values (swiftlang/swift#91937).
    func has(_ fact: RowFact) throws -> Bool
    func deletedMessages(of person: Int64) throws -> [MessageID]
    func pushesReached(of person: Int64) throws -> [PushJobID]
    func alias(_ key: AliasKey) throws -> UserID?
    func allAliases() throws -> [(key: AliasKey, user: UserID)]
    /// By user, after one.
    func followers(of account: ConversationKey, after: UserID?, limit: Int) throws -> [UserID]
    func allFollowers() throws -> [FollowerKey]

    // MARK: Conversations

    func conversation(_ key: ConversationKey) throws -> ConversationRow?
    func conversation(_ number: Int64) throws -> ConversationRow?
    /// Those of the greatest version up to this one. Throws `missing` if there is none.
    func members(of conversation: Int64, version: UInt64) throws -> [Int64]
    /// By kind (`ConversationType.rawValue`) and target, after one. `members` of each is 0.
    func conversations(
        of app: AppID, after: ConversationID?, limit: Int
    ) throws -> [(summary: ListedConversation, number: Int64, version: UInt64)]
    func allConversations() throws -> [Int64]
    /// The records of messages of a room before a record, the newest first, until `body` returns false.
    func roomMessages(
        of room: Int64, before: JournalPosition, _ body: (JournalPosition) throws -> Bool
    ) throws

    // MARK: Messages

    /// The records about a message; ascending.
    func records(of message: MessageID) throws -> [JournalPosition]
    /// Messages with records: ids below `end` and not below `oldest`; the greatest first.
    func messages(before end: MessageID, notBefore oldest: MessageID, limit: Int) throws -> [MessageID]
    func revision(of message: MessageID) throws -> MessageRevision?
    func customMessage(_ key: CustomKey) throws -> PersonState.SentMessage?
    /// `sender`: as in `MediaMention`.
    func mediaUses(of media: MediaID, by sender: String) throws -> [MessageID]

    // MARK: Pushes

    func push(_ id: PushJobID) throws -> PushRow?
    /// Below `before`, the greatest first; nil for all apps.
    func pushes(of app: AppID?, before: PushJobID, limit: Int) throws -> [PushJobID]
    func pushStep(_ number: Int, of job: PushJobID) throws -> JournalPosition?

    // MARK: Audit and kept answers

    /// Records that the question's app and actor are about, with numbers below `end` and above `start`; the greatest first.
    func audit(_ question: AuditQuestion, before end: Int64, after start: Int64, limit: Int) throws -> [AuditRecord]
    func keptAnswer(_ key: IdempotencyKey) throws -> KeptAnswer?
    /// Of an app (nil for all), with `at` not above `end`, in order. Reads nothing else of them: what is damaged is forgotten like others.
    func keptAnswers(of app: AppID?, upTo end: Int64, limit: Int) throws -> [KeptAnswerKey]
}

/// A row, as it is from now on, in place of the one with the same key.
package enum RowChange {
    // The store.
    /// A new opening: its epoch, its numbers, and the first record after it began. Forgets openings of epochs up to `forgotten`.
    case opening(epoch: UInt64, StoreIdentity, next: JournalPosition, forgotten: UInt64)
    /// Everything up to `watermark` is derived, and the index up to `indexed`. `storage`: in place of those of the same apps.
    case derived(
        watermark: JournalPosition, indexed: JournalPosition, lastMessageID: MessageID, storage: [StorageRow] = [])
    case setAside(SetAsidePerson)
    case objectNames(AppID, [ObjectName])
    /// nil if it is none any more; also for the following ones.
    case account(ConversationKey, ServiceAccount?)
    indirect case app(ManagedApp)
    case ofOperator(String, OperatorRecord?)
    case keyUse(KeyUse.Key, Int64?)
    indirect case audit(AuditRecord)
    /// Removes those with numbers up to one.
    case noAudit(upTo: Int64)
    case keptAnswer(IdempotencyKey, KeptAnswer?)

    // People. They are named by their numbers.
    /// A person of whom nothing is known yet.
    case newPerson(Int64, UserKey)
    case person(
        Int64, head: LogPosition, counts: UnreadCounts, signedIn: Int, applied: JournalPosition)
    case settings(Int64, AllSettings, drafts: [ConversationID: JournalPosition])
    case userAccount(Int64, AccountState)
    case profile(Int64, Profile)
    case labels(Int64, PersonLabels)
    case chunk(Int64, LogChunk)
    case conversationState(Int64, ConversationNumber, PersonState.ConversationState)
    /// Changes nothing if there is one.
    case sentMessage(Int64, ClientMessageID, PersonState.SentMessage)
    case device(Int64, DeviceID, DeviceRecord?)
    case openLeg(Int64, LegID, OpenLeg?)
    /// Whether it holds. Of those that did only a follower's ceases.
    case fact(RowFact, Bool)
    case alias(AliasKey, UserID?)

    // Conversations.
    case members(conversation: Int64, version: UInt64, [Int64])
    /// Without the members of this row and of its record.
    indirect case conversation(ConversationRow)
    case roomMessage(room: Int64, record: JournalPosition, MessageID)
    /// Removes messages of a room with ids below `oldest`, and all but the newest `newest` (by record).
    case noRoomMessages(room: Int64, before: MessageID, butNewest: Int)

    // Messages.
    /// Records about a message, ascending and not empty, in addition to those with another first record.
    case records(of: MessageID, ArraySlice<JournalPosition>)
    case revision(MessageID, MessageRevision)
    /// Changes nothing if there is one.
    case customMessage(CustomKey, PersonState.SentMessage)
    case mediaUse(MediaMention)

    // Pushes.
    indirect case push(PushRow)
    case pushStep(Int, of: PushJobID, record: JournalPosition)
}

/// A row that says nothing but that it is there.
package enum RowFact: Hashable {
    case receipt(Int64, PersonState.Receipt)
    /// A leg of a push job that is in its counts.
    case pushEnd(Int64, PersonState.PushEnd)
    /// The person has deleted the message.
    case deleted(Int64, MessageID)
    /// A job with a local time has reached the person.
    case pushReached(Int64, PushJobID)
    case follower(FollowerKey)
}
