import Foundation
import GRDB
import GRDBSQLite

/// A copy made while the store works: a part at a time, between batches, with what is written meanwhile. SQLite's online backup
/// copies pages that the same connection changes again (https://www.sqlite.org/c3ref/backup_finish.html).
final class StoreBackup {
    static let pagesAtOnce: Int32 = 256

    private let path: String
    private var target: OpaquePointer?
    private var backup: OpaquePointer?

    /// Makes the file, for its owner alone.
    init(of database: Database, to path: String) throws(MessageStoreError) {
        self.path = path
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw MessageStoreError.ofSystem(.cannotOpen, path: path) }
        Foundation.close(descriptor)
        guard sqlite3_open_v2(path, &self.target, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            throw self.abandon(SQLITE_CANTOPEN)
        }
        self.backup = sqlite3_backup_init(self.target, "main", database.sqliteConnection, "main")
        guard self.backup != nil else { throw self.abandon(sqlite3_errcode(self.target)) }
    }

    deinit { self.close() }

    /// - Returns: whether all is copied, and synced.
    /// - Throws: what SQLite said; the new file is gone.
    func step() throws(MessageStoreError) -> Bool {
        let code = sqlite3_backup_step(self.backup, Self.pagesAtOnce)
        switch code {
        case SQLITE_OK: return false
        case SQLITE_DONE:
            self.close()
            return true
        default: throw self.abandon(code)
        }
    }

    @discardableResult
    func abandon(_ code: Int32) -> MessageStoreError {
        let words = self.target.map { String(cString: sqlite3_errmsg($0)) } ?? ""
        self.close()
        for suffix in ["", "-journal", "-wal"] { unlink(self.path + suffix) }
        return MessageStoreError(reason: SQLiteFailure(code: code, message: "").reason, path: self.path, detail: words)
    }

    private func close() {
        if self.backup != nil { sqlite3_backup_finish(self.backup) }
        self.backup = nil
        if self.target != nil { sqlite3_close_v2(self.target) }
        self.target = nil
    }
}
