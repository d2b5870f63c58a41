import ClientCore
import GRDB
import TidingsModel

/// A step that has shipped is never changed; a new one is added behind it.
enum StoreSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 messages, conversations, outbox, positions") { database in
            try database.execute(
                sql: """
                    CREATE TABLE position (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
                    -- One row per message entry of the log. type and target as this person sees the conversation.
                    CREATE TABLE message (
                        position INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, app TEXT NOT NULL,
                        sender TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL, sentTarget TEXT NOT NULL,
                        clientMessageID TEXT NOT NULL, objectName TEXT NOT NULL, content TEXT NOT NULL,
                        flags INTEGER NOT NULL, pushText TEXT, sentAt INTEGER NOT NULL,
                        isUnread INTEGER NOT NULL) STRICT;
                    CREATE INDEX messageByConversation ON message (type, target, position);
                    CREATE INDEX messageUnread ON message (type, target, position) WHERE isUnread;
                    CREATE TABLE conversation (
                        type TEXT NOT NULL, target TEXT NOT NULL, readUpTo INTEGER NOT NULL DEFAULT 0,
                        level TEXT NOT NULL DEFAULT 'all', PRIMARY KEY (type, target)) STRICT, WITHOUT ROWID;
                    CREATE TABLE pendingRead (
                        type TEXT NOT NULL, target TEXT NOT NULL, upTo INTEGER NOT NULL,
                        PRIMARY KEY (type, target)) STRICT, WITHOUT ROWID;
                    CREATE TABLE outbox (
                        number INTEGER PRIMARY KEY AUTOINCREMENT, clientMessageID TEXT NOT NULL UNIQUE,
                        type TEXT NOT NULL, target TEXT NOT NULL, objectName TEXT NOT NULL, content TEXT NOT NULL,
                        flags INTEGER NOT NULL, pushText TEXT) STRICT;
                    """)
        }
        migrator.registerMigration("2 custom messages, recalls, levels") { database in
            try database.execute(
                sql: """
                    ALTER TABLE message ADD COLUMN recalledAt INTEGER;
                    -- What waits until the app is in the foreground (S4.10).
                    CREATE TABLE custom (
                        position INTEGER PRIMARY KEY, id INTEGER NOT NULL, title TEXT, content TEXT NOT NULL,
                        contentType TEXT, extras TEXT NOT NULL, sentAt INTEGER NOT NULL) STRICT;
                    UPDATE conversation SET level = 'blocked' WHERE level = 'none';
                    """)
        }
        migrator.registerMigration("3 mentions, settings, members, search") { database in
            try database.execute(sql: Self.third)
            try Self.moveLevels(in: database)
            try Self.indexMessages(in: database)
        }
        migrator.registerMigration("4 custom messages that expire") { database in
            try database.execute(sql: "ALTER TABLE custom ADD COLUMN expiresAt INTEGER")
        }
        migrator.registerMigration("5 logs that begin anew") { database in
            try database.execute(
                sql: """
                    CREATE TABLE origin (
                        one INTEGER PRIMARY KEY CHECK (one = 1), store TEXT NOT NULL, generation INTEGER NOT NULL,
                        opening INTEGER NOT NULL) STRICT;
                    -- The newest message of a conversation that was read before the log began anew.
                    CREATE TABLE readBefore (
                        type TEXT NOT NULL, target TEXT NOT NULL, id INTEGER NOT NULL,
                        PRIMARY KEY (type, target)) STRICT, WITHOUT ROWID;
                    -- Messages are in the order of their ids: those the server has lost have no place in the log.
                    CREATE INDEX messageInOrder ON message (type, target, id);
                    """)
        }
        migrator.registerMigration("6 mutes, invitations") { database in
            try database.execute(
                sql: """
                    ALTER TABLE info ADD COLUMN onlyAdminsWrite INTEGER NOT NULL DEFAULT 0;
                    -- isMuted: they may not write, until mutedUntil, or until it is lifted.
                    ALTER TABLE member ADD COLUMN isMuted INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE member ADD COLUMN mutedUntil INTEGER;
                    -- Where the person is asked to come in, in the order of the log.
                    CREATE TABLE invitation (
                        type TEXT NOT NULL, target TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,
                        portrait TEXT, inviter TEXT NOT NULL, at INTEGER NOT NULL,
                        PRIMARY KEY (type, target)) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("7 options of notifications") { database in
            // JSON; null for none.
            try database.execute(
                sql: """
                    ALTER TABLE message ADD COLUMN push TEXT;
                    ALTER TABLE outbox ADD COLUMN push TEXT;
                    """)
        }
        migrator.registerMigration("8 lists and drafts") { database in
            try database.execute(
                sql: """
                    ALTER TABLE setting ADD COLUMN pinnedAt INTEGER;
                    ALTER TABLE setting ADD COLUMN isArchived INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE setting ADD COLUMN hiddenUpTo INTEGER;
                    -- What is written and not sent.
                    ALTER TABLE setting ADD COLUMN draft TEXT;
                    ALTER TABLE setting ADD COLUMN draftAt INTEGER;
                    """)
        }
        migrator.registerMigration("9 messages sent as an account") { database in
            try database.execute(sql: "ALTER TABLE outbox ADD COLUMN account TEXT")
        }
        migrator.registerMigration("10 changes the server may have taken") { database in
            try database.execute(sql: "ALTER TABLE wish ADD COLUMN isTold INTEGER NOT NULL DEFAULT 0")
        }
        return migrator
    }

    private static let third = """
        -- mentions: null for nobody, * for everybody, otherwise a JSON list of ids, as recipients are.
        ALTER TABLE message ADD COLUMN mentions TEXT;
        ALTER TABLE message ADD COLUMN recipients TEXT;
        ALTER TABLE message ADD COLUMN expiresAt INTEGER;
        ALTER TABLE message ADD COLUMN editedAt INTEGER;
        ALTER TABLE message ADD COLUMN mentionsMe INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE outbox ADD COLUMN mentions TEXT;
        ALTER TABLE outbox ADD COLUMN recipients TEXT;
        ALTER TABLE outbox ADD COLUMN lifetime INTEGER;
        -- What the person has set, as the log has it; a row of wish is what this device has set and the log has not confirmed.
        CREATE TABLE setting (
            type TEXT NOT NULL, target TEXT NOT NULL, level TEXT, levelUntil INTEGER,
            PRIMARY KEY (type, target)) STRICT, WITHOUT ROWID;
        CREATE TABLE person (one INTEGER PRIMARY KEY CHECK (one = 1), value TEXT NOT NULL) STRICT;
        CREATE TABLE blocked (user TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        CREATE TABLE wish (
            number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, value TEXT NOT NULL) STRICT;
        -- Conversations with members. isKnown: name and members are those of this version for sure.
        CREATE TABLE info (
            type TEXT NOT NULL, target TEXT NOT NULL, version INTEGER NOT NULL, name TEXT, portrait TEXT,
            isDissolved INTEGER NOT NULL DEFAULT 0, isKnown INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (type, target)) STRICT, WITHOUT ROWID;
        CREATE TABLE member (
            type TEXT NOT NULL, target TEXT NOT NULL, user TEXT NOT NULL, role TEXT NOT NULL, nickname TEXT,
            PRIMARY KEY (type, target, user)) STRICT, WITHOUT ROWID;
        -- One row per text message, under its position, as SearchWords writes it.
        CREATE VIRTUAL TABLE search USING fts5(words);
        """

    /// Levels belonged to this device alone: they become pending changes, so that the server learns of them.
    private static func moveLevels(in database: Database) throws {
        for row in try Row.fetchAll(database, sql: "SELECT * FROM conversation WHERE level <> 'all'") {
            guard let type = ConversationType(rawValue: row["type"]),
                let level = NotificationLevel(rawValue: row["level"])
            else { continue }
            let pendingChange = PendingSettingsChange.conversation(
                ConversationID(type: type, target: row["target"]), ConversationSettings(level: level))
            try database.execute(
                sql: "INSERT INTO wish (name, value) VALUES (?, ?)",
                arguments: [pendingChange.key, pendingChange.column])
        }
        try database.execute(sql: "ALTER TABLE conversation DROP COLUMN level")
    }

    private static func indexMessages(in database: Database) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT position, content FROM message WHERE objectName = ? AND flags & 1 AND recalledAt IS NULL",
            arguments: [ObjectName.text.rawValue])
        while let row = try rows.next() {
            let text = (try? JSONValue(parsing: row["content"] as String))?["content"]?.stringValue
            guard let words = text.map(LocalStore.searchWords), !words.isEmpty else { continue }
            try database.execute(
                sql: "INSERT INTO search (rowid, words) VALUES (?, ?)",
                arguments: [row["position"] as Int64, words])
        }
    }
}
