/// One piece of Swift source: a word, a number, a symbol, a string literal or a comment.
struct Token: Equatable {
    enum Kind: Equatable { case word, number, symbol, string, comment }

    var kind: Kind
    /// The text as written. A symbol is one character; a string literal and a comment are whole.
    var text: String
    /// The line the token starts on, 1 for the first.
    var line: Int
    /// The line the token ends on.
    var lastLine: Int
    /// Whether it touches the token before it.
    var touchesPrevious: Bool

    /// Whether this is the word or symbol `text`.
    func `is`(_ text: String) -> Bool { (self.kind == .word || self.kind == .symbol) && self.text == text }
}

/// Splits Swift source into tokens, so that no rule trips over a word in a string or a brace in a comment.
///
/// Knows line and nested block comments, plain, raw and multi-line strings, and interpolation (which stays part of its
/// string). Does not know bare regex literals; the tree has none.
struct SwiftLexer {
    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    private var tokens: [Token] = []

    private init(_ text: String) { self.bytes = Array(text.utf8) }

    static func tokens(of text: String) -> [Token] {
        var lexer = SwiftLexer(text)
        lexer.run()
        return lexer.tokens
    }

    private mutating func run() {
        var end = -1
        while self.index < self.bytes.count {
            let start = self.index
            let startLine = self.line
            guard let kind = self.skipOne() else { continue }
            let text = String(decoding: self.bytes[start..<self.index], as: UTF8.self)
            self.tokens.append(
                Token(
                    kind: kind, text: text, line: startLine, lastLine: self.line, touchesPrevious: start == end))
            end = self.index
        }
    }

    /// Moves past one token and says what it was; past white space, and says nothing.
    private mutating func skipOne() -> Token.Kind? {
        let byte = self.bytes[self.index]
        if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\t") || byte == 0x0d {
            self.step()
            return nil
        }
        if self.starts(with: "//") {
            while self.index < self.bytes.count, self.bytes[self.index] != UInt8(ascii: "\n") { self.index += 1 }
            return .comment
        }
        if self.starts(with: "/*") {
            self.skipBlockComment()
            return .comment
        }
        if let hashes = self.hashesBeforeQuote() {
            self.skipString(hashes: hashes)
            return .string
        }
        if Self.isWordHead(byte) {
            while self.index < self.bytes.count, Self.isWordBody(self.bytes[self.index]) { self.index += 1 }
            return .word
        }
        if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
            while self.index < self.bytes.count, Self.isWordBody(self.bytes[self.index]) { self.index += 1 }
            return .number
        }
        if byte == UInt8(ascii: "`") {
            self.index += 1
            while self.index < self.bytes.count, self.bytes[self.index] != UInt8(ascii: "`") { self.step() }
            self.index = min(self.index + 1, self.bytes.count)
            return .word
        }
        self.index += 1
        return .symbol
    }

    private mutating func step() {
        if self.bytes[self.index] == UInt8(ascii: "\n") { self.line += 1 }
        self.index += 1
    }

    private func starts(with text: StaticString, at offset: Int? = nil) -> Bool {
        let start = offset ?? self.index
        guard start + text.utf8CodeUnitCount <= self.bytes.count else { return false }
        return text.withUTF8Buffer { expected in
            (0..<expected.count).allSatisfy { self.bytes[start + $0] == expected[$0] }
        }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if self.starts(with: "/*") {
                depth += 1
                self.index += 2
            } else if self.starts(with: "*/") {
                depth -= 1
                self.index += 2
            } else {
                self.step()
            }
        } while depth > 0 && self.index < self.bytes.count
    }

    /// The number of `#` in front of the quote that starts a string here; nil if none starts here.
    private func hashesBeforeQuote() -> Int? {
        var position = self.index
        while position < self.bytes.count, self.bytes[position] == UInt8(ascii: "#") { position += 1 }
        guard position < self.bytes.count, self.bytes[position] == UInt8(ascii: "\"") else { return nil }
        return position - self.index
    }

    private mutating func skipString(hashes: Int) {
        self.index += hashes
        let isMultiline = self.starts(with: "\"\"\"")
        let quotes = isMultiline ? 3 : 1
        self.index += quotes
        while self.index < self.bytes.count {
            if self.bytes[self.index] == UInt8(ascii: "\\"), self.hashes(hashes, at: self.index + 1) {
                self.index += 1 + hashes
                guard self.index < self.bytes.count else { return }
                if self.bytes[self.index] == UInt8(ascii: "(") {
                    self.skipInterpolation()
                } else {
                    self.step()
                }
            } else if self.bytes[self.index] == UInt8(ascii: "\""),
                !isMultiline || self.starts(with: "\"\"\""), self.hashes(hashes, at: self.index + quotes)
            {
                self.index += quotes + hashes
                return
            } else {
                self.step()
            }
        }
    }

    private func hashes(_ count: Int, at offset: Int) -> Bool {
        guard count > 0 else { return true }
        guard offset + count <= self.bytes.count else { return false }
        return self.bytes[offset..<offset + count].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    private mutating func skipInterpolation() {
        var depth = 0
        repeat {
            let byte = self.bytes[self.index]
            if let hashes = self.hashesBeforeQuote() {
                self.skipString(hashes: hashes)
                continue
            }
            if byte == UInt8(ascii: "(") { depth += 1 }
            if byte == UInt8(ascii: ")") { depth -= 1 }
            self.step()
        } while depth > 0 && self.index < self.bytes.count
    }

    private static func isWordHead(_ byte: UInt8) -> Bool {
        (byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z"))
            || (byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")) || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "$") || byte >= 0x80
    }

    private static func isWordBody(_ byte: UInt8) -> Bool {
        Self.isWordHead(byte) || (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"))
    }
}
