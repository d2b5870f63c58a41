import Foundation
import GRDB

@testable import TidingsClient

/// Refuses a commit as a full phone does, or keeps the files as a process leaves them that is killed at some moment.
///
/// `@unchecked Sendable`: touched only in calls to the store, under its lock.
final class LocalStoreFaults: TransactionObserver, @unchecked Sendable {
    private let folder: URL
    private let copy: URL
    private var accident: LocalStoreStep.Accident?
    private var rows = 0
    private var logBefore = Data()
    private var isKilled = false
    /// Whether what was kept is of after the command: it was answered, or committed.
    var isCommandDone: Bool { !self.isKilled || self.accident == .killed(.afterCommit) }

    /// - Parameters:
    ///   - folder: where the store lies.
    ///   - copy: where its files are kept.
    init(_ accident: LocalStoreStep.Accident?, folder: URL, copy: URL) {
        self.accident = accident
        self.folder = folder
        self.copy = copy
    }

    func end() { self.accident = nil }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }

    func databaseDidChange(with event: DatabaseEvent) {
        self.rows += 1
        if self.accident == .killed(.row(self.rows)) { self.keep() }
    }

    func databaseWillCommit() throws {
        guard self.rows > 0 else { return }
        if self.accident == .full {
            self.rows = 0
            throw DatabaseError(resultCode: .SQLITE_FULL, message: "database or disk is full")
        }
        if self.accident == .killed(.beforeCommit) { self.keep() }
        if case .killed(.inCommit) = self.accident { self.logBefore = self.log(in: self.folder) }
    }

    func databaseDidCommit(_ database: Database) {
        guard self.rows > 0 else { return }
        if self.accident == .killed(.afterCommit) {
            // The last commit is the command's: what had ended before is removed in one of its own.
            self.isKilled = false
            try? FileManager.default.removeItem(at: self.copy)
            self.keep()
        }
        guard case .killed(.inCommit(let thousandths)) = self.accident, !self.isKilled else { return }
        self.keep()
        let log = self.log(in: self.copy)
        // The commit may lie over what an earlier kill has left.
        let same = zip(self.logBefore, log).prefix { $0 == $1 }.count
        let end = log.indices.last { $0 >= self.logBefore.count || log[$0] != self.logBefore[$0] } ?? same
        let file = self.copy.appendingPathComponent(Self.logName)
        try? FileHandle(forWritingTo: file).truncate(atOffset: UInt64(same + (end - same) * thousandths / 1_000))
    }

    func databaseDidRollback(_ database: Database) {}

    private static let logName = "store.sqlite-wal"

    private func log(in folder: URL) -> Data {
        (try? Data(contentsOf: folder.appendingPathComponent(Self.logName))) ?? Data()
    }

    func keep() {
        guard !self.isKilled else { return }
        self.isKilled = true
        try? FileManager.default.copyItem(at: self.folder, to: self.copy)
    }
}
