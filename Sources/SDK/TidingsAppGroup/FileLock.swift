#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file of the app group that could not be locked, read or written.
package struct FileFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file.
    package var path: String
    /// What the system said.
    package var code: Int32

    /// The file and the system's number.
    package var description: String { "\(self.path) cannot be locked: system error \(self.code)" }
}

/// An exclusive lock between processes and threads; the system gives it back when its process dies.
struct FileLock {
    private let descriptor: Int32

    /// Waits for the lock. The holders' work is short: reading and writing small files.
    init(_ path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFault(path: path, code: errno) }
        while flock(descriptor, LOCK_EX) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            throw FileFault(path: path, code: code)
        }
        self.descriptor = descriptor
    }

    func unlock() { close(self.descriptor) }
}
