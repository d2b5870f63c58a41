import Foundation
import Synchronization

/// A child process of the tool with its own log file. It is stopped by its own process id, also when the tool fails.
final class ManagedProcess {
    let name: String
    let logPath: String
    private let process: Process

    var pid: Int32 { self.process.processIdentifier }
    var isRunning: Bool { self.process.isRunning }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - name: how the timeline and the log file call it.
    ///   - folder: where its log file goes.
    /// - Throws: `ToolFailure` if the program cannot be started.
    init(
        name: String, executable: String, arguments: [String], environment: [String: String] = [:], folder: String
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
        self.process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
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

    /// Sends a signal to this process only.
    func signal(_ number: Int32) { if self.isRunning { kill(self.pid, number) } }

    /// Asks it to end, and kills it if it does not within the time.
    func stop(graceSeconds: Int = 5) async {
        self.signal(SIGTERM)
        for _ in 0..<(graceSeconds * 20) where self.isRunning { try? await Task.sleep(for: .milliseconds(50)) }
        self.killNow()
    }

    /// Kills it without a word and waits until it is gone.
    func killNow() {
        self.signal(SIGKILL)
        self.process.waitUntilExit()
        Leftovers.remove(process: self.pid)
    }

    /// The last lines of its log, for an error message.
    func logTail(lines: Int = 15) -> String {
        let text = (try? String(contentsOfFile: self.logPath, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(lines).map { "    \($0)" }.joined(separator: "\n")
    }
}

/// A folder of its own that goes away with the run.
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

    func write(_ text: String, to name: String) throws -> String {
        let path = "\(self.path)/\(name)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
}

/// What this process has started and made, and has to end and remove before a signal ends it: its children have process groups of their
/// own, so that neither Ctrl-C nor the end of the terminal reaches them.
enum Leftovers {
    private struct State {
        var processes: [Int32] = []
        var folders: [String] = []
        var signals: [any DispatchSourceSignal] = []
        var waiter: CheckedContinuation<Void, Never>?
        /// A signal is ending this process: nothing else may, whatever it says of children that are gone.
        var isEnding = false
    }

    private static let state = Mutex(State())
    /// How long children may take to end, in units of 50 milliseconds.
    private static let timeLimit = 100

    /// Starts a child that is ended with this process. Once a signal is ending this process nothing is started any more: it would not be
    /// found among what is ended, would outlive this process, and would go on writing into a folder that is being removed.
    ///
    /// - Parameter run: starts it; returns its process id.
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

    /// Waits for the first signal, after which the caller ends and removes everything itself. A second signal does not wait for that.
    static func waitForSignal() async {
        self.watchSignals()
        await withCheckedContinuation { continuation in self.state.withLock { $0.waiter = continuation } }
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
            self.end(by: number)
        }
    }

    private static var isEnding: Bool { self.state.withLock { $0.isEnding } }

    /// Removes a folder in which this process's own tasks, and what a killed child has left, may still be making files.
    private static func remove(_ folder: String) {
        for _ in 0..<self.timeLimit {
            try? FileManager.default.removeItem(atPath: folder)
            guard FileManager.default.fileExists(atPath: folder) else { return }
            usleep(50_000)
        }
    }

    private static func end(by number: Int32) {
        let (processes, folders) = self.state.withLock { state in
            state.isEnding = true
            return (state.processes, state.folders)
        }
        for process in processes { kill(process, SIGTERM) }
        for _ in 0..<self.timeLimit where processes.contains(where: { kill($0, 0) == 0 }) { usleep(50_000) }
        for process in processes { kill(process, SIGKILL) }
        for folder in folders { self.remove(folder) }
        fflush(nil)
        // As a shell tells of it. What waits at the exit is left there.
        _exit(128 + number)
    }
}

/// This very program, to be started again under another command.
func ownExecutable() -> String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
}

/// A program that is built beside this one.
func siblingExecutable(_ name: String) throws -> String {
    let path = URL(fileURLWithPath: ownExecutable()).deletingLastPathComponent().appendingPathComponent(name).path
    guard FileManager.default.isExecutableFile(atPath: path) else {
        throw ToolFailure("\(path) is missing: build the whole package first (make build)")
    }
    return path
}
