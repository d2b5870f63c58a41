import ClientCore
import GRDB
import TidingsModel

// The server's log begins anew: a copy of its database was put back, or it is another server. Messages stay. Each gets its place in the
// new log when it comes again; those the server has lost have none.
extension LocalStore {
    /// Positions from here on belong to no log: they only order rows.
    static let beyondLog = Int64(StoredMessage.beyondLog)

    /// Takes all messages out of the old log. What waits to be sent, and settings the server does not know yet, stay;
    /// what was read is told again as its messages come.
    func resetLog(_ origin: LogOrigin?) throws {
        // First: a process that ends in between would pass over custom messages of the other log for good. The ids are enough to hand over
        // none of this one twice.
        try self.restartHandOver()
        try self.write { database in
            try Self.rememberReading(in: database)
            let last =
                try Int64.fetchOne(
                    database, sql: "SELECT max(position) FROM message WHERE position >= ?", arguments: [Self.beyondLog])
                ?? Self.beyondLog
            let log = ["log": Self.beyondLog, "shift": last + 1]
            try database.execute(
                sql: """
                    UPDATE search SET rowid = rowid + :shift WHERE rowid < :log;
                    """, arguments: StatementArguments(log))
            try database.execute(
                sql: "UPDATE message SET position = position + :shift, isUnread = 0 WHERE position < :log",
                arguments: StatementArguments(log))
            try database.execute(
                sql: """
                    DELETE FROM pendingRead; DELETE FROM position; DELETE FROM custom; DELETE FROM conversation;
                    DELETE FROM setting; DELETE FROM person; DELETE FROM blocked;
                    UPDATE info SET isKnown = 0, version = 0; DELETE FROM origin
                    """)
            if let origin { try Self.write(origin, in: database) }
        }
    }

    /// The newest message of each conversation that was read, by its id, which holds in every log.
    private static func rememberReading(in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO readBefore (type, target, id)
                SELECT m.type, m.target, max(m.id) FROM message m
                JOIN (SELECT type, target, max(upTo) AS upTo FROM (
                        SELECT type, target, readUpTo AS upTo FROM conversation
                        UNION ALL SELECT type, target, upTo FROM pendingRead) GROUP BY type, target) r
                    ON r.type = m.type AND r.target = m.target
                WHERE m.position <= r.upTo GROUP BY m.type, m.target
                ON CONFLICT (type, target) DO UPDATE SET id = max(id, excluded.id)
                """)
    }

    /// Removes a message without a place in the log, so that it is stored again as the server has it.
    static func makePlace(for id: MessageID, in database: Database) throws {
        let arguments: StatementArguments = [Int64(bitPattern: id.rawValue), Self.beyondLog]
        let isHere = try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM message WHERE id = ? AND position >= ?)", arguments: arguments)
        guard isHere == true else { return }
        try Self.unindex(id, in: database)
        try database.execute(sql: "DELETE FROM message WHERE id = ? AND position >= ?", arguments: arguments)
    }

    /// Whether a message was read before the log began anew.
    static func wasRead(_ id: MessageID, in conversation: ConversationID, _ database: Database) throws -> Bool {
        let last = try Int64.fetchOne(
            database, sql: "SELECT id FROM readBefore WHERE type = ? AND target = ?",
            arguments: [conversation.type.rawValue, conversation.target])
        return last.map { Int64(bitPattern: id.rawValue) <= $0 } ?? false
    }

    func write(_ origin: LogOrigin) throws { try self.write { try Self.write(origin, in: $0) } }

    private static func write(_ origin: LogOrigin, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO origin (one, store, generation, opening) VALUES (1, ?, ?, ?)",
            arguments: [origin.storeID, Int64(bitPattern: origin.generation), Int64(bitPattern: origin.opening)])
    }

    /// Nil while no server has said.
    static func origin(in database: Database) throws -> LogOrigin? {
        try Row.fetchOne(database, sql: "SELECT * FROM origin").map { row in
            LogOrigin(
                storeID: row["store"], generation: UInt64(bitPattern: row["generation"] as Int64),
                opening: UInt64(bitPattern: row["opening"] as Int64))
        }
    }
}
