import PhoneCore
package import TidingsModel
package import VirtualPhone

/// One step a line; `#` begins a comment line. Read whole before the first step runs.
package struct Script: Equatable, Sendable {
    package enum Action: Equatable, Sendable {
        case command(TerminalCommand)
        /// A command that has no word.
        case perform(PhoneCommand)
        case wait(milliseconds: Int)
        case waitFor(String, milliseconds: Int)
        case expect(String)
        case expectNot(String)
        case picture(columns: Int, rows: Int)
    }

    struct Step: Equatable, Sendable {
        var number: Int
        var text: String
        var action: Action
    }

    let steps: [Step]

    /// For `wait-for` without a time.
    static let waitForMilliseconds = 10_000

    /// Beside the words of the keys, for help.
    package static let words: [(form: String, meaning: String)] = [
        ("wait TIME", "wait, for example 5s or 250ms"),
        ("wait-for TEXT [within TIME]", "wait until TEXT is on the phone or in the trace; 10s if no time is given"),
        ("expect TEXT", "fail unless TEXT is on the phone, or in the trace since the last command"),
        ("expect-not TEXT", "fail if it is"),
        ("picture [COLUMNSxROWS]", "print what the phone shows; 54x38 if no size is given"),
    ]

    /// Throws the first wrong line with its number and what may stand there.
    package init(_ text: String) throws(InvalidField) {
        var steps: [Step] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let (word, rest) = TerminalCommand.split(String(line))
            guard !word.isEmpty, word.first != "#" else { continue }
            do throws(InvalidField) {
                let action = try Self.action(word, rest)
                let written = rest.isEmpty ? word : "\(word) \(rest)"
                steps.append(Step(number: index + 1, text: written, action: action))
            } catch { throw InvalidField(field: "line \(index + 1): \(error.field)", rule: error.rule) }
        }
        guard !steps.isEmpty else { throw InvalidField(field: "script", rule: "must have at least one step") }
        self.steps = steps
    }

    /// Returns a script's own words for a step as scenarios write it: `person: lock` is lock, and `airplaneMode: on` is airplane on.
    private static func ownWords(_ word: String, _ rest: String) -> (word: String, rest: String) {
        guard word.last == ":" else { return (word, rest) }
        let key = String(word.dropLast())
        return StepWords.line(of: key, rest).map { TerminalCommand.split($0) } ?? (key, rest)
    }

    private static func action(_ word: String, _ rest: String) throws(InvalidField) -> Action {
        let (word, rest) = self.ownWords(word, rest)
        switch word {
        case "wait": return .wait(milliseconds: try self.time(rest, field: "wait"))
        case "wait-for":
            guard let range = self.within(rest) else {
                return .waitFor(try self.text(rest, field: word), milliseconds: Self.waitForMilliseconds)
            }
            return .waitFor(
                try self.text(range.text, field: word),
                milliseconds: try self.time(range.time, field: "wait-for within"))
        case "expect": return .expect(try self.text(rest, field: word))
        case "expect-not": return .expectNot(try self.text(rest, field: word))
        case "picture": return try self.picture(rest)
        default:
            if TerminalWord.all.contains(where: { $0.word == word }), word != "help" {
                return .command(try TerminalCommand(line: rest.isEmpty ? word : "\(word) \(rest)"))
            }
            let words = TerminalWord.all.map(\.word) + self.words.map { TerminalCommand.split($0.form).word }
            let allowed = words.filter { $0 != "help" }.joined(separator: ", ")
            throw InvalidField(field: "step", rule: "must be one of \(allowed), got \"\(word)\"")
        }
    }

    /// Text in double quotes is used as it is, also with spaces at its ends.
    private static func text(_ rest: String, field: String) throws(InvalidField) -> String {
        let isQuoted = rest.count >= 2 && rest.first == "\"" && rest.last == "\""
        let text = isQuoted ? String(rest.dropFirst().dropLast()) : rest
        guard !text.isEmpty else { throw InvalidField(field: field, rule: "needs a text after it") }
        return text
    }

    /// `TEXT within 5s`; TEXT may contain the word itself in quotes.
    private static func within(_ rest: String) -> (text: String, time: String)? {
        let parts = rest.split(separator: " ")
        guard parts.count >= 3, parts[parts.count - 2] == "within" else { return nil }
        return (parts.dropLast(2).joined(separator: " "), String(parts[parts.count - 1]))
    }

    private static func picture(_ rest: String) throws(InvalidField) -> Action {
        guard !rest.isEmpty else {
            return .picture(columns: PhoneCommand.pictureColumns, rows: PhoneCommand.pictureRows)
        }
        let parts = rest.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let columns = Int(parts[0]), let rows = Int(parts[1]),
            PhoneCommand.pictureColumnsRange.contains(columns), PhoneCommand.pictureRowsRange.contains(rows)
        else {
            throw InvalidField(
                field: "picture", rule: "must be a size from 40x10 to 250x200 such as 54x38, got \"\(rest)\"")
        }
        return .picture(columns: columns, rows: rows)
    }

    private static func time(_ text: String, field: String) throws(InvalidField) -> Int {
        let isMilliseconds = text.hasSuffix("ms")
        let digits = isMilliseconds ? text.dropLast(2) : text.hasSuffix("s") ? text.dropLast() : ""
        // Scenarios have a space before the unit.
        let number = digits.last == " " ? digits.dropLast() : digits
        let milliseconds = Double(number).map { $0 * (isMilliseconds ? 1 : 1_000) }
        guard let milliseconds, milliseconds.isFinite, milliseconds >= 1, milliseconds <= 86_400_000 else {
            throw InvalidField(field: field, rule: "must be a time of up to a day such as 5s or 250ms, got \"\(text)\"")
        }
        return Int(milliseconds)
    }
}
