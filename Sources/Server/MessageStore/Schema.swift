import Foundation
import GRDB
import GRDBSQLite
import TidingsModel

/// The database of a message store. `journal` is the truth and only grows, though texts that nobody may read any more are overwritten
/// in it (StoreMachine+Erasing.swift); `epoch` counts openings; `store` and `opening` say which store this is; `kept_answer` and `key_use` belong
/// to the HTTP API. All other tables are derived from the journal, each row up to a position that is stored beside it, and could be rebuilt from it.
enum Schema {
    /// "Tidm": tells a store from other programs' databases.
    static let applicationID = 0x5469_646d
    static let version = 4

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
                try Self.makeTables(database)
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

    /// Nothing of a file of another version is read or changed.
    private static func recognize(_ database: Database, path: String) throws {
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        if application == 0, found == 0, tables == 0 { return }
        guard application == Self.applicationID else {
            throw MessageStoreError(
                reason: .notAStore, path: path, detail: "application_id \(application) with \(tables) tables")
        }
        guard found == Self.version else {
            throw MessageStoreError(reason: .otherVersion(found: found, read: Self.version), path: path, detail: "")
        }
    }

    private static func makeTables(_ database: Database) throws {
        guard try Int.fetchOne(database, sql: "PRAGMA user_version") == 0 else { return }
        try database.inTransaction(.immediate) {
            try database.execute(sql: Self.tables)
            try database.execute(sql: "PRAGMA application_id = \(Self.applicationID)")
            try database.execute(sql: "PRAGMA user_version = \(Self.version)")
            return .commit
        }
    }

