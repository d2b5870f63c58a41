import Foundation
import GRDB
import GRDBSQLite
import TidingsModel

/// The database of a message store. `journal` is the truth and only grows, though texts that nobody may read any more are overwritten
/// in it (StoreEngine+Erasing.swift); `epoch` counts openings; `store` and `opening` say which store this is; `kept_answer` and `key_use` belong
/// to the HTTP API. All other tables are derived from the journal, each row up to a position that is stored beside it, and could be rebuilt from it.
enum Schema {
    /// "Tidm": tells a store from other programs' databases.
    static let applicationID = 0x5469_646d
    static let version = 25

    /// Makes the tables if the file is new, and checks that it syncs as told.
    static func open(
        path: String, configuration: MessageStoreConfiguration
    ) throws(MessageStoreError) -> (DatabaseQueue, synchronous: Int) {
        try StoreFile.examine(path: path)
        StoreFile.makeIfMissing(path: path)
        var settings = Configuration()
        settings.label = "tidings.store"
        settings.foreignKeysEnabled = false
        settings.busyMode = .timeout(2)
        settings.prepareDatabase { database in
            // One process owns the file; so the index of the write-ahead log needs no shared memory and no locks per transaction.
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            try Self.recognize(database, path: path)
            try database.execute(sql: "PRAGMA page_size = \(configuration.pageBytes)")
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = \(configuration.synchronous.rawValue)")
            // Where a row was, zeros are: of what is deleted or replaced nothing stays in the file.
            try database.execute(sql: "PRAGMA secure_delete = ON")
            try database.execute(sql: "PRAGMA cache_size = -\(configuration.cacheKibibytes)")
            // The store writes back by itself, after deriving, so that no ack waits for it.
            try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            if let pages = configuration.pagesMax { try database.execute(sql: "PRAGMA max_page_count = \(pages)") }
        }
        do {
            let queue = try DatabaseQueue(path: path, configuration: settings)
            let synchronous = try queue.writeWithoutTransaction { database in
                try Self.migrate(database)
                return try Self.check(database, path: path, wanted: configuration.synchronous)
            }
            StoreFile.closeToOthers(path: path)
            return (queue, synchronous)
        } catch {
            throw MessageStoreError(error, path: path, otherwise: .cannotOpen)
        }
    }

    /// Reads back what decides whether an ack is durable (design.md §3: GRDB's default is NORMAL).
    static func check(
        _ database: Database, path: String, wanted: MessageStoreConfiguration.Synchronous
    ) throws -> Int {
        let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode") ?? ""
        guard mode == "wal" else {
            throw MessageStoreError(reason: .notSynced(wanted: "journal_mode=wal", found: mode), path: path, detail: "")
        }
        let synchronous = try Int.fetchOne(database, sql: "PRAGMA synchronous") ?? -1
        guard synchronous == wanted.pragma else {
            throw MessageStoreError(
                reason: .notSynced(wanted: "synchronous=\(wanted.pragma)", found: "synchronous=\(synchronous)"),
                path: path, detail: "")
        }
        return synchronous
    }

    private static func recognize(_ database: Database, path: String) throws {
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard application == Self.applicationID || (application == 0 && tables == 0) else {
            throw MessageStoreError(
                reason: .notAStore, path: path, detail: "application_id \(application) with \(tables) tables")
        }
        guard found <= Self.version else {
            throw MessageStoreError(reason: .newerSchema(found: found, known: Self.version), path: path, detail: "")
        }
    }

