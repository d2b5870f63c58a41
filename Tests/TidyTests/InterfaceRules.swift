/// What the SDK's views must leave to the person: text size, appearance and the direction of writing (docs/decisions/0041-views.md).
enum InterfaceRules {
    static let target = "TidingsUI"

    /// Words, and what is used instead.
    private static let refused: [String: String] = [
        "systemFont": "a text style", "boldSystemFont": "a text style", "italicSystemFont": "a text style",
        "monospacedSystemFont": "a text style", "leftAnchor": "leadingAnchor", "rightAnchor": "trailingAnchor",
        "leftMargin": "leadingAnchor", "rightMargin": "trailingAnchor", "UIEdgeInsets": "NSDirectionalEdgeInsets",
    ]
    /// Members of whatever type, after a dot.
    private static let refusedMembers: [String: String] = [
        "left": "a natural alignment or a leading edge", "right": "a natural alignment or a trailing edge",
        "black": "a colour by its use", "white": "a colour by its use",
    ]

    static let all = Rule(name: "the SDK's views have text styles, colours by use, and leading and trailing edges") {
        source in
        guard source.isSwift, source.target == Self.target else { return [] }
        var findings = source.code.indices.flatMap { Self.findings(at: $0, in: source) }
        let words = source.code.map(\.text)
        if let style = source.code.first(where: { $0.is("preferredFont") }),
            !words.contains("adjustsFontForContentSizeCategory")
        {
            findings.append(source.finding(style, "a text that does not grow when the person changes its size"))
        }
        return findings
    }

    private static func findings(at index: Int, in source: Source) -> [Finding] {
        let code = source.code
        let token = code[index]
        guard token.kind == .word else { return [] }
        func follows(_ words: [String]) -> Bool {
            index + words.count < code.count && words.indices.allSatisfy { code[index + 1 + $0].is(words[$0]) }
        }
        if let instead = Self.refused[token.text] {
            return [source.finding(token, "`\(token.text)`: take \(instead)")]
        }
        if index > 0, code[index - 1].is("."), let instead = Self.refusedMembers[token.text] {
            return [source.finding(token, "`.\(token.text)`: take \(instead)")]
        }
        if token.is("UIFont"), follows(["("]) { return [source.finding(token, "a fixed font: take a text style")] }
        if token.is("UIColor"), follows(["("]) { return [source.finding(token, "a fixed colour: take one by its use")] }
        // A number there does not grow with the text.
        if token.is("equalToConstant"), follows([":"]), index + 2 < code.count, code[index + 2].kind == .number {
            return [source.finding(token, "a fixed length: take one that grows with the text")]
        }
        return []
    }
}
