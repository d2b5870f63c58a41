package import StoreModel
package import TidingsModel

/// Rows in memory: of the World, of scenarios and of tests. Each change notes how it is undone, so that neither a commit nor a crash costs
/// more than what was changed. Nothing of it is ever damaged; faults are those that are asked for.
package final class MemoryRows: Rows {
    package enum Fault: Error, Hashable, Sendable {
        /// A change found no room.
        case full
        /// A commit could not be made durable: its transaction is gone.
        case notSynced
    }

    /// After this many changes one fails, in the middle of a batch or of a step of deriving: a full disk. That is the end of the fault.
    package var failAfterPuts: Int?
    /// The next commit of a transaction fails. That is the end of the fault.
    package var failNextCommit = false
    /// A disk that lies: what is committed is durable only once it lies no longer and the next transaction is committed. A crash
    /// before that loses it. No store can stand it; it exists so that the proof of it can fail.
    package var loseUnsynced = false

    package private(set) var isTransactionWhole = true
    /// How each change since the last durable commit is undone.
    private var undo: [() -> Void] = []
    /// How many of them are of committed transactions.
    private var committed = 0

    /// By position, from 1. Each record is stored by itself.
    private var journal: [JournalRecord] = []
    /// Epoch, watermarks and identity; the rest of it is in tables.
    private var store = StoreRow()
    let openings = MemoryList<UInt64, (number: UInt64, next: JournalPosition)>()
    let setAside = MemoryList<Int64, SetAsidePerson>()
    let objectNames = MemoryList<AppID, [ObjectName]>()
    let accounts = MemoryTable<AppID, ConversationID, ServiceAccount>()
    let apps = MemoryList<AppID, ManagedApp>()
    let operators = MemoryList<String, OperatorRecord>()
    let keyUses = MemoryTable<KeyUse.Key, Int, Int64>()
    let audit = MemoryList<Int64, AuditRecord>()
    let keptAnswers = MemoryTable<AppID, KeptAnswerKey, KeptAnswer>()
    /// When each was asked for.
    let keptTimes = MemoryTable<AppID, IdempotencyKey, Int64>()
    let storage = MemoryList<AppID, StorageRow>()

    /// Without chunks.
    let people = MemoryList<Int64, PersonRow>()
    let personNumbers = MemoryTable<AppID, UserID, Int64>()
    let chunks = MemoryTable<Int64, LogPosition, LogChunk>()
    let conversationStates = MemoryTable<Int64, UInt64, PersonState.ConversationState>()
    let sentMessages = MemoryTable<Int64, ClientMessageID, PersonState.SentMessage>()
    let devices = MemoryTable<Int64, DeviceID, DeviceRecord>()
    let tokens = MemoryTable<PushToken, DeviceKey, Void>()
    let openLegs = MemoryTable<Int64, LegID, OpenLeg>()
    let facts = MemoryTable<FactGroup, FactKey, Void>()
    let aliases = MemoryTable<AppID, Alias, UserID>()

    /// Without members.
    let conversations = MemoryList<Int64, ConversationRow>()
    let conversationNumbers = MemoryTable<AppID, ConversationID, Int64>()
    let members = MemoryTable<Int64, UInt64, [Int64]>()
    let roomMessages = MemoryTable<Int64, JournalPosition, MessageID>()
    let index = MemoryList<IndexKey, [JournalPosition]>()
    let revisions = MemoryList<MessageID, MessageRevision>()
    let customMessages = MemoryTable<AppID, ClientMessageID, PersonState.SentMessage>()
    let mediaUses = MemoryTable<MediaKey, MessageID, Void>()
    let pushes = MemoryList<PushJobID, PushRow>()
    let pushSteps = MemoryTable<PushJobID, Int, JournalPosition>()

    package init() {}
}

// MARK: - Transactions

