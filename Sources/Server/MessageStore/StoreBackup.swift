import Foundation
import GRDB
import GRDBSQLite

/// A copy made while the store works: a part at a time, between batches, with what is written meanwhile. SQLite's online backup
/// copies pages that the same connection changes again (https://www.sqlite.org/c3ref/backup_finish.html).
final class StoreBackup {
    static let pagesAtOnce: Int32 = 256

    private let path: String
    /// The copy has its name when it is whole: what was broken off is no backup.
    private var folder: WorkFolder?
    private let copy: String
    private var target: OpaquePointer?
    private var backup: OpaquePointer?

    /// Makes the copy, for its owner alone.
    init(of database: Database, to path: String) throws(MessageStoreError) {
        self.path = path
        try StoreFile.requireNew(path)
        let folder = try WorkFolder(beside: path)
        self.folder = folder
        self.copy = folder.url.appendingPathComponent("copy.sqlite").path
        StoreFile.makeIfMissing(path: self.copy)
        guard sqlite3_open_v2(self.copy, &self.target, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            throw self.abandon(SQLITE_CANTOPEN)
        }
        self.backup = sqlite3_backup_init(self.target, "main", database.sqliteConnection, "main")
        guard self.backup != nil else { throw self.abandon(sqlite3_errcode(self.target)) }
    }

    deinit { self.close() }

    /// - Returns: whether all is copied, synced, and has its name.
    /// - Throws: what SQLite said; there is no new file.
    func step() throws(MessageStoreError) -> Bool {
        let code = sqlite3_backup_step(self.backup, Self.pagesAtOnce)
        switch code {
        case SQLITE_OK: return false
        case SQLITE_DONE:
            self.close()
            try StoreFile.requireNew(self.path)
            try StoreFile.rename(self.copy, to: self.path)
            self.folder = nil
            return true
        default: throw self.abandon(code)
        }
    }

    @discardableResult
    func abandon(_ code: Int32) -> MessageStoreError {
        let words = self.target.map { String(cString: sqlite3_errmsg($0)) } ?? ""
        self.close()
        self.folder = nil
        return MessageStoreError(reason: SQLiteFailure(code: code, message: "").reason, path: self.path, detail: words)
    }

    private func close() {
        if self.backup != nil { sqlite3_backup_finish(self.backup) }
        self.backup = nil
        if self.target != nil { sqlite3_close_v2(self.target) }
        self.target = nil
    }
}
