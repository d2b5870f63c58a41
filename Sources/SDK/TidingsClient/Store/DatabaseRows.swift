import ClientCore
import Foundation
import GRDB
import TidingsModel

/// The rows of the store in one transaction on SQLite. What is not a message: `DatabaseRows+Conversations`, `DatabaseRows+Settings`.
struct DatabaseRows: LocalRows {
    typealias Failure = any Error

    let database: Database
    /// Rows of the outbox that have ended and could not be removed.
    let ended: Set<Int64>
    /// Beside the database, which it outlives.
    let handOverFile: URL

    static let beyondLog = Int64(StoredMessage.beyondLog)

    func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try self.database.execute(sql: sql, arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> [Row] {
        try Row.fetchAll(self.database, sql: sql, arguments: arguments)
    }

    func row(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Row? {
        try Row.fetchOne(self.database, sql: sql, arguments: arguments)
    }

    /// The first column of the first row; nil for null, too.
    func value<Value: DatabaseValueConvertible>(_ sql: String, _ arguments: StatementArguments) throws -> Value? {
        try Value.fetchOne(self.database, sql: sql, arguments: arguments)
    }

    // MARK: Messages

    func message(_ id: MessageID) throws -> StoredMessage? {
        try self.row("SELECT * FROM message WHERE id = ?", [id]).flatMap(Self.message)
    }

    func insert(_ stored: StoredMessage) throws {
        let message = stored.message
        try self.execute(
            """
            INSERT INTO message (position, id, app, sender, type, target, sentTarget, clientMessageID, objectName,
                content, flags, pushText, sentAt, isUnread, isRecalled, isEdited, mentions, recipients, expiresAt,
                mentionsMe, push)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                stored.position, message.id, message.app, message.sender, stored.conversation.type.rawValue,
                stored.conversation.target, message.conversation.target, message.clientMessageID, message.objectName,
                message.content, message.flags, message.pushText, message.sentAt, stored.isUnread, stored.isRecalled,
                stored.isEdited, message.mentions, message.recipients.column, message.expiresAt, stored.mentionsMe,
                message.push?.json.text,
            ])
        try self.index(stored)
    }

    func update(_ stored: StoredMessage) throws {
        let message = stored.message
        try self.execute(
            """
            UPDATE message SET content = ?, pushText = ?, push = ?, isUnread = ?, isRecalled = ?, isEdited = ? WHERE id = ?
            """,
            [
                message.content, message.pushText, message.push?.json.text, stored.isUnread, stored.isRecalled,
                stored.isEdited, message.id,
            ])
        try self.unindex(message.id)
        try self.index(stored)
    }

    func removeMessage(_ id: MessageID) throws {
        try self.unindex(id)
        try self.execute("DELETE FROM message WHERE id = ?", [id])
    }

    func markMessagesRead(in conversation: ConversationID, upTo position: LogPosition) throws {
        try self.execute(
            "UPDATE message SET isUnread = 0 WHERE isUnread AND type = ? AND target = ? AND position <= ?",
            conversation.key + [Int64(clamping: position)])
    }

    func moveMessagesBeyondLog() throws {
        let last: Int64? = try self.value("SELECT max(position) FROM message WHERE position >= ?", [Self.beyondLog])
        let log: StatementArguments = ["log": Self.beyondLog, "shift": (last ?? Self.beyondLog) + 1]
        try self.execute("UPDATE search SET rowid = rowid + :shift WHERE rowid < :log", log)
        try self.execute(
            "UPDATE message SET position = position + :shift, isUnread = 0 WHERE position < :log", log)
    }

    func lastPosition(in conversation: ConversationID, before end: LogPosition) throws -> LogPosition? {
        try self.value(
            "SELECT max(position) FROM message WHERE type = ? AND target = ? AND position < ?",
            conversation.key + [Int64(clamping: end)])
    }

    func firstMessage(in conversation: ConversationID, from position: LogPosition) throws -> StoredMessage? {
        try self.row(
            "SELECT * FROM message WHERE type = ? AND target = ? AND position >= ? ORDER BY position LIMIT 1",
            conversation.key + [Int64(clamping: position)]
        ).flatMap(Self.message)
    }

    func newestMessage(in conversation: ConversationID, upTo position: LogPosition) throws -> MessageID? {
        try self.value(
            "SELECT max(id) FROM message WHERE type = ? AND target = ? AND position <= ?",
            conversation.key + [Int64(clamping: position)])
    }

    func newestMessage(
        in conversation: ConversationID, with flags: MessageFlags, without others: MessageFlags
    ) throws -> MessageID? {
        try self.value(
            "SELECT id FROM message WHERE type = ? AND target = ? AND flags & ? = ? ORDER BY id DESC LIMIT 1",
            conversation.key + [flags.union(others), flags])
    }

    func newestMessages(without flags: MessageFlags) throws -> [StoredMessage] {
        try self.rows(
            """
            SELECT * FROM message
            WHERE id IN (SELECT max(id) FROM message WHERE flags & ? = 0 GROUP BY type, target)
            """, [flags]
        ).compactMap(Self.message)
    }

    func messages(
        in conversation: ConversationID, before end: MessageID?, with flags: MessageFlags, limit: Int
    ) throws -> [StoredMessage] {
        try self.rows(
            """
            SELECT * FROM message WHERE type = ? AND target = ? AND id < ? AND flags & ? = ?
            ORDER BY id DESC LIMIT ?
            """,
            conversation.key + [end ?? MessageID(rawValue: UInt64(Int64.max)), flags, flags, limit]
        ).reversed().compactMap(Self.message)
    }

    var unreadCounts: [ConversationID: LocalUnreadCounts.Count] {
        get throws {
            let rows = try self.rows(
                """
                SELECT type, target, count(*) AS unread, sum(mentionsMe) AS mentions FROM message WHERE isUnread
                GROUP BY type, target
                """)
            return rows.reduce(into: [:]) { counts, row in
                guard let conversation = ConversationID(row) else { return }
                counts[conversation] = LocalUnreadCounts.Count(unread: row["unread"], mentions: row["mentions"])
            }
        }
    }

    static func message(_ row: Row) -> StoredMessage? {
        guard let conversation = ConversationID(row) else { return nil }
        let message = Message(
            id: row["id"], app: row["app"], sender: row["sender"],
            conversation: ConversationID(type: conversation.type, target: row["sentTarget"]),
            clientMessageID: row["clientMessageID"], objectName: row["objectName"], content: row["content"],
            flags: row["flags"], pushText: row["pushText"], sentAt: row["sentAt"], mentions: row["mentions"],
            recipients: [UserID](column: row["recipients"]), expiresAt: row["expiresAt"],
            push: PushOptions(stored: row["push"] as String?))
        return StoredMessage(
            message: message, conversation: conversation, position: row["position"], isUnread: row["isUnread"],
            isRecalled: row["isRecalled"], isEdited: row["isEdited"], mentionsMe: row["mentionsMe"],
            isOnlyHere: (row["position"] as Int64) >= Self.beyondLog)
    }
}
