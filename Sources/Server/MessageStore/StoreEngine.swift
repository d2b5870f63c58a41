import GRDB
import Logging
import StoreModel
import TidingsModel

/// The store behind its writer's thread, which alone uses it. State in memory is always as of the last record; stored rows are behind
/// it, each with the journal position they are at. A change is: decide (`+Commands`), append its record to the journal, apply the
/// record (`+Applying`). After a crash the records after the watermark are applied again, and nothing else.
final class StoreEngine {
    let configuration: MessageStoreConfiguration
    let logger: Logger
    let sql: Statements
    let wal: WriteAheadLog

    var epoch: UInt64 = 0
    var identity = StoreIdentity()
    /// The number of each known opening, with the first record that is not of it; `.max` for the last opening.
    var openingEnds: [UInt64: JournalPosition] = [:]
    private(set) var pendingAtOpening: [UserKey] = []
    private(set) var pushJobsAtOpening: [PushJob] = []
    var lastMessageID = MessageID(rawValue: 0)
    /// The position of the next record.
    private(set) var next: JournalPosition = 1
    /// Everything up to here is derived.
    var watermark: JournalPosition = 0
    /// The message index is derived up to here.
    var indexed: JournalPosition = 0

    private var row = JournalRow()
    private(set) var isInTransaction = false
    /// While true, a failure makes the state in memory void.
    private(set) var isApplying = false
    var hasSetAside = false
    /// Each is logged once.
    var notedDamage: Set<String> = []

    var peopleByKey: [UserKey: PersonState] = [:]
    /// Several commands about one person often follow each other.
    var lastFound: PersonState?
    /// By number; nil for those not in memory.
    var peopleByNumber: [PersonState?] = [nil]
    /// Of everybody in memory.
    var draftBytes = 0
    var lastPersonNumber: Int64 = 0
    /// Without a row.
    var newPeople: [PersonState] = []
    /// People whose rows are behind, outside the present round.
    var dirtyPeople: [PersonState] = []

    typealias AccountKey = ConversationKey

    struct FollowerKey: Hashable {
        var account: AccountKey
        var user: UserID
    }

    struct ConversationKey: Hashable {
        var app: AppID
        var conversation: ConversationID
    }
    var conversations: [ConversationKey: MembersState] = [:]
    var conversationsByNumber: [Int64: MembersState] = [:]
    var lastConversationNumber: Int64 = 0
    /// Not stored yet, in order. A version with the members of the one before needs no row for them.
    var newVersions: [(conversation: MembersState, version: UInt64, members: [Int64], isNewMembership: Bool)] = []

    /// What the message index lacks, in journal order.
    var indexTail: [(message: MessageID, record: JournalPosition)] = []
    /// The records of messages, recalls and custom messages with new ids since the index was derived.
    var acceptedTail: [MessageID: JournalPosition] = [:]
    var revisionTail: [MessageID: MessageRevision] = [:]
    var customTail: [CustomKey: PersonState.SentMessage] = [:]
    /// By the room's number, in journal order.
    var roomTail: [Int64: [(record: JournalPosition, message: MessageID)]] = [:]
    /// Sorted; few, so all are in memory.
    var objectNames: [AppID: [ObjectName]] = [:]
    /// Few, so all are in memory; no empty dictionaries.
    var accounts: [AppID: StoreRules.Accounts] = [:]
    var accountsTail: Set<AccountKey> = []
    /// How many follow each; without those whom nobody follows.
    var followerCounts: [AccountKey: Int] = [:]
    var followerTail: [FollowerKey: Bool] = [:]
    /// Apps and operators; few, so all are in memory.
    var control = ControlState()
    /// Those whose rows are behind.
    var controlTail: Set<ControlKey> = []
    /// Not in the table yet; the oldest first.
    var auditTail: [AuditRecord] = []
    var lastAudit: Int64 = 0
    /// Those whose rows are behind, and others that were used lately.
    var pushes: [PushJobID: PushJobState] = [:]
    var unfinishedPushes: [AppID: Int] = [:]
    /// nil for one that is nobody's any more.
    var aliasTail: [AliasKey: UserID?] = [:]
    /// The step of a push job that was read last: its people's entries all lead to it.
    private var lastStep: (position: JournalPosition, step: PushStepRecord)?
    /// Of steps that are not derived, of those in the present round, and the round of the last step.
    var pushEntriesInTail = 0
    var pushEntriesInRound = 0
    var lastPushRound = -2
    /// People who are in memory because of a push job.
    var passing: [PersonState] = []
    var erasureTail: Set<JournalPosition> = []
    var mediaTail: Set<MediaMention> = []
    /// Erased texts may still stand in the write-ahead log; unknown at the start.
    var hasErased = true
    var objectNamesTail: Set<AppID> = []
    /// How many answers are kept of each app.
    var keptCounts: [AppID: Int] = [:]
    /// Devices that got a token since the present round of deriving began, and since the one before.
    var tokenTail: [PushToken: Set<DeviceKey>] = [:]
    var tokensInRound: [PushToken: Set<DeviceKey>] = [:]
    var entriesInTail = 0
    var membersInTail = 0

