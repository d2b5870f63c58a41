import Glibc

final class TerminalDevice: Sendable {
    private let before: termios

    /// nil unless standard input and output are a terminal that can place a cursor.
    init?() {
        var settings = termios()
        let kind = getenv("TERM").map { String(cString: $0) } ?? ""
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, !["", "dumb"].contains(kind),
            tcgetattr(STDIN_FILENO, &settings) == 0
        else { return nil }
        self.before = settings
    }

    /// no-color.org: set and not empty means none.
    var hasColours: Bool { getenv("NO_COLOR").map { $0.pointee == 0 } ?? true }

    var size: TerminalSize {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    func enter() {
        var raw = self.before
        raw.c_iflag &= ~tcflag_t(ICRNL | INLCR | IXON | ISTRIP)
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
        self.write(Drawing.enter)
    }

    func leave() {
        self.write(Drawing.leave)
        var before = self.before
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before)
    }

    /// A terminal that is gone ends the write; its end is noticed elsewhere.
    func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var ready = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, 1_000)
            } else if errno != EINTR {
                return
            }
        }
    }
}