    private static func migrate(_ database: Database) throws {
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found < Self.version else { return }
        try database.inTransaction(.immediate) {
            if found == 0 {
                try database.execute(sql: Self.tables)
                try database.execute(sql: "PRAGMA application_id = \(Self.applicationID)")
            }
            if found < 2 {
                try database.execute(sql: Self.tablesOfVersion2)
                try Self.collectRoomMessages(database)
            }
            if found < 3 {
                try database.execute(sql: Self.tablesOfVersion3)
                try Self.linkLogs(database)
            }
            if found < 4 { try database.execute(sql: Self.tablesOfVersion4) }
            if found < 5 { try database.execute(sql: Self.tablesOfVersion5) }
            if found < 6 { try database.execute(sql: Self.tablesOfVersion6) }
            if found < 7 { try database.execute(sql: Self.tablesOfVersion7) }
            if found < 8 { try database.execute(sql: Self.tablesOfVersion8) }
            if found < 9 { try database.execute(sql: Self.tablesOfVersion9) }
            if found < 10 { try database.execute(sql: Self.tablesOfVersion10) }
            if found < 11 { try database.execute(sql: Self.tablesOfVersion11) }
            // Version 12 has no other tables: records of messages that hush, and format 5 of logs, which earlier builds cannot read.
            if found < 13 { try database.execute(sql: Self.tablesOfVersion13) }
            if found < 14 {
                try database.execute(sql: Self.tablesOfVersion14)
                if found > 0 { try Self.findContacts(database) }
            }
            if found < 15 { try database.execute(sql: Self.tablesOfVersion15) }
            if found < 16 { try database.execute(sql: Self.tablesOfVersion16) }
            if found < 17 { try database.execute(sql: Self.tablesOfVersion17) }
            if found < 18 { try database.execute(sql: Self.tablesOfVersion18) }
            if found < 19 { try database.execute(sql: Self.tablesOfVersion19) }
            if found < 20 { try database.execute(sql: Self.tablesOfVersion20) }
            if found < 21 { try database.execute(sql: Self.tablesOfVersion21) }
            if found < 22 { try database.execute(sql: Self.tablesOfVersion22) }
            if found < 23 { try database.execute(sql: Self.tablesOfVersion23) }
            // Version 24 has no other tables: operators' passwords and sessions, which an earlier build would drop.
            if found < 25 { try database.execute(sql: Self.tablesOfVersion25) }
            if 2...7 ~= found { try Self.eraseOldTexts(database) }
            try database.execute(sql: "PRAGMA user_version = \(Self.version)")
            return .commit
        }
    }

    static let tables = """
        -- Rows of encoded records (JournalRecord.swift); the position is that of the row's first record.
        CREATE TABLE journal (position INTEGER PRIMARY KEY, records BLOB NOT NULL);
        -- One row. Everything up to `watermark` is derived; the message index is derived up to `indexed`.
        CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1), epoch INTEGER NOT NULL, watermark INTEGER NOT NULL,
            indexed INTEGER NOT NULL, last_message INTEGER NOT NULL);
        INSERT INTO store VALUES (1, 0, 0, 0, 0);
        -- `applied`: everything up to this journal position is in this person's rows, here and in the tables below.
        CREATE TABLE person (
            number INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, partition INTEGER NOT NULL,
            head INTEGER NOT NULL, unread INTEGER NOT NULL, applied INTEGER NOT NULL, UNIQUE (app, user));
        -- Runs of log entries (LogChunk.swift), the first at `position`.
        CREATE TABLE person_log (
            person INTEGER NOT NULL, position INTEGER NOT NULL, entries BLOB NOT NULL, PRIMARY KEY (person, position)
        ) WITHOUT ROWID;
        CREATE TABLE person_conversation (
            person INTEGER NOT NULL, conversation INTEGER NOT NULL, unread INTEGER NOT NULL, counted INTEGER NOT NULL,
            read INTEGER NOT NULL, PRIMARY KEY (person, conversation)
        ) WITHOUT ROWID;
        CREATE TABLE client_message (
            person INTEGER NOT NULL, id TEXT NOT NULL, message INTEGER NOT NULL, sent_at INTEGER NOT NULL,
            PRIMARY KEY (person, id)
        ) WITHOUT ROWID;
        CREATE TABLE device (
            person INTEGER NOT NULL, id TEXT NOT NULL, platform TEXT NOT NULL, push INTEGER NOT NULL, token TEXT,
            environment TEXT, topic TEXT, push_at INTEGER, push_reason TEXT, settled INTEGER NOT NULL,
            decided INTEGER NOT NULL, since INTEGER NOT NULL, signed_in_at INTEGER NOT NULL, signed_out INTEGER NOT NULL,
            PRIMARY KEY (person, id)
        ) WITHOUT ROWID;
        -- The empty device is the pseudo-leg of a person without devices.
        CREATE TABLE open_leg (
            person INTEGER NOT NULL, message INTEGER NOT NULL, device TEXT NOT NULL, position INTEGER NOT NULL,
            wait TEXT NOT NULL, apns_id TEXT, attempts INTEGER NOT NULL, not_before INTEGER,
            PRIMARY KEY (person, message, device)
        ) WITHOUT ROWID;
        -- Groups, discussions and chat rooms with their present name and membership version.
        CREATE TABLE conversation (
            number INTEGER PRIMARY KEY, app TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL, name TEXT NOT NULL,
            version INTEGER NOT NULL, UNIQUE (app, type, target));
        -- Who was a member from that version on; a version without a row has the members of the one before.
        CREATE TABLE membership (
            conversation INTEGER NOT NULL, version INTEGER NOT NULL, members BLOB NOT NULL,
            PRIMARY KEY (conversation, version)
        ) WITHOUT ROWID;
        -- Which journal records speak of a message: the position of the first, and the distances of those that follow.
        CREATE TABLE message_index (
            message INTEGER NOT NULL, position INTEGER NOT NULL, more BLOB NOT NULL, PRIMARY KEY (message, position)
        ) WITHOUT ROWID;
        """

