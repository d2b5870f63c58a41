import APNsCore
import Foundation
import GRDB
import TidingsModel

/// Changes gather until `commit`, one transaction each time, on the event loop that makes them.
final class StateStore {
    private let queue: DatabaseQueue
    /// Nil for a record that goes; in the order they came.
    private var changes: [(kind: ServiceRecord.Kind, key: String, json: JSONValue?)] = []
    private let failed: (any Error) -> Void

    /// Opens the file, or makes it.
    ///
    /// - Parameter failed: told when a transaction fails; its changes stay and are tried again with the next.
    /// - Throws: `InvalidField` for `state_db`.
    init(path: String, failed: @escaping (any Error) -> Void) throws(InvalidField) {
        self.failed = failed
        do {
            var configuration = GRDB.Configuration()
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA journal_mode = WAL")
                try database.execute(sql: "PRAGMA synchronous = NORMAL")
            }
            self.queue = try DatabaseQueue(path: path, configuration: configuration)
            try self.queue.write { database in
                try database.execute(
                    sql: """
                        CREATE TABLE IF NOT EXISTS record
                        (kind TEXT NOT NULL, key TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (kind, key))
                        WITHOUT ROWID
                        """)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            throw InvalidField(field: "state_db", rule: "must be an SQLite file that can be written: \(path): \(error)")
        }
    }

    /// - Throws: `InvalidField` for `state_db`, naming the record that is not of this program.
    func records() throws(InvalidField) -> [ServiceRecord] {
        let rows: [Row]
        do {
            rows = try self.queue.read { try Row.fetchAll($0, sql: "SELECT kind, key, json FROM record") }
        } catch {
            throw InvalidField(field: "state_db", rule: "cannot be read: \(error)")
        }
        var records: [ServiceRecord] = []
        for row in rows {
            let (kind, key, text): (String, String, String) = (row[0], row[1], row[2])
            guard let kind = ServiceRecord.Kind(rawValue: kind), let json = try? JSONValue(parsing: text) else {
                throw InvalidField(field: "state_db", rule: "holds a record that cannot be read: \(kind) \(key)")
            }
            records.append(ServiceRecord(kind: kind, key: key, json: json))
        }
        return records
    }

    func save(_ record: ServiceRecord) { self.changes.append((record.kind, record.key, record.json)) }
    func forget(_ kind: ServiceRecord.Kind, key: String) { self.changes.append((kind, key, nil)) }

    func commit() {
        guard !self.changes.isEmpty else { return }
        do {
            try self.queue.write { database in
                for change in self.changes {
                    if let json = change.json {
                        try database.cachedStatement(sql: "INSERT OR REPLACE INTO record VALUES (?, ?, ?)")
                            .execute(arguments: [change.kind.rawValue, change.key, json.text])
                    } else {
                        try database.cachedStatement(sql: "DELETE FROM record WHERE kind = ? AND key = ?")
                            .execute(arguments: [change.kind.rawValue, change.key])
                    }
                }
            }
            self.changes.removeAll(keepingCapacity: true)
        } catch {
            self.failed(error)
        }
    }

    func close() {
        self.commit()
        do { try self.queue.close() } catch { self.failed(error) }
    }
}
