import ClientCore
import Foundation
import GRDB
import TidingsModel

// Text search over the messages of this device (SQLite's FTS5).
extension LocalStore {
    func search(_ text: String, in conversation: ConversationID?, limit: Int) throws -> [StoredMessage] {
        guard let question = SearchWords.question(nfkc: text.precomposedStringWithCompatibilityMapping) else {
            return []
        }
        var sql = "SELECT m.* FROM search s JOIN message m ON m.position = s.rowid WHERE s.words MATCH ?"
        var arguments: StatementArguments = [question]
        if let conversation {
            sql += " AND m.type = ? AND m.target = ?"
            arguments += conversation.key
        }
        arguments += [limit]
        return try self.read { database in
            try Row.fetchAll(database, sql: "\(sql) ORDER BY m.id DESC LIMIT ?", arguments: arguments)
                .compactMap(Self.message)
        }
    }

    static func searchWords(_ text: String) -> String {
        SearchWords.indexed(nfkc: text.precomposedStringWithCompatibilityMapping)
    }

    static func index(_ text: String?, at position: LogPosition, in database: Database) throws {
        guard let words = text.map(Self.searchWords), !words.isEmpty else { return }
        try database.execute(
            sql: "INSERT INTO search (rowid, words) VALUES (?, ?)", arguments: [position, words])
    }

    static func unindex(_ id: MessageID, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM search WHERE rowid = (SELECT position FROM message WHERE id = ?)", arguments: [id])
    }
}
