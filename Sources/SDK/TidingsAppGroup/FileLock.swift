#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// An exclusive lock between processes and threads; the system releases it when its process dies.
struct FileLock {
    private let descriptor: Int32

    /// How many times it yields before the first sleep: holders' work takes microseconds.
    private static let yieldsMax = 50
    private static let napMax = 1_000_000

    /// - Throws: `FileFault`; with `ETIMEDOUT` when the time is over.
    init(_ path: String, within milliseconds: Int64) throws(FileFault) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFault(path: path, work: .lock, code: errno) }
        let deadline = Self.now + milliseconds * 1_000_000
        var tries = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            guard code == EWOULDBLOCK || code == EINTR, Self.now < deadline else {
                close(descriptor)
                throw FileFault(path: path, work: .lock, code: code == EWOULDBLOCK ? ETIMEDOUT : code)
            }
            tries += 1
            guard tries > Self.yieldsMax else {
                sched_yield()
                continue
            }
            var nap = timespec(tv_sec: 0, tv_nsec: min(Self.napMax, 20_000 * (tries - Self.yieldsMax)))
            nanosleep(&nap, nil)
        }
        self.descriptor = descriptor
    }

    func unlock() { close(self.descriptor) }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
