import Foundation
import GRDB
import TidingsModel

// What steps from earlier versions work out anew.
extension Schema {
    /// The history of chat rooms was nowhere but in the journal in version 1. What is not derived yet follows when the store
    /// recovers.
    static func collectRoomMessages(_ database: Database) throws {
        try Self.forEachRecord(database) { record, position, _ in
            guard case .accept(let message, _, _, _, _) = record, message.conversation.type == .chatRoom else { return }
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO room_message SELECT number, ?, ? FROM conversation
                    WHERE app = ? AND type = ? AND target = ?
                    """,
                arguments: [
                    position, Int64(bitPattern: message.id.rawValue), message.app.rawValue,
                    message.conversation.type.rawValue, message.conversation.target,
                ])
        }
    }

    /// Whom people have written to, one to one, was nowhere but in the journal before version 14. What is not derived yet follows when
    /// the store recovers.
    static func findContacts(_ database: Database) throws {
        var written: [UserKey: Set<UserID>] = [:]
        try Self.forEachRecord(database) { record, _, _ in
            guard case .accept(let message, _?, _, _, _) = record, message.conversation.type == .direct else { return }
            written[UserKey(app: message.app, user: message.sender), default: []]
                .insert(UserID(message.conversation.target))
        }
        func number(_ key: UserKey) throws -> Int64? {
            try Int64.fetchOne(
                database, sql: "SELECT number FROM person WHERE app = ? AND user = ?",
                arguments: [key.app.rawValue, key.user.rawValue])
        }
        // tidy: order does not leave: each row is its own
        for (key, others) in written {
            guard let person = try number(key) else { continue }
            for other in others {
                guard let peer = try number(UserKey(app: key.app, user: other)) else { continue }
                let conversation = ConversationNumber(type: .direct, number: peer)
                try database.execute(
                    sql: "UPDATE person_conversation SET wrote = 1 WHERE person = ? AND conversation = ?",
                    arguments: [person, Int64(bitPattern: conversation.rawValue)])
            }
        }
    }

    /// The derived records of the journal in order, each with its position and that of its row.
    private static func forEachRecord(
        _ database: Database, _ body: (JournalRecord, Int64, _ row: Int64) throws -> Void
    ) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT position, records FROM journal WHERE position <= (SELECT watermark FROM store) ORDER BY position
                """)
        while let row = try rows.next() {
            let first: Int64 = row[0]
            var position = first
            try row.withUnsafeData(atIndex: 1) { data in
                try (data ?? Data()).withUnsafeBytes { bytes in
                    try JournalRow.read(bytes) { record in
                        try body(record, position, first)
                        position += 1
                        return true
                    }
                }
            }
        }
    }

    /// Versions before 6 kept texts that nobody may read any more. What is not derived yet follows when the store recovers.
    static func eraseOldTexts(_ database: Database) throws {
        var erased: [Int64: Set<Int>] = [:]
        var rows: [Int64] = []
        // The record of a text lies before the one that takes it away: in this row, or in one that was read.
        func erase(_ record: JournalPosition) {
            var (low, high) = (0, rows.count)
            while low < high {
                let middle = (low + high) / 2
                if rows[middle] <= Int64(record) { low = middle + 1 } else { high = middle }
            }
            guard low > 0 else { return }
            erased[rows[low - 1], default: []].insert(Int(Int64(record) - rows[low - 1]))
        }
        var edits: [MessageID: JournalPosition] = [:]
        try Self.forEachRecord(database) { record, position, row in
            if rows.last != row { rows.append(row) }
            switch record {
            case .edit(_, let edit, let accepted):
                erase(accepted)
                if let earlier = edits.updateValue(JournalPosition(position), forKey: edit.message) { erase(earlier) }
            case .recall(_, let recall, let accepted):
                erase(accepted)
                if let earlier = edits.removeValue(forKey: recall.message) { erase(earlier) }
            default: break  // tidy: nothing else takes a text away
            }
        }
        // tidy: order does not leave: each row is its own
        for (position, indexes) in erased {
            let data = try Data.fetchOne(
                database, sql: "SELECT records FROM journal WHERE position = ?", arguments: [position])
            var bytes = Array(data ?? Data())
            try JournalRow.erase(indexes, in: &bytes)
            try database.execute(
                sql: "UPDATE journal SET records = ? WHERE position = ?", arguments: [Data(bytes), position])
        }
    }

    /// Links the entries of each conversation in logs of versions 1 and 2. Their rows do not tell entries with a message from others,
    /// so all of a conversation are linked: readers skip the others.
    static func linkLogs(_ database: Database) throws {
        for person in try Int64.fetchAll(database, sql: "SELECT DISTINCT person FROM person_log ORDER BY person") {
            var last: [ConversationNumber: LogPosition] = [:]
            let rows = try Row.fetchAll(
                database, sql: "SELECT position, entries, format FROM person_log WHERE person = ? ORDER BY position",
                arguments: [person])
            for row in rows {
                let first: Int64 = row[0]
                var chunk = LogChunk(first: LogPosition(first))
                try row.withUnsafeData(atIndex: 1) { data in
                    try (data ?? Data()).withUnsafeBytes { bytes in
                        _ = try LogChunk.read(bytes, first: LogPosition(first), format: row[2]) { entry in
                            let number = entry.conversation
                            var linked = entry
                            linked.earlier = number == .none ? nil : last[number] ?? 0
                            linked.lacksDevice = false
                            chunk.append(linked)
                            if number != .none { last[number] = entry.position }
                            return true
                        }
                    }
                }
                try database.execute(
                    sql: "UPDATE person_log SET entries = ?, format = ? WHERE person = ? AND position = ?",
                    arguments: [Data(chunk.bytes), LogChunk.format, person, first])
            }
            // tidy: order does not leave: each row is its own
            for (number, position) in last {
                try database.execute(
                    sql: "UPDATE person_conversation SET last = ? WHERE person = ? AND conversation = ?",
                    arguments: [Int64(position), person, Int64(bitPattern: number.rawValue)])
            }
        }
    }
}
