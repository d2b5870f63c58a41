#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// An open file of the app group. Used under the lock only.
struct SmallFile: ~Copyable {
    /// Tells a file from one that has replaced it, and an older state from a newer one.
    struct Stamp: Hashable {
        var identity: Identity
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    private let path: String
    private let descriptor: Int32

    /// - Returns: nil if there is no file and `creating` is false.
    init?(_ path: String, creating: Bool) throws(FileFault) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | (creating ? O_CREAT : 0), 0o600)
        guard descriptor >= 0 else {
            if errno == ENOENT, !creating { return nil }
            throw FileFault(path: path, work: .read, code: errno)
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    var stamp: Stamp {
        get throws(FileFault) {
            var status = stat()
            guard fstat(self.descriptor, &status) == 0 else {
                throw FileFault(path: self.path, work: .read, code: errno)
            }
            #if canImport(Darwin)
                let time = status.st_mtimespec
            #else
                let time = status.st_mtim
            #endif
            let identity = Identity(
                device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
            return Stamp(
                identity: identity, size: Int(status.st_size), seconds: time.tv_sec, nanoseconds: time.tv_nsec)
        }
    }

    func read(at offset: Int, count: Int) throws(FileFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let part = bytes.withUnsafeMutableBytes { buffer in
                pread(self.descriptor, buffer.baseAddress?.advanced(by: done), count - done, off_t(offset + done))
            }
            if part < 0, errno == EINTR { continue }
            guard part >= 0 else { throw FileFault(path: self.path, work: .read, code: errno) }
            if part == 0 { break }
            done += part
        }
        bytes.removeLast(count - done)
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(FileFault) {
        var done = 0
        while done < bytes.count {
            let part = bytes.withUnsafeBytes { buffer in
                pwrite(
                    self.descriptor, buffer.baseAddress?.advanced(by: done), bytes.count - done, off_t(offset + done))
            }
            if part < 0, errno == EINTR { continue }
            guard part > 0 else { throw FileFault(path: self.path, work: .write, code: errno) }
            done += part
        }
    }

    func truncate(to size: Int) throws(FileFault) {
        guard ftruncate(self.descriptor, off_t(size)) == 0 else {
            throw FileFault(path: self.path, work: .write, code: errno)
        }
    }

    /// Replaces the file in one step: readers find the old or the new one, whole.
    static func replace(_ path: String, with bytes: [UInt8]) throws(FileFault) {
        let fresh = path + ".new"
        unlink(fresh)
        do {
            guard let file = try SmallFile(fresh, creating: true) else { return }
            try file.write(bytes, at: 0)
        }
        guard rename(fresh, path) == 0 else { throw FileFault(path: path, work: .write, code: errno) }
    }

    /// Renames the file to `name.damaged`, replacing an earlier one.
    static func setAside(_ path: String) throws(FileFault) {
        guard rename(path, path + ".damaged") == 0 else { throw FileFault(path: path, work: .write, code: errno) }
    }

    static func removeAside(_ path: String) throws(FileFault) {
        guard unlink(path + ".damaged") != 0, errno != ENOENT else { return }
        throw FileFault(path: path + ".damaged", work: .write, code: errno)
    }
}
