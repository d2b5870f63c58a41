import Foundation
import GRDB
import StoreModel
import TidingsModel

/// The database of what webhooks are still to be told, of dead letters, and of how far the journal is read. Place and deliveries are written
/// in one transaction, so nothing is left out, and what a power cut takes is read again, under the same ids.
final class WebhookFile {
    /// "Tidw": tells it from other programs' databases.
    static let applicationID = 0x5469_6477
    static let version = 1

    let path: String
    private let queue: DatabaseQueue
    private(set) var place: JournalPlace?
    private(set) var known: KnownWebhooks = [:]
    /// How many wait, and how many are dead.
    private(set) var counts: [WebhookKey: Counts] = [:]
    private var numbers: [WebhookKey: Int64] = [:]

    struct Counts: Hashable {
        var pending = 0
        var dead = 0
    }

    /// - Throws: `WebhookFileError`, or what SQLite said.
    init(path: String, pagesMax: Int? = nil) throws {
        self.path = path
        try Self.checkHead(path)
        StoreFile.makeIfMissing(path: path)
        var settings = Configuration()
        settings.label = "tidings.webhooks"
        settings.foreignKeysEnabled = false
        settings.prepareDatabase { database in
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            // Before there is a write-ahead log: by its head the file is known after a crash.
            if try Int.fetchOne(database, sql: "PRAGMA application_id") == 0 {
                try database.execute(sql: "PRAGMA application_id = \(Self.applicationID)")
            }
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            // What a power cut takes is read from the store again, or sent again.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            try database.execute(sql: "PRAGMA cache_size = -8192")
            if let pagesMax { try database.execute(sql: "PRAGMA max_page_count = \(pagesMax)") }
        }
        self.queue = try DatabaseQueue(path: path, configuration: settings)
        StoreFile.closeToOthers(path: path)
        try self.queue.writeWithoutTransaction { database in
            try Self.makeTables(database)
            try self.load(database)
        }
    }

    func close() { try? self.queue.close() }

