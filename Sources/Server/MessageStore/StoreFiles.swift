import Foundation
import GRDB
package import Logging
import StoreModel

/// The files of a store no server has open, locked while they are worked with, by the lock SQLite takes to change a database
/// (https://www.sqlite.org/fileio.html#locking): the bytes at 1 GiB.
final class StoreFiles {
    let path: String
    private let descriptor: Int32

    init(path: String) throws(MessageStoreError) {
        self.path = path
        self.descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard self.descriptor >= 0 else { throw MessageStoreError.ofSystem(.cannotOpen, path: path) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 1 << 30
        lock.l_len = 512
        guard fcntl(self.descriptor, F_SETLK, &lock) == 0 else {
            close(self.descriptor)
            throw MessageStoreError(reason: .inUse, path: path, detail: "")
        }
    }

    deinit { close(self.descriptor) }

    /// Copies the database with its write-ahead log; returns the copy's path.
    func copy(into folder: URL) throws(MessageStoreError) -> String {
        let copy = folder.appendingPathComponent("copy.sqlite").path
        do {
            for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: self.path + suffix) {
                try FileManager.default.copyItem(atPath: self.path + suffix, toPath: copy + suffix)
                StoreFile.closeToOthers(path: copy)
            }
        } catch {
            throw MessageStoreError(error, path: self.path)
        }
        return copy
    }

    /// Renames the database with its write-ahead log; returns where it is now.
    func moveAside(as word: String) throws(MessageStoreError) -> String {
        var number = 1
        while FileManager.default.fileExists(atPath: "\(self.path).\(word)-\(number)") { number += 1 }
        let aside = "\(self.path).\(word)-\(number)"
        for suffix in StoreFile.suffixes where FileManager.default.fileExists(atPath: self.path + suffix) {
            guard rename(self.path + suffix, aside + suffix) == 0 else {
                throw MessageStoreError.ofSystem(.failed, path: self.path)
            }
        }
        return aside
    }

    /// Calls `body` with a `WorkFolder` beside a file.
    static func withFolder<Value>(
        beside path: String, _ body: (URL) throws(MessageStoreError) -> Value
    ) throws(MessageStoreError) -> Value {
        let folder = try WorkFolder(beside: path)
        defer { withExtendedLifetime(folder) {} }
        return try body(folder.url)
    }
}

/// An operator's work on a store that no server has open: `tidings store backup`, `restore`, `check` and `rebuild`.
package enum StoreMaintenance {
    package static func backUp(path: String, to target: String, logger: Logger) throws(MessageStoreError) {
        let files = try StoreFiles(path: path)
        try StoreFile.requireNew(target)
        try StoreFiles.withFolder(beside: target) { folder throws(MessageStoreError) in
            let copy = try files.copy(into: folder)
            try Self.close(copy, of: target)
            try StoreFile.rename(copy, to: target)
        }
    }

    /// Brings a copy up to date and its write-ahead log into it.
    private static func close(_ copy: String, of path: String) throws(MessageStoreError) {
        do {
            let (queue, _) = try Schema.open(path: copy, configuration: MessageStoreConfiguration())
            try queue.close()
        } catch {
            throw MessageStoreError(error, path: path).naming(path)
        }
    }

    /// Replaces a store by a backup. The server finds out when it opens it, and tells phones to sync their logs again.
    /// - Returns: where the old store is now; nil if there was none.
    package static func restore(
        path: String, from backup: String, logger: Logger
    ) throws(MessageStoreError) -> String? {
        let source = try StoreFiles(path: backup)
        let files = FileManager.default.fileExists(atPath: path) ? try StoreFiles(path: path) : nil
        return try StoreFiles.withFolder(beside: path) { folder throws(MessageStoreError) in
            let copy = try source.copy(into: folder)
            try Self.close(copy, of: backup)
            let aside = try files?.moveAside(as: "before-restore")
            // Without the state file the store notices that it was restored.
            unlink(StateFile.path(of: path))
            try StoreFile.rename(copy, to: path)
            return aside
        }
    }
}