    static let tablesOfVersion2 = """
        -- `unread` is without muted conversations, `unread_all` with them; `settings`: JournalRecord+Values.swift, NULL for none.
        ALTER TABLE person ADD COLUMN unread_all INTEGER NOT NULL DEFAULT 0;
        UPDATE person SET unread_all = unread;
        ALTER TABLE person ADD COLUMN mentions INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE person ADD COLUMN settings BLOB;
        ALTER TABLE person_log ADD COLUMN format INTEGER NOT NULL DEFAULT 1;
        -- `recalled`: positions after the read cursor that count no more, each as the distance from the one before.
        ALTER TABLE person_conversation ADD COLUMN mentions INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE person_conversation ADD COLUMN recalled BLOB;
        -- `ranks`: owner, admins and nicknames by the members' numbers; NULL for none.
        ALTER TABLE conversation ADD COLUMN portrait TEXT;
        ALTER TABLE conversation ADD COLUMN dissolved INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE conversation ADD COLUMN ranks BLOB;
        -- The journal records that withdrew a message and that edited it last; 0 for none.
        CREATE TABLE message_revision (
            message INTEGER PRIMARY KEY, recalled INTEGER NOT NULL, edited INTEGER NOT NULL);
        CREATE TABLE deleted_message (
            person INTEGER NOT NULL, message INTEGER NOT NULL, PRIMARY KEY (person, message)
        ) WITHOUT ROWID;
        CREATE TABLE custom_message (
            app TEXT NOT NULL, id TEXT NOT NULL, message INTEGER NOT NULL, sent_at INTEGER NOT NULL,
            PRIMARY KEY (app, id)
        ) WITHOUT ROWID;
        -- A chat room's messages: in no log, but in history.
        CREATE TABLE room_message (
            conversation INTEGER NOT NULL, record INTEGER NOT NULL, message INTEGER NOT NULL,
            PRIMARY KEY (conversation, record)
        ) WITHOUT ROWID;
        CREATE INDEX device_token ON device (token) WHERE token IS NOT NULL;
        """

    private static let tablesOfVersion3 = """
        -- The newest entry with a message, from which the links of the log's entries lead back (LogChunk.swift); 0 for none.
        ALTER TABLE person_conversation ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
        -- The object names apps have registered.
        CREATE TABLE object_name (app TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (app, name)) WITHOUT ROWID;
        """

    private static let tablesOfVersion4 = """
        -- How many devices are signed in: of whoever has none, messages end at once.
        ALTER TABLE person ADD COLUMN signed_in INTEGER NOT NULL DEFAULT 0;
        UPDATE person SET signed_in =
            (SELECT count(*) FROM device WHERE device.person = person.number AND device.signed_out = 0);
        """

    private static let tablesOfVersion5 = """
        -- What phones have said of messages since this version: once of each device.
        CREATE TABLE receipt (
            person INTEGER NOT NULL, message INTEGER NOT NULL, device TEXT NOT NULL, receipt TEXT NOT NULL,
            PRIMARY KEY (person, message, device, receipt)
        ) WITHOUT ROWID;
        """