    static func remove(path: String) {
        for suffix in SearchFile.suffixes { unlink(path + suffix) }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Nothing that is somebody else's is opened.
    private static func checkHead(_ path: String) throws {
        guard let file = FileHandle(forReadingAtPath: path) else { return }
        defer { try? file.close() }
        // sqlite.org/fileformat.html §1.3: the application id stands in bytes 68 to 71.
        let head = Array((try? file.read(upToCount: 72)) ?? Data())
        let isDatabase = head.starts(with: Array("SQLite format 3\u{0}".utf8))
        // What a crash left of a new file: nobody's database is that short.
        if head.allSatisfy({ $0 == 0 }) || (isDatabase && head.count < 72) { return Self.remove(path: path) }
        guard isDatabase, head.count == 72, head[68..<72].reduce(0, { $0 << 8 | Int($1) }) == Self.applicationID else {
            throw WebhookFileError.notOwn
        }
    }

    private static func makeTables(_ database: Database) throws {
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found <= Self.version else { throw WebhookFileError.newer(found) }
        guard found == 0 else { return }
        try database.inTransaction(.immediate) {
            try database.execute(
                sql: """
                    -- One row: up to which record of which store it goes.
                    CREATE TABLE place (
                        id INTEGER PRIMARY KEY CHECK (id = 1), store TEXT NOT NULL, generation INTEGER NOT NULL,
                        opening INTEGER NOT NULL, position INTEGER NOT NULL);
                    -- As of the place; kinds with spaces between. One that is gone has still to be forgotten.
                    CREATE TABLE webhook (
                        number INTEGER PRIMARY KEY, app TEXT NOT NULL, id TEXT NOT NULL, kinds TEXT NOT NULL,
                        enabled INTEGER NOT NULL, gone INTEGER NOT NULL DEFAULT 0, delivered_at INTEGER, failed_at INTEGER, reason TEXT, status INTEGER,
                        UNIQUE (app, id));
                    -- Pending, or a dead letter: then it has the time of that.
                    CREATE TABLE delivery (
                        number INTEGER PRIMARY KEY AUTOINCREMENT, webhook INTEGER NOT NULL, id TEXT NOT NULL,
                        type TEXT NOT NULL, at INTEGER NOT NULL, data TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
                        due_at INTEGER NOT NULL, dead_at INTEGER, reason TEXT, status INTEGER,
                        UNIQUE (webhook, id));
                    CREATE INDEX delivery_due ON delivery (webhook, due_at, number) WHERE dead_at IS NULL;
                    CREATE INDEX delivery_pending ON delivery (webhook, number) WHERE dead_at IS NULL;
                    CREATE INDEX delivery_dead ON delivery (webhook, number) WHERE dead_at IS NOT NULL;
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
        }
        for row in try Row.fetchAll(database, sql: "SELECT number, app, id, kinds, enabled, gone FROM webhook") {
            let key = WebhookKey(app: AppID(row["app"] as String), webhook: row["id"])
            let kinds = (row["kinds"] as String).split(separator: " ").compactMap {
                WebhookEventKind(rawValue: String($0))
            }
            self.numbers[key] = row["number"]
            self.counts[key] = Counts()
            if row["gone"] { continue }
            self.known[key.app, default: [:]][key.webhook] = KnownWebhook(
                kinds: Set(kinds), isEnabled: row["enabled"])
        }
        let keys = Dictionary(uniqueKeysWithValues: self.numbers.map { ($0.value, $0.key) })
        let sql = "SELECT webhook, dead_at IS NOT NULL AS is_dead, COUNT(*) AS count FROM delivery GROUP BY 1, 2"
        for row in try Row.fetchAll(database, sql: sql) {
            guard let key = keys[row["webhook"]] else { continue }
            let count: Int = row["count"]
            if row["is_dead"] { self.counts[key]?.dead = count } else { self.counts[key]?.pending = count }
        }
    }

    var isEmpty: Bool { self.known.isEmpty && self.numbers.isEmpty }

    /// With the log of what is not written back yet.
    var bytes: Int {
        SearchFile.suffixes.reduce(0) { sum, suffix in
            var facts = stat()
            return stat(self.path + suffix, &facts) == 0 ? sum + Int(facts.st_size) : sum
        }
    }

    func number(of key: WebhookKey) -> Int64? { self.numbers[key] }

    /// What `body` changes is written as a whole, or nothing of it; then what is counted is as before, too.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let before = (self.counts, self.numbers, self.known, self.place)
        do {
            return try self.queue.writeWithoutTransaction { database in
                var value: Value?
                try database.inTransaction(.immediate) {
                    value = try body(database)
                    return .commit
                }
                guard let value else { throw WebhookFileError.notOwn }
                return value
            }
        } catch {
            (self.counts, self.numbers, self.known, self.place) = before
            throw error
        }
    }

    func read<Value>(_ body: (Database) throws -> Value) throws -> Value { try self.queue.read(body) }

    func changeCounts(of key: WebhookKey, pending: Int = 0, dead: Int = 0) {
        guard var counts = self.counts[key] else { return }
        counts.pending = max(0, counts.pending + pending)
        counts.dead = max(0, counts.dead + dead)
        self.counts[key] = counts
    }
}

enum WebhookFileError: Error, Equatable, CustomStringConvertible {
    /// Another program's file.
    case notOwn
    case newer(Int)

    var description: String {
        switch self {
        case .notOwn: "it is not a file of webhooks"
        case .newer(let version): "it is of version \(version), which a newer build has written"
        }
    }
}

// MARK: - What is derived

extension WebhookFile {
    /// Deliveries, webhooks and place in one transaction.
    /// - Returns: the webhooks that have new deliveries, sorted, with how many.
    func apply(_ page: WebhookPage, now: Int64) throws -> [(key: WebhookKey, count: Int)] {
        try self.write { database in
            try self.putWebhooks(page.known, database)
            var added: [WebhookKey: Int] = [:]
            for occurrence in page.occurrences {
                let data = occurrence.data.text
                for webhook in occurrence.webhooks {
                    let key = WebhookKey(app: occurrence.app, webhook: webhook)
                    // Removed again within the page.
                    guard let number = self.numbers[key] else { continue }
                    try database.cachedStatement(
                        sql: """
                            INSERT OR IGNORE INTO delivery (webhook, id, type, at, data, due_at) VALUES (?, ?, ?, ?, ?, ?)
                            """
                    ).execute(arguments: [
                        number, page.place.id(of: occurrence, webhook), occurrence.kind.rawValue, occurrence.at, data,
                        now,
                    ])
                    added[key, default: 0] += database.changesCount
                }
            }
            try database.execute(
                sql: "INSERT OR REPLACE INTO place VALUES (1, ?, ?, ?, ?)",
                arguments: [
                    page.place.store, Int64(bitPattern: page.place.generation),
                    Int64(bitPattern: page.place.opening), Int64(bitPattern: page.place.position),
                ])
            self.place = page.place
            let all = added.filter { $0.value > 0 }.sorted { $0.key < $1.key }
            for (key, count) in all { self.changeCounts(of: key, pending: count) }
            return all.map { ($0.key, $0.value) }
        }
    }

    /// Those that are gone stay until they are forgotten.
    private func putWebhooks(_ known: KnownWebhooks, _ database: Database) throws {
        guard known != self.known else { return }
        for (key, number) in self.numbers.sorted(by: { $0.key < $1.key }) where known[key.app]?[key.webhook] == nil {
            try database.execute(sql: "UPDATE webhook SET gone = 1 WHERE number = ?", arguments: [number])
        }
        for (app, webhooks) in known.sorted(by: { $0.key < $1.key }) where webhooks != self.known[app] {
            for (id, webhook) in webhooks.sorted(by: { $0.key < $1.key }) {
                let key = WebhookKey(app: app, webhook: id)
                let kinds = webhook.kinds.map(\.rawValue).sorted().joined(separator: " ")
                try database.execute(
                    sql: """
                        INSERT INTO webhook (app, id, kinds, enabled) VALUES (?, ?, ?, ?)
                            ON CONFLICT (app, id) DO UPDATE SET kinds = excluded.kinds, enabled = excluded.enabled, gone = 0
                        """, arguments: [app.rawValue, id, kinds, webhook.isEnabled])
                guard self.numbers[key] == nil else { continue }
                self.numbers[key] = database.lastInsertedRowID
                self.counts[key] = Counts()
            }
        }
        self.known = known
    }

    /// With everything of it.
    func forget(_ key: WebhookKey, _ database: Database) throws {
        guard let number = self.numbers.removeValue(forKey: key) else { return }
        try database.execute(sql: "DELETE FROM delivery WHERE webhook = ?", arguments: [number])
        try database.execute(sql: "DELETE FROM webhook WHERE number = ?", arguments: [number])
        self.counts[key] = nil
    }
}

extension JournalPlace {
    /// The same whenever it is derived again, another one after a restore. Without a point: it is a part of what is signed, with points
    /// between.
    fileprivate func id(of occurrence: WebhookOccurrence, _ webhook: String) -> String {
        let generation = String(self.generation, radix: 36)
        return "\(self.store)-\(generation)-\(occurrence.position)-\(occurrence.number)-\(webhook)"
    }
}
