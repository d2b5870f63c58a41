import PhoneCore
import TidingsModel

// What a person does with the views of the app in the foreground.
extension TerminalWord {
    typealias ViewReading = @Sendable (String) throws(InvalidField) -> TerminalCommand

    static let press: ViewReading = { rest throws(InvalidField) in .touch(view: try Self.name(rest, "press"), .tap) }

    static let hold: ViewReading = { rest throws(InvalidField) in .touch(view: try Self.name(rest, "hold"), .longPress)
    }

    static let submit: ViewReading = { rest throws(InvalidField) in
        .touch(view: rest.isEmpty ? nil : try Self.name(rest, "submit"), .submit)
    }

    /// Reads the text, and the field after the last `into`.
    static let enter: ViewReading = { rest throws(InvalidField) in
        guard !rest.isEmpty else { throw InvalidField(field: "enter", rule: "needs a text after it") }
        if Self.isQuoted(rest) { return .touch(view: nil, .enter(Self.unquoted(rest))) }
        guard let into = rest.lastRange(of: " into ") else { return .touch(view: nil, .enter(rest)) }
        let name = try Self.name(Self.trimmed(rest[into.upperBound...]), "enter")
        return .touch(view: name, .enter(Self.unquoted(Self.trimmed(rest[..<into.lowerBound]))))
    }

    static let scroll: ViewReading = { rest throws(InvalidField) in
        let (word, name) = TerminalCommand.split(rest)
        guard let direction = ViewAction.Direction(rawValue: word), [.up, .down].contains(direction) else {
            throw InvalidField(field: "scroll", rule: "must be up or down, got \"\(word)\"")
        }
        return .touch(view: name.isEmpty ? nil : try Self.name(name, "scroll"), .scroll(direction))
    }

    static let swipe: ViewReading = { rest throws(InvalidField) in
        let space = rest.lastIndex(where: \.isWhitespace) ?? rest.startIndex
        let word = rest[space...].drop(while: \.isWhitespace)
        guard let direction = ViewAction.Direction(rawValue: String(word)) else {
            throw InvalidField(
                field: "swipe", rule: "must end with left, right, up or down, got \"\(rest)\"")
        }
        return .touch(view: try Self.name(Self.trimmed(rest[..<space]), "swipe"), .swipe(direction))
    }

    private static func name(_ text: String, _ word: String) throws(InvalidField) -> String {
        let name = Self.unquoted(text)
        guard !name.isEmpty else { throw InvalidField(field: word, rule: "needs the name of a view") }
        return name
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    /// Text in double quotes is used as it is.
    private static func unquoted(_ text: String) -> String {
        Self.isQuoted(text) ? String(text.dropFirst().dropLast()) : text
    }

    private static func isQuoted(_ text: String) -> Bool {
        text.count >= 2 && text.first == "\"" && text.last == "\"" && !text.dropFirst().dropLast().contains("\"")
    }
}

extension String {
    fileprivate func lastRange(of part: String) -> Range<Index>? {
        var end = self.endIndex
        while let start = self.index(end, offsetBy: -part.count, limitedBy: self.startIndex) {
            if self[start..<end] == part { return start..<end }
            guard end > self.startIndex else { return nil }
            end = self.index(before: end)
        }
        return nil
    }
}
