import ClientCore
import Foundation
import GRDB
import TidingsAppGroup
import TidingsModel

/// One person's messages, log position, outbox and reading positions on this device (design.md §7: private to the app),
/// on SQLite; its contract is `LocalStoreContract`. A store that turns out to be damaged, or of another version, is set
/// aside under another name and begun anew; the log is synced again.
final class LocalStore: Sendable {
    /// The database, nil once it is closed. Everybody who uses it holds the lock, so that nobody closes it meanwhile:
    /// SQLite does not check its handle.
    let current: Locked<(queue: DatabaseQueue?, damage: Damage)>
    let file: URL
    private let ended: Locked<EndedSends>
    let setAside: URL?
    let safety: any FileSafety

    /// The folder says how the files lie on the device (`ClientFolders.makeStoreFolder`). Throws if even a new store
    /// cannot be made.
    init(file: URL, safety: any FileSafety = SystemFileSafety()) throws {
        self.file = file
        self.safety = safety
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        do {
            self.current = Locked((try Self.open(file), .none))
            self.setAside = nil
        } catch let error as DatabaseError where Self.isDamage(error) {
            self.setAside = try Self.putAside(file, safety)
            self.current = Locked((try Self.open(file), .none))
        }
        self.ended = Locked(EndedSends(file: Self.endedFile(file)))
    }

    /// A store without a file, for telling the server of a sign-out: it works on a full phone.
    init(inMemoryFor file: URL) throws {
        self.file = file
        self.safety = SystemFileSafety()
        self.setAside = nil
        self.current = Locked((try Self.openInMemory(), .none))
        self.ended = Locked(EndedSends(file: nil))
    }

    private static func endedFile(_ file: URL) -> URL { file.appendingPathExtension("ended") }

    /// The store was begun anew, with new row numbers in its outbox.
    func forgetEnded() { self.ended.withLock { $0 = EndedSends(file: Self.endedFile(self.file)) } }

