/// A text file of the tree, and its tokens if it is Swift.
struct Source {
    /// The path from the root of the tree, with `/` between its parts.
    let path: String
    let text: String
    let lines: [Substring]
    /// The tokens of a Swift file; empty for any other.
    let tokens: [Token]
    /// The tokens without the comments.
    let code: [Token]
    /// What the other files of the target declare; only the rule about hash order asks.
    var namesOfTarget: HashOrder.Names

    init(path: String, text: String, namesOfTarget: HashOrder.Names = HashOrder.Names()) {
        self.namesOfTarget = namesOfTarget
        self.path = path
        self.text = text
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        self.lines = lines
        self.tokens = path.hasSuffix(".swift") ? SwiftLexer.tokens(of: text) : []
        self.code = self.tokens.filter { $0.kind != .comment }
    }

    var isSwift: Bool { self.path.hasSuffix(".swift") }
    /// Written by a generator, so the rules about style do not hold.
    var isGenerated: Bool { self.path.hasSuffix(".pb.swift") }
    var isTest: Bool { self.path.hasPrefix("Tests/") || self.path.hasPrefix("dev/tests/") }

    /// The target of ours the file belongs to: `Sources/<Wing>/<Target>/…`.
    var target: String? {
        let parts = self.path.split(separator: "/")
        return parts.count > 3 && parts[0] == "Sources" ? String(parts[2]) : nil
    }

    /// Whether a comment on the line, or on the lines of comment directly above it, contains a mark followed by a
    /// reason of at least three words.
    func hasReason(_ mark: String, at line: Int) -> Bool {
        self.comments(at: line).contains { Self.states(mark, in: $0) }
    }

    /// Whether a comment contains the mark and at least three words after it.
    static func states(_ mark: String, in comment: some StringProtocol) -> Bool {
        guard let range = comment.firstRange(of: mark) else { return false }
        return comment[range.upperBound...].split(whereSeparator: \.isWhitespace).count >= 3
    }

    /// The comments on the line, and those directly above it.
    func comments(at line: Int) -> [Substring] {
        var found: [Substring] = []
        if let comment = Self.comment(in: self.lines[line - 1]) { found.append(comment) }
        var above = line - 2
        while above >= 0 {
            let text = Self.trimmed(self.lines[above])
            guard text.hasPrefix("//") || text.hasPrefix("@") else { break }
            found.append(text)
            above -= 1
        }
        return found
    }

    private static func comment(in line: Substring) -> Substring? {
        line.firstRange(of: "//").map { line[$0.lowerBound...] }
    }

    static func trimmed(_ line: Substring) -> Substring {
        let head = line.drop(while: \.isWhitespace)
        guard let last = head.lastIndex(where: { !$0.isWhitespace }) else { return head.prefix(0) }
        return head[...last]
    }
}

/// A place that breaks a rule.
struct Finding: Equatable, CustomStringConvertible {
    var path: String
    var line: Int
    var what: String

    var description: String { "\(self.path):\(self.line): \(self.what)" }
}

/// A rule of the house: a pure function from a file to the places that break it.
struct Rule: Sendable {
    /// What the rule asks for, in words that end "The tree: …".
    let name: String
    let check: @Sendable (Source) -> [Finding]
}

extension Source {
    func finding(_ token: Token, _ what: String) -> Finding { Finding(path: self.path, line: token.line, what: what) }
}
