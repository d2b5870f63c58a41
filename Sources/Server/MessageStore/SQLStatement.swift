import GRDB
import GRDBSQLite

/// What SQLite answered instead of carrying out a statement.
struct SQLiteFailure: Error {
    var code: Int32
    var message: String

    /// A disk that did not give what was asked for: READ, SHORT_READ, DATA and CORRUPTFS of https://www.sqlite.org/rescode.html, macros
    /// Swift does not import. WRITE, FSYNC, DIR_FSYNC and TRUNCATE are 3 to 6.
    var isOfReading: Bool { self.code & 0xff == SQLITE_IOERR && [1, 2, 32, 33].contains(self.code >> 8) }

    /// The fault in the terms of the store.
    var reason: MessageStoreError.Reason {
        switch self.code & 0xff {
        case SQLITE_FULL: .full
        case SQLITE_CORRUPT: .damaged
        case SQLITE_NOTADB: .notAStore
        case SQLITE_BUSY, SQLITE_LOCKED: .inUse
        case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .cannotOpen
        case SQLITE_IOERR where self.isOfReading: .notRead
        case SQLITE_IOERR where (3...6).contains(self.code >> 8): .notWritten
        default: .failed
        }
    }
}

/// A prepared statement, bound and stepped without GRDB's conversions: the store's hot paths run a million of them a second.
///
/// Every use is: bind all parameters, then `run()` or `step()` until it answers false. Both leave the statement ready for the
/// next use. To leave off early, call `reset()`. Bound texts and blobs are only borrowed by SQLite until then.
final class SQLStatement {
    // GRDB finalizes the statement when this object goes.
    private let owner: Statement
    private let raw: OpaquePointer

    init(_ database: Database, _ sql: String) throws {
        self.owner = try database.makeStatement(sql: sql)
        self.raw = self.owner.sqliteStatement
    }

    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(self.raw, index, value) }

    func bind(_ index: Int32, _ value: UInt64) { sqlite3_bind_int64(self.raw, index, Int64(bitPattern: value)) }

    func bind(_ index: Int32, _ value: String) {
        var value = value
        value.withUTF8 { bytes in
            // A nil address would bind NULL instead of an empty text.
            guard let start = bytes.baseAddress else {
                sqlite3_bind_text(self.raw, index, "", 0, Self.transient)
                return
            }
            start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                _ = sqlite3_bind_text(self.raw, index, $0, Int32(bytes.count), Self.transient)
            }
        }
    }

    func bind(_ index: Int32, _ value: String?) {
        if let value { self.bind(index, value) } else { self.bindNull(index) }
    }

    func bindNull(_ index: Int32) { sqlite3_bind_null(self.raw, index) }

    func bind(_ index: Int32, _ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { buffer in
            if buffer.isEmpty {
                sqlite3_bind_zeroblob(self.raw, index, 0)
            } else {
                sqlite3_bind_blob(self.raw, index, buffer.baseAddress, Int32(buffer.count), Self.transient)
            }
        }
    }

    /// Binds a blob that is only borrowed, and runs the statement within the borrowing.
    func run(blob bytes: [UInt8], at index: Int32) throws {
        try bytes.withUnsafeBytes { buffer in
            sqlite3_bind_blob(self.raw, index, buffer.baseAddress, Int32(buffer.count), nil)
            defer { sqlite3_bind_null(self.raw, index) }
            try self.run()
        }
    }

    /// Runs a statement that gives no rows.
    func run() throws {
        while try self.step() {}
    }

    /// Goes to the next row; false after the last one, with the statement reset.
    func step() throws -> Bool {
        let code = sqlite3_step(self.raw)
        if code == SQLITE_ROW { return true }
        let message = code == SQLITE_DONE ? "" : String(cString: sqlite3_errmsg(sqlite3_db_handle(self.raw)))
        sqlite3_reset(self.raw)
        guard code == SQLITE_DONE else { throw SQLiteFailure(code: code, message: message) }
        return false
    }

    func reset() { sqlite3_reset(self.raw) }

    /// Whether its connection is within a transaction.
    var isInTransaction: Bool { sqlite3_get_autocommit(sqlite3_db_handle(self.raw)) == 0 }

    func int(_ column: Int32) -> Int64 { sqlite3_column_int64(self.raw, column) }

    func position(_ column: Int32) -> UInt64 { UInt64(bitPattern: self.int(column)) }

    /// A number of things, or a place in a journal or a log: what a damaged row holds may be neither.
    ///
    /// - Throws: `StoredBytesFault` for a negative number, and for one no store can reach; adding to what is left cannot overflow.
    func count(_ column: Int32) throws(StoredBytesFault) -> UInt64 {
        guard let value = UInt64(exactly: self.int(column)), value < 1 << 53 else { throw .badValue("number") }
        return value
    }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(self.raw, column) == SQLITE_NULL }

    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(self.raw, column) else { return "" }
        let count = Int(sqlite3_column_bytes(self.raw, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func optionalText(_ column: Int32) -> String? { self.isNull(column) ? nil : self.text(column) }

    /// The bytes of a blob, good until the next step or reset.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(self.raw, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(self.raw, column)))
    }

    func bytes(_ column: Int32) -> [UInt8] { Array(self.blob(column)) }
}