    private static let tablesOfVersion6 = """
        -- What the app's backend has decided: whether the person is banned, and before which time their tokens are revoked
        -- (wall milliseconds; NULL for none).
        ALTER TABLE person ADD COLUMN banned INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE person ADD COLUMN tokens_not_before INTEGER;
        -- `bans`: who may not come into a chat room (JournalRecord+Values.swift); NULL for nobody.
        ALTER TABLE conversation ADD COLUMN bans BLOB;
        -- The people whom apps have declared accounts of a kind.
        CREATE TABLE account (
            app TEXT NOT NULL, type TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (app, type, id)
        ) WITHOUT ROWID;
        """

    private static let tablesOfVersion7 = """
        -- Whether APNs has accepted a push with the device's registration. Of older ones that is not known; the next push tells.
        ALTER TABLE device ADD COLUMN push_accepted INTEGER NOT NULL DEFAULT 0;
        """

    private static let tablesOfVersion8 = """
        -- StoreIdentity: drawn when the store is opened for the first time.
        ALTER TABLE store ADD COLUMN identity TEXT NOT NULL DEFAULT '';
        ALTER TABLE store ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
        -- The number of each opening, and the first journal position after it began.
        CREATE TABLE opening (epoch INTEGER PRIMARY KEY, number INTEGER NOT NULL, position INTEGER NOT NULL);
        -- People whose rows cannot be read: the journal has what these lack. Without app and user if not even these can be read.
        CREATE TABLE set_aside (number INTEGER PRIMARY KEY, app TEXT, user TEXT);
        """

    private static let tablesOfVersion9 = """
        -- The messages that could not be pushed to the device (UnpushedMessages), eight bytes each; NULL for none. Of earlier ones that is
        -- not known: for them no phone rings itself.
        ALTER TABLE device ADD COLUMN unpushed BLOB;
        """

    private static let tablesOfVersion10 = """
        -- Answers under idempotency keys, for 24 hours (StoreEngine+Idempotency.swift). Written with the journal's records, not derived
        -- from them. `message`: the accepted message, NULL where the answer is that it is done.
        CREATE TABLE kept_answer (
            app TEXT NOT NULL, api_key TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, at INTEGER NOT NULL,
            message INTEGER, sent_at INTEGER NOT NULL, repeated INTEGER NOT NULL, PRIMARY KEY (app, api_key, key)
        ) WITHOUT ROWID;
        CREATE INDEX kept_answer_age ON kept_answer (app, at);
        """

    private static let tablesOfVersion11 = """
        -- The person's profile (Profile): NULL for none.
        ALTER TABLE person ADD COLUMN name TEXT;
        ALTER TABLE person ADD COLUMN portrait TEXT;
        """

    private static let tablesOfVersion13 = """
        -- The token for calls, and the registration it is of (VoIPToken in JournalRecord+Values.swift); NULL for none.
        ALTER TABLE device ADD COLUMN voip_token TEXT;
        ALTER TABLE device ADD COLUMN voip BLOB;
        CREATE INDEX device_voip_token ON device (voip_token) WHERE voip_token IS NOT NULL;
        """

    private static let tablesOfVersion14 = """
        -- Who may not write (as `bans`), whether only owner and admins may, and who is asked to come in (JournalRecord+Values.swift); NULL
        -- for nobody.
        ALTER TABLE conversation ADD COLUMN mutes BLOB;
        ALTER TABLE conversation ADD COLUMN only_admins_write INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE conversation ADD COLUMN invited BLOB;
        -- One to one: whether the person has written to the other, from a device of theirs.
        ALTER TABLE person_conversation ADD COLUMN wrote INTEGER NOT NULL DEFAULT 0;
        -- Who was invited instead of being made a member (JournalRecord+Values.swift); NULL for nobody.
        ALTER TABLE kept_answer ADD COLUMN invited BLOB;
        """

    private static let tablesOfVersion15 = """
        -- Which messages have named media since this version, by their sender; with an empty one if the backend has sent them. Whether a
        -- message still does, its record says.
        CREATE TABLE media_use (
            media TEXT NOT NULL, sender TEXT NOT NULL, message INTEGER NOT NULL, PRIMARY KEY (media, sender, message)
        ) WITHOUT ROWID;
        """

    private static let tablesOfVersion16 = """
        -- Options of the conversation's notifications (PushOptions) as JSON: NULL for none. Messages have theirs in the journal.
        ALTER TABLE conversation ADD COLUMN push TEXT;
        """

