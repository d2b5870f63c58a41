/// What an app links uses no Swift convenience younger than iOS 15 (docs/decisions/0010-ios-15.md). On Linux everything compiles
/// whatever the manifest says, so only a rule notices.
enum AvailabilityRules {
    /// The SDK's targets, and what they are made of.
    static let targets: Set = [
        "ClientCore", "TidingsAppGroup", "TidingsClient", "TidingsKit", "TidingsNotificationContent",
        "TidingsNotificationService", "TidingsUI", "TidingsModel", "TidingsWire",
    ]

    /// A version of iOS.
    struct Version: Comparable {
        var major: Int
        var minor = 0
        static func < (left: Version, right: Version) -> Bool { (left.major, left.minor) < (right.major, right.minor) }
    }

    /// Words in a row, and the iOS they need; nil for none that helps, because the compiler the README promises has it not.
    static let younger: [(words: [String], needs: Version?)] = [
        (["Duration"], Version(major: 16)), (["ContinuousClock"], Version(major: 16)),
        (["SuspendingClock"], Version(major: 16)), (["Task", ".", "sleep", "(", "for", ":"], Version(major: 16)),
        (["Mutex"], Version(major: 18)), (["isolated", "deinit"], Version(major: 18, minor: 4)),
        (["weak", "let"], nil),
    ]

    static let deploymentTarget = Rule(name: "what an app links uses no convenience younger than iOS 15") { source in
        guard source.isSwift, !source.isGenerated, Self.targets.contains(source.target ?? "") else { return [] }
        let linux = Self.linuxLines(in: source)
        let available = Self.availableRanges(in: source.code)
        return source.code.indices.flatMap { index in
            Self.younger.compactMap { words, needs -> Finding? in
                guard index + words.count <= source.code.count,
                    words.indices.allSatisfy({ source.code[index + $0].is(words[$0]) })
                else { return nil }
                let token = source.code[index]
                if linux.contains(token.line) { return nil }
                if let needs, available.contains(where: { $0.tokens.contains(index) && $0.version >= needs }) {
                    return nil
                }
                let what = words.joined(separator: words.count == 2 ? " " : "")
                let least = needs.map { "iOS \($0.major)\($0.minor > 0 ? ".\($0.minor)" : "")" } ?? "Swift 6.3"
                return source.finding(token, "\(what) needs \(least); the SDK is for iOS 15")
            }
        }
    }

    // MARK: Branches for Linux

    private static let linuxConditions: Set = ["os(Linux)", "!canImport(Darwin)", "canImport(Glibc)", "TIDINGS_UIKIT"]
    private static let appleConditions: Set = ["!os(Linux)", "canImport(Darwin)", "!canImport(Glibc)", "canImport(os)"]

    /// The lines in branches of `#if` that no Apple system compiles.
    static func linuxLines(in source: Source) -> Set<Int> {
        var open: [(isLinux: Bool, mayBeElse: Bool)] = []
        var found: Set<Int> = []
        for (index, line) in source.lines.enumerated() {
            let text = String(Source.trimmed(line))
            if text.hasPrefix("#if ") {
                let condition = Self.condition(text.dropFirst(4))
                open.append((Self.holdsOnLinuxOnly(condition), Self.appleConditions.contains(condition)))
            } else if text.hasPrefix("#elseif "), let last = open.popLast() {
                let condition = Self.condition(text.dropFirst(8))
                open.append(
                    (Self.holdsOnLinuxOnly(condition), last.mayBeElse || Self.appleConditions.contains(condition)))
            } else if text.hasPrefix("#else"), let last = open.popLast() {
                open.append((last.mayBeElse, false))
            } else if text.hasPrefix("#endif") {
                _ = open.popLast()
            } else if open.contains(where: \.isLinux) {
                found.insert(index + 1)
            }
        }
        return found
    }

    private static func condition(_ text: Substring) -> String {
        let bare = text.firstRange(of: "//").map { text[..<$0.lowerBound] } ?? text
        return String(bare.filter { !$0.isWhitespace })
    }

    private static func holdsOnLinuxOnly(_ condition: String) -> Bool {
        guard !condition.contains("||") else { return false }
        return condition.split(separator: "&").contains { Self.linuxConditions.contains(String($0)) }
    }

    // MARK: Declarations and branches marked with their availability

    /// The declarations that say which iOS they need, and the bodies of `if #available(iOS …)`.
    static func availableRanges(in code: [Token]) -> [(tokens: Range<Int>, version: Version)] {
        code.indices.compactMap { index in
            guard index + 4 < code.count, code[index].is("@") || Self.isCondition(at: index, in: code),
                code[index + 1].is("available"), code[index + 2].is("("),
                code[index + 3].is("iOS"), let version = Self.version(at: index + 4, in: code),
                let close = code[index...].firstIndex(where: { $0.is(")") })
            else { return nil }
            if code[index].is("@") { return (index..<Self.end(ofDeclarationAfter: close, in: code), version) }
            guard let body = code[close...].firstIndex(where: { $0.is("{") }) else { return nil }
            return (body..<Self.end(ofDeclarationAfter: body - 1, in: code), version)
        }
    }

    /// A `#available` of an `if`; that of a `guard` speaks of what follows, which is not followed here.
    private static func isCondition(at index: Int, in code: [Token]) -> Bool {
        guard code[index].is("#") else { return false }
        let before = code[..<index].reversed().prefix { $0.line == code[index].line }
        return before.first { $0.is("if") || $0.is("guard") }?.is("if") ?? false
    }

    private static func version(at index: Int, in code: [Token]) -> Version? {
        let parts = code[index].text.split(separator: ".").compactMap { Int($0) }
        guard let major = parts.first else { return nil }
        if parts.count > 1 { return Version(major: major, minor: parts[1]) }
        guard index + 2 < code.count, code[index + 1].is("."), let minor = Int(code[index + 2].text) else {
            return Version(major: major)
        }
        return Version(major: major, minor: minor)
    }

    /// Up to the end of its body, or of its last line if it has none.
    private static func end(ofDeclarationAfter close: Int, in code: [Token]) -> Int {
        let beginnings: Set = [
            "let", "var", "func", "init", "struct", "class", "enum", "extension", "protocol", "case", "typealias",
            "public",
            "package", "private", "static", "mutating", "import", "deinit", "subscript", "actor", "final", "@", "#",
            "}",
        ]
        var depth = 0
        var hasBegun = false
        var index = close + 1
        while index < code.count {
            let token = code[index]
            if token.is("{") || token.is("(") || token.is("[") { depth += 1 }
            if token.is("}") || token.is(")") || token.is("]") {
                depth -= 1
                if depth < 0 { return index }
                if depth == 0, token.is("}") { return index + 1 }
            }
            let isNewLine = token.line > code[index - 1].lastLine
            if depth == 0, hasBegun, isNewLine, beginnings.contains(token.text) { return index }
            if depth == 0, ["let", "var", "func", "init", "struct", "class", "enum", "extension"].contains(token.text) {
                hasBegun = true
            }
            index += 1
        }
        return index
    }
}
