import Foundation
import Glibc

/// Where the signal handler writes, which can reach nothing else; set once, before the first handler is installed.
private nonisolated(unsafe) var signalPipe: Int32 = -1

struct TerminalInput: Sendable {
    enum Event: Equatable, Sendable {
        case bytes([UInt8])
        /// No byte came for a moment.
        case quiet
        case signal(Int32)
        case closed
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]

    /// `onEvent` is called on a thread of its own.
    static func start(keys: Bool, onEvent: @escaping @Sendable (Event) -> Void) {
        var ends: [Int32] = [0, 0]
        guard signalPipe == -1, pipe(&ends) == 0 else { return }
        // Apps close what they inherit (`ChildProcess`); a full pipe must not block a handler.
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        signalPipe = ends[1]
        for number in Self.signals where keys || ![SIGTSTP, SIGCONT, SIGWINCH].contains(number) {
            Self.installHandler(for: number)
        }
        let pipe = ends[0]
        let thread = Thread { Self.listen(pipe, keys: keys, onEvent) }
        thread.name = "terminal"
        thread.start()
    }

    /// Stops the program as SIGTSTP does by default; returns when it goes on.
    static func stopProgram() {
        signal(SIGTSTP, SIG_DFL)
        kill(getpid(), SIGTSTP)
        Self.installHandler(for: SIGTSTP)
    }

    private static func installHandler(for number: Int32) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            // Only what signal-safety(7) allows: one byte into a pipe.
            let saved = errno
            var byte = UInt8(truncatingIfNeeded: number)
            write(signalPipe, &byte, 1)
            errno = saved
        }
        action.sa_flags = Int32(SA_RESTART)
        sigaction(number, &action, nil)
    }

    private static func listen(_ pipe: Int32, keys: Bool, _ onEvent: @Sendable (Event) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var isInside = false
        var isOpen = keys
        while true {
            var ready = [
                pollfd(fd: pipe, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isOpen ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&ready, 2, isInside ? 50 : -1)
            if count < 0, errno != EINTR { return onEvent(.closed) }
            if count == 0 {
                isInside = false
                onEvent(.quiet)
            }
            if ready[0].revents != 0 {
                let length = read(pipe, &buffer, buffer.count)
                for byte in buffer.prefix(max(0, length)) { onEvent(.signal(Int32(byte))) }
            }
            if ready[1].revents != 0 {
                let length = read(STDIN_FILENO, &buffer, buffer.count)
                if length > 0 {
                    isInside = true
                    onEvent(.bytes(Array(buffer.prefix(length))))
                } else if length == 0 || (errno != EINTR && errno != EAGAIN) {
                    isOpen = false
                    onEvent(.closed)
                }
            }
        }
    }
}
