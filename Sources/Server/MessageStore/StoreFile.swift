import Foundation

package enum StoreFile {
    /// The suffixes of a database's files.
    static let suffixes = ["", "-wal", "-shm"]

    /// Refuses a file that may not be written, and one that was cut short within a page: SQLite would take the missing part for zeros
    /// (https://www.sqlite.org/fileformat.html, 1.3.2: the size of a page stands in bytes 16 and 17). A `-wal` file that holds
    /// something may hold the rest of a page. A file that does not exist, or is no database, is left to SQLite.
    static func examine(path: String) throws(MessageStoreError) {
        guard let file = FileHandle(forReadingAtPath: path) else {
            return try self.requireAccess(R_OK, of: path, path: path)
        }
        defer { try? file.close() }
        try self.requireAccess(R_OK | W_OK, of: path, path: path)
        try self.requireAccess(W_OK | X_OK, of: URL(fileURLWithPath: path).deletingLastPathComponent().path, path: path)
        guard let head = try? file.read(upToCount: 18), head.count == 18,
            head.starts(with: Array("SQLite format 3\u{0}".utf8)),
            let size = try? file.seekToEnd()
        else { return }
        let number = UInt64(head[16]) << 8 | UInt64(head[17])
        let page = number == 1 ? 65_536 : number
        guard page >= 512, size % page != 0, self.size(of: path + "-wal") == 0 else { return }
        throw MessageStoreError(
            reason: .damaged, path: path, detail: "its \(size) bytes are not whole pages of \(page): it was cut short")
    }

    /// Makes an empty file for its owner alone if there is none: SQLite gives its companions the same mode.
    static func makeIfMissing(path: String) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Gives a whole file its name, and both are on the disk.
    static func rename(_ path: String, to name: String) throws(MessageStoreError) {
        func sync(_ path: String) -> Bool {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            defer { if descriptor >= 0 { close(descriptor) } }
            return descriptor >= 0 && fsync(descriptor) == 0
        }
        guard sync(path), Foundation.rename(path, name) == 0 else {
            throw MessageStoreError.ofSystem(.failed, path: name)
        }
        // One that may not be read cannot be synced either.
        _ = sync(URL(fileURLWithPath: name).deletingLastPathComponent().path)
    }

    static func requireNew(_ path: String) throws(MessageStoreError) {
        var facts = stat()
        guard lstat(path, &facts) != 0 else {
            throw MessageStoreError(reason: .cannotOpen, path: path, detail: "it exists")
        }
    }

    /// A file that was copied here may have another mode.
    static func closeToOthers(path: String) {
        for suffix in Self.suffixes where self.isOpenToOthers(path + suffix) { chmod(path + suffix, 0o600) }
    }

    /// True where the group or others may do anything with it.
    package static func isOpenToOthers(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & 0o077 != 0
    }

    private static func requireAccess(_ mode: Int32, of name: String, path: String) throws(MessageStoreError) {
        guard access(name, F_OK) == 0, access(name, mode) != 0 else { return }
        throw MessageStoreError(reason: .cannotOpen, path: path, detail: "\(name): \(String(cString: strerror(errno)))")
    }

    private static func size(of path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }
}
