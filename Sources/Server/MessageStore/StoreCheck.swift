import Foundation
import GRDB
package import Logging
import StoreMachine
import StoreModel
import TidingsModel

package struct StoreRebuildReport: Equatable, Sendable {
    package var records: UInt64
    /// One sentence for each.
    package var lost: [String]
    /// Where the old store is now.
    package var aside: String
}

extension StoreMaintenance {
    /// Compares what is derived with what the journal gives, on a copy beside the store: it needs about twice the size of the
    /// database for a while.
    /// - Returns: what is wrong, one sentence each.
    package static func check(path: String, logger: Logger) throws(MessageStoreError) -> [String] {
        let files = try StoreFiles(path: path)
        return try StoreFiles.withFolder(beside: path) { folder throws(MessageStoreError) in
            let copy = try files.copy(into: folder)
            return try Self.withDatabase(copy, of: path) { database in
                var findings = try Self.integrity(of: database)
                try Self.withReplay(of: database, in: folder, logger) { replay in
                    findings += replay.lost.map(Self.sentence)
                    do {
                        let rows = try SQLiteRows(database, MessageStoreConfiguration())
                        let engine = try StoreMachine(
                            rows: rows, configuration: StoreMachine.Configuration(), start: .reading)
                        engine.logNotes(to: logger)
                        findings += try rows.load().setAside.map {
                            "\($0.key.map { "person \($0)" } ?? "person number \($0.number)") is set aside"
                        }
                        findings += try StoreComparison(stored: engine, replayed: replay.engine).differences()
                    } catch {
                        guard let row = StoreMachine.damage(error) else { throw error }
                        findings.append("\(row)")
                    }
                }
                return findings
            }
        }
    }

    /// Makes a store anew from its journal. What is missing or cannot be applied is left out and named; then it is another generation
    /// of the store, and phones sync their logs again.
    package static func rebuild(path: String, logger: Logger) throws(MessageStoreError) -> StoreRebuildReport {
        let files = try StoreFiles(path: path)
        return try StoreFiles.withFolder(beside: path) { folder throws(MessageStoreError) in
            let copy = try files.copy(into: folder)
            let (records, lost) = try Self.withDatabase(copy, of: path) { database in
                try Self.withReplay(of: database, in: folder, logger) { replay in
                    try replay.carryOver(from: database)
                    return (replay.engine.next - 1, replay.lost.map(Self.sentence))
                }
            }
            let new = folder.appendingPathComponent("rebuilt.sqlite").path
            let aside = try files.moveAside(as: "before-rebuild")
            try StoreFile.rename(new, to: path)
            return StoreRebuildReport(records: records, lost: lost, aside: aside)
        }
    }

    private static func sentence(_ lost: (records: ClosedRange<JournalPosition>, why: String)) -> String {
        let first = lost.records.lowerBound
        let place = lost.records.count == 1 ? "record \(first)" : "records \(first) to \(lost.records.upperBound)"
        return "journal \(place): \(lost.why)"
    }

    private static func integrity(of database: Database) throws -> [String] {
        do {
            return try String.fetchAll(database, sql: "PRAGMA integrity_check(1000)").filter { $0 != "ok" }
                .map { "the file: \($0)" }
        } catch let error as DatabaseError {
            return ["the file: \(error.message ?? "\(error)")"]
        }
    }

    private static func withDatabase<Value>(
        _ copy: String, of path: String, _ body: (Database) throws -> Value
    ) throws(MessageStoreError) -> Value {
        do {
            let (queue, _) = try Schema.open(path: copy, configuration: MessageStoreConfiguration())
            let value = try queue.writeWithoutTransaction(body)
            try? queue.close()
            return value
        } catch {
            throw MessageStoreError(error, path: path).naming(path)
        }
    }

    private static func withReplay<Value>(
        of source: Database, in folder: URL, _ logger: Logger, _ body: (StoreReplay) throws -> Value
    ) throws -> Value {
        let (queue, _) = try Schema.open(
            path: folder.appendingPathComponent("rebuilt.sqlite").path, configuration: MessageStoreConfiguration())
        defer { try? queue.close() }
        return try queue.writeWithoutTransaction { database in
            let replay = try StoreReplay(into: database, logger: logger)
            try replay.replayJournal(of: source)
            return try body(replay)
        }
    }
}
