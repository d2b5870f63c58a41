import Foundation
import GRDB
import GRDBSQLite

/// A copy of the store that is made while it works: a part at a time, between batches. What is written meanwhile is in it.
///
/// SQLite's online backup: pages that the same connection changes are copied again (https://www.sqlite.org/c3ref/backup_finish.html).
final class StoreBackup {
    /// How many pages are copied at a time.
    static let pagesAtOnce: Int32 = 256

    private let path: String
    private var target: OpaquePointer?
    private var backup: OpaquePointer?

    /// Makes the file, for its owner alone, and begins.
    ///
    /// - Throws: `MessageStoreError` naming the new file: it exists, or cannot be made.
    init(of database: Database, to path: String) throws(MessageStoreError) {
        self.path = path
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw MessageStoreError(reason: .cannotOpen, path: path, detail: String(cString: strerror(errno)))
        }
        Foundation.close(descriptor)
        guard sqlite3_open_v2(path, &self.target, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            throw self.abandon(SQLITE_CANTOPEN)
        }
        self.backup = sqlite3_backup_init(self.target, "main", database.sqliteConnection, "main")
        guard self.backup != nil else { throw self.abandon(sqlite3_errcode(self.target)) }
    }

    deinit { self.close() }

    /// Copies the next pages.
    ///
    /// - Returns: whether all are copied, and synced.
    /// - Throws: `MessageStoreError` with what SQLite said; the new file is gone.
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

    /// Gives up, and removes the new file.
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
