import Foundation
import GRDB
import GRDBSQLite
import StoreModel
import TidingsModel

/// The database of a search index. The words of 131,072 records of the journal stand in an FTS5 table of their own (`search_N`, the row a
/// message's record), in the order of the journal: a search goes from the newest back until it has enough, and a table is small enough
/// to be written anew when a text has to leave it. FTS5 marks a deleted row and keeps its words until then; its own option for it,
/// `secure-delete`, is not in the SQLite of older systems.
final class SearchFile {
    /// "Tids": tells an index from other programs' databases.
    static let applicationID = 0x5469_6473
    static let version = 1
    static let recordBits: UInt64 = 17
    static let suffixes = ["", "-wal", "-shm", "-journal"]

    let path: String
    private let queue: DatabaseQueue
    /// Nil before the first page.
    private(set) var place: JournalPlace?
    private(set) var messages = 0
    /// When the newest message was accepted that was looked at.
    private(set) var newest: Int64?
    private(set) var tables: Set<UInt64> = []
    /// Those that may hold words of deleted rows.
    private(set) var mustErase: Set<UInt64> = []

    /// - Throws: `SearchFileError`, or what SQLite said of a file that is an index.
    init(path: String, pagesMax: Int? = nil) throws {
        self.path = path
        try Self.recognize(path)
        StoreFile.makeIfMissing(path: path)
        var settings = Configuration()
        settings.label = "tidings.search"
        settings.foreignKeysEnabled = false
        settings.prepareDatabase { database in
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            // Before there is a write-ahead log: by its head the file is known after a crash.
            if try Int.fetchOne(database, sql: "PRAGMA application_id") == 0 {
                try database.execute(sql: "PRAGMA application_id = \(Self.applicationID)")
            }
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            // What a power cut takes is read from the store again.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            try database.execute(sql: "PRAGMA secure_delete = ON")
            try database.execute(sql: "PRAGMA cache_size = -16384")
            if let pagesMax { try database.execute(sql: "PRAGMA max_page_count = \(pagesMax)") }
        }
        self.queue = try DatabaseQueue(path: path, configuration: settings)
        StoreFile.closeToOthers(path: path)
        try self.queue.writeWithoutTransaction { database in
            try Self.makeTables(database)
            try self.load(database)
            // What was erased before a crash may still stand in the log.
            try Self.emptyLog(database)
        }
    }

    static func remove(path: String) {
        for suffix in Self.suffixes { unlink(path + suffix) }
    }

    func close() { try? self.queue.close() }

    /// Nothing that is somebody else's is opened, still less deleted: of a file that exists the head has to be an index's, or empty.
    private static func recognize(_ path: String) throws {
        guard let file = FileHandle(forReadingAtPath: path) else { return }
        defer { try? file.close() }
        // sqlite.org/fileformat.html §1.3: the application id stands in bytes 68 to 71.
        let head = Array((try? file.read(upToCount: 72)) ?? Data())
        let isDatabase = head.starts(with: Array("SQLite format 3\u{0}".utf8))
        // What a crash left of a new file, or cut off: nobody's database is that short.
        if head.allSatisfy({ $0 == 0 }) || (isDatabase && head.count < 72) { return Self.remove(path: path) }
        guard isDatabase, head.count == 72, head[68..<72].reduce(0, { $0 << 8 | Int($1) }) == Self.applicationID else {
            throw SearchFileError.notAnIndex
        }
    }

    private static func makeTables(_ database: Database) throws {
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found <= Self.version else { throw SearchFileError.unreadable("it is of version \(found)") }
        guard found == 0 else { return }
        try database.inTransaction(.immediate) {
            try database.execute(
                sql: """
                    -- One row: up to which record of which store it goes, how many messages are in it, and of when the newest is.
                    CREATE TABLE place (
                        id INTEGER PRIMARY KEY CHECK (id = 1), store TEXT NOT NULL, generation INTEGER NOT NULL,
                        opening INTEGER NOT NULL, position INTEGER NOT NULL, messages INTEGER NOT NULL, newest INTEGER);
                    -- The tables that may hold words of deleted rows.
                    CREATE TABLE erasing (number INTEGER PRIMARY KEY);
                    PRAGMA user_version = \(Self.version);
                    """)
            return .commit
        }
    }

    private func load(_ database: Database) throws {
        if let row = try Row.fetchOne(database, sql: "SELECT * FROM place") {
            self.place = JournalPlace(
                store: row["store"], generation: UInt64(bitPattern: row["generation"]),
                opening: UInt64(bitPattern: row["opening"]), position: UInt64(bitPattern: row["position"]))
            self.messages = row["messages"]
            self.newest = row["newest"]
        }
        let names = try String.fetchAll(
            database, sql: "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE search!_%' ESCAPE '!'")
        self.tables = Set(names.compactMap { UInt64($0.dropFirst("search_".count)) })
        self.mustErase = Set(try Int64.fetchAll(database, sql: "SELECT number FROM erasing").map(UInt64.init))
    }

    private static func emptyLog(_ database: Database) throws {
        _ = try database.checkpoint(.truncate)
    }

    /// With the log of what is not written back yet.
    var bytes: Int {
        Self.suffixes.reduce(0) { sum, suffix in
            var facts = stat()
            return stat(self.path + suffix, &facts) == 0 ? sum + Int(facts.st_size) : sum
        }
    }
}