    private static func configuration(isInMemory: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            if !isInMemory { try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL") }
            // Overwrites recalled and deleted content, also where this is not SQLite's default.
            try database.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }

    static func openInMemory() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: Self.configuration(isInMemory: true))
        try StoreSchema.make(in: queue)
        return queue
    }

    static func open(_ file: URL) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: file.path, configuration: Self.configuration(isInMemory: false))
        try StoreSchema.make(in: queue)
        try queue.read { database in
            let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
            guard verdict == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: verdict) }
        }
        return queue
    }

    func close() throws {
        try self.current.withLock { current in
            try current.queue?.close()
            current.queue = nil
        }
    }

    /// Throws `SQLITE_MISUSE` if the store is closed. The body must not use the store in any other way.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try self.use { try $0.read(body) }
    }

    /// Writes in one transaction; otherwise like `read`.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try self.use { queue in
            self.removeEnded(queue)
            return try queue.write(body)
        }
    }

    private func use<Value>(_ body: (DatabaseQueue) throws -> Value) throws -> Value {
        try self.current.withLock { current in
            do {
                return try body(try Self.opened(current.queue))
            } catch let error as DatabaseError where Self.isDamage(error) {
                // Noted while it is this store: when the error is looked at, another one may be open.
                if current.damage == .none { current.damage = .found }
                throw error
            }
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
            if removed != nil { try? ended.removeAll() }
        }
    }

    private static func opened(_ queue: DatabaseQueue?) throws -> DatabaseQueue {
        guard let queue else { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the store is closed") }
        return queue
    }

    // MARK: For the core

    func restored() throws -> ClientCore.Restored {
        let ended = Set(self.ended.withLock { $0.numbers })
        return try self.read { database in
            let drafts = try Row.fetchAll(database, sql: "SELECT * FROM outbox ORDER BY number")
                .filter { !ended.contains($0["number"]) }.compactMap(Self.draft)
            let reads = try Row.fetchAll(database, sql: "SELECT * FROM pendingRead ORDER BY type, target")
                .compactMap { row in
                    ConversationID(row).map { ClientCore.ReadPosition(conversation: $0, upTo: row["upTo"]) }
                }
            let preferences = try Self.preferences(in: database)
            return ClientCore.Restored(
                stored: try Self.number("stored", in: database), settled: try Self.number("settled", in: database),
                outbox: drafts, reads: reads, unread: try Self.counts(in: database).unread,
                preferences: preferences.confirmed, pendingChanges: preferences.pendingChanges,
                told: preferences.unanswered, hasCustomMessages: try self.hasCustomMessages(in: database),
                origin: try Self.origin(in: database),
                owesSettings: try Self.number("owesSettings", in: database) > 0)
        }
    }

    typealias Written = LocalStoreOutcome.Written

    /// Writes entries in one transaction. Entries that are there already change nothing, and what would leave a gap
    /// is not written: after a failed write the log is requested again from where it ends.
    func writeEntries(_ entries: [LogEntry], person: UserID) throws -> Written {
        try self.write { database in
            var stored = try Self.number("stored", in: database)
            var touched: Set<ConversationID> = []
            var reads: [ConversationID: LogPosition] = [:]
            for entry in entries where entry.position == stored + 1 {
                if let conversation = try Self.writeEntry(entry, person: person, in: database) {
                    reads[conversation] = entry.position
                }
                if let group = entry.group(for: person) { touched.insert(group) }
                stored = entry.position
            }
            try Self.setNumber("stored", stored, in: database)
            let incomplete = try touched.sorted().filter { try !Self.isKnown($0, in: database) }
            for (conversation, position) in reads { try Self.markRead(conversation, upTo: position, in: database) }
            return Written(
                stored: stored, unread: try Self.counts(in: database).unread, incomplete: incomplete,
                reads: reads.sorted { $0.key < $1.key }.map { .init(conversation: $0.key, upTo: $0.value) })
        }
    }

    /// - Returns: a conversation that was read up to here before the log began anew.
    private static func writeEntry(
        _ entry: LogEntry, person: UserID, in database: Database
    ) throws -> ConversationID? {
        switch entry.body {
        case .message(let message):
            try Self.makePlace(for: message.id, in: database)
            try Self.insertMessage(message, at: entry.position, person: person, in: database)
            // Who was put into it by the app's backend was told nothing else.
            if message.conversation.hasMembers { try Self.endInvitation(to: message.conversation, in: database) }
            let conversation = message.conversation(seenBy: person)
            return try Self.wasRead(message.id, in: conversation, database) ? conversation : nil
        case .read(let conversation, let upTo):
            try Self.confirmRead(conversation, upTo: upTo, in: database)
        case .custom(let message): try Self.insertCustom(message, at: entry.position, in: database)
        case .recall(let recall): try Self.applyRecall(recall, in: database)
        case .edit(let edit): try Self.applyEdit(edit, in: database)
        case .deletion(let deletion): try Self.applyDeletion(deletion, in: database)
        case .conversationSettings, .personSettings, .blocked: try Self.applySetting(entry.body, in: database)
        case .unknown: break
        case .change(let change):
            try Self.applyInvitation(change, at: entry.position, of: person, in: database)
            // Who is invited knows nothing else of the conversation.
            guard !change.invitees.contains(person) else { break }
            try Self.applyChange(change, in: database)
            // A member who comes back has missed changes, and may never have known the others.
            if change.adds(person) { try Self.markKnown(false, change.conversation, in: database) }
            guard change.removes(person) else { break }
            // A former member has nothing unread there, and is not told of further changes.
            try Self.confirmRead(change.conversation, upTo: entry.position, in: database)
            try Self.markKnown(true, change.conversation, in: database)
        }
        return nil
    }

    /// The log says that a conversation is read up to here: what was read on this device up to there is known to the
    /// server.
    private static func confirmRead(
        _ conversation: ConversationID, upTo position: LogPosition, in database: Database
    ) throws {
        try Self.markRead(conversation, upTo: position, in: database)
        try database.execute(
            sql: "DELETE FROM pendingRead WHERE type = ? AND target = ? AND upTo <= ?",
            arguments: conversation.key + [position])
    }

    /// The server has trimmed its log: a store that ends at `position` goes on after `end`. Otherwise nothing
    /// changes: the entries before the gap were not written, and are requested again.
    func skip(after position: LogPosition, upTo end: LogPosition) throws -> Written {
        try self.write { database in
            let stored = try Self.number("stored", in: database)
            let goesOn = stored == position && end > position
            if goesOn {
                try Self.setNumber("stored", end, in: database)
                try Self.setNumber("owesSettings", 1, in: database)
                // Changes in between were not told.
                try database.execute(sql: "UPDATE info SET isKnown = 0")
            }
            return Written(stored: goesOn ? end : stored, unread: try Self.counts(in: database).unread)
        }
    }

    func writeOutgoing(_ draft: MessageDraft) throws {
        let ended = Set(self.ended.withLock { $0.numbers })
        try self.write { database in
            // Its row has ended and could not be removed: nothing would be stored in its place.
            if let number = try Self.outboxNumber(draft.clientMessageID, in: database), ended.contains(number) {
                throw DatabaseError(resultCode: .SQLITE_FULL, message: "an ended message of this id is still there")
            }
            try database.execute(
                sql: """
                    INSERT INTO outbox (clientMessageID, type, target, objectName, content, flags, pushText, mentions,
                        recipients, lifetime, push, account)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (clientMessageID) DO NOTHING
                    """,
                arguments: [
                    draft.clientMessageID, draft.conversation.type.rawValue, draft.conversation.target,
                    draft.objectName, draft.content, draft.flags, draft.pushText, draft.mentions,
                    draft.recipients.column, draft.lifetimeMilliseconds, draft.push?.json.text, draft.account,
                ])
        }
    }

    /// Where the database refuses to delete, as on a full phone, the row is recorded elsewhere: no later start sends
    /// it again.
    func removeOutgoing(_ id: ClientMessageID) throws {
        do {
            try self.write {
                try $0.execute(sql: "DELETE FROM outbox WHERE clientMessageID = ?", arguments: [id])
            }
        } catch let error as DatabaseError where !Self.isDamage(error) {
            let number = try self.read { try Self.outboxNumber(id, in: $0) }
            if let number { try self.ended.withLock { try $0.append(number) } }
        }
    }

    private static func outboxNumber(_ id: ClientMessageID, in database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT number FROM outbox WHERE clientMessageID = ?", arguments: [id])
    }

    /// Stores a reading position until the log confirms it. Returns the unread messages outside muted conversations.
    func writeRead(_ conversation: ConversationID, upTo position: LogPosition) throws -> Int {
        try self.write { database in
            try Self.markRead(conversation, upTo: position, in: database)
            try database.execute(
                sql: """
                    INSERT INTO pendingRead (type, target, upTo) VALUES (?, ?, ?)
                    ON CONFLICT (type, target) DO UPDATE SET upTo = max(upTo, excluded.upTo)
                    """,
                arguments: conversation.key + [position])
            return try Self.counts(in: database).unread
        }
    }

    /// Forgets everything but how far custom messages were handed over: a person who signs in again has the same log.
    /// Removing the files needs no room on a full phone; later calls find an empty store. A damaged store that was
    /// set aside goes too (design.md P7).
    func forgetAll() throws {
        try self.current.withLock { current in
            // A file that cannot be closed is removed all the same; its space is freed when the last user closes it.
            try? current.queue?.close()
            current.queue = nil
            try Self.removeFiles(of: self.file)
            current = (try Self.openInMemory(), .none)
        }
        self.ended.withLock { $0 = EndedSends(file: nil) }
    }

    /// Removes a store's files and its damaged copy, all of them even if one fails; how far custom messages were
    /// handed over stays.
    static func removeFiles(of file: URL) throws {
        var failure: (any Error)?
        for path in [file.path, Self.aside(file).path] {
            for suffix in Self.suffixes {
                do { try Self.remove(path + suffix) } catch { failure = failure ?? error }
            }
        }
        do { try Self.remove(file.path + ClientFolders.screensSuffix) } catch { failure = failure ?? error }
        if let failure { throw failure }
    }

    /// A file that cannot be removed is truncated.
    static func remove(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 0)
        }
    }
}
