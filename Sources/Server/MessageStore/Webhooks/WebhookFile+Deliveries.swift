import Foundation
import GRDB
package import StoreModel

/// One delivery, as it is sent.
package struct WebhookDelivery: Hashable, Sendable {
    package var key: WebhookKey
    /// The same for each attempt.
    package var id: String
    /// A `WebhookEventKind`, or `test`.
    package var type: String
    /// Wall milliseconds of what happened.
    package var at: Int64
    /// JSON.
    package var data: String

    package init(key: WebhookKey, id: String, type: String, at: Int64, data: String) {
        self.key = key
        self.id = id
        self.type = type
        self.at = at
        self.data = data
    }
}

/// A delivery that is not tried any more by itself.
package struct WebhookDeadLetter: Hashable, Sendable {
    package var delivery: WebhookDelivery
    package var attempts: Int
    /// Wall milliseconds.
    package var diedAt: Int64
    /// The failure of the last attempt, or `overflow`.
    package var failure: WebhookFailure
    /// Its place in the list.
    package var number: Int64
}

/// How it goes with a webhook.
package struct WebhookProgress: Hashable, Sendable {
    package var pending = 0
    package var dead = 0
    /// Wall milliseconds; nil if nothing was.
    package var deliveredAt: Int64?
    /// The time of the last attempt that failed.
    package var failedAt: Int64?
    package var failure: WebhookFailure?

    package init() {}
}

