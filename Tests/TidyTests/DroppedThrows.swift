/// Finds reads whose failure Swift 6.3.1 drops: it compiles an operand on the right of `||`, `&&` or `??` that makes an enum case of
/// several values as if it did not throw (swiftlang/swift#91937).
///
/// Works without types: in what a `try` covers, `.name(a, b)` and `Type.name(a, b)` are taken for cases where a case of that name is
/// declared. A closure within an operand is compiled by itself, and rightly.
enum DroppedThrows {
    private static let closed =
        #"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[[^\[\]]*\]|\{(?:[^{}]|\{[^{}]*\})*\}(?! *else)"#
    /// Goes on in an expression, and into brackets that it opens.
    private static let within =
        #"(?:(?! \? )[^()\[\]{},:\n]|\n *(?=[.|&?+)])|\#(Self.closed))*(?:[(\[](?:[^()\[\]{}]|\#(Self.closed))*)*"#
    private static let operation = #"(?:\|\||&&|\?\?)"#
    private static let made = #"(?:(?<![\w)\]?!>`])|\b[A-Z]\w*)\.(\w+)\((?:[^()\[\]{},]|\#(Self.closed))*,"#
    private static let pattern = """
        \\btry\\b\(Self.within)\(Self.operation)\(Self.within)\(Self.made)\
        |\(Self.operation)\(Self.within)\\btry\\b\(Self.within)\(Self.made)
        """

    static func findings(in sources: [Source]) -> [Finding] {
        let code = sources.map { ($0, $0.code.joined(separator: "\n")) }
        let declarations = code.flatMap { $0.1.matches(#"^ *(?:indirect )?case (\w+\(.*)"#) }
        let cases = Set(declarations.flatMap { String($0.groups[0]).matches(#"(\w+)\("#) }.map { $0.groups[0] })
        return code.flatMap { source, code in
            code.matches(Self.pattern).compactMap { match in
                guard let name = match.groups.first(where: { !$0.isEmpty }), cases.contains(name) else { return nil }
                return source.finding(
                    code.line(of: match.range.upperBound),
                    "what throws beside `.\(name)(…)` is not thrown: make the case in a statement before")
            }
        }
    }
}
