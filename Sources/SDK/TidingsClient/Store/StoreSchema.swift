import GRDB

/// Makes the tables of a local store, and knows a file that has others.
enum StoreSchema {
    static let version = 3

    /// Makes the tables in an empty file. A file of another version throws `SQLITE_NOTADB`: it is set aside as a damaged one is.
    static func make(in queue: DatabaseQueue) throws {
        guard try queue.read(Self.isEmpty) else { return }
        try queue.write { database in
            guard try Self.isEmpty(database) else { return }
            try database.execute(sql: Self.tables)
            try database.execute(sql: "PRAGMA user_version = \(Self.version)")
        }
    }

    private static func isEmpty(_ database: Database) throws -> Bool {
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version")
        if found == Self.version { return false }
        let hasTables = try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master)")
        guard found == 0, hasTables == false else {
            throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "the store is of another version")
        }
        return true
    }

    private static let tables = """
        -- How far the log was followed, and which log: null while no server has said.
        CREATE TABLE log (
            one INTEGER PRIMARY KEY CHECK (one = 1), stored INTEGER NOT NULL, settled INTEGER NOT NULL,
            owesSettings INTEGER NOT NULL, store TEXT, generation INTEGER, opening INTEGER) STRICT;
        -- One row per message entry of the log. type and target as this person sees the conversation. mentions: null for
        -- nobody, * for everybody, otherwise a JSON list of ids, as recipients are. push: JSON; null for none.
        CREATE TABLE message (
            position INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, app TEXT NOT NULL,
            sender TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL, sentTarget TEXT NOT NULL,
            clientMessageID TEXT NOT NULL, objectName TEXT NOT NULL, content TEXT NOT NULL,
            flags INTEGER NOT NULL, pushText TEXT, sentAt INTEGER NOT NULL,
            isUnread INTEGER NOT NULL, isRecalled INTEGER NOT NULL, isEdited INTEGER NOT NULL, mentions TEXT,
            recipients TEXT, expiresAt INTEGER, mentionsMe INTEGER NOT NULL, push TEXT) STRICT;
        CREATE INDEX messageByConversation ON message (type, target, position);
        CREATE INDEX messageUnread ON message (type, target, position) WHERE isUnread;
        -- Messages are in the order of their ids: those the server has lost have no place in the log.
        CREATE INDEX messageInOrder ON message (type, target, id, flags);
        -- One row per text message, under its position, as SearchWords writes it.
        CREATE VIRTUAL TABLE search USING fts5(words);
        -- What was read of a conversation. pending: read here, and not confirmed by the log. readBefore: the newest message
        -- that was read before the log began anew.
        CREATE TABLE reading (
            type TEXT NOT NULL, target TEXT NOT NULL, upTo INTEGER NOT NULL, pending INTEGER, readBefore INTEGER,
            PRIMARY KEY (type, target)) STRICT, WITHOUT ROWID;
        CREATE TABLE outbox (
            number INTEGER PRIMARY KEY AUTOINCREMENT, clientMessageID TEXT NOT NULL UNIQUE,
            type TEXT NOT NULL, target TEXT NOT NULL, objectName TEXT NOT NULL, content TEXT NOT NULL,
            flags INTEGER NOT NULL, pushText TEXT, mentions TEXT, recipients TEXT, lifetime INTEGER, push TEXT,
            account TEXT) STRICT;
        -- What waits until the app is in the foreground (S4.10).
        CREATE TABLE custom (
            position INTEGER PRIMARY KEY, id INTEGER NOT NULL, title TEXT, content TEXT NOT NULL,
            contentType TEXT, extras TEXT NOT NULL, sentAt INTEGER NOT NULL, expiresAt INTEGER) STRICT;
        -- What the person has set, as the log has it; a row of wish is what this device has set and the log has not
        -- confirmed. draft: what is written and not sent.
        CREATE TABLE setting (
            type TEXT NOT NULL, target TEXT NOT NULL, level TEXT, levelUntil INTEGER, pinnedAt INTEGER,
            isArchived INTEGER NOT NULL DEFAULT 0, hiddenUpTo INTEGER, draft TEXT, draftAt INTEGER,
            PRIMARY KEY (type, target)) STRICT, WITHOUT ROWID;
        CREATE TABLE person (one INTEGER PRIMARY KEY CHECK (one = 1), value TEXT NOT NULL) STRICT;
        CREATE TABLE blocked (user TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        CREATE TABLE wish (
            number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, value TEXT NOT NULL,
            isTold INTEGER NOT NULL DEFAULT 0) STRICT;
        -- Conversations with members. isComplete: name and members are those of this version for sure.
        CREATE TABLE info (
            type TEXT NOT NULL, target TEXT NOT NULL, version INTEGER NOT NULL, name TEXT, portrait TEXT,
            isDissolved INTEGER NOT NULL DEFAULT 0, isComplete INTEGER NOT NULL DEFAULT 0,
            onlyAdminsWrite INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (type, target)) STRICT, WITHOUT ROWID;
        -- isMuted: they may not write, until mutedUntil, or until it is lifted.
        CREATE TABLE member (
            type TEXT NOT NULL, target TEXT NOT NULL, user TEXT NOT NULL, role TEXT NOT NULL, nickname TEXT,
            isMuted INTEGER NOT NULL DEFAULT 0, mutedUntil INTEGER,
            PRIMARY KEY (type, target, user)) STRICT, WITHOUT ROWID;
        -- Where the person is asked to come in, in the order of the log.
        CREATE TABLE invitation (
            number INTEGER PRIMARY KEY, type TEXT NOT NULL, target TEXT NOT NULL, name TEXT NOT NULL, portrait TEXT,
            inviter TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (type, target)) STRICT;
        """
}
