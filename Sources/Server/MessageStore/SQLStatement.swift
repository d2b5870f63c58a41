import GRDB
import GRDBSQLite
import StoreMachine
import TidingsModel

struct SQLiteFailure: RowsFailure {
    var code: Int32
    var message: String

    /// The disk did not give what was asked for: READ, SHORT_READ, DATA and CORRUPTFS of https://www.sqlite.org/rescode.html, macros
    /// Swift does not import. WRITE, FSYNC, DIR_FSYNC and TRUNCATE are 3 to 6.
    var isOfReading: Bool { self.code & 0xff == SQLITE_IOERR && [1, 2, 32, 33].contains(self.code >> 8) }

    /// The bytes on the disk are wrong, or the disk does not give them.
    var damage: String? { self.code & 0xff == SQLITE_CORRUPT || self.isOfReading ? self.message : nil }

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

protocol SQLValue {
    func bind(_ index: Int32, of statement: OpaquePointer)
}

extension Int64: SQLValue {
    func bind(_ index: Int32, of statement: OpaquePointer) { sqlite3_bind_int64(statement, index, self) }
}

extension UInt64: SQLValue {
    func bind(_ index: Int32, of statement: OpaquePointer) { Int64(bitPattern: self).bind(index, of: statement) }
}

extension Int: SQLValue {
    func bind(_ index: Int32, of statement: OpaquePointer) { Int64(self).bind(index, of: statement) }
}

extension Bool: SQLValue {
    func bind(_ index: Int32, of statement: OpaquePointer) { Int64(self ? 1 : 0).bind(index, of: statement) }
}

// SQLite copies texts and blobs.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension String: SQLValue {
    func bind(_ index: Int32, of statement: OpaquePointer) {
        var value = self
        value.withUTF8 { bytes in
            // A nil address would bind NULL instead of an empty text.
            guard let start = bytes.baseAddress else {
                sqlite3_bind_text(statement, index, "", 0, transient)
                return
            }
            start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                _ = sqlite3_bind_text(statement, index, $0, Int32(bytes.count), transient)
            }
        }
    }
}

extension [UInt8]: SQLValue {
    func bind(_ index: Int32, of statement: OpaquePointer) {
        _ = self.withUnsafeBytes { buffer in
            if buffer.isEmpty {
                sqlite3_bind_zeroblob(statement, index, 0)
            } else {
                sqlite3_bind_blob(statement, index, buffer.baseAddress, Int32(buffer.count), transient)
            }
        }
    }
}

extension Optional: SQLValue where Wrapped: SQLValue {
    func bind(_ index: Int32, of statement: OpaquePointer) {
        if let value = self { value.bind(index, of: statement) } else { sqlite3_bind_null(statement, index) }
    }
}

/// A prepared statement, bound and stepped without GRDB's conversions: the store's hot paths run a million of them a second. Every
/// use is: bind all parameters, then run it, or read its rows. Each leaves the statement ready for the next use, also where it throws.
final class SQLStatement {
    // GRDB finalizes the statement when this object goes.
    private let owner: Statement
    private let raw: OpaquePointer

    init(_ database: Database, _ sql: String) throws {
        self.owner = try database.makeStatement(sql: sql)
        self.raw = self.owner.sqliteStatement
    }

    /// Binds one parameter after the other, from `index` on.
    @discardableResult
    func bind<A: SQLValue>(at index: Int32 = 1, _ a: A) -> SQLStatement {
        a.bind(index, of: self.raw)
        return self
    }

    @discardableResult
    func bind<A: SQLValue, B: SQLValue>(at index: Int32 = 1, _ a: A, _ b: B) -> SQLStatement {
        self.bind(at: index, a).bind(at: index + 1, b)
    }

    @discardableResult
    func bind<A: SQLValue, B: SQLValue, C: SQLValue>(at index: Int32 = 1, _ a: A, _ b: B, _ c: C) -> SQLStatement {
        self.bind(at: index, a, b).bind(at: index + 2, c)
    }

    @discardableResult
    func bind<A: SQLValue, B: SQLValue, C: SQLValue, D: SQLValue>(
        at index: Int32 = 1, _ a: A, _ b: B, _ c: C, _ d: D
    ) -> SQLStatement {
        self.bind(at: index, a, b).bind(at: index + 2, c, d)
    }

    /// Binds a blob that is only borrowed, and runs the statement within the borrowing.
    func run(blob bytes: [UInt8], at index: Int32) throws {
        try bytes.withUnsafeBytes { buffer in
            sqlite3_bind_blob(self.raw, index, buffer.baseAddress, Int32(buffer.count), nil)
            defer { sqlite3_bind_null(self.raw, index) }
            try self.run()
        }
    }

    func run() throws {
        while try self.step() {}
    }

    /// Reads row after row until `read` returns false.
    func forEach(_ read: (SQLStatement) throws -> Bool) throws {
        defer { self.reset() }
        while try self.step(), try read(self) {}
    }

    /// Reads all rows.
    func all<Value>(_ read: (SQLStatement) throws -> Value) throws -> [Value] {
        var values: [Value] = []
        try self.forEach { row in
            values.append(try read(row))
            return true
        }
        return values
    }

    /// False after the last row, with the statement reset.
    private func step() throws -> Bool {
        let code = sqlite3_step(self.raw)
        if code == SQLITE_ROW { return true }
        let message = code == SQLITE_DONE ? "" : String(cString: sqlite3_errmsg(sqlite3_db_handle(self.raw)))
        sqlite3_reset(self.raw)
        guard code == SQLITE_DONE else { throw SQLiteFailure(code: code, message: message) }
        return false
    }

    /// Reads the first row, if there is one.
    func first<Value>(_ read: (SQLStatement) throws -> Value) throws -> Value? {
        guard try self.step() else { return nil }
        defer { self.reset() }
        return try read(self)
    }

    private func reset() { sqlite3_reset(self.raw) }

    var isInTransaction: Bool { sqlite3_get_autocommit(sqlite3_db_handle(self.raw)) == 0 }

    func int(_ column: Int32) -> Int64 { sqlite3_column_int64(self.raw, column) }

    func position(_ column: Int32) -> UInt64 { UInt64(bitPattern: self.int(column)) }

    /// A number of things, or a position in a journal or a log. Throws for a negative number and for one no store can reach, so that
    /// adding to what is left cannot overflow.
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

    func userKey(_ column: Int32) -> UserKey {
        UserKey(app: AppID(self.text(column)), user: UserID(self.text(column + 1)))
    }

    func conversationType(_ column: Int32) throws -> ConversationType {
        guard let type = ConversationType(rawValue: self.text(column)) else {
            throw StoredBytesFault.badValue("conversation kind")
        }
        return type
    }

    func optionalText(_ column: Int32) -> String? { self.isNull(column) ? nil : self.text(column) }

    /// Good until the next step or reset.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(self.raw, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(self.raw, column)))
    }

    func bytes(_ column: Int32) -> [UInt8] { Array(self.blob(column)) }

    func message(_ column: Int32) -> MessageID { MessageID(rawValue: self.position(column)) }

    /// Nil for NULL.
    func decoded<Value: StoredValue>(_ column: Int32, as type: Value.Type) throws(StoredBytesFault) -> Value? {
        guard !self.isNull(column) else { return nil }
        var reader = ByteReader(self.blob(column))
        // By its type: read as an optional, it would begin with a byte that says if there is one.
        return try Value(from: &reader)
    }
}