    var round: DerivationRound?
    var roundNumber = 0
    var stepNumber = 0
    var pace: DerivationPace
    /// Nothing is derived any more (a test's crash).
    var isFrozen = false

    enum Start {
        /// Writes nothing.
        case reading
        /// Begins the next epoch, given what the state file says.
        case opening(StateFile.Content?)
        /// In place of an engine whose state is void.
        case instead(of: StoreEngine)
    }

    /// Applies what the journal holds beyond the watermark.
    /// - Parameter setAside: people to be set aside from now on, besides those who are.
    init(
        database: Database, configuration: MessageStoreConfiguration, logger: Logger, start: Start,
        settingAside setAside: [SetAsidePerson] = []
    ) throws {
        self.configuration = configuration
        self.pace = DerivationPace(configuration)
        self.logger = logger
        self.sql = try Statements(database)
        self.wal = try WriteAheadLog(database)
        let pages = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let pageBytes = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0
        try self.recover(bytes: pages * pageBytes, settingAside: setAside)
        // Before anything is written: a store that cannot be read is left as it is.
        if case .opening = start {
            self.pendingAtOpening = try self.pending()
            self.pushJobsAtOpening = try self.unfinishedPushJobs()
        }
        if case .reading = start { return }
        try self.inTransaction {
            switch start {
            case .reading: break
            case .opening(let state): try self.beginOpening(state)
            case .instead(let engine):
                self.identity = engine.identity
                self.notedDamage = engine.notedDamage
            }
            try self.storeSetAside(setAside)
        }
    }

    var tailRecords: Int { Int(self.next - 1 - self.watermark) }

    var tailIsLong: Bool {
        self.tailRecords >= self.configuration.tailRecordsMax || self.entriesInTail >= self.configuration.tailEntriesMax
            || self.membersInTail >= self.configuration.tailEntriesMax
    }

    /// - Parameter bytes: the size of the database.
    private func recover(bytes: Int64, settingAside setAside: [SetAsidePerson]) throws {
        try self.loadIdentity()
        guard try self.sql.loadStore.step() else { throw StoredBytesFault.missing("the row of table store") }
        self.epoch = try self.sql.loadStore.count(0)
        self.watermark = try self.sql.loadStore.count(1)
        self.indexed = try self.sql.loadStore.count(2)
        self.lastMessageID = MessageID(rawValue: self.sql.loadStore.position(3))
        self.sql.loadStore.reset()
        while try self.sql.allObjectNames.step() {
            self.objectNames[AppID(self.sql.allObjectNames.text(0)), default: []]
                .append(ObjectName(self.sql.allObjectNames.text(1)))
        }
        try self.loadAccounts()
        try self.loadControl()
        try self.loadUnfinishedPushes()
        try self.loadKeptCounts()
        self.lastPersonNumber = try self.single(self.sql.lastPersonNumber)
        self.lastConversationNumber = try self.single(self.sql.lastConversationNumber)
        // Numbers are given without gaps, and no row is shorter than eight bytes.
        guard 0...(bytes / 8) ~= self.lastPersonNumber, 0...(bytes / 8) ~= self.lastConversationNumber else {
            throw StoredBytesFault.badValue("number of a person or conversation")
        }
        let setAside = try self.loadSetAside() + setAside
        // Also of people who were set aside before they had a row: the next new person would come upon what is damaged there.
        for person in setAside where 0...(bytes / 8) ~= person.number {
            self.lastPersonNumber = max(self.lastPersonNumber, person.number)
        }
        self.peopleByNumber = Array(repeating: nil, count: Int(self.lastPersonNumber) + 1)
        self.placeSetAside(setAside)
        self.next = self.watermark + 1
        self.sql.rowsAfter.bind(self.watermark)
        while try self.sql.rowsAfter.step() {
            guard self.sql.rowsAfter.position(0) == self.next else {
                throw StoredBytesFault.missing("journal record \(self.next)")
            }
            try JournalRow.read(self.sql.rowsAfter.blob(1)) { record in
                let position = self.next
                self.next += 1
                _ = try self.apply(record, at: position)
                return true
            }
        }
        try self.loadKeyUses()
        if self.tailRecords > 0 {
            self.logger.info("recovered", metadata: ["records": "\(self.tailRecords)", "after": "\(self.watermark)"])
        }
    }

