import Foundation
import GRDB
import TidingsModel

// Custom messages wait here until the app is in the foreground (S4.10). Recalls, edits and deletions of messages.
extension LocalStore {
    static func insertCustom(_ message: CustomMessage, at position: LogPosition, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO custom (position, id, title, content, contentType, extras, sentAt, expiresAt)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
            arguments: [
                position, message.id, message.title, message.content, message.contentType,
                JSONValue.object(message.extras).text, message.sentAt, message.expiresAt,
            ])
    }

    static func applyRecall(_ recall: Recall, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE message SET recalledAt = ?, isUnread = 0, content = '{}', pushText = NULL, push = NULL WHERE id = ?
                """,
            arguments: [recall.at, recall.message])
        try Self.unindex(recall.message, in: database)
    }

    static func applyEdit(_ edit: Edit, in database: Database) throws {
        let row = try Row.fetchOne(
            database, sql: "SELECT * FROM message WHERE id = ? AND recalledAt IS NULL", arguments: [edit.message])
        guard let row, var stored = Self.message(row) else { return }
        try database.execute(
            sql: "UPDATE message SET content = ?, editedAt = ? WHERE id = ?",
            arguments: [edit.content, edit.at, edit.message])
        stored.message.content = edit.content
        guard stored.message.flags.contains(.stored) else { return }
        try Self.unindex(edit.message, in: database)
        try Self.index(stored.text, at: stored.position, in: database)
    }

    static func applyDeletion(_ deletion: Deletion, in database: Database) throws {
        for id in deletion.messages {
            try Self.unindex(id, in: database)
            try database.execute(sql: "DELETE FROM message WHERE id = ?", arguments: [id])
        }
    }

    /// Oldest first. Stores how far it got before it returns: at most once, also when the store is lost and synced
    /// again. Expired messages are taken and not returned. `wall` is the server's clock; if it is nil, a message that
    /// expires stays, and all behind it.
    func takeCustomMessages(wall: Int64?) throws -> [CustomMessage] {
        try self.write { database in
            let (mark, newest) = self.handedOver
            var rows = try Row.fetchAll(
                database, sql: "SELECT * FROM custom WHERE position > ? ORDER BY position", arguments: [mark])[...]
            if wall == nil { rows = rows.prefix { ($0["expiresAt"] as Int64?) == nil } }
            let last: LogPosition = rows.last?["position"] ?? mark
            let newestNow = rows.map { $0["id"] as MessageID }.reduce(newest, max)
            if last > mark { try self.remember(handedOver: last, newest: newestNow) }
            try database.execute(sql: "DELETE FROM custom WHERE position <= ?", arguments: [last])
            let messages = rows.map { row in
                CustomMessage(
                    id: row["id"], title: row["title"], content: row["content"], contentType: row["contentType"],
                    extras: (try? JSONValue(parsing: row["extras"] as String))?.objectValue ?? JSONObject(),
                    sentAt: row["sentAt"], expiresAt: row["expiresAt"])
            }
            // After a new log, earlier ones come again: their ids are no newer than what was handed over.
            return messages.filter { message in
                message.id > newest && !(wall.map { message.isExpired(at: $0) } ?? false)
            }
        }
    }

    func hasCustomMessages(in database: Database) throws -> Bool {
        let (position, newest) = self.handedOver
        return try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM custom WHERE position > ? AND id > ?)",
            arguments: [position, newest]) ?? false
    }

    /// The log begins anew: from now on only ids tell which custom messages were handed over.
    func restartHandOver() throws {
        let (position, newest) = self.handedOver
        if position > 0 { try self.remember(handedOver: 0, newest: newest) }
    }

    static let handOverSuffix = ".handed-over"

    /// Stored beside the database: it outlives a damaged one.
    private var handOverFile: URL { URL(fileURLWithPath: self.file.path + Self.handOverSuffix) }

    private var handedOver: (position: LogPosition, newest: MessageID) {
        let words = (try? String(contentsOf: self.handOverFile, encoding: .utf8))?.split(separator: " ") ?? []
        let newest = words.dropFirst().first.flatMap { UInt64($0) } ?? 0
        return (words.first.flatMap { LogPosition($0) } ?? 0, MessageID(rawValue: newest))
    }

    private func remember(handedOver position: LogPosition, newest: MessageID) throws {
        try Data("\(position) \(newest.rawValue)".utf8).write(to: self.handOverFile, options: .atomic)
    }
}
