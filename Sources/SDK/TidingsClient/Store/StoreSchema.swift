import GRDB

/// The local store's tables. A step that has shipped is never changed; a new one is added behind it.
enum StoreSchema {
    /// All steps, oldest first.
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
                    -- What waits until the app is in front (S4.10).
                    CREATE TABLE custom (
                        position INTEGER PRIMARY KEY, id INTEGER NOT NULL, title TEXT, content TEXT NOT NULL,
                        contentType TEXT, extras TEXT NOT NULL, sentAt INTEGER NOT NULL) STRICT;
                    UPDATE conversation SET level = 'blocked' WHERE level = 'none';
                    """)
        }
        return migrator
    }
}
