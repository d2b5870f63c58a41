import Foundation
import GRDB
import StoreMachine
import StoreModel
import TidingsModel

/// The database of what webhooks are still to be told, of dead letters, and of how far the journal is read. Place and deliveries are written
/// in one transaction, so nothing is left out, and what a power cut takes is read again, under the same ids.
final class WebhookFile: JournalFile {
    /// "Tidw": tells it from other programs' databases.
    static let applicationID = 0x5469_6477
    static let version = 1

    private let queue: DatabaseQueue
    private(set) var place: JournalPlace?
    private(set) var known: KnownWebhooks = [:]
    /// How many wait, and how many are dead.
    private(set) var counts: [WebhookKey: WebhookHeld] = [:]
    private var numbers: [WebhookKey: Int64] = [:]

    /// - Throws: `DerivedFileError`, or what SQLite said.
    init(path: String, pagesMax: Int? = nil) throws {
        let file = DerivedFile(
            path: path, applicationID: Self.applicationID, version: Self.version, label: "tidings.webhooks",
            cacheKilobytes: 8_192, pagesMax: pagesMax)
        let (queue, found) = try file.open(making: Self.tables) { try Loaded($0) }
        self.queue = queue
        (self.place, self.known, self.counts, self.numbers) = (found.place, found.known, found.counts, found.numbers)
    }

    func close() { try? self.queue.close() }

    private static let tables = """
        -- One row: up to which record of which store it goes.
        CREATE TABLE place (
            id INTEGER PRIMARY KEY CHECK (id = 1), store TEXT NOT NULL, generation INTEGER NOT NULL,
            opening INTEGER NOT NULL, position INTEGER NOT NULL);
        -- As of the place; kinds with spaces between. One that is gone has still to be forgotten.
        CREATE TABLE webhook (
            number INTEGER PRIMARY KEY, app TEXT NOT NULL, id TEXT NOT NULL, kinds TEXT NOT NULL,
            enabled INTEGER NOT NULL, gone INTEGER NOT NULL DEFAULT 0, delivered_at INTEGER, failed_at INTEGER,
            reason TEXT, status INTEGER,
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
        """

    private struct Loaded {
        var place: JournalPlace?
        var known: KnownWebhooks = [:]
        var counts: [WebhookKey: WebhookHeld] = [:]
        var numbers: [WebhookKey: Int64] = [:]

        init(_ database: Database) throws {
            self.place = try Row.fetchOne(database, sql: "SELECT * FROM place").map { JournalPlace($0) }
            for row in try Row.fetchAll(database, sql: "SELECT number, app, id, kinds, enabled, gone FROM webhook") {
                let key = WebhookKey(app: AppID(row["app"] as String), webhook: row["id"])
                let kinds = (row["kinds"] as String).split(separator: " ").compactMap {
                    WebhookEventKind(rawValue: String($0))
                }
                self.numbers[key] = row["number"]
                self.counts[key] = WebhookHeld()
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
    }

    var progress: WebhookTotals {
        // tidy: order does not leave: sums
        self.counts.values.reduce(into: WebhookTotals()) { totals, counts in
            totals.pending += counts.pending
            totals.dead += counts.dead
        }
    }

    var isEmpty: Bool { self.known.isEmpty && self.numbers.isEmpty }

    func number(of key: WebhookKey) -> Int64? { self.numbers[key] }

    /// Writes the changes of `body` as a whole, or none of them; then the counts are as before, too.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let before = (self.counts, self.numbers, self.known, self.place)
        do {
            return try self.queue.write(body)
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
                arguments: page.place.columns)
            self.place = page.place
            let all = added.filter { $0.value > 0 }.sorted { $0.key < $1.key }
            for (key, count) in all { self.changeCounts(of: key, pending: count) }
            return all.map { ($0.key, $0.value) }
        }
    }

    /// Writes the webhooks. Those that are gone stay until they are forgotten.
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
                self.counts[key] = WebhookHeld()
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
