import Foundation
import Synchronization
import TidingsModel

/// The status of the process and its backups for operators. A small file beside the database, `<path>.backup`, describes the last backup
/// that this server has made, or the tool while it was stopped.
final class ServerStatus: Sendable {
    /// A backup that is being made, or was.
    struct Backup: Equatable, Sendable, Codable {
        var path: String
        /// Wall milliseconds.
        var startedAt: Int64
        /// Nil while it is being made.
        var endedAt: Int64?
        /// The size of the copy; nil if there is none.
        var bytes: Int64?
        /// Why there is none.
        var error: String?
    }

    struct Backups: Equatable, Sendable, JSONCodable {
        var running: Backup?
        var last: Backup?
        /// The last one of which there is a copy.
        var lastGood: Backup?
    }

    /// Wall milliseconds.
    let startedAt: Int64
    /// The schema of the database.
    let schema: Int
    private let database: String
    private let state: Mutex<Backups>

    init(database: String, schema: Int, startedAt: Int64) {
        self.database = database
        self.schema = schema
        self.startedAt = startedAt
        self.state = Mutex(Self.read(database))
    }

    var backups: Backups { self.state.withLock { $0 } }

    /// With its write-ahead log; nil if the system does not say.
    var databaseBytes: Int64? {
        let sizes = [self.database, self.database + "-wal"].compactMap { Self.size(of: $0) }
        return sizes.isEmpty ? nil : sizes.reduce(0, +)
    }

    /// - Parameter make: makes the copy.
    /// - Throws: what it throws, after that was noted.
    func backUp(to path: String, now: @Sendable () -> Int64, _ make: () async throws -> Void) async throws {
        var backup = Backup(path: path, startedAt: now())
        let isFirst = self.state.withLock { state in
            guard state.running == nil else { return false }
            state.running = backup
            return true
        }
        // Of two at once the store refuses the second, which changes nothing of what is told of the first.
        guard isFirst else { return try await make() }
        do {
            try await make()
            backup.bytes = Self.size(of: path)
        } catch {
            backup.error = "\(error)"
            backup.endedAt = now()
            self.finish(backup)
            throw error
        }
        backup.endedAt = now()
        self.finish(backup)
    }

    private func finish(_ backup: Backup) {
        let backups = self.state.withLock { state in
            state.running = nil
            state.last = backup
            if backup.error == nil { state.lastGood = backup }
            return state
        }
        Self.write(backups, Self.file(of: self.database))
    }

    private static func write(_ backups: Backups, _ file: String) {
        // A file that cannot be written leaves the next process without an answer, and this one without harm.
        try? Data(backups.json.serialized).write(to: URL(fileURLWithPath: file), options: .atomic)
        // Where backups lie is nobody else's business.
        chmod(file, 0o600)
    }

    /// For the server's next start: a copy that another process has made while no server had the database open.
    static func noteBackup(of database: String, to path: String, startedAt: Int64, endedAt: Int64) {
        let made = Backup(path: path, startedAt: startedAt, endedAt: endedAt, bytes: Self.size(of: path))
        Self.write(Backups(last: made, lastGood: made), Self.file(of: database))
    }

    private static func size(of path: String) -> Int64? {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.int64Value
    }

    // MARK: - The file

    static func file(of database: String) -> String { database + ".backup" }

    /// Nothing if there is none, or it cannot be understood.
    private static func read(_ database: String) -> Backups {
        guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: Self.file(of: database))) else { return Backups() }
        return (try? Backups(line: bytes)) ?? Backups()
    }
}
