import GRDB
import GRDBSQLite
import StoreMachine
import StoreModel
import TidingsModel

/// The rows of a store in its database (Schema.swift), and what is about its file. Values are columns, or blobs in the encoding of the
/// journal's records.
final class SQLiteRows: Rows {
    let database: Database
    let sql: Statements
    let wal: WriteAheadLog
    private let configuration: MessageStoreConfiguration
    private var isInTransaction = false
    /// The journal's last records, which have no row yet.
    private var tail = JournalRow()
    /// The position after them; 0 until one is appended.
    private var tailEnd: JournalPosition = 0
    /// The step of a push job that was read last: its people's entries all lead to it.
    private var lastStep: (position: JournalPosition, step: PushStepRecord)?
    /// Of a row of the index; kept for its room.
    var distances = ByteWriter()
    /// The greatest numbers that have rows.
    var lastPerson: Int64 = 0
    var lastConversation: Int64 = 0

    init(_ database: Database, _ configuration: MessageStoreConfiguration) throws {
        self.database = database
        self.configuration = configuration
        self.sql = try Statements(database)
        self.wal = try WriteAheadLog(database)
    }

    // MARK: Transactions

    func begin() throws {
        guard !self.isInTransaction else { return }
        try self.sql.begin.run()
        self.isInTransaction = true
    }

    func commit() throws {
        try self.flushTail()
        guard self.isInTransaction else { return }
        do { try self.sql.commit.run() } catch { throw UnwrittenJournal(cause: error) }
        self.isInTransaction = false
    }

    func rollBack() {
        self.tail.removeAll()
        self.lastStep = nil
        guard self.isInTransaction else { return }
        try? self.sql.rollback.run()
        self.isInTransaction = false
    }

    var isTransactionWhole: Bool { self.sql.begin.isInTransaction == self.isInTransaction }

    // MARK: The journal

    func append(_ record: JournalRecord, at position: JournalPosition) throws {
        if self.tail.bytes.count >= self.configuration.journalRowBytes { try self.flushTail() }
        self.tail.append(record)
        self.tailEnd = position + 1
    }

    /// Inserts the row that is being filled, so that reading finds its records.
    private func flushTail() throws {
        guard !self.tail.isEmpty else { return }
        do {
            try self.begin()
            self.sql.insertRow.bind(self.tailEnd - UInt64(self.tail.count))
            try self.sql.insertRow.run(blob: self.tail.bytes, at: 2)
        } catch { throw UnwrittenJournal(cause: error) }
        self.tail.removeAll()
    }

    func record(at position: JournalPosition) throws -> JournalRecord {
        if let lastStep, lastStep.position == position { return .pushStep(lastStep.step) }
        var found: JournalRecord?
        try self.readRow(with: position) { row, first in
            try JournalRow.read(row.blob(1), from: Int(position - first)) { record in
                found = record
                return false
            }
        }
        guard let found else { throw StoredBytesFault.missing("journal record \(position)") }
        if case .pushStep(let step) = found { self.lastStep = (position, step) }
        return found
    }

    /// - Parameter body: gets the row and the position of its first record.
    private func readRow<Value>(
        with position: JournalPosition, _ body: (SQLStatement, JournalPosition) throws -> Value
    ) throws -> Value {
        if position >= self.tailEnd - UInt64(self.tail.count) { try self.flushTail() }
        let read = try self.sql.rowAt.bind(position).first { row -> Value? in
            let first = try row.count(0)
            return first <= position && position < 1 << 53 ? try body(row, first) : nil
        }
        guard let value = read ?? nil else { throw StoredBytesFault.missing("journal record \(position)") }
        return value
    }

    func records(from position: JournalPosition, _ body: (JournalRecord) throws -> Bool) throws {
        // Records refer to others, which the same statement reads.
        let (first, bytes) = try self.readRow(with: position) { ($1, $0.bytes(1)) }
        var isThere = false
        try bytes.withUnsafeBytes { bytes in
            try JournalRow.read(bytes, from: Int(position - first)) { record in
                isThere = true
                return try body(record)
            }
        }
        guard isThere else { throw StoredBytesFault.missing("journal record \(position)") }
    }

    func recordsBegin(from position: JournalPosition) throws -> JournalPosition? {
        try self.sql.firstRow.bind(position).first { try $0.count(0) }
    }

    func eraseTexts(of records: ArraySlice<JournalPosition>) throws -> Int {
        guard let position = records.first else { return 0 }
        let (first, stored) = try self.readRow(with: position) { ($1, $0.bytes(1)) }
        var bytes = stored
        let count = try bytes.withUnsafeBytes { try JournalRow.count($0) }
        guard position - first < count else { throw StoredBytesFault.missing("journal record \(position)") }
        // A row of the same length is written over itself: nothing else on its page moves.
        let here = records.prefix { $0 - first < count }
        try JournalRow.erase(Set(here.map { Int($0 - first) }), in: &bytes)
        do {
            try self.begin()
            self.sql.updateRow.bind(at: 2, first)
            try self.sql.updateRow.run(blob: bytes, at: 1)
        } catch { throw UnwrittenJournal(cause: error) }
        return here.count
    }

    /// Empties the write-ahead log, whose older pages hold such texts.
    func purge() throws { try self.wal.empty() }

    // MARK: The file

    var mustCheckpoint: Bool { self.wal.pagesToWriteBack() >= self.configuration.checkpointPages }

    func checkpoint() throws {
        guard self.mustCheckpoint else { return }
        let code = sqlite3_wal_checkpoint_v2(self.database.sqliteConnection, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK || code == SQLITE_BUSY else {
            throw SQLiteFailure(code: code, message: String(cString: sqlite3_errmsg(self.database.sqliteConnection)))
        }
        self.wal.wasWrittenBack()
    }
}
