import Foundation
import NIOPosix
import Synchronization

final class StoreDisk: Sendable {
    /// How long an answer of `fault` is good.
    static let probeMilliseconds: Int64 = 1_000
    /// How much must fit at the start: the first page of the write-ahead log, and room for what recovery writes.
    static let startBytes = 1_048_576

    private let path: String
    private let last = Mutex<(at: Int64, fault: String?)?>(nil)

    init(path: String) { self.path = path }

    /// Bytes this process may still write (statvfs(3): `f_bavail`); nil if the system does not say.
    var free: Int64? {
        var facts = statvfs()
        let folder = URL(fileURLWithPath: self.path).deletingLastPathComponent().path
        guard statvfs(folder, &facts) == 0 else { return nil }
        return Int64(
            clamping: UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize)).partialValue)
    }

    /// Writes, syncs and removes a small file beside the database; at most once a second, however often it is asked.
    func fault(monotonic now: Int64) async -> String? {
        if let last = self.last.withLock({ $0 }), now - last.at < Self.probeMilliseconds { return last.fault }
        let fault = try? await NIOThreadPool.singleton.runIfActive { self.probe(bytes: 4_096) }
        self.last.withLock { $0 = (now, fault ?? nil) }
        return fault ?? nil
    }

    func probe(bytes: Int) -> String? {
        let name = self.path + ".probe"
        let descriptor = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return "\(name): \(String(cString: strerror(errno)))" }
        defer {
            close(descriptor)
            unlink(name)
        }
        let zeros = [UInt8](repeating: 0, count: 65_536)
        var left = bytes
        while left > 0 {
            let written = write(descriptor, zeros, min(left, zeros.count))
            guard written > 0 else { return "\(name): \(String(cString: strerror(errno)))" }
            left -= written
        }
        guard fsync(descriptor) == 0 else { return "\(name): \(String(cString: strerror(errno)))" }
        return nil
    }
}
