import ClientCore
import GRDB
import TidingsModel

// The server's log begins anew: its database was restored, or it is another server. Messages stay. Each gets its place in the new log
// when it comes again; those the server has lost have none.
extension LocalStore {
    /// Positions from here on belong to no log: they only order rows.
    static let beyondLog = Int64(StoredMessage.beyondLog)

    /// Takes all messages out of the old log. What waits to be sent, and settings the server does not know yet, stay;
    /// what was read is told again as its messages come.
    func resetLog(_ origin: LogOrigin?) throws {
        // First: a process that ends in between would skip custom messages of the new log for good. Their ids prevent handing over one of
        // the old log twice.
        try self.restartHandOver()
        try self.write { database in
            try Self.rememberReading(in: database)
            let last = try Int64.fetchOne(
                database, sql: "SELECT max(position) FROM message WHERE position >= ?", arguments: [Self.beyondLog])
            let log: StatementArguments = ["log": Self.beyondLog, "shift": (last ?? Self.beyondLog) + 1]
            try database.execute(sql: "UPDATE search SET rowid = rowid + :shift WHERE rowid < :log", arguments: log)
            try database.execute(
                sql: "UPDATE message SET position = position + :shift, isUnread = 0 WHERE position < :log",
                arguments: log)
            try database.execute(
                sql: """
                    DELETE FROM pendingRead; DELETE FROM position; DELETE FROM custom; DELETE FROM conversation;
                    DELETE FROM setting; DELETE FROM person; DELETE FROM blocked; DELETE FROM invitation;
                    UPDATE info SET isKnown = 0, version = 0; UPDATE wish SET isTold = 0;
                    DELETE FROM origin
                    """)
            if let origin { try Self.writeOrigin(origin, in: database) }
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
        let arguments: StatementArguments = [id, Self.beyondLog]
        let isHere = try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM message WHERE id = ? AND position >= ?)", arguments: arguments)
        guard isHere == true else { return }
        try Self.unindex(id, in: database)
        try database.execute(sql: "DELETE FROM message WHERE id = ? AND position >= ?", arguments: arguments)
    }

    static func wasRead(_ id: MessageID, in conversation: ConversationID, _ database: Database) throws -> Bool {
        let last = try MessageID.fetchOne(
            database, sql: "SELECT id FROM readBefore WHERE type = ? AND target = ?", arguments: conversation.key)
        return last.map { id <= $0 } ?? false
    }

    static func writeOrigin(_ origin: LogOrigin, in database: Database) throws {
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
