import Foundation
import Glibc
import Synchronization

/// A child of the operating system. Signals go to its id only until it is reaped, so never to another process with
/// the same id.
final class ChildProcess: Sendable {
    struct Failure: Error, CustomStringConvertible {
        var executable: String
        var number: Int32
        var description: String { "\(self.executable) cannot be started: \(String(cString: strerror(self.number)))" }
    }

    enum End: Equatable, Sendable {
        case exited(status: Int32)
        case signalled(Int32)
    }

    let processIdentifier: pid_t
    private let isReaped = Mutex(false)

    private init(processIdentifier: pid_t) { self.processIdentifier = processIdentifier }

    /// Starts an executable in a process group of its own. The group lets the kernel end a stopped child whose phone
    /// died: a stopped member of a group that loses its last parent gets SIGHUP and SIGCONT (POSIX, `_exit`).
    /// Standard output and error are appended to `output`; `onEnd` is called once, on a thread of its own.
    static func start(
        executable: String, environment: [String: String], folder: String = "/", output: String,
        onEnd: @escaping @Sendable (End) -> Void
    ) throws(Failure) -> ChildProcess {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        _ = Self.addFolder?(&actions, folder)
        // The child inherits none of the phone's descriptors; closing one that was closed meanwhile is no error here.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            if let descriptor = Int32(name), descriptor > 2 {
                posix_spawn_file_actions_addclose(&actions, descriptor)
            }
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The phone may ignore or block signals; its apps start with the defaults.
        var all = sigset_t()
        sigfillset(&all)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))

        let variables = environment.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
        let arguments = [strdup(executable), nil]
        defer { for pointer in variables + arguments { free(pointer) } }
        var processIdentifier: pid_t = 0
        var result = posix_spawn(&processIdentifier, executable, &actions, &attributes, arguments, variables)
        // A file that was just written is busy while a child of another thread, between fork and exec, still has it open.
        for _ in 0..<20 where result == ETXTBSY {
            usleep(10_000)
            result = posix_spawn(&processIdentifier, executable, &actions, &attributes, arguments, variables)
        }
        guard result == 0 else { throw Failure(executable: executable, number: result) }
        let child = ChildProcess(processIdentifier: processIdentifier)
        let watcher = Thread { onEnd(child.reap()) }
        watcher.name = "child \(processIdentifier)"
        watcher.start()
        return child
    }

    /// glibc has it from 2.29 and its header shows it to GNU sources only; without it a child keeps the phone's
    /// working folder.
    private static let addFolder:
        (
            @convention(c) @Sendable (UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>) -> Int32
        )? = dlsym(nil, "posix_spawn_file_actions_addchdir_np").map {
            unsafeBitCast(
                $0,
                to: (@convention(c) @Sendable (
                    UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>
                ) -> Int32).self)
        }

    func suspend() { self.signal(SIGSTOP) }
    func resume() { self.signal(SIGCONT) }
    func kill() { self.signal(SIGKILL) }

    private func signal(_ number: Int32) {
        self.isReaped.withLock { isReaped in
            guard !isReaped else { return }
            Glibc.kill(self.processIdentifier, number)
        }
    }

    /// Reaps under the lock that signals use.
    private func reap() -> End {
        var info = siginfo_t()
        while waitid(P_PID, id_t(self.processIdentifier), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        return self.isReaped.withLock { isReaped in
            var status: Int32 = 0
            while waitpid(self.processIdentifier, &status, 0) == -1, errno == EINTR {}
            isReaped = true
            let signal = status & 0x7f
            return signal == 0 ? .exited(status: (status >> 8) & 0xff) : .signalled(signal)
        }
    }
}