enum SearchFileError: Error, Equatable {
    /// Another program's file.
    case notAnIndex
    case unreadable(String)
}

// MARK: - Writing

extension SearchFile {
    /// Words and place in one transaction.
    func apply(_ changes: [SearchChange], place: JournalPlace) throws {
        // A row is written once in a transaction: what came and went within a page never gets into the file.
        var last: [JournalPosition: Message?] = [:]
        for change in changes {
            switch change {
            case .present(let record, let message): last[record] = .some(message)
            case .gone(let record): last[record] = .some(nil)
            }
        }
        let known = self.place?.position ?? 0
        var next = SearchCounts(messages: self.messages, newest: self.newest, tables: self.tables)
        try self.queue.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                for (record, message) in last.sorted(by: { $0.key < $1.key }) {
                    if record <= known { try Self.delete(record, &next, database) }
                    if let message { try Self.insert(message, at: record, &next, database) }
                }
                try database.execute(
                    sql: "INSERT OR REPLACE INTO place VALUES (1, ?, ?, ?, ?, ?, ?)",
                    arguments: [
                        place.store, Int64(bitPattern: place.generation), Int64(bitPattern: place.opening),
                        Int64(bitPattern: place.position), next.messages, next.newest,
                    ])
                for table in next.mustErase.sorted() {
                    try database.execute(
                        sql: "INSERT OR IGNORE INTO erasing VALUES (?)", arguments: [Int64(table)])
                }
                return .commit
            }
        }
        self.place = place
        (self.messages, self.newest, self.tables) = (next.messages, next.newest, next.tables)
        self.mustErase.formUnion(next.mustErase)
    }

    private struct SearchCounts {
        var messages: Int
        var newest: Int64?
        var tables: Set<UInt64>
        var mustErase: Set<UInt64> = []
    }

    private static func insert(
        _ message: Message, at record: JournalPosition, _ counts: inout SearchCounts, _ database: Database
    ) throws {
        let table = record >> Self.recordBits
        if counts.tables.insert(table).inserted {
            try database.execute(
                sql: """
                    CREATE VIRTUAL TABLE search_\(table) USING fts5(tags, words, sent_at UNINDEXED, tokenize = 'unicode61')
                    """)
        }
        try database.cachedStatement(
            sql: "INSERT INTO search_\(table) (rowid, tags, words, sent_at) VALUES (?, ?, ?, ?)"
        ).execute(
            arguments: [Int64(record), SearchTags.indexed(message), SearchTags.words(message), message.sentAt])
        counts.messages += 1
        counts.newest = max(counts.newest ?? .min, message.sentAt)
    }

    private static func delete(
        _ record: JournalPosition, _ counts: inout SearchCounts, _ database: Database
    ) throws {
        let table = record >> Self.recordBits
        guard counts.tables.contains(table) else { return }
        try database.cachedStatement(sql: "DELETE FROM search_\(table) WHERE rowid = ?")
            .execute(arguments: [Int64(record)])
        guard database.changesCount > 0 else { return }
        counts.messages -= 1
        counts.mustErase.insert(table)
    }

    /// Words of deleted rows leave the file: each table is merged into one segment without them, where pages were zeros are, and the log is
    /// written back and cut.
    func erase() throws {
        try self.queue.writeWithoutTransaction { database in
            for table in self.mustErase.sorted() {
                try database.inTransaction(.immediate) {
                    try database.execute(sql: "INSERT INTO search_\(table) (search_\(table)) VALUES ('optimize')")
                    try database.execute(sql: "DELETE FROM erasing WHERE number = ?", arguments: [Int64(table)])
                    return .commit
                }
            }
            try Self.emptyLog(database)
        }
        self.mustErase = []
    }
}

// MARK: - Searching

extension SearchFile {
    /// Records before another one, newest first.
    func records(
        _ query: String, before: JournalPosition, _ question: MessageQuestion, limit: Int, deadline: SearchDeadline
    ) throws -> [JournalPosition] {
        try self.queue.writeWithoutTransaction { database in
            deadline.arm(database)
            defer { deadline.disarm(database) }
            var found: [JournalPosition] = []
            for table in self.tables.sorted(by: >) where table << Self.recordBits < before && found.count < limit {
                let rows = try Int64.fetchAll(
                    database,
                    sql: """
                        SELECT rowid FROM search_\(table) WHERE search_\(table) MATCH ? AND rowid < ?
                            AND sent_at >= ? AND sent_at <= ? ORDER BY rowid DESC LIMIT ?
                        """,
                    arguments: [
                        query, Int64(clamping: before), question.since ?? .min, question.until ?? .max,
                        limit - found.count,
                    ])
                found += rows.map { JournalPosition($0) }
            }
            return found
        }
    }
}

/// When a search has taken too long. SQLite asks every so many steps, on the thread that searches, which alone uses it.
final class SearchDeadline {
    private let end: TimeInterval

    init(seconds: TimeInterval) { self.end = ProcessInfo.processInfo.systemUptime + seconds }

    var isOver: Bool { ProcessInfo.processInfo.systemUptime >= self.end }

    func arm(_ database: Database) {
        sqlite3_progress_handler(
            database.sqliteConnection, 10_000,
            { context in
                guard let context else { return 0 }
                return Unmanaged<SearchDeadline>.fromOpaque(context).takeUnretainedValue().isOver ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func disarm(_ database: Database) { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
}
