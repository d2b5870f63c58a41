import Foundation
import GRDB
import TidingsModel

// Custom messages wait here until the app is in the foreground (S4.10); recalled messages lose what they said, edited ones say something
// else, deleted ones are gone.
extension LocalStore {
    static func insert(_ message: CustomMessage, at position: LogPosition, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO custom (position, id, title, content, contentType, extras, sentAt, expiresAt)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
            arguments: [
                Int64(position), Int64(bitPattern: message.id.rawValue), message.title, message.content,
                message.contentType, JSONValue.object(message.extras).text, message.sentAt,
                message.expiresAt,
            ])
    }

    static func recall(_ recall: Recall, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE message SET recalledAt = ?, isUnread = 0, content = '{}', pushText = NULL WHERE id = ?
                """,
            arguments: [recall.at, Int64(bitPattern: recall.message.rawValue)])
        try Self.unindex(recall.message, in: database)
    }

    static func edit(_ edit: Edit, in database: Database) throws {
        let row = try Row.fetchOne(
            database, sql: "SELECT * FROM message WHERE id = ? AND recalledAt IS NULL",
            arguments: [Int64(bitPattern: edit.message.rawValue)])
        guard let row, var stored = Self.message(row) else { return }
        try database.execute(
            sql: "UPDATE message SET content = ?, editedAt = ? WHERE id = ?",
            arguments: [edit.content, edit.at, Int64(bitPattern: edit.message.rawValue)])
        stored.message.content = edit.content
        guard stored.message.flags.contains(.stored) else { return }
        try Self.unindex(edit.message, in: database)
        try Self.index(stored.text, at: stored.position, in: database)
    }

    static func delete(_ deletion: Deletion, in database: Database) throws {
        for id in deletion.messages {
            try Self.unindex(id, in: database)
            try database.execute(
                sql: "DELETE FROM message WHERE id = ?", arguments: [Int64(bitPattern: id.rawValue)])
        }
    }

    /// Takes the custom messages that were not handed over yet, oldest first, and remembers it before it returns them: at
    /// most once, also when the store is lost and synced again. What has expired is taken and not returned.
    ///
    /// - Parameter wall: the server's wall clock; nil if it is not known: what expires at some time stays, and all behind it.
    func takeCustomMessages(wall: Int64?) throws -> [CustomMessage] {
        try self.write { database in
            let (mark, newest) = self.handedOver
            var rows = try Row.fetchAll(
                database, sql: "SELECT * FROM custom WHERE position > ? ORDER BY position",
                arguments: [Int64(mark)])[...]
            if wall == nil { rows = rows.prefix { ($0["expiresAt"] as Int64?) == nil } }
            let last = rows.last.map { LogPosition($0["position"] as Int64) } ?? mark
            let newestNow = rows.map { UInt64(bitPattern: $0["id"]) }.reduce(newest, max)
            if last > mark { try self.remember(handedOver: last, newest: newestNow) }
            try database.execute(sql: "DELETE FROM custom WHERE position <= ?", arguments: [Int64(last)])
            let messages = rows.map { row in
                CustomMessage(
                    id: MessageID(rawValue: UInt64(bitPattern: row["id"])), title: row["title"],
                    content: row["content"], contentType: row["contentType"],
                    extras: (try? JSONValue(parsing: row["extras"] as String))?.objectValue ?? JSONObject(),
                    sentAt: row["sentAt"], expiresAt: row["expiresAt"])
            }
            // Those of before the log began anew come again: their ids are no newer than what was handed over.
            return messages.filter { message in
                message.id.rawValue > newest && !(wall.map { message.isExpired(at: $0) } ?? false)
            }
        }
    }

    func hasCustomMessages(in database: Database) throws -> Bool {
        let (position, newest) = self.handedOver
        return try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM custom WHERE position > ? AND id > ?)",
            arguments: [Int64(position), Int64(bitPattern: newest)]) ?? false
    }

    /// The log begins anew: which custom messages were handed over tell their ids alone.
    func restartHandOver() throws {
        let (position, newest) = self.handedOver
        if position > 0 { try self.remember(handedOver: 0, newest: newest) }
    }

    /// What the name of the file ends with that says how far custom messages were handed over.
    static let handOverSuffix = ".handed-over"

    /// Kept beside the store: it outlives a damaged one.
    private var handOverFile: URL { URL(fileURLWithPath: self.file.path + Self.handOverSuffix) }

    /// Up to which position, and the newest id among them; 0 where an earlier build has not noted it.
    private var handedOver: (position: LogPosition, newest: UInt64) {
        let words = (try? String(contentsOf: self.handOverFile, encoding: .utf8))?.split(separator: " ") ?? []
        return (words.first.flatMap { LogPosition($0) } ?? 0, words.dropFirst().first.flatMap { UInt64($0) } ?? 0)
    }

    private func remember(handedOver position: LogPosition, newest: UInt64) throws {
        try Data("\(position) \(newest)".utf8).write(to: self.handOverFile, options: .atomic)
    }
}