extension WebhookFile {
    /// Pending ones by time.
    func fetch(
        _ key: WebhookKey, limit: Int, besides: [Int64], _ database: Database
    ) throws -> [WebhookSchedule.Delivery] {
        guard let number = self.number(of: key) else { return [] }
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT number, attempts, due_at FROM delivery
                    WHERE webhook = ? AND dead_at IS NULL \(Self.leaving(besides))
                    ORDER BY due_at, number LIMIT ?
                """, arguments: [number, limit])
        return rows.map { .init(id: $0["number"], attempts: $0["attempts"], dueAt: $0["due_at"]) }
    }

    /// A few numbers that came from the file.
    private static func leaving(_ numbers: [Int64]) -> String {
        numbers.isEmpty ? "" : "AND number NOT IN (\(numbers.map { "\($0)" }.joined(separator: ", ")))"
    }

    /// Nil for one that is gone.
    func delivery(_ number: Int64, of key: WebhookKey, _ database: Database) throws -> WebhookDelivery? {
        try Row.fetchOne(database, sql: "SELECT * FROM delivery WHERE number = ?", arguments: [number]).map {
            Self.delivery($0, of: key)
        }
    }

    private static func delivery(_ row: Row, of key: WebhookKey) -> WebhookDelivery {
        WebhookDelivery(key: key, id: row["id"], type: row["type"], at: row["at"], data: row["data"])
    }

    func removeDelivered(_ number: Int64, of key: WebhookKey, at now: Int64, _ database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM delivery WHERE number = ? AND dead_at IS NULL")
            .execute(arguments: [number])
        self.changeCounts(of: key, pending: -database.changesCount)
        try database.cachedStatement(sql: "UPDATE webhook SET delivered_at = ? WHERE number = ?")
            .execute(arguments: [now, self.number(of: key)])
    }

    func postpone(
        _ delivery: WebhookSchedule.Delivery, of key: WebhookKey, _ failure: WebhookFailure, at now: Int64,
        _ database: Database
    ) throws {
        try database.cachedStatement(
            sql: "UPDATE delivery SET attempts = ?, due_at = ?, reason = ?, status = ? WHERE number = ?"
        ).execute(arguments: [
            delivery.attempts, delivery.dueAt, failure.reason.rawValue, failure.status, delivery.id,
        ])
        try self.noteFailure(failure, of: key, at: now, database)
    }

    func bury(
        _ delivery: WebhookSchedule.Delivery, of key: WebhookKey, _ failure: WebhookFailure, at now: Int64,
        _ database: Database
    ) throws {
        try database.cachedStatement(
            sql: """
                UPDATE delivery SET attempts = ?, dead_at = ?, reason = ?, status = ?
                    WHERE number = ? AND dead_at IS NULL
                """
        ).execute(arguments: [delivery.attempts, now, failure.reason.rawValue, failure.status, delivery.id])
        self.changeCounts(of: key, pending: -database.changesCount, dead: database.changesCount)
        try self.noteFailure(failure, of: key, at: now, database)
    }

    private func noteFailure(
        _ failure: WebhookFailure, of key: WebhookKey, at now: Int64, _ database: Database
    ) throws {
        try database.cachedStatement(
            sql: "UPDATE webhook SET failed_at = ?, reason = ?, status = ? WHERE number = ?"
        ).execute(arguments: [now, failure.reason.rawValue, failure.status, self.number(of: key)])
    }

    func buryOldest(
        _ count: Int, of key: WebhookKey, besides: [Int64], at now: Int64, _ database: Database
    ) throws {
        guard let number = self.number(of: key) else { return }
        try database.execute(
            sql: """
                UPDATE delivery SET dead_at = ?, reason = ?, status = NULL WHERE number IN (
                    SELECT number FROM delivery WHERE webhook = ? AND dead_at IS NULL \(Self.leaving(besides))
                    ORDER BY number LIMIT ?)
                """, arguments: [now, WebhookFailureReason.overflow.rawValue, number, count])
        self.changeCounts(of: key, pending: -database.changesCount, dead: database.changesCount)
    }

    /// - Returns: how many there were.
    func removeOldestDead(_ count: Int, of key: WebhookKey, _ database: Database) throws -> Int {
        guard count > 0, let number = self.number(of: key) else { return 0 }
        try database.execute(
            sql: """
                DELETE FROM delivery WHERE number IN (
                    SELECT number FROM delivery WHERE webhook = ? AND dead_at IS NOT NULL ORDER BY number LIMIT ?)
                """, arguments: [number, count])
        let removed = database.changesCount
        self.changeCounts(of: key, dead: -removed)
        return removed
    }

    /// - Returns: how many there were.
    func removeOldestPending(
        _ count: Int, of key: WebhookKey, besides: [Int64], _ database: Database
    ) throws -> Int {
        guard count > 0, let number = self.number(of: key) else { return 0 }
        try database.execute(
            sql: """
                DELETE FROM delivery WHERE number IN (
                    SELECT number FROM delivery WHERE webhook = ? AND dead_at IS NULL \(Self.leaving(besides))
                    ORDER BY number LIMIT ?)
                """, arguments: [number, count])
        let removed = database.changesCount
        self.changeCounts(of: key, pending: -removed)
        return removed
    }

    func removeDead(before: Int64, _ database: Database) throws {
        for key in self.counts.keys.sorted() where self.counts[key]?.dead ?? 0 > 0 {
            guard let number = self.number(of: key) else { continue }
            try database.execute(
                sql: "DELETE FROM delivery WHERE webhook = ? AND dead_at IS NOT NULL AND dead_at < ?",
                arguments: [number, before])
            self.changeCounts(of: key, dead: -database.changesCount)
        }
    }
}

// MARK: - For operators

extension WebhookFile {
    func progress(of key: WebhookKey) throws -> WebhookProgress {
        var progress = WebhookProgress()
        progress.pending = self.counts[key]?.pending ?? 0
        progress.dead = self.counts[key]?.dead ?? 0
        guard let number = self.number(of: key),
            let row = try self.read({
                try Row.fetchOne($0, sql: "SELECT * FROM webhook WHERE number = ?", arguments: [number])
            })
        else { return progress }
        progress.deliveredAt = row["delivered_at"]
        progress.failedAt = row["failed_at"]
        progress.failure = Self.failure(row)
        return progress
    }

    private static func failure(_ row: Row) -> WebhookFailure? {
        (row["reason"] as String?).flatMap { WebhookFailureReason(rawValue: $0) }.map {
            WebhookFailure($0, status: row["status"])
        }
    }

    /// Newest first, those before a number.
    func deadLetters(of key: WebhookKey, before: Int64?, limit: Int) throws -> [WebhookDeadLetter] {
        guard let number = self.number(of: key) else { return [] }
        let rows = try self.read {
            try Row.fetchAll(
                $0,
                sql: """
                    SELECT * FROM delivery WHERE webhook = ? AND dead_at IS NOT NULL AND number < ?
                        ORDER BY number DESC LIMIT ?
                    """, arguments: [number, before ?? .max, limit])
        }
        return rows.map { row in
            WebhookDeadLetter(
                delivery: Self.delivery(row, of: key), attempts: row["attempts"], diedAt: row["dead_at"],
                failure: Self.failure(row) ?? WebhookFailure(.connectionLost), number: row["number"])
        }
    }

    /// Dead letters are pending again.
    /// - Parameter ids: nil for all of them.
    /// - Returns: how many.
    func revive(_ ids: [String]?, of key: WebhookKey, at now: Int64) throws -> Int {
        guard let number = self.number(of: key) else { return 0 }
        return try self.write { database in
            let sql = "UPDATE delivery SET dead_at = NULL, due_at = ? WHERE webhook = ? AND dead_at IS NOT NULL"
            var count = 0
            if let ids {
                for id in ids {
                    try database.cachedStatement(sql: sql + " AND id = ?").execute(arguments: [now, number, id])
                    count += database.changesCount
                }
            } else {
                try database.execute(sql: sql, arguments: [now, number])
                count = database.changesCount
            }
            self.changeCounts(of: key, pending: count, dead: -count)
            return count
        }
    }

    /// - Returns: whether there was one.
    func removeDeadLetter(_ id: String, of key: WebhookKey) throws -> Bool {
        guard let number = self.number(of: key) else { return false }
        return try self.write { database in
            try database.execute(
                sql: "DELETE FROM delivery WHERE webhook = ? AND id = ? AND dead_at IS NOT NULL",
                arguments: [number, id])
            self.changeCounts(of: key, dead: -database.changesCount)
            return database.changesCount > 0
        }
    }
}
