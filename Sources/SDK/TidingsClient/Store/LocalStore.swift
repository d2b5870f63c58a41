import ClientCore
import Foundation
import GRDB
import TidingsAppGroup
import TidingsModel

/// One person's messages, log position, outbox and reading positions on this device (design.md §7: private to the app),
/// on SQLite; its rules are those of `LocalStoreMachine`. A store that turns out to be damaged, or of another version, is set
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

    // MARK: The rules

    static let handOverSuffix = ".handed-over"

    private func machine(on database: Database) -> LocalStoreMachine<DatabaseRows> {
        LocalStoreMachine(
            rows: DatabaseRows(
                database: database, ended: Set(self.ended.withLock { $0.numbers }),
                handOverFile: URL(fileURLWithPath: self.file.path + Self.handOverSuffix, isDirectory: false)))
    }

    /// Asks the rules; otherwise like `read`.
    func ask<Value>(_ question: (LocalStoreMachine<DatabaseRows>) throws -> Value) throws -> Value {
        try self.read { try question(self.machine(on: $0)) }
    }

    private func apply(_ command: LocalStoreCommand) throws -> LocalStoreOutcome {
        try self.write { database in
            var machine = self.machine(on: database)
            return try machine.apply(command)
        }
    }

    func carryOut(_ command: LocalStoreCommand) throws -> LocalStoreOutcome {
        switch command {
        case .removeOutgoing(let id): try self.removeOutgoing(id)
        case .beginAnew: _ = try self.renew()
        case .forgetPerson: try self.forgetAll()
        default: return try self.apply(command)  // tidy: the others need the database alone
        }
        return .done
    }

    /// Where the database refuses to delete, as on a full phone, the row is recorded elsewhere: no later start sends
    /// it again.
    func removeOutgoing(_ id: ClientMessageID) throws {
        do {
            _ = try self.apply(.removeOutgoing(id))
        } catch let error as DatabaseError where !Self.isDamage(error) {
            let number = try self.ask { try $0.rows.number(of: id) }
            if let number { try self.ended.withLock { try $0.append(number) } }
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
