import Foundation
import TidingsModel

// Everything the tool writes to the terminal goes through here: much of it was made by strangers, and must not steer the terminal.

/// Prints one line, with what is unprintable in it as `\u{1b}`. It stands in place of Swift's function in all commands.
func print(_ line: Any) { Swift.print("\(line)".printable) }

/// Prints JSON that any parser reads as the same value.
func print(_ json: JSONValue) { Swift.print(json.text.printableJSON) }

/// Prints a text of the tool's own, line by line.
func print(lines text: String) { Swift.print(linesMadePrintable(text)) }

/// Writes lines to standard error, as `print(lines:)` does.
func printError(_ text: String) { FileHandle.standardError.write(Data((linesMadePrintable(text) + "\n").utf8)) }

private func linesMadePrintable(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
}
