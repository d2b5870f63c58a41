import Foundation
import GRDB
package import Logging
import StoreModel

/// The files of a store no server has open, kept from being opened while they are worked with.
///
/// The lock is the one SQLite takes to change a database (https://www.sqlite.org/fileio.html#locking): the bytes at 1 GiB.
final class StoreFiles {
    let path: String
    private let descriptor: Int32

    /// - Throws: `MessageStoreError`: there is no such file, it may not be opened, or a server has it.
    init(path: String) throws(MessageStoreError) {
        self.path = path
        self.descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard self.descriptor >= 0 else {
            throw MessageStoreError(reason: .cannotOpen, path: path, detail: String(cString: strerror(errno)))
        }
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

    /// What the names of a database's files end with.
    static let suffixes = ["", "-wal", "-shm"]

    /// Copies the database with its write-ahead log into a folder; returns the copy's path.
    func copy(into folder: URL) throws(MessageStoreError) -> String {
        let copy = folder.appendingPathComponent("copy.sqlite").path
        do {
            for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: self.path + suffix) {
                try FileManager.default.copyItem(atPath: self.path + suffix, toPath: copy + suffix)
                StoreFile.closeToOthers(path: copy)
            }
        } catch {
            throw MessageStoreError(reason: .failed, path: self.path, detail: "\(error)")
        }
        return copy
    }

    /// Moves the database out of the way, with its write-ahead log; returns where it is now.
    func moveAside(as word: String) throws(MessageStoreError) -> String {
        var number = 1
        while FileManager.default.fileExists(atPath: "\(self.path).\(word)-\(number)") { number += 1 }
        let aside = "\(self.path).\(word)-\(number)"
        for suffix in Self.suffixes where FileManager.default.fileExists(atPath: self.path + suffix) {
            guard rename(self.path + suffix, aside + suffix) == 0 else {
                throw MessageStoreError(reason: .failed, path: self.path, detail: String(cString: strerror(errno)))
            }
        }
        return aside
    }

    /// Calls `body` with a folder beside a file, for its owner alone, that is gone afterwards.
    static func withFolder<Value>(
        beside path: String, _ body: (URL) throws(MessageStoreError) -> Value
    ) throws(MessageStoreError) -> Value {
        let folder = URL(fileURLWithPath: "\(path).work-\(getpid())", isDirectory: true)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw MessageStoreError(reason: .cannotOpen, path: folder.path, detail: "\(error)")
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }
}

/// What an operator does with a store while no server has it: `tidings backup`, `restore`, `check` and `rebuild`.
package enum StoreMaintenance {
    /// Copies a store that no server has open into a new file.
    ///
    /// - Throws: `MessageStoreError` naming the file: it is in use (ask the server for the backup then), is no store, or is damaged; or the
    ///   new file exists or cannot be made.
    package static func backUp(path: String, to target: String, logger: Logger) throws(MessageStoreError) {
        let files = try StoreFiles(path: path)
        guard !FileManager.default.fileExists(atPath: target) else {
            throw MessageStoreError(reason: .cannotOpen, path: target, detail: "it exists")
        }
        try StoreFiles.withFolder(beside: target) { folder throws(MessageStoreError) in
            let copy = try files.copy(into: folder)
            try Self.close(copy, of: target)
            guard rename(copy, target) == 0 else {
                throw MessageStoreError(reason: .failed, path: target, detail: String(cString: strerror(errno)))
            }
        }
    }

    /// Brings a copy up to date and its write-ahead log into it.
    private static func close(_ copy: String, of path: String) throws(MessageStoreError) {
        do {
            let (queue, _) = try Schema.open(path: copy, configuration: MessageStoreConfiguration())
            try queue.close()
        } catch var error as MessageStoreError {
            error.path = path
            throw error
        } catch {
            throw MessageStoreError(reason: .failed, path: path, detail: "\(error)")
        }
    }

    /// Puts a backup in the place of a store. The server finds out when it opens it, and tells phones to sync their logs again.
    ///
    /// - Returns: where the store that was there is now; nil if there was none.
    /// - Throws: `MessageStoreError` naming the file at fault; nothing was changed.
    package static func restore(
        path: String, from backup: String, logger: Logger
    ) throws(MessageStoreError) -> String? {
        let source = try StoreFiles(path: backup)
        let files = FileManager.default.fileExists(atPath: path) ? try StoreFiles(path: path) : nil
        return try StoreFiles.withFolder(beside: path) { folder throws(MessageStoreError) in
            let copy = try source.copy(into: folder)
            try Self.close(copy, of: backup)
            let aside = try files?.moveAside(as: "before-restore")
            // Without it nobody takes the backup for what was there.
            unlink(StateFile.path(of: path))
            guard rename(copy, path) == 0 else {
                throw MessageStoreError(reason: .failed, path: path, detail: String(cString: strerror(errno)))
            }
            return aside
        }
    }
}