    private static let tablesOfVersion17 = """
        -- What the kit has reported of the device last (ReportedStatus+Coding.swift); NULL for nothing.
        ALTER TABLE device ADD COLUMN status BLOB;
        """

    private static let tablesOfVersion18 = """
        -- Where the journal has the texts of the person's drafts, by conversation: they leave it when they are replaced. NULL for none.
        ALTER TABLE person ADD COLUMN drafts BLOB;
        """

    private static let tablesOfVersion19 = """
        -- What is said of the account beside that it is one (StoreEngine+Accounts.swift); NULL for nothing.
        ALTER TABLE account ADD COLUMN details BLOB;
        -- Who follows which account.
        CREATE TABLE follower (
            app TEXT NOT NULL, type TEXT NOT NULL, id TEXT NOT NULL, user TEXT NOT NULL, PRIMARY KEY (app, type, id, user)
        ) WITHOUT ROWID;
        """

    private static let tablesOfVersion20 = """
        -- Apps and operators, as JSON (ControlRecords+JSON.swift).
        CREATE TABLE app (id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE operator (name TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
        -- When API keys were used last, and with an empty app operators' (wall milliseconds). Written with the journal's records, not derived
        -- from them (StoreEngine+Control.swift).
        CREATE TABLE key_use (app TEXT NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (app, name)) WITHOUT ROWID;
        """

    private static let tablesOfVersion21 = """
        -- Aliases and tags of the person (PersonLabels in JournalRecord+Pushes.swift); NULL for none. Whose an alias is, the table says, too.
        ALTER TABLE person ADD COLUMN labels BLOB;
        CREATE TABLE alias (app TEXT NOT NULL, alias TEXT NOT NULL, user TEXT NOT NULL, PRIMARY KEY (app, alias)) WITHOUT ROWID;
        -- The job of the leg's message; NULL for none.
        ALTER TABLE open_leg ADD COLUMN push_job INTEGER;
        -- Push jobs. `record`: the journal's record of the job, with what it says; `applied`: everything up to this journal position is in
        -- the row.
        CREATE TABLE push_job (
            id INTEGER PRIMARY KEY, app TEXT NOT NULL, record INTEGER NOT NULL, state TEXT NOT NULL, changed_at INTEGER NOT NULL,
            cursor INTEGER NOT NULL, steps INTEGER NOT NULL, counts BLOB NOT NULL, applied INTEGER NOT NULL);
        CREATE INDEX push_job_app ON push_job (app, id);
        CREATE INDEX push_job_unfinished ON push_job (app) WHERE state IN ('scheduled', 'running', 'recalling');
        -- Which records are steps of a job, counted from 0.
        CREATE TABLE push_step (
            job INTEGER NOT NULL, step INTEGER NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (job, step)
        ) WITHOUT ROWID;
        -- Legs of jobs whose end is in the job's counts.
        CREATE TABLE push_end (
            person INTEGER NOT NULL, message INTEGER NOT NULL, device TEXT NOT NULL, PRIMARY KEY (person, message, device)
        ) WITHOUT ROWID;
        """

    private static let tablesOfVersion22 = """
        -- Which pass of its local time a job is at.
        ALTER TABLE push_job ADD COLUMN pass INTEGER NOT NULL DEFAULT 0;
        -- Whom jobs with a local time have reached, so that no later pass does.
        CREATE TABLE push_reached (person INTEGER NOT NULL, job INTEGER NOT NULL, PRIMARY KEY (person, job)) WITHOUT ROWID;
        """

    private static let tablesOfVersion23 = """
        -- Who has asked for what of apps and operators, as JSON (AuditRecord.swift); app and actor of it are there to find it by.
        CREATE TABLE audit (number INTEGER PRIMARY KEY, app TEXT, actor TEXT NOT NULL, record TEXT NOT NULL);
        CREATE INDEX audit_app ON audit (app);
        CREATE INDEX audit_actor ON audit (actor);
        CREATE INDEX audit_app_actor ON audit (app, actor);
        """

    private static let tablesOfVersion25 = """
        -- What has happened to the leg (LegStep+Coding.swift): NULL for nothing. Of earlier ones that is not known. In the journal, records of
        -- legs with steps, which earlier builds cannot read.
        ALTER TABLE open_leg ADD COLUMN steps BLOB;
        """
}
