import Foundation

/// A folder beside a file, for its owner alone, where a copy of a database is worked on until it may have its name. It is empty at first and goes
/// with this object. A process that was killed leaves it behind; its lock ends with that process, so the next one takes it over.
final class WorkFolder {
    let url: URL
    private let descriptor: Int32

    /// - Throws: if it cannot be made, or another process works in it, naming the folder.
    init(beside path: String) throws(MessageStoreError) {
        let folder = Self.path(beside: path)
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw MessageStoreError.ofSystem(.cannotOpen, path: folder)
        }
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw MessageStoreError.ofSystem(.cannotOpen, path: folder) }
        // A file system without locks of this kind says so, and has one process at a time.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            close(descriptor)
            throw MessageStoreError(reason: .busy, path: folder, detail: "")
        }
        // Not before: what throws after would remove another's folder with this object.
        self.url = URL(fileURLWithPath: folder, isDirectory: true)
        self.descriptor = descriptor
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            try? FileManager.default.removeItem(at: self.url.appendingPathComponent(name))
        }
        fchmod(descriptor, 0o700)
    }

    deinit {
        try? FileManager.default.removeItem(at: self.url)
        close(self.descriptor)
    }

    /// Removes what a killed process has left.
    static func removeLeft(beside path: String) {
        if access(Self.path(beside: path), F_OK) == 0 { _ = try? WorkFolder(beside: path) }
    }

    private static func path(beside path: String) -> String { path + ".tidings-work" }
}
