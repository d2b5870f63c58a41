import Foundation
import GRDB
import GRDBSQLite
import StoreMachine
import StoreModel
import TidingsModel

/// The database of a search index. The words of 131,072 records of the journal stand in an FTS5 table of their own (`search_N`, the row a
/// message's record), in the order of the journal: a search goes from the newest back until it has enough, and a table is small enough
/// to be written anew when a text has to leave it. FTS5 marks a deleted row and keeps its words until then; its own option for it,
/// `secure-delete`, is not in the SQLite of older systems.
final class SearchFile: JournalFile {
    /// "Tids": tells an index from other programs' databases.
    static let applicationID = 0x5469_6473
    static let version = 1
    static let recordBits: UInt64 = 17

    let path: String
    private let queue: DatabaseQueue
    /// Nil before the first page.
    private(set) var place: JournalPlace?
    private(set) var messages = 0
    /// When the newest message was accepted that was looked at.
    private(set) var newest: Int64?
    private(set) var tables: Set<UInt64> = []
    /// Tables that may hold words of deleted rows.
    private(set) var mustErase: Set<UInt64> = []
    /// In uptime; nil where there is nothing to erase.
    private(set) var erasableSince: TimeInterval?

    /// - Throws: `DerivedFileError`, or what SQLite said of a file that is an index.
    init(path: String, pagesMax: Int? = nil) throws {
        self.path = path
        let file = DerivedFile(
            path: path, applicationID: Self.applicationID, version: Self.version, label: "tidings.search",
            cacheKilobytes: 16_384, isErasing: true, pagesMax: pagesMax)
        let (queue, found) = try file.open(making: Self.tables) { database in
            // What was erased before a crash may still stand in the log.
            try Self.emptyLog(database)
            return try Loaded(database)
        }
        self.queue = queue
        (self.place, self.tables) = (found.place, found.tables)
        (self.messages, self.newest) = (found.messages, found.newest)
        self.noteErasing(found.mustErase)
    }

    func close() { try? self.queue.close() }

    private static let tables = """
        -- One row: up to which record of which store it goes, how many messages are in it, and of when the newest is.
        CREATE TABLE place (
            id INTEGER PRIMARY KEY CHECK (id = 1), store TEXT NOT NULL, generation INTEGER NOT NULL,
            opening INTEGER NOT NULL, position INTEGER NOT NULL, messages INTEGER NOT NULL, newest INTEGER);
        -- The tables that may hold words of deleted rows.
        CREATE TABLE erasing (number INTEGER PRIMARY KEY);
        """

    private struct Loaded {
        var place: JournalPlace?
        var messages = 0
        var newest: Int64?
        var tables: Set<UInt64> = []
        var mustErase: Set<UInt64> = []

        init(_ database: Database) throws {
            if let row = try Row.fetchOne(database, sql: "SELECT * FROM place") {
                (self.place, self.messages, self.newest) = (JournalPlace(row), row["messages"], row["newest"])
            }
            let names = try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE search!_%' ESCAPE '!'")
            self.tables = Set(names.compactMap { UInt64($0.dropFirst("search_".count)) })
            self.mustErase = Set(try Int64.fetchAll(database, sql: "SELECT number FROM erasing").map(UInt64.init))
        }
    }

    private static func emptyLog(_ database: Database) throws {
        _ = try database.checkpoint(.truncate)
    }

    var progress: SearchProgress {
        SearchProgress(messages: self.messages, fileBytes: DerivedFile.bytes(path: self.path))
    }
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
                    arguments: place.columns + [next.messages, next.newest])
                for table in next.mustErase.sorted() {
                    try database.execute(
                        sql: "INSERT OR IGNORE INTO erasing VALUES (?)", arguments: [Int64(table)])
                }
                return .commit
            }
        }
        self.place = place
        (self.messages, self.newest, self.tables) = (next.messages, next.newest, next.tables)
        self.noteErasing(next.mustErase)
    }

    private func noteErasing(_ tables: Set<UInt64>) {
        self.mustErase.formUnion(tables)
        if !self.mustErase.isEmpty { self.erasableSince = self.erasableSince ?? .uptime }
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
        (self.mustErase, self.erasableSince) = ([], nil)
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

    init(seconds: TimeInterval) { self.end = TimeInterval.uptime + seconds }

    var isOver: Bool { TimeInterval.uptime >= self.end }

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