    func single(_ statement: SQLStatement) throws -> Int64 {
        try statement.first { $0.int(0) } ?? 0
    }
}

// MARK: - Transactions and the journal

extension StoreEngine {
    /// Carries out batches in one transaction with one sync.
    /// - Parameter refused: which of all commands, counted from 0, are refused because what they write cannot be applied.
    /// - Throws: what SQLite said. Then nothing was written, the state in memory is void, and the engine must not be used again.
    func carryOut(_ batches: [[StoreCommand]], refusing refused: Set<Int> = []) throws -> [[StoreResult]] {
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
            try self.flushRow()
            try self.commit()
            return results
        } catch {
            self.rollBack()
            throw error
        }
    }

    /// Commits what `body` writes. If that fails, nothing was written, and what `body` changed in memory is void.
    func inTransaction<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            try self.begin()
            let value = try body()
            try self.commit()
            return value
        } catch {
            self.rollBack()
            throw error
        }
    }

    private func begin() throws {
        guard !self.isInTransaction else { return }
        try self.sql.begin.run()
        self.isInTransaction = true
    }

    private func writing(_ body: () throws -> Void) throws {
        do { try body() } catch { throw UnwrittenJournal(cause: error) }
    }

    /// The state in memory is void then.
    func rollBack() {
        guard self.isInTransaction else { return }
        try? self.sql.rollback.run()
        self.isInTransaction = false
    }

    func commit() throws {
        guard self.isInTransaction else { return }
        try self.writing { try self.sql.commit.run() }
        self.isInTransaction = false
    }

    func commitRecords() throws {
        try self.flushRow()
        try self.commit()
    }

    /// Appends a record to the journal and applies it.
    func write(_ record: JournalRecord) throws -> StoreResult {
        if self.row.bytes.count >= self.configuration.journalRowBytes { try self.flushRow() }
        self.row.append(record)
        let position = self.next
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
        try self.begin()
        try body()
        self.isApplying = false
    }

    /// Inserts the row that is being filled, so that reading finds its records.
    private func flushRow() throws {
        guard !self.row.isEmpty else { return }
        try self.writing {
            try self.begin()
            self.sql.insertRow.bind(self.next - UInt64(self.row.count))
            try self.sql.insertRow.run(blob: self.row.bytes, at: 2)
        }
        self.row.removeAll()
    }

    func record(at position: JournalPosition) throws -> JournalRecord {
        if let lastStep, lastStep.position == position { return .pushStep(lastStep.step) }
        if position >= self.next - UInt64(self.row.count) { try self.flushRow() }
        self.sql.rowAt.bind(position)
        defer { self.sql.rowAt.reset() }
        var found: JournalRecord?
        if try self.sql.rowAt.step() {
            let first = try self.sql.rowAt.count(0)
            guard first <= position, position < 1 << 53 else {
                throw StoredBytesFault.missing("journal record \(position)")
            }
            let index = position - first
            try JournalRow.read(self.sql.rowAt.blob(1), from: Int(index)) { record in
                found = record
                return false
            }
        }
        guard let found else { throw StoredBytesFault.missing("journal record \(position)") }
        if case .pushStep(let step) = found { self.lastStep = (position, step) }
        return found
    }
}