    private static let tables = """
        -- Rows of encoded records (JournalRecord.swift); the position is that of the row's first record.
        CREATE TABLE journal (position INTEGER PRIMARY KEY, records BLOB NOT NULL);
        -- One row. Everything up to `watermark` is derived; the message index is derived up to `indexed`. `identity` and `generation`:
        -- StoreIdentity, drawn when the store is opened for the first time.
        CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1), epoch INTEGER NOT NULL, watermark INTEGER NOT NULL,
            indexed INTEGER NOT NULL, last_message INTEGER NOT NULL, identity TEXT NOT NULL, generation INTEGER NOT NULL);
        INSERT INTO store VALUES (1, 0, 0, 0, 0, '', 0);
        -- The number of each opening, and the first journal position after it began.
        CREATE TABLE opening (epoch INTEGER PRIMARY KEY, number INTEGER NOT NULL, position INTEGER NOT NULL);
        -- People whose rows cannot be read: the journal has what these lack. Without app and user if not even these can be read.
        CREATE TABLE set_aside (number INTEGER PRIMARY KEY, app TEXT, user TEXT);

        -- `applied`: everything up to this journal position is in this person's rows, here and in the tables below. `unread` is without muted
        -- conversations, `unread_all` with them; `settings`: JournalRecord+Settings.swift. `signed_in`: how many devices are; of whoever has
        -- none, messages end at once. `ban` (JournalRecord+Values.swift) and `tokens_not_before` (wall milliseconds): what the app's backend has
        -- decided. `name` and `portrait`: the profile. `drafts`: where the journal has the texts of drafts, by conversation; they leave it when they are replaced.
        -- `labels`: aliases and tags (JournalRecord+Pushes.swift). NULL for none.
        CREATE TABLE person (
            number INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, partition INTEGER NOT NULL,
            head INTEGER NOT NULL, unread INTEGER NOT NULL, applied INTEGER NOT NULL, unread_all INTEGER NOT NULL,
            mentions INTEGER NOT NULL, settings BLOB, signed_in INTEGER NOT NULL, ban BLOB,
            tokens_not_before INTEGER, name TEXT, portrait TEXT, drafts BLOB, labels BLOB, UNIQUE (app, user));
        -- Whose an alias is.
        CREATE TABLE alias (app TEXT NOT NULL, alias TEXT NOT NULL, user TEXT NOT NULL, PRIMARY KEY (app, alias)) WITHOUT ROWID;
        -- Runs of log entries (LogChunk.swift), the first at `position`.
        CREATE TABLE person_log (
            person INTEGER NOT NULL, position INTEGER NOT NULL, entries BLOB NOT NULL, PRIMARY KEY (person, position)
        ) WITHOUT ROWID;
        -- `recalled`: positions after the read cursor that count no more, each as the distance from the one before. `last`: the newest entry
        -- with a message, from which the links of the log's entries lead back; `listed`: the newest of these that stands in lists; 0 for none. `wrote`: the
        -- person has written to the other, one to one, from a device of theirs.
        CREATE TABLE person_conversation (
            person INTEGER NOT NULL, conversation INTEGER NOT NULL, unread INTEGER NOT NULL, counted INTEGER NOT NULL,
            read INTEGER NOT NULL, mentions INTEGER NOT NULL, recalled BLOB, last INTEGER NOT NULL, wrote INTEGER NOT NULL,
            listed INTEGER NOT NULL, PRIMARY KEY (person, conversation)
        ) WITHOUT ROWID;
        CREATE TABLE client_message (
            person INTEGER NOT NULL, id TEXT NOT NULL, message INTEGER NOT NULL, sent_at INTEGER NOT NULL,
            PRIMARY KEY (person, id)
        ) WITHOUT ROWID;
        CREATE TABLE deleted_message (
            person INTEGER NOT NULL, message INTEGER NOT NULL, PRIMARY KEY (person, message)
        ) WITHOUT ROWID;

        -- `push_accepted`: APNs has accepted a push with the registration. `unpushed`: the messages that could not be pushed
        -- (UnpushedMessages), eight bytes each. `voip_token` and `voip`: the token for calls, and the registration it is of (VoIPToken).
        -- `status`: what the kit has reported last (ReportedStatus+Coding.swift). NULL for none.
        CREATE TABLE device (
            person INTEGER NOT NULL, id TEXT NOT NULL, platform TEXT NOT NULL, push INTEGER NOT NULL, token TEXT,
            environment TEXT, topic TEXT, push_at INTEGER, push_reason TEXT, settled INTEGER NOT NULL,
            decided INTEGER NOT NULL, since INTEGER NOT NULL, signed_in_at INTEGER NOT NULL, signed_out INTEGER NOT NULL,
            push_accepted INTEGER NOT NULL, unpushed BLOB, voip_token TEXT, voip BLOB, status BLOB,
            PRIMARY KEY (person, id)
        ) WITHOUT ROWID;
        CREATE INDEX device_token ON device (token) WHERE token IS NOT NULL;
        CREATE INDEX device_voip_token ON device (voip_token) WHERE voip_token IS NOT NULL;
        -- The empty device is the pseudo-leg of a person without devices. `push_job`: the job of the leg's message; `steps`: what has happened
        -- to the leg (JournalRecord+Legs.swift). NULL for none.
        CREATE TABLE open_leg (
            person INTEGER NOT NULL, message INTEGER NOT NULL, device TEXT NOT NULL, position INTEGER NOT NULL,
            wait TEXT NOT NULL, apns_id TEXT, attempts INTEGER NOT NULL, not_before INTEGER, push_job INTEGER, steps BLOB,
            PRIMARY KEY (person, message, device)
        ) WITHOUT ROWID;
        -- What phones have said of messages: once of each device.
        CREATE TABLE receipt (
            person INTEGER NOT NULL, message INTEGER NOT NULL, device TEXT NOT NULL, receipt TEXT NOT NULL,
            PRIMARY KEY (person, message, device, receipt)
        ) WITHOUT ROWID;

        -- Groups, discussions and chat rooms with their present name and membership version. `ranks`: owner, admins and nicknames by the
        -- members' numbers. `bans`: who may not come into a chat room; `mutes`: who may not write; `invited`: who is asked to come in
        -- (JournalRecord+Values.swift). `push`: options of its notifications (PushOptions) as JSON; messages have theirs in the journal. NULL
        -- for none.
        CREATE TABLE conversation (
            number INTEGER PRIMARY KEY, app TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL, name TEXT NOT NULL,
            version INTEGER NOT NULL, portrait TEXT, dissolved INTEGER NOT NULL, ranks BLOB, bans BLOB, mutes BLOB,
            only_admins_write INTEGER NOT NULL, invited BLOB, push TEXT, UNIQUE (app, type, target));
        -- Who was a member from that version on; a version without a row has the members of the one before.
        CREATE TABLE membership (
            conversation INTEGER NOT NULL, version INTEGER NOT NULL, members BLOB NOT NULL,
            PRIMARY KEY (conversation, version)
        ) WITHOUT ROWID;
        -- A chat room's messages: in no log, but in history.
        CREATE TABLE room_message (
            conversation INTEGER NOT NULL, record INTEGER NOT NULL, message INTEGER NOT NULL,
            PRIMARY KEY (conversation, record)
        ) WITHOUT ROWID;

        -- Which journal records speak of a message: the position of the first, and the distances of those that follow.
        CREATE TABLE message_index (
            message INTEGER NOT NULL, position INTEGER NOT NULL, more BLOB NOT NULL, PRIMARY KEY (message, position)
        ) WITHOUT ROWID;
        -- The journal records that withdrew a message and that edited it last; 0 for none.
        CREATE TABLE message_revision (
            message INTEGER PRIMARY KEY, recalled INTEGER NOT NULL, edited INTEGER NOT NULL);
        CREATE TABLE custom_message (
            app TEXT NOT NULL, id TEXT NOT NULL, message INTEGER NOT NULL, sent_at INTEGER NOT NULL,
            PRIMARY KEY (app, id)
        ) WITHOUT ROWID;
        -- Which messages have named media, by their sender; with an empty one if the backend has sent them. Whether a message still does, its
        -- record says.
        CREATE TABLE media_use (
            media TEXT NOT NULL, sender TEXT NOT NULL, message INTEGER NOT NULL, PRIMARY KEY (media, sender, message)
        ) WITHOUT ROWID;

        -- The object names apps have registered.
        CREATE TABLE object_name (app TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (app, name)) WITHOUT ROWID;
        -- The people whom apps have declared accounts of a kind; `details`: what is said of an account beside that
        -- (StoreMachine+Accounts.swift).
        CREATE TABLE account (
            app TEXT NOT NULL, type TEXT NOT NULL, id TEXT NOT NULL, details BLOB NOT NULL, PRIMARY KEY (app, type, id)
        ) WITHOUT ROWID;
        -- Who follows which account.
        CREATE TABLE follower (
            app TEXT NOT NULL, type TEXT NOT NULL, id TEXT NOT NULL, user TEXT NOT NULL, PRIMARY KEY (app, type, id, user)
        ) WITHOUT ROWID;

        -- Push jobs. `record`: the journal's record of the job, with what it says; `applied`: everything up to this journal position is in
        -- the row; `pass`: which pass of its local time it is at.
        CREATE TABLE push_job (
            id INTEGER PRIMARY KEY, app TEXT NOT NULL, record INTEGER NOT NULL, state TEXT NOT NULL, changed_at INTEGER NOT NULL,
            cursor INTEGER NOT NULL, steps INTEGER NOT NULL, counts BLOB NOT NULL, applied INTEGER NOT NULL, pass INTEGER NOT NULL);
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
        -- Whom jobs with a local time have reached, so that no later pass does.
        CREATE TABLE push_reached (person INTEGER NOT NULL, job INTEGER NOT NULL, PRIMARY KEY (person, job)) WITHOUT ROWID;

        -- How much is kept of each app (StoreMachine+Storage.swift). `applied`: everything up to this journal position is counted.
        CREATE TABLE storage (app TEXT PRIMARY KEY, applied INTEGER NOT NULL, counts BLOB NOT NULL) WITHOUT ROWID;
        -- Apps and operators, as JSON (ControlRecords+JSON.swift).
        CREATE TABLE app (id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE operator (name TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
        -- When API keys were used last, and with an empty app operators' (wall milliseconds). Written with the journal's records, not derived
        -- from them (StoreMachine+Control.swift).
        CREATE TABLE key_use (app TEXT NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (app, name)) WITHOUT ROWID;
        -- Who has asked for what of apps and operators, as JSON (AuditRecord.swift); app and actor of it are there to find it by.
        CREATE TABLE audit (number INTEGER PRIMARY KEY, app TEXT, actor TEXT NOT NULL, record TEXT NOT NULL);
        CREATE INDEX audit_app ON audit (app);
        CREATE INDEX audit_actor ON audit (actor);
        CREATE INDEX audit_app_actor ON audit (app, actor);
        -- Answers under idempotency keys, for 24 hours (StoreMachine+Idempotency.swift). Written with the journal's records, not derived
        -- from them. `message`: the accepted message, NULL where the answer is that it is done. `invited`: who was invited instead of being
        -- made a member (JournalRecord+Values.swift); NULL for nobody.
        CREATE TABLE kept_answer (
            app TEXT NOT NULL, api_key TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, at INTEGER NOT NULL,
            message INTEGER, sent_at INTEGER NOT NULL, repeated INTEGER NOT NULL, invited BLOB,
            PRIMARY KEY (app, api_key, key)
        ) WITHOUT ROWID;
        CREATE INDEX kept_answer_age ON kept_answer (app, at);
        """
}