extension MemoryRows {
    package func commit() throws {
        guard self.undo.count > self.committed else { return }
        if self.failNextCommit {
            self.failNextCommit = false
            self.undo(to: self.committed)
            self.isTransactionWhole = false
            throw Fault.notSynced
        }
        if !self.loseUnsynced { self.undo.removeAll(keepingCapacity: true) }
        self.committed = self.undo.count
    }

    package func rollBack() {
        self.undo(to: self.committed)
        self.isTransactionWhole = true
    }

    /// Leaves what a crash leaves: everything that is durable. Faults that were not met are met no more.
    package func crash() {
        self.undo(to: 0)
        self.committed = 0
        self.isTransactionWhole = true
        self.failAfterPuts = nil
        self.failNextCommit = false
    }

    private func undo(to count: Int) {
        while self.undo.count > count, let step = self.undo.popLast() { step() }
    }

    /// Before each change.
    func makeRoom() throws(Fault) {
        guard let left = self.failAfterPuts else { return }
        self.failAfterPuts = left > 0 ? left - 1 : nil
        guard left > 0 else { throw .full }
    }

    func write<Group, Key, Row>(_ row: Row?, _ group: Group, _ key: Key, in table: MemoryTable<Group, Key, Row>) {
        let before = table.replace(group, key, with: row)
        self.undo.append { _ = table.replace(group, key, with: before) }
    }

    func write<Key, Row>(_ row: Row?, _ key: Key, in list: MemoryList<Key, Row>) {
        self.write(row, .whole, key, in: list)
    }

    func changeStore(_ change: (inout StoreRow) -> Void) {
        let before = self.store
        self.undo.append { [unowned self] in self.store = before }
        change(&self.store)
    }
}

// MARK: - The journal

extension MemoryRows {
    package func append(_ record: JournalRecord, at position: JournalPosition) throws {
        try self.makeRoom()
        guard position == JournalPosition(self.journal.count) + 1 else { throw Self.missing(position - 1) }
        self.journal.append(record)
        self.undo.append { [unowned self] in self.journal.removeLast() }
    }

    package func record(at position: JournalPosition) throws -> JournalRecord {
        guard position > 0, position <= JournalPosition(self.journal.count) else { throw Self.missing(position) }
        return self.journal[Int(position) - 1]
    }

    package func records(from position: JournalPosition, _ body: (JournalRecord) throws -> Bool) throws {
        _ = try body(self.record(at: position))
    }

    package func recordsBegin(from position: JournalPosition) -> JournalPosition? {
        position <= JournalPosition(self.journal.count) ? max(1, position) : nil
    }

    package func eraseTexts(of records: ArraySlice<JournalPosition>) throws -> Int {
        try self.makeRoom()
        guard let position = records.first else { return 0 }
        let before = try self.record(at: position)
        var row = JournalRow()
        row.append(before)
        var bytes = row.bytes
        try JournalRow.erase([0], in: &bytes)
        try bytes.withUnsafeBytes { bytes in
            try JournalRow.read(bytes) { erased in
                self.journal[Int(position) - 1] = erased
                return false
            }
        }
        self.undo.append { [unowned self] in self.journal[Int(position) - 1] = before }
        return 1
    }

    /// Nothing is kept of what was replaced.
    package func purge() {}

    private static func missing(_ position: JournalPosition) -> StoredBytesFault {
        .missing("journal record \(position)")
    }
}

// MARK: - The store

