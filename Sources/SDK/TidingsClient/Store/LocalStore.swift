import ClientCore
import Foundation
import GRDB
import TidingsAppGroup
import TidingsModel

/// One person's messages, log position, outbox and reading positions on this device (DESIGN §7: private to the app): the store that
/// ships, on SQLite. What it answers is the contract's (`LocalStoreContract`).
///
/// A store that is damaged when it is opened, or found so later, is set aside under another name and begun anew; the log is
/// synced again.
final class LocalStore: Sendable {
    /// The database, nil once it is closed. Whoever uses it holds the lock, so that nobody closes it meanwhile: SQLite does not
    /// check the handle it is asked with.
    let current: Locked<(queue: DatabaseQueue?, isDamaged: Bool)>
    let file: URL
    /// What the outbox still holds though it has ended.
    private let ended: Locked<EndedSends>
    /// Where a damaged store was put when this one was opened; nil if nothing was wrong.
    let setAside: URL?
    /// Sets how files lie on the device.
    let safety: any FileSafety

    /// Opens or makes the store. Its folder says how the files lie on the device (`ClientFolders.makeStoreFolder`).
    ///
    /// - Throws: an error of the file system or of SQLite if even a new store cannot be made.
    init(file: URL, safety: any FileSafety = SystemFileSafety()) throws {
        self.file = file
        self.safety = safety
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        do {
            self.current = Locked((try Self.open(file), false))
            self.setAside = nil
        } catch let error as DatabaseError where Self.isDamage(error) {
            self.setAside = try Self.putAside(file, safety)
            self.current = Locked((try Self.open(file), false))
        }
        self.ended = Locked(EndedSends(file: Self.endedFile(file)))
    }

    /// A store without a file, for a person who has signed out and of whom only the server is told: a full phone has room for it.
    ///
    /// - Throws: an error of SQLite.
    init(inMemoryFor file: URL) throws {
        self.file = file
        self.safety = SystemFileSafety()
        self.setAside = nil
        self.current = Locked((try Self.openInMemory(), false))
        self.ended = Locked(EndedSends(file: nil))
    }

    private static func endedFile(_ file: URL) -> URL { file.appendingPathExtension("ended") }

    /// The store was begun anew: the numbers of its outbox are others.
    func forgetEnded() { self.ended.withLock { $0 = EndedSends(file: Self.endedFile(self.file)) } }

