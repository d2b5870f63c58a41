import Dispatch
import Foundation
import Metrics
import Synchronization

/// Where log lines go. Logging never waits and never fails: lines are queued, and a thread of the output's own writes them. Lines
/// that do not fit into the queue (a reader stopped reading) or cannot be written (a full disk, a closed pipe) are dropped and
/// counted; the next line that can be written is preceded by one with their number.
package final class LogOutput: Sendable {
    /// How many bytes may wait.
    package static let bytesMax = 262_144
    /// How long a stop waits for lines that are not written yet.
    package static let flushMilliseconds = 2_000
    package static let standardError = LogOutput(descriptor: STDERR_FILENO)

    private struct State {
        var lines: [[UInt8]] = []
        var bytes = 0
        var isWriting = false
        /// Since a line was last written.
        var dropped = 0
        var droppedInAll = 0
        var counter: Counter?
        var notice: @Sendable (Int) -> String = { "\($0) log lines were dropped\n" }

        mutating func drop() {
            self.dropped += 1
            self.droppedInAll += 1
            self.counter?.increment()
        }
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "tidings.log")
    /// The last write ended within a line; used on `queue` only.
    private let isWithinLine = Atomic(false)

    /// - Parameter descriptor: an open file; it is not closed.
    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// Appends to a file, made for its owner alone if it does not exist.
    package convenience init(appendingTo path: String) throws(ConfigurationFault) {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw ConfigurationFault(
                field: "log.audit_path",
                rule: "must be a file that can be written, but \(path) is not (\(String(cString: strerror(errno))))",
                remedy: "make its folder, and let the server's user write there")
        }
        self.init(descriptor: descriptor)
    }

    /// Returns true if a person reads along.
    package var isTerminal: Bool { isatty(self.descriptor) == 1 }

    package var dropped: Int { self.state.withLock { $0.droppedInAll } }

    package func setDropNotice(_ notice: @escaping @Sendable (Int) -> String) {
        self.state.withLock { $0.notice = notice }
    }

    /// Counts also lines that were dropped before.
    func countDrops(with counter: Counter) {
        self.state.withLock { state in
            counter.increment(by: state.droppedInAll)
            state.counter = counter
        }
    }

    /// Queues a line with its end. From any thread; never waits.
    package func write(_ line: String) {
        let bytes = Array(line.utf8)
        let begins = self.state.withLock { state -> Bool in
            guard state.bytes + bytes.count <= Self.bytesMax else {
                state.drop()
                return false
            }
            state.lines.append(bytes)
            state.bytes += bytes.count
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { self.queue.async { self.writeAll() } }
    }

    /// Waits until what is queued is written or dropped, but no longer than this.
    package func flush(milliseconds: Int = LogOutput.flushMilliseconds) {
        let done = DispatchSemaphore(value: 0)
        self.queue.async { done.signal() }
        _ = done.wait(timeout: .now() + .milliseconds(milliseconds))
    }

    private func writeAll() {
        while let lines = self.dequeueLines() {
            for line in lines {
                let isWritten = self.writeLine(line)
                self.state.withLock { state in
                    state.bytes -= line.count
                    if !isWritten { state.drop() }
                }
                if isWritten { self.announceDrops() }
            }
        }
    }

    private func dequeueLines() -> [[UInt8]]? {
        self.state.withLock { state in
            guard !state.lines.isEmpty else {
                state.isWriting = false
                return nil
            }
            defer { state.lines = [] }
            return state.lines
        }
    }

    private func announceDrops() {
        let (dropped, notice) = self.state.withLock { ($0.dropped, $0.notice) }
        guard dropped > 0, self.writeLine(Array(notice(dropped).utf8)) else { return }
        self.state.withLock { $0.dropped -= dropped }
    }

    /// After the end of one that was cut short.
    private func writeLine(_ line: [UInt8]) -> Bool {
        if self.isWithinLine.load(ordering: .relaxed), self.writeBytes([0x0a]) < 1 { return false }
        self.isWithinLine.store(false, ordering: .relaxed)
        let written = self.writeBytes(line)
        self.isWithinLine.store(written > 0 && written < line.count, ordering: .relaxed)
        return written == line.count
    }

    /// write(2) until everything is written or it fails.
    private func writeBytes(_ bytes: [UInt8]) -> Int {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Foundation.write(self.descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                written += count
            } else if errno == EAGAIN {
                // The process that started the server may have made its end of the pipe non-blocking.
                var wait = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
            } else if errno != EINTR {
                break
            }
        }
        return written
    }
}
