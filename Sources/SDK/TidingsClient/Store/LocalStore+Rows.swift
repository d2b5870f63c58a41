import ClientCore
import Foundation
import GRDB
import TidingsModel

extension LocalStore {
    static func insertMessage(
        _ message: Message, at position: LogPosition, person: UserID, in database: Database
    ) throws {
        let conversation = message.conversation(seenBy: person)
        let readUpTo = try LogPosition.fetchOne(
            database, sql: "SELECT readUpTo FROM conversation WHERE type = ? AND target = ?",
            arguments: conversation.key)
        let isUnread = message.sender != person && message.flags.contains(.counted) && position > readUpTo ?? 0
        try database.execute(
            sql: """
                INSERT INTO message (position, id, app, sender, type, target, sentTarget, clientMessageID, objectName,
                    content, flags, pushText, sentAt, isUnread, mentions, recipients, expiresAt, mentionsMe, push)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
            arguments: [
                position, message.id, message.app, message.sender, conversation.type.rawValue, conversation.target,
                message.conversation.target, message.clientMessageID, message.objectName, message.content,
                message.flags, message.pushText, message.sentAt, isUnread, message.mentions, message.recipients.column,
                message.expiresAt, message.mentions.include(person), message.push?.json.text,
            ])
        guard database.changesCount > 0 else { return }
        if message.flags.contains(.stored) { try Self.index(message.text, at: position, in: database) }
    }

    static func markRead(
        _ conversation: ConversationID, upTo position: LogPosition, in database: Database
    ) throws {
        try database.execute(
            sql: """
                INSERT INTO conversation (type, target, readUpTo) VALUES (?, ?, ?)
                ON CONFLICT (type, target) DO UPDATE SET readUpTo = max(readUpTo, excluded.readUpTo)
                """, arguments: conversation.key + [position])
        try database.execute(
            sql: "UPDATE message SET isUnread = 0 WHERE isUnread AND type = ? AND target = ? AND position <= ?",
            arguments: conversation.key + [position])
    }

    static func number(_ name: String, in database: Database) throws -> LogPosition {
        try LogPosition.fetchOne(database, sql: "SELECT value FROM position WHERE name = ?", arguments: [name]) ?? 0
    }

    static func setNumber(_ name: String, _ value: LogPosition, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO position (name, value) VALUES (?, ?)", arguments: [name, value])
    }

    static func draft(_ row: Row) -> MessageDraft? {
        guard let conversation = ConversationID(row) else { return nil }
        return MessageDraft(
            clientMessageID: row["clientMessageID"], conversation: conversation, objectName: row["objectName"],
            content: row["content"], flags: row["flags"], pushText: row["pushText"], mentions: row["mentions"],
            recipients: [UserID](column: row["recipients"]), lifetimeMilliseconds: row["lifetime"],
            push: PushOptions(stored: row["push"] as String?), account: row["account"])
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
            isRecalled: row["recalledAt"] != nil, isEdited: row["editedAt"] != nil, mentionsMe: row["mentionsMe"],
            isOnlyHere: (row["position"] as Int64) >= Self.beyondLog)
    }
}

extension LogEntry {
    /// The group or discussion it is about; nil for other conversations and entries, and for one the person is merely invited to.
    func group(for person: UserID) -> ConversationID? {
        switch self.body {
        case .message(let message) where message.conversation.hasMembers: message.conversation
        case .change(let change) where change.conversation.hasMembers && !change.invitees.contains(person):
            change.conversation
        case .message, .change, .read, .custom, .recall, .edit, .deletion, .conversationSettings, .personSettings,
            .blocked, .unknown:
            nil
        }
    }
}
