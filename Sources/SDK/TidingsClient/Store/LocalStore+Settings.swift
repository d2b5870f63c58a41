import ClientCore
import GRDB
import TidingsModel

// What the person has set: as the log has it, and what this device has set since.
extension LocalStore {
    func preferences() throws -> Preferences { try self.read { try Self.preferences(in: $0) } }

    static func preferences(in database: Database) throws -> Preferences {
        let rows = try Row.fetchAll(database, sql: "SELECT value, isTold FROM wish ORDER BY number")
        let pendingChanges = rows.compactMap { row in
            PendingSettingsChange(column: row["value"]).map { (change: $0, isTold: row["isTold"] as Bool) }
        }
        return Preferences(
            confirmed: try Self.confirmed(in: database), pendingChanges: pendingChanges.map(\.change),
            told: Set(pendingChanges.filter(\.isTold).map(\.change)))
    }

    private static func confirmed(in database: Database) throws -> AllSettings {
        var all = AllSettings()
        for row in try Row.fetchAll(database, sql: "SELECT * FROM setting") {
            guard let conversation = ConversationID(row) else { continue }
            var own = ConversationSettings(
                level: (row["level"] as String?).flatMap { NotificationLevel(rawValue: $0) },
                levelUntil: row["levelUntil"])
            own.pinnedAt = row["pinnedAt"]
            own.isArchived = row["isArchived"]
            own.hiddenUpTo = row["hiddenUpTo"]
            if let draft = row["draft"] as String? {
                own.draft = ConversationDraft(text: draft, writtenAt: row["draftAt"] ?? 0)
            }
            all.conversations[conversation] = own
        }
        if let person = try String.fetchOne(database, sql: "SELECT value FROM person") {
            all.person = PersonSettings(column: person)
        }
        all.blocked = try UserID.fetchAll(database, sql: "SELECT user FROM blocked ORDER BY user")
        return all
    }

    static func applySetting(_ body: LogEntry.Body, in database: Database) throws {
        switch body {
        case .conversationSettings(let conversation, let own):
            try Self.write(own, of: conversation, in: database)
        case .personSettings(let person): try Self.writePerson(person, in: database)
        case .blocked(let user, let isBlocked):
            try database.execute(
                sql: isBlocked
                    ? "INSERT INTO blocked (user) VALUES (?) ON CONFLICT DO NOTHING"
                    : "DELETE FROM blocked WHERE user = ?",
                arguments: [user])
        case .message, .read, .custom, .recall, .edit, .deletion, .change, .unknown: break
        }
    }

    private static func write(
        _ own: ConversationSettings, of conversation: ConversationID, in database: Database
    ) throws {
        guard own != ConversationSettings() else {
            return try database.execute(
                sql: "DELETE FROM setting WHERE type = ? AND target = ?", arguments: conversation.key)
        }
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO setting
                (type, target, level, levelUntil, pinnedAt, isArchived, hiddenUpTo, draft, draftAt)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: conversation.key + [
                own.level?.rawValue, own.levelUntil, own.pinnedAt, own.isArchived, own.hiddenUpTo, own.draft?.text,
                own.draft?.writtenAt,
            ])
    }

    private static func writePerson(_ person: PersonSettings, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO person (one, value) VALUES (1, ?)", arguments: [person.column])
    }

    /// Replaces what the log says. Returns the unread messages outside muted conversations.
    func replaceSettings(_ all: AllSettings) throws -> Int {
        try self.write { database in
            try database.execute(sql: "DELETE FROM setting; DELETE FROM blocked")
            try Self.setNumber("owesSettings", 0, in: database)
            for (conversation, own) in all.conversations { try Self.write(own, of: conversation, in: database) }
            try Self.writePerson(all.person, in: database)
            for user in all.blocked { try Self.applySetting(.blocked(user, true), in: database) }
            return try Self.counts(in: database).unread
        }
    }

    /// Stores what the person has set until the log confirms it. Returns the unread messages outside muted
    /// conversations.
    func writePendingChange(_ pendingChange: PendingSettingsChange) throws -> Int {
        try self.write { database in
            try database.execute(
                sql: """
                    INSERT INTO wish (name, value) VALUES (?, ?)
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value, isTold = 0
                    """, arguments: [pendingChange.key, pendingChange.column])
            return try Self.counts(in: database).unread
        }
    }

    /// Whether the server may have taken a pending change that has not changed.
    func markPendingChange(_ pendingChange: PendingSettingsChange, isTold: Bool) throws {
        try self.write { database in
            try database.execute(
                sql: "UPDATE wish SET isTold = ? WHERE name = ? AND value = ?",
                arguments: [isTold, pendingChange.key, pendingChange.column])
        }
    }

    /// Forgets a pending change that has not changed; `isKept` takes it for what the log says. Returns the unread messages
    /// outside muted conversations.
    func removePendingChange(_ pendingChange: PendingSettingsChange, isKept: Bool) throws -> Int {
        try self.write { database in
            if isKept {
                var all = try Self.confirmed(in: database)
                pendingChange.apply(to: &all)
                switch pendingChange {
                case .conversation(let conversation, _), .state(let conversation, _, _):
                    let own = all.conversations[conversation] ?? ConversationSettings()
                    try Self.write(own, of: conversation, in: database)
                case .level, .quietHours, .hidesContent, .language, .mayBeAddedBy:
                    try Self.writePerson(all.person, in: database)
                }
            }
            try database.execute(
                sql: "DELETE FROM wish WHERE name = ? AND value = ?",
                arguments: [pendingChange.key, pendingChange.column])
            return try Self.counts(in: database).unread
        }
    }
}
