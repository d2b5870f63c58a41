import Foundation
import Synchronization

/// A child process with its own log file. It is stopped by its own process id, also when the tool fails.
final class ManagedProcess {
    let name: String
    let logPath: String
    private let process: Process

    var pid: Int32 { self.process.processIdentifier }
    var isRunning: Bool { self.process.isRunning }

    /// - Parameter environment: variables beside this process's own.
    init(
        name: String, executable: String, arguments: [String], folder: String, environment: [String: String] = [:]
    ) throws {
        self.name = name
        self.logPath = "\(folder)/\(name).log"
        if !FileManager.default.fileExists(atPath: self.logPath) {
            _ = FileManager.default.createFile(atPath: self.logPath, contents: nil)
        }
        guard let log = FileHandle(forWritingAtPath: self.logPath) else {
            throw ToolFailure("cannot write \(self.logPath)")
        }
        log.seekToEndOfFile()
        self.process = Process()
        self.process.executableURL = URL(fileURLWithPath: executable)
        self.process.arguments = arguments
        if !environment.isEmpty {
            self.process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        }
        self.process.standardInput = FileHandle.nullDevice
        self.process.standardOutput = log
        self.process.standardError = log
        let process = self.process
        do {
            try Leftovers.start {
                try process.run()
                return process.processIdentifier
            }
        } catch let failure as ToolFailure {
            throw failure
        } catch {
            throw ToolFailure("cannot start \(executable): \(error.localizedDescription)")
        }
    }

    func signal(_ number: Int32) { if self.isRunning { Self.signal(number, group: self.pid) } }

    /// Signals a child and what it has started in its process group: under a command such as `perf record` the server is a child's child.
    /// Foundation starts every child as the leader of a group.
    static func signal(_ number: Int32, group leader: Int32) {
        if kill(-leader, number) != 0 { kill(leader, number) }
    }

    /// Its exit status, once it has ended by itself; nil if it has not within ten seconds.
    func ended() async -> Int32? {
        for _ in 0..<500 where self.isRunning { try? await Task.sleep(for: .milliseconds(20)) }
        guard !self.isRunning else { return nil }
        Leftovers.remove(process: self.pid)
        return self.process.terminationStatus
    }

    /// Kills it if it does not end within five seconds.
    func stop() async {
        self.signal(SIGTERM)
        for _ in 0..<100 where self.isRunning { try? await Task.sleep(for: .milliseconds(50)) }
        self.killNow()
    }

    func killNow() {
        self.signal(SIGKILL)
        // Not `waitUntilExit`: on a thread without a run loop it turns without a pause, and without end while a child's child lives.
        for _ in 0..<500 where self.isRunning { usleep(10_000) }
        Leftovers.remove(process: self.pid)
    }