    private static func configuration(isInMemory: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            if !isInMemory { try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL") }
            // What was recalled or deleted is written over, also where SQLite was not built to do so by itself.
            try database.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }

    static func openInMemory() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: Self.configuration(isInMemory: true))
        try StoreSchema.migrator.migrate(queue)
        return queue
    }

    static func open(_ file: URL) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: file.path, configuration: Self.configuration(isInMemory: false))
        try StoreSchema.migrator.migrate(queue)
        try queue.read { database in
            let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
            guard verdict == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: verdict) }
        }
        return queue
    }

    /// Closes the file; the store cannot be used any more.
    func close() throws {
        try self.current.withLock { current in
            try current.queue?.close()
            current.queue = nil
        }
    }

    /// Reads; the body must not use the store by another way.
    ///
    /// - Throws: an error of SQLite, `SQLITE_MISUSE` if the store is closed, and what the body throws.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try self.current.withLock { try Self.opened($0.queue).read(body) }
    }

    /// Writes in one transaction; the body must not use the store by another way.
    ///
    /// - Throws: an error of SQLite, `SQLITE_MISUSE` if the store is closed, and what the body throws.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try self.current.withLock { current in
            let queue = try Self.opened(current.queue)
            self.removeEnded(queue)
            return try queue.write(body)
        }
    }

    /// There may be room again. What cannot be removed now is tried again with the next write.
    private func removeEnded(_ queue: DatabaseQueue) {
        self.ended.withLock { ended in
            guard !ended.numbers.isEmpty else { return }
            let removed: Void? = try? queue.write { database in
                for number in ended.numbers {
                    try database.execute(sql: "DELETE FROM outbox WHERE number = ?", arguments: [number])
                }
            }
            if removed != nil { try? ended.forget() }
        }
    }

    private static func opened(_ queue: DatabaseQueue?) throws -> DatabaseQueue {
        guard let queue else { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the store is closed") }
        return queue
    }

    // MARK: For the core

    /// What the core starts with.
    func restored() throws -> ClientCore.Restored {
        let ended = Set(self.ended.withLock { $0.numbers })
        return try self.read { database in
            let drafts = try Row.fetchAll(database, sql: "SELECT * FROM outbox ORDER BY number")
                .filter { !ended.contains($0["number"]) }.compactMap(Self.draft)
            let reads = try Row.fetchAll(database, sql: "SELECT * FROM pendingRead ORDER BY type, target")
                .compactMap { row -> ClientCore.ReadPosition? in
                    guard let conversation = Self.conversation(row) else { return nil }
                    return ClientCore.ReadPosition(conversation: conversation, upTo: LogPosition(row["upTo"] as Int64))
                }
            let preferences = try Self.preferences(in: database)
            return ClientCore.Restored(
                stored: try Self.number("stored", in: database), settled: try Self.number("settled", in: database),
                outbox: drafts, reads: reads, unread: try Self.counts(in: database).unread,
                preferences: preferences.confirmed, pendingChanges: preferences.pendingChanges,
                hasCustomMessages: try self.hasCustomMessages(in: database), origin: try Self.origin(in: database))
        }
    }

    typealias Written = LocalStoreOutcome.Written

    /// Writes entries of the log in one transaction. Entries that are there already change nothing, and what would leave a
    /// gap is not written: after a failed write the log is asked for again from where it ends.
    func write(_ entries: [LogEntry], person: UserID) throws -> Written {
        try self.write { database in
            var stored = try Self.number("stored", in: database)
            var touched: Set<ConversationID> = []
            var reads: [ConversationID: LogPosition] = [:]
            for entry in entries where entry.position == stored + 1 {
                if let conversation = try Self.write(entry, person: person, in: database) {
                    reads[conversation] = entry.position
                }
                if let group = entry.group { touched.insert(group) }
                stored = entry.position
            }
            try Self.set("stored", stored, in: database)
            let incomplete = try touched.sorted().filter { try !Self.isKnown($0, in: database) }
            for (conversation, position) in reads { try Self.markRead(conversation, upTo: position, in: database) }
            return Written(
                stored: stored, unread: try Self.counts(in: database).unread, incomplete: incomplete,
                reads: reads.sorted { $0.key < $1.key }.map { .init(conversation: $0.key, upTo: $0.value) })
        }
    }

    /// - Returns: a conversation that was read up to here before the log began anew.
    private static func write(_ entry: LogEntry, person: UserID, in database: Database) throws -> ConversationID? {
        if case .message(let message) = entry.body {
            try Self.makePlace(for: message.id, in: database)
            try Self.insert(message, at: entry.position, person: person, in: database)
            let conversation = message.conversation(seenBy: person)
            return try Self.wasRead(message.id, in: conversation, database) ? conversation : nil
        }
        try Self.writeOther(entry, person: person, in: database)
        return nil
    }

    private static func writeOther(_ entry: LogEntry, person: UserID, in database: Database) throws {
        switch entry.body {
        case .message: break
        case .read(let conversation, let upTo):
            try Self.confirmRead(conversation, upTo: upTo, in: database)
        case .custom(let message): try Self.insert(message, at: entry.position, in: database)
        case .recall(let recall): try Self.recall(recall, in: database)
        case .edit(let edit): try Self.edit(edit, in: database)
        case .deletion(let deletion): try Self.delete(deletion, in: database)
        case .conversationSettings, .personSettings, .blocked: try Self.change(entry.body, in: database)
        case .unknown: break
        case .change(let change):
            try Self.apply(change, in: database)
            // Who comes back has missed who came and went meanwhile, and may not have known who was there before.
            if change.adds(person) { try Self.markKnown(false, change.conversation, in: database) }
            guard change.removes(person) else { return }
            // Whoever is no member any more has nothing unread there.
            try Self.confirmRead(change.conversation, upTo: entry.position, in: database)
            // Nobody would tell what changes from now on.
            try Self.markKnown(true, change.conversation, in: database)
        }
    }

    /// The log says that a conversation is read up to here: what was read here and is no further is told.
    private static func confirmRead(
        _ conversation: ConversationID, upTo position: LogPosition, in database: Database
    ) throws {
        try Self.markRead(conversation, upTo: position, in: database)
        try database.execute(
            sql: "DELETE FROM pendingRead WHERE type = ? AND target = ? AND upTo <= ?",
            arguments: [conversation.type.rawValue, conversation.target, Int64(position)])
    }

    /// The server has trimmed its log: if the store ends at the one position, it goes on after the other. Anywhere else nothing
    /// changes: the entries before the gap were not written, and are asked for again.
    func skip(after position: LogPosition, upTo end: LogPosition) throws -> Written {
        try self.write { database in
            let stored = try Self.number("stored", in: database)
            let goesOn = stored == position && end > position
            if goesOn {
                try Self.set("stored", end, in: database)
                // What changed in between is not known.
                try database.execute(sql: "UPDATE info SET isKnown = 0")
            }
            return Written(stored: goesOn ? end : stored, unread: try Self.counts(in: database).unread)
        }
    }

    /// Remembers that everything up to here was settled.
    func writeSettled(_ position: LogPosition) throws {
        try self.write { try Self.set("settled", position, in: $0) }
    }

    /// Writes a message that waits to be sent.
    func writeOutgoing(_ draft: MessageDraft) throws {
        let ended = Set(self.ended.withLock { $0.numbers })
        try self.write { database in
            let number = try Int64.fetchOne(
                database, sql: "SELECT number FROM outbox WHERE clientMessageID = ?",
                arguments: [draft.clientMessageID.rawValue])
            // Its row has ended and could not be removed: nothing would be kept in its place.
            if let number, ended.contains(number) {
                throw DatabaseError(resultCode: .SQLITE_FULL, message: "an ended message of this id is still there")
            }
            try database.execute(
                sql: """
                    INSERT INTO outbox (clientMessageID, type, target, objectName, content, flags, pushText, mentions,
                        recipients, lifetime)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (clientMessageID) DO NOTHING
                    """,
                arguments: [
                    draft.clientMessageID.rawValue, draft.conversation.type.rawValue, draft.conversation.target,
                    draft.objectName.rawValue, draft.content, Int64(draft.flags.rawValue), draft.pushText,
                    draft.mentions.column, draft.recipients.column, draft.lifetimeMilliseconds,
                ])
        }
    }

    /// Forgets a message that was accepted or refused. Where the database refuses to write, as on a full phone, it is noted
    /// elsewhere: no later start sends it again.
    func removeOutgoing(_ id: ClientMessageID) throws {
        do {
            try self.write {
                try $0.execute(sql: "DELETE FROM outbox WHERE clientMessageID = ?", arguments: [id.rawValue])
            }
        } catch let error as DatabaseError where !Self.isDamage(error) {
            let number = try self.read {
                try Int64.fetchOne(
                    $0, sql: "SELECT number FROM outbox WHERE clientMessageID = ?", arguments: [id.rawValue])
            }
            if let number { try self.ended.withLock { try $0.note(number) } }
        }
    }

    /// Remembers a reading position until the log confirms it. Returns the unread messages outside muted conversations.
    func writeRead(_ conversation: ConversationID, upTo position: LogPosition) throws -> Int {
        try self.write { database in
            try Self.markRead(conversation, upTo: position, in: database)
            try database.execute(
                sql: """
                    INSERT INTO pendingRead (type, target, upTo) VALUES (?, ?, ?)
                    ON CONFLICT (type, target) DO UPDATE SET upTo = max(upTo, excluded.upTo)
                    """,
                arguments: [conversation.type.rawValue, conversation.target, Int64(position)])
            return try Self.counts(in: database).unread
        }
    }

    /// Forgets everything but how far custom messages were handed over: the person who signs in again has the same log. The files are
    /// removed rather than emptied, which needs no room on a full phone, and whoever still asks finds an empty store. A damaged
    /// store that was set aside goes too (DESIGN P7).
    func forgetAll() throws {
        try self.current.withLock { current in
            // What cannot be closed is removed all the same; its room comes free when the last who has it open lets go.
            try? current.queue?.close()
            current.queue = nil
            try Self.removeFiles(of: self.file)
            current = (try Self.openInMemory(), false)
        }
        self.ended.withLock { $0 = EndedSends(file: nil) }
    }

    /// Removes what a store has left on the device, and its damaged copy; how far custom messages were handed over stays.
    ///
    /// - Throws: an error of the file system for the first file that stays; the others are gone.
    static func removeFiles(of file: URL) throws {
        var failure: (any Error)?
        for path in [file.path, Self.aside(file).path] {
            for suffix in Self.suffixes {
                do { try Self.remove(path + suffix) } catch { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
    }

    /// Removes a file if it is there; one that cannot be removed is cut to nothing.
    static func remove(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 0)
        }
    }
}
