import ClientCore
import GRDB
import TidingsModel

// What the person has set: as the log has it, and what this device has set since.
extension LocalStore {
    /// Both together.
    func preferences() throws -> Preferences { try self.read { try Self.preferences(in: $0) } }

    static func preferences(in database: Database) throws -> Preferences {
        let pendingChanges = try String.fetchAll(database, sql: "SELECT value FROM wish ORDER BY number")
        return Preferences(
            confirmed: try Self.confirmed(in: database),
            pendingChanges: pendingChanges.compactMap { PendingSettingsChange(column: $0) })
    }

    private static func confirmed(in database: Database) throws -> AllSettings {
        var all = AllSettings()
        for row in try Row.fetchAll(database, sql: "SELECT * FROM setting") {
            guard let conversation = Self.conversation(row) else { continue }
            all.conversations[conversation] = ConversationSettings(
                level: (row["level"] as String?).flatMap { NotificationLevel(rawValue: $0) },
                levelUntil: row["levelUntil"])
        }
        if let person = try String.fetchOne(database, sql: "SELECT value FROM person") {
            all.person = PersonSettings(column: person)
        }
        all.blocked = try String.fetchAll(database, sql: "SELECT user FROM blocked ORDER BY user").map { UserID($0) }
        return all
    }

    /// An entry of the log says what holds.
    static func change(_ body: LogEntry.Body, in database: Database) throws {
        switch body {
        case .conversationSettings(let conversation, let own):
            try Self.write(own, of: conversation, in: database)
        case .personSettings(let person): try Self.write(person, in: database)
        case .blocked(let user, let isBlocked):
            try database.execute(
                sql: isBlocked
                    ? "INSERT INTO blocked (user) VALUES (?) ON CONFLICT DO NOTHING"
                    : "DELETE FROM blocked WHERE user = ?",
                arguments: [user.rawValue])
        case .message, .read, .custom, .recall, .edit, .deletion, .change, .unknown: break
        }
    }

    private static func write(
        _ own: ConversationSettings, of conversation: ConversationID, in database: Database
    ) throws {
        guard own != ConversationSettings() else {
            return try database.execute(
                sql: "DELETE FROM setting WHERE type = ? AND target = ?",
                arguments: [conversation.type.rawValue, conversation.target])
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO setting (type, target, level, levelUntil) VALUES (?, ?, ?, ?)",
            arguments: [conversation.type.rawValue, conversation.target, own.level?.rawValue, own.levelUntil])
    }

    private static func write(_ person: PersonSettings, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO person (one, value) VALUES (1, ?)", arguments: [person.column])
    }

    /// Takes settings for what the log says. Returns the unread messages outside muted conversations.
    func write(_ all: AllSettings) throws -> Int {
        try self.write { database in
            try database.execute(sql: "DELETE FROM setting; DELETE FROM blocked")
            for (conversation, own) in all.conversations { try Self.write(own, of: conversation, in: database) }
            try Self.write(all.person, in: database)
            for user in all.blocked { try Self.change(.blocked(user, true), in: database) }
            return try Self.counts(in: database).unread
        }
    }

    /// Remembers what the person has set until the log confirms it. Returns the unread messages outside muted conversations.
    func write(_ pendingChange: PendingSettingsChange) throws -> Int {
        try self.write { database in
            try Self.write(pendingChange, in: database)
            return try Self.counts(in: database).unread
        }
    }

    static func write(_ pendingChange: PendingSettingsChange, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO pendingChange (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value
                """,
            arguments: [pendingChange.key, pendingChange.column])
    }

    /// Forgets a pending change if it is still that one. Returns the unread messages outside muted conversations.
    ///
    /// - Parameter isKept: whether it is taken for what the log says.
    func drop(_ pendingChange: PendingSettingsChange, isKept: Bool) throws -> Int {
        try self.write { database in
            if isKept {
                var all = try Self.confirmed(in: database)
                pendingChange.apply(to: &all)
                switch pendingChange {
                case .conversation(let conversation, let own): try Self.write(own, of: conversation, in: database)
                case .level, .quietHours, .hidesContent, .language: try Self.write(all.person, in: database)
                }
            }
            try database.execute(
                sql: "DELETE FROM wish WHERE name = ? AND value = ?",
                arguments: [pendingChange.key, pendingChange.column])
            return try Self.counts(in: database).unread
        }
    }
}