extension MemoryRows {
    package func load() -> StoreRow {
        var row = self.store
        row.openings = self.openings.all.rows
        row.lastPerson = self.people.all.order.last ?? 0
        row.lastConversation = self.conversations.all.order.last ?? 0
        row.numberMax = .max
        row.setAside = self.setAside.all.rows
        row.objectNames = Dictionary(uniqueKeysWithValues: zip(self.objectNames.all.order, self.objectNames.all.rows))
        row.accounts = self.accounts.groups.mapValues { group in
            Dictionary(uniqueKeysWithValues: zip(group.order, group.rows))
        }.filter { !$0.value.isEmpty }
        // tidy: order does not leave: they are counted by account
        for (group, facts) in self.facts.groups {
            if case .followers(let account) = group, !facts.order.isEmpty {
                row.followerCounts[account] = facts.order.count
            }
        }
        row.apps = self.apps.all.rows
        row.operators = self.operators.all.rows
        // tidy: order does not leave: each key has one
        row.keyUses = self.keyUses.groups.compactMap { key, uses in uses.rows.first.map { KeyUse(key, at: $0) } }
        row.lastAudit = self.audit.all.order.last ?? 0
        row.unfinishedPushes = self.pushes.all.rows.filter(\.state.isUnfinished).map { ($0.app, $0.id) }
        row.storage = self.storage.all.rows
        row.keptCounts = self.keptAnswers.groups.mapValues(\.order.count).filter { $0.value > 0 }
        return row
    }

    package func pending() -> [UserKey] {
        self.people.all.rows.filter { person in
            let isBehind = self.devices[person.number].rows.contains {
                !$0.isSignedOut && max($0.settled, $0.decided) < person.head
            }
            return isBehind || !self.openLegs[person.number].order.isEmpty
        }.map(\.key)
    }

    /// The greatest numbers first.
    package func audit(_ question: AuditQuestion, before end: Int64, after start: Int64, limit: Int) -> [AuditRecord] {
        let all = self.audit.all
        let places = all.place(after: start)..<max(all.place(after: start), all.place(of: end))
        return Array(all.rows[places].reversed().lazy.filter { question.isAbout($0) }.prefix(limit))
    }

    package func keptAnswer(_ key: IdempotencyKey) -> KeptAnswer? {
        self.keptTimes[key.app, key].flatMap { self.keptAnswers[key.app, KeptAnswerKey(at: $0, key: key)] }
    }

    package func keptAnswers(of app: AppID?, upTo end: Int64, limit: Int) -> [KeptAnswerKey] {
        // tidy: order does not leave: they are sorted
        let groups = app.map { [self.keptAnswers[$0]] } ?? Array(self.keptAnswers.groups.values)
        let found = groups.flatMap { group in group.order.prefix { $0.at <= end } }
        return Array((app == nil ? found.sorted() : found).prefix(limit))
    }
}

extension KeptAnswer {
    var place: KeptAnswerKey { KeptAnswerKey(at: self.at, key: self.key) }
}

/// Facts of one kind, about one person or account.
enum FactGroup: Hashable {
    case receipts(Int64)
    case pushEnds(Int64)
    case deleted(Int64)
    case pushesReached(Int64)
    case followers(ConversationKey)
}

struct FactKey: Comparable {
    /// Of a message or a job.
    var id = MessageID(rawValue: 0)
    /// Of a device or a person.
    var name: UserID = ""
    var receipt = ""

    static func < (left: Self, right: Self) -> Bool {
        if left.id != right.id { return left.id < right.id }
        return left.name == right.name ? left.receipt < right.receipt : left.name < right.name
    }
}

struct IndexKey: Comparable {
    var message: MessageID
    var first: JournalPosition

    static func < (left: Self, right: Self) -> Bool {
        (left.message, left.first) < (right.message, right.first)
    }
}

struct MediaKey: Hashable {
    var media: MediaID
    /// As in `MediaMention`.
    var sender: UserID
}

extension RowFact {
    var place: (group: FactGroup, key: FactKey) {
        switch self {
        case .receipt(let person, let receipt):
            (
                .receipts(person),
                FactKey(id: receipt.message, name: UserID(receipt.device.rawValue), receipt: receipt.receipt.rawValue)
            )
        case .pushEnd(let person, let end):
            (.pushEnds(person), FactKey(id: end.message, name: UserID(end.device.rawValue)))
        case .deleted(let person, let message): (.deleted(person), FactKey(id: message))
        case .pushReached(let person, let job): (.pushesReached(person), FactKey(id: job))
        case .follower(let key): (.followers(key.account), FactKey(name: key.user))
        }
    }
}
