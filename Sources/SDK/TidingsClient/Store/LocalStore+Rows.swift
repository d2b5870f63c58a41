import ClientCore
import Foundation
import GRDB
import TidingsModel

// Messages, drafts and reading positions as rows.
extension LocalStore {
    static func insert(
        _ message: Message, at position: LogPosition, person: UserID, in database: Database
    ) throws {
        let conversation = message.conversation(seenBy: person)
        let readUpTo =
            try Int64.fetchOne(
                database, sql: "SELECT readUpTo FROM conversation WHERE type = ? AND target = ?",
                arguments: [conversation.type.rawValue, conversation.target]) ?? 0
        let isUnread = message.sender != person && message.flags.contains(.counted) && Int64(position) > readUpTo
        try database.execute(
            sql: """
                INSERT INTO message (position, id, app, sender, type, target, sentTarget, clientMessageID, objectName,
                    content, flags, pushText, sentAt, isUnread, mentions, recipients, expiresAt, mentionsMe)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
            arguments: [
                Int64(position), Int64(bitPattern: message.id.rawValue), message.app.rawValue, message.sender.rawValue,
                conversation.type.rawValue, conversation.target, message.conversation.target,
                message.clientMessageID.rawValue, message.objectName.rawValue, message.content,
                Int64(message.flags.rawValue), message.pushText, message.sentAt, isUnread, message.mentions.column,
                message.recipients.column, message.expiresAt, message.mentions.include(person),
            ])
        guard database.changesCount > 0 else { return }
        if message.flags.contains(.stored) { try Self.index(message.text, at: position, in: database) }
    }

    static func markRead(
        _ conversation: ConversationID, upTo position: LogPosition, in database: Database
    ) throws {
        try database.execute(
            sql: """
                INSERT INTO conversation (type, target, readUpTo) VALUES (:type, :target, :upTo)
                ON CONFLICT (type, target) DO UPDATE SET readUpTo = max(readUpTo, excluded.readUpTo)
                """,
            arguments: ["type": conversation.type.rawValue, "target": conversation.target, "upTo": Int64(position)])
        try database.execute(
            sql: "UPDATE message SET isUnread = 0 WHERE isUnread AND type = ? AND target = ? AND position <= ?",
            arguments: [conversation.type.rawValue, conversation.target, Int64(position)])
    }

    static func number(_ name: String, in database: Database) throws -> LogPosition {
        LogPosition(
            try Int64.fetchOne(database, sql: "SELECT value FROM position WHERE name = ?", arguments: [name]) ?? 0)
    }

    static func set(_ name: String, _ value: LogPosition, in database: Database) throws {
        try database.execute(
            sql:
                "INSERT INTO position (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            arguments: [name, Int64(value)])
    }

    static func conversation(_ row: Row) -> ConversationID? {
        guard let type = ConversationType(rawValue: row["type"]) else { return nil }
        return ConversationID(type: type, target: row["target"])
    }

    static func draft(_ row: Row) -> MessageDraft? {
        guard let conversation = Self.conversation(row) else { return nil }
        return MessageDraft(
            clientMessageID: ClientMessageID(row["clientMessageID"] as String), conversation: conversation,
            objectName: ObjectName(row["objectName"] as String), content: row["content"],
            flags: MessageFlags(rawValue: UInt8(truncatingIfNeeded: row["flags"] as Int64)), pushText: row["pushText"],
            mentions: Mentions(column: row["mentions"]), recipients: [UserID](column: row["recipients"]),
            lifetimeMilliseconds: row["lifetime"])
    }

    static func message(_ row: Row) -> StoredMessage? {
        guard let conversation = Self.conversation(row) else { return nil }
        let message = Message(
            id: MessageID(rawValue: UInt64(bitPattern: row["id"])), app: AppID(row["app"] as String),
            sender: UserID(row["sender"] as String),
            conversation: ConversationID(type: conversation.type, target: row["sentTarget"]),
            clientMessageID: ClientMessageID(row["clientMessageID"] as String),
            objectName: ObjectName(row["objectName"] as String), content: row["content"],
            flags: MessageFlags(rawValue: UInt8(truncatingIfNeeded: row["flags"] as Int64)),
            pushText: row["pushText"], sentAt: row["sentAt"], mentions: Mentions(column: row["mentions"]),
            recipients: [UserID](column: row["recipients"]), expiresAt: row["expiresAt"])
        return StoredMessage(
            message: message, conversation: conversation, position: LogPosition(row["position"] as Int64),
            isUnread: row["isUnread"], isRecalled: row["recalledAt"] != nil,
            isEdited: row["editedAt"] != nil, mentionsMe: row["mentionsMe"],
            isOnlyHere: (row["position"] as Int64) >= Self.beyondLog)
    }
}

extension LogEntry {
    /// The group or discussion it is about; nil for other conversations and entries.
    var group: ConversationID? {
        switch self.body {
        case .message(let message) where message.conversation.hasMembers: message.conversation
        case .change(let change) where change.conversation.hasMembers: change.conversation
        case .message, .change, .read, .custom, .recall, .edit, .deletion, .conversationSettings, .personSettings,
            .blocked, .unknown:
            nil
        }
    }
}

extension Mentions {
    /// Null for nobody, `*` for everybody, otherwise a JSON list of ids.
    var column: String? {
        switch self {
        case .none: nil
        case .users(let users): users.column
        case .everyone: "*"
        }
    }

    init(column: String?) {
        if column == "*" {
            self = .everyone
        } else {
            let users = [UserID](column: column)
            self = users.isEmpty ? .none : .users(users)
        }
    }
}

extension [UserID] {
    /// Null for nobody, otherwise a JSON list of ids.
    var column: String? { self.isEmpty ? nil : JSONValue.array(self.map { .string($0.rawValue) }).text }

    init(column: String?) {
        let json = column.flatMap { try? JSONValue(parsing: $0) }
        self = json?.arrayValue?.compactMap { $0.stringValue.map { UserID($0) } } ?? []
    }
}
