import ClientCore
import Foundation
import GRDB
import TidingsModel

// Text search over the messages of this device (SQLite's FTS5).
extension DatabaseRows {
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
        return try self.rows("\(sql) ORDER BY m.id DESC LIMIT ?", arguments + [limit]).compactMap(Self.message)
    }

    func index(_ stored: StoredMessage) throws {
        guard stored.message.flags.contains(.stored), let text = stored.text else { return }
        let words = SearchWords.indexed(nfkc: text.precomposedStringWithCompatibilityMapping)
        guard !words.isEmpty else { return }
        try self.execute("INSERT INTO search (rowid, words) VALUES (?, ?)", [stored.position, words])
    }

    func unindex(_ id: MessageID) throws {
        try self.execute("DELETE FROM search WHERE rowid = (SELECT position FROM message WHERE id = ?)", [id])
    }
}
