import Foundation
import GRDB
import StoreMachine
import StoreModel

/// A database beside the store's, of what is derived from its journal: it is told from other programs' files, belongs to one process alone,
/// and what a power cut takes of it is read from the store again.
struct DerivedFile: Sendable {
    static let suffixes = ["", "-wal", "-shm", "-journal"]

    var path: String
    /// The application id of SQLite in the file's head: distinguishes it from other programs' databases.
    var applicationID: Int
    /// The version that is written, from 1; a file of a later one is not opened.
    var version: Int
    var label: String
    var cacheKilobytes: Int
    /// True if deleted content is overwritten.
    var isErasing = false
    /// Nil for as large as the disk.
    var pagesMax: Int?

    /// - Parameters:
    ///   - tables: SQL that makes them, in one transaction, where there are none.
    ///   - load: reads what there is; what it throws leaves the file closed.
    /// - Throws: `DerivedFileError`, or what SQLite said.
    func open<Loaded>(
        making tables: String, _ load: (Database) throws -> Loaded
    ) throws -> (queue: DatabaseQueue, loaded: Loaded) {
        try self.checkHead()
        StoreFile.makeIfMissing(path: self.path)
        let queue = try DatabaseQueue(path: self.path, configuration: self.configuration)
        StoreFile.closeToOthers(path: self.path)
        let loaded = try queue.writeWithoutTransaction { database in
            try self.makeTables(tables, database)
            return try load(database)
        }
        return (queue, loaded)
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// With what belongs to it.
    static func remove(path: String) {
        for suffix in Self.suffixes { unlink(path + suffix) }
    }

    /// With what belongs to it; what was there before is lost.
    static func move(path: String, to other: String) {
        for suffix in Self.suffixes {
            unlink(other + suffix)
            rename(path + suffix, other + suffix)
        }
    }

    /// With the log of what is not written back yet.
    static func bytes(path: String) -> Int {
        Self.suffixes.reduce(0) { sum, suffix in
            var facts = stat()
            return stat(path + suffix, &facts) == 0 ? sum + Int(facts.st_size) : sum
        }
    }

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = self.label
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            // Before there is a write-ahead log: by its head the file is known after a crash.
            if try Int.fetchOne(database, sql: "PRAGMA application_id") == 0 {
                try database.execute(sql: "PRAGMA application_id = \(self.applicationID)")
            }
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            // What a power cut takes is read from the store again.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            if self.isErasing { try database.execute(sql: "PRAGMA secure_delete = ON") }
            try database.execute(sql: "PRAGMA cache_size = -\(self.cacheKilobytes)")
            if let pagesMax = self.pagesMax { try database.execute(sql: "PRAGMA max_page_count = \(pagesMax)") }
        }
        return configuration
    }

    /// Refuses other programs' files, which must be neither opened nor deleted: the head of an existing file must be ours or empty.
    private func checkHead() throws {
        guard let file = FileHandle(forReadingAtPath: self.path) else { return }
        defer { try? file.close() }
        // sqlite.org/fileformat.html §1.3: the application id stands in bytes 68 to 71.
        let head = Array((try? file.read(upToCount: 72)) ?? Data())
        let isDatabase = head.starts(with: Array("SQLite format 3\u{0}".utf8))
        // What a crash left of a new file, or cut off: nobody's database is that short.
        if head.allSatisfy({ $0 == 0 }) || (isDatabase && head.count < 72) { return Self.remove(path: self.path) }
        guard isDatabase, head.count == 72, head[68..<72].reduce(0, { $0 << 8 | Int($1) }) == self.applicationID else {
            throw DerivedFileError.notOwn
        }
    }

    private func makeTables(_ tables: String, _ database: Database) throws {
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found <= self.version else { throw DerivedFileError.newer(found) }
        guard found == 0 else { return }
        try database.inTransaction(.immediate) {
            try database.execute(sql: tables)
            try database.execute(sql: "PRAGMA user_version = \(self.version)")
            return .commit
        }
    }
}

enum DerivedFileError: Error, Equatable, CustomStringConvertible {
    /// Another program's file.
    case notOwn
    case newer(Int)

    var description: String {
        switch self {
        case .notOwn: "it is another program's file"
        case .newer(let version): "it is of version \(version), which a newer build has written"
        }
    }
}

extension JournalPlace {
    /// Columns of a table that has one row of it: `store`, `generation`, `opening`, `position`.
    init(_ row: Row) {
        self.init(
            store: row["store"], generation: UInt64(bitPattern: row["generation"]),
            opening: UInt64(bitPattern: row["opening"]), position: UInt64(bitPattern: row["position"]))
    }

    /// In the order of the columns.
    var columns: StatementArguments {
        [
            self.store, Int64(bitPattern: self.generation), Int64(bitPattern: self.opening),
            Int64(bitPattern: self.position),
        ]
    }
}
