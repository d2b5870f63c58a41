import Foundation
import Synchronization
import TidingsModel

// Everything the tool writes to the terminal goes through here: much of it was made by strangers, and must not steer the terminal.

/// Names how a line looks at a terminal with colours, by its number in ECMA-48, 8.3.117.
enum Style: Int {
    case bold = 1
    case red = 31
    case green = 32
}

/// Prints one line, with what is unprintable in it as `\u{1b}`. It stands in place of Swift's function in all commands.
func print(_ line: Any) { ProgressLine.aside { Swift.print("\(line)".printable) } }

func print(_ line: Any, _ style: Style) {
    ProgressLine.aside { Swift.print(styled("\(line)".printable, style, STDOUT_FILENO)) }
}

/// Prints a list with its header.
func print(list lines: [String]) {
    for (number, line) in lines.enumerated() {
        if number == 0, lines.count > 1 { print(line, .bold) } else { print(line) }
    }
}

/// Prints JSON that any parser reads as the same value.
func print(_ json: JSONValue) { ProgressLine.aside { Swift.print(json.text.printableJSON) } }

/// Prints a text of the tool's own, line by line.
func print(lines text: String, _ style: Style? = nil) {
    ProgressLine.aside { Swift.print(styled(linesMadePrintable(text), style, STDOUT_FILENO)) }
}

/// Writes lines to standard error, as `print(lines:)` does; the style is the first one's.
func printError(_ text: String, _ style: Style? = nil) {
    let parts = linesMadePrintable(text).split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    let first = styled(String(parts.first ?? ""), style, STDERR_FILENO)
    ProgressLine.aside { writeError(([first] + parts.dropFirst().map(String.init)).joined(separator: "\n") + "\n") }
}

private func linesMadePrintable(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
}

private func writeError(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

private func styled(_ text: String, _ style: Style?, _ output: Int32) -> String {
    guard let style, Terminal.hasCursor(output), Terminal.variable("NO_COLOR").isEmpty else { return text }
    return "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m"
}

enum Terminal {
    static func variable(_ name: String) -> String { ProcessInfo.processInfo.environment[name] ?? "" }

    /// Returns false for pipes, files, and terminals that only print.
    static func hasCursor(_ output: Int32) -> Bool {
        isatty(output) == 1 && !["", "dumb"].contains(self.variable("TERM"))
    }

    static func columns(_ output: Int32) -> Int {
        var size = winsize()
        return ioctl(output, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}

/// The last line of a terminal while something takes its time: what goes on, and for how long. What is printed meanwhile stands above it.
/// Anywhere else nothing is shown.
enum ProgressLine {
    private struct Shown {
        var text: String
        /// How many seconds it usually takes; nil if that is not known.
        var usually: Int?
        let start = ContinuousClock.now
        var drawnAt: ContinuousClock.Instant?
    }

    private static let isAtTerminal = Terminal.hasCursor(STDERR_FILENO)
    private static let shown = Mutex<Shown?>(nil)

    /// Shows `text` while `body` runs, with the seconds that are left or that have passed.
    static func during<Value>(
        _ text: String, usually seconds: Int? = nil, _ body: () async throws -> Value
    ) async rethrows -> Value {
        guard self.isAtTerminal else { return try await body() }
        let before = self.shown.withLock { $0 }
        self.shown.withLock { $0 = Shown(text: text, usually: seconds) }
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now(), repeating: .seconds(1))
        timer.setEventHandler { self.shown.withLock { self.draw(&$0) } }
        timer.resume()
        defer {
            timer.cancel()
            self.shown.withLock { shown in
                self.erase(shown)
                shown = before
            }
        }
        return try await body()
    }

    /// Changes the text, ten times a second at most.
    static func update(_ text: String) {
        guard self.isAtTerminal else { return }
        self.shown.withLock { shown in
            guard let drawnAt = shown?.drawnAt, drawnAt.duration(to: .now) > .milliseconds(100) else { return }
            shown?.text = text
            self.draw(&shown)
        }
    }

    /// Changes the text, or prints it as a line of its own where there is no terminal.
    static func tell(_ text: String) {
        if self.isAtTerminal { self.update(text) } else { printError(text) }
    }

    /// Runs `output` without the line, which comes back with the next second.
    static func aside(_ output: () -> Void) {
        guard self.isAtTerminal else { return output() }
        self.shown.withLock { shown in
            self.erase(shown)
            shown?.drawnAt = nil
            output()
        }
    }

    static func text(_ text: String, usually seconds: Int?, passed: Int) -> String {
        let left = (seconds ?? 0) - passed
        return left > 0 ? "\(text), \(left) s left" : "\(text), \(passed) s"
    }

    private static func draw(_ shown: inout Shown?) {
        guard let now = shown else { return }
        let passed = Int(now.start.duration(to: .now) / .seconds(1))
        let line = self.text(now.text, usually: now.usually, passed: passed).printable
        writeError("\r\u{1b}[K" + line.prefix(Terminal.columns(STDERR_FILENO) - 1))
        shown?.drawnAt = .now
    }

    private static func erase(_ shown: Shown?) { if shown?.drawnAt != nil { writeError("\r\u{1b}[K") } }
}