    func logTail() -> String {
        let text = (try? String(contentsOfFile: self.logPath, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(15).map { "    \($0)" }.joined(separator: "\n")
    }
}

struct TemporaryFolder {
    let path: String

    init(_ name: String) throws {
        self.path = FileManager.default.temporaryDirectory.path + "/tidings-\(name)-\(UUID().uuidString.prefix(8))"
        let path = self.path
        try Leftovers.make(folder: path) {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: self.path)
        Leftovers.remove(folder: self.path)
    }

    func write(_ text: String, to name: String) throws {
        try text.write(toFile: "\(self.path)/\(name)", atomically: true, encoding: .utf8)
    }
}

/// The processes and folders that this process has started and made, to be ended and removed when a signal ends it: children have process
/// groups of their own, so neither Ctrl-C nor closing the terminal reaches them.
enum Leftovers {
    private struct State {
        var processes: [Int32] = []
        var folders: [String] = []
        var signals: [any DispatchSourceSignal] = []
        var waiter: CheckedContinuation<Void, Never>?
        /// A signal is ending this process: nothing else may, whatever is found out about children that are gone.
        var isEnding = false
    }

    private static let state = Mutex(State())
    /// How long children may take to end, in units of 50 milliseconds.
    private static let timeLimit = 100

    /// Starts a child that ends with this process. Once a signal is ending the process nothing is started: it would
    /// outlive the process and write into a folder that is being removed. `run` returns the process id.
    static func start(_ run: () throws -> Int32) throws {
        self.watchSignals()
        try self.state.withLock { state in
            guard !state.isEnding else { throw ToolFailure("ended by a signal") }
            state.processes.append(try run())
        }
    }

    static func remove(process: Int32) { self.state.withLock { $0.processes.removeAll { $0 == process } } }

    /// Makes a folder that is removed with this process; not once a signal is ending it.
    static func make(folder: String, _ create: () throws -> Void) throws {
        self.watchSignals()
        try self.state.withLock { state in
            guard !state.isEnding else { throw ToolFailure("ended by a signal") }
            try create()
            state.folders.append(folder)
        }
    }

    static func remove(folder: String) { self.state.withLock { $0.folders.removeAll { $0 == folder } } }

    /// After the first signal the caller ends and removes everything itself; a second signal does not wait for that.
    static func waitForSignal() async {
        self.watchSignals()
        await withCheckedContinuation { continuation in self.state.withLock { $0.waiter = continuation } }
    }

    /// Ends this process, and what it has started, as soon as nobody reads what it prints: `tidings demo | head`. Otherwise its next line
    /// would end it alone. A terminal that is closed sends a signal.
    static func endWithReader() {
        guard isatty(STDOUT_FILENO) == 0 else { return }
        signal(SIGPIPE, SIG_IGN)
        Thread.detachNewThread {
            // A pipe whose reader is gone has an error, which nobody has to ask for (poll(2)).
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            while poll(&output, 1, -1) < 1 {}
            if output.revents & Int16(POLLERR | POLLHUP) != 0 { self.exit(by: SIGPIPE) }
        }
    }

    private static func watchSignals() {
        self.state.withLock { state in
            guard state.signals.isEmpty else { return }
            atexit { while Leftovers.isEnding { sleep(1) } }
            state.signals = [SIGHUP, SIGINT, SIGTERM].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { self.received(number) }
                source.resume()
                return source
            }
        }
    }

    private static func received(_ number: Int32) {
        if let waiter = self.state.withLock({ $0.waiter.take() }) {
            waiter.resume()
        } else {
            self.exit(by: number)
        }
    }

    private static var isEnding: Bool { self.state.withLock { $0.isEnding } }

    /// This process's own tasks, and what a killed child has left, may still be making files in it.
    private static func remove(_ folder: String) {
        for _ in 0..<self.timeLimit {
            try? FileManager.default.removeItem(atPath: folder)
            guard FileManager.default.fileExists(atPath: folder) else { return }
            usleep(50_000)
        }
    }

    private static func exit(by number: Int32) {
        let (processes, folders) = self.state.withLock { state in
            state.isEnding = true
            return (state.processes, state.folders)
        }
        for process in processes { ManagedProcess.signal(SIGTERM, group: process) }
        for _ in 0..<self.timeLimit where processes.contains(where: { kill($0, 0) == 0 }) { usleep(50_000) }
        for process in processes { ManagedProcess.signal(SIGKILL, group: process) }
        for folder in folders { self.remove(folder) }
        fflush(nil)
        // As a shell reports it, without the handlers that wait at `exit`.
        _exit(128 + number)
    }
}

/// This program, to be started under another command.
func ownExecutable() -> String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
}

/// This program as a person types it: from the current folder if it lies in there.
func ownCommand() -> String {
    let (path, folder) = (ownExecutable(), FileManager.default.currentDirectoryPath + "/")
    return path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : path
}

func siblingExecutable(_ name: String) throws -> String {
    let path = URL(fileURLWithPath: ownExecutable()).deletingLastPathComponent().appendingPathComponent(name).path
    guard FileManager.default.isExecutableFile(atPath: path) else {
        throw ToolFailure("\(path) is missing: build the whole package first (make build)")
    }
    return path
}
