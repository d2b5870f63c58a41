import ClientCore
import GRDB
import TidingsModel

extension LocalStore {
    /// Oldest first: the newest `limit` before a position.
    func history(_ conversation: ConversationID, before: LogPosition?, limit: Int) throws -> [StoredMessage] {
        try self.read { database in
            let end = try before.flatMap { try Self.id(atOrAfter: $0, in: conversation, database) } ?? .max
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM message WHERE type = ? AND target = ? AND id < ? AND flags & 1
                    ORDER BY id DESC LIMIT ?
                    """,
                arguments: conversation.key + [end, limit]
            ).reversed().compactMap(Self.message)
        }
    }

    private static func id(
        atOrAfter position: LogPosition, in conversation: ConversationID, _ database: Database
    ) throws -> Int64? {
        let place = Int64(clamping: position)
        // Positions beyond the log say nothing about the order.
        return try Int64.fetchOne(
            database,
            sql: """
                SELECT id FROM message WHERE type = ?1 AND target = ?2
                    AND (position = ?3 OR (position > ?3 AND position < ?4)) ORDER BY position LIMIT 1
                """,
            arguments: conversation.key + [place, Self.beyondLog])
    }

    /// Newest first. `wall` is the moment, for levels that end.
    func conversations(wall: Int64) throws -> [ConversationSummary] {
        try self.read { database in
            let counts = try Self.counts(in: database)
            let preferences = try Self.preferences(in: database)
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT m.*, i.name AS infoName, i.portrait AS infoPortrait, ifnull(i.isDissolved, 0) AS isDissolved
                    FROM message m LEFT JOIN info i ON i.type = m.type AND i.target = m.target
                    WHERE m.id IN (SELECT max(id) FROM message GROUP BY type, target)
                    """
            ).compactMap { row in
                guard let last = Self.message(row), let conversation = ConversationID(row) else { return nil }
                return try ConversationSummary(
                    conversation: conversation, last: last,
                    newest: { try Self.newestInHistory(conversation, in: database) },
                    count: counts.by[conversation] ?? LocalUnreadCounts.Count(),
                    level: preferences.level(of: conversation, wall: wall),
                    settings: preferences.current.conversations[conversation], name: row["infoName"],
                    portrait: row["infoPortrait"], isDissolved: row["isDissolved"])
            }.sorted(by: ConversationSummary.comesFirst)
        }
    }

    /// The newest message that stays in the history.
    func newestInHistory(_ conversation: ConversationID) throws -> MessageID? {
        try self.read { try Self.newestInHistory(conversation, in: $0) }
    }

    private static func newestInHistory(_ conversation: ConversationID, in database: Database) throws -> MessageID? {
        try MessageID.fetchOne(
            database,
            sql: "SELECT id FROM message WHERE type = ? AND target = ? AND flags & 1 ORDER BY id DESC LIMIT 1",
            arguments: conversation.key)
    }

    func newest(_ conversation: ConversationID) throws -> LogPosition? {
        try self.read { database in
            try LogPosition.fetchOne(
                database, sql: "SELECT max(position) FROM message WHERE type = ? AND target = ? AND position < ?",
                arguments: conversation.key + [Self.beyondLog])
        }
    }

    /// Unread messages outside muted conversations, and the position they were counted at.
    func count() throws -> (unread: Int, stored: LogPosition) {
        try self.read { (try Self.counts(in: $0).unread, try Self.number("stored", in: $0)) }
    }

    func counts() throws -> LocalUnreadCounts { try self.read { try Self.counts(in: $0) } }

    /// Costs what is unread and what is set, whatever the number of messages.
    static func counts(in database: Database) throws -> LocalUnreadCounts {
        var counts = LocalUnreadCounts()
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT type, target, count(*) AS unread, sum(mentionsMe) AS mentions FROM message WHERE isUnread
                GROUP BY type, target
                """)
        guard !rows.isEmpty else { return counts }
        let preferences = try Self.preferences(in: database)
        for row in rows {
            guard let conversation = ConversationID(row) else { continue }
            counts.add(
                LocalUnreadCounts.Count(unread: row["unread"], mentions: row["mentions"]), of: conversation,
                isMuted: preferences.isMuted(conversation))
        }
        return counts
    }

    func message(_ id: MessageID) throws -> StoredMessage? {
        try self.read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM message WHERE id = ?", arguments: [id]).flatMap(Self.message)
        }
    }
}
