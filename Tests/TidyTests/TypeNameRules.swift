/// Rules about the names of types.
enum TypeNameRules {
    private static let keywords: Set<String> = ["struct", "enum", "class", "actor", "protocol", "typealias"]

    /// The names of the types and aliases that stand in no other type and are seen beyond their file.
    static func topLevelTypes(in code: [Token]) -> [Token] {
        var depth = 0
        var isFilePrivate = false
        var found: [Token] = []
        for index in code.indices {
            let token = code[index]
            if token.is("{") { depth += 1 }
            if token.is("}") {
                depth -= 1
                isFilePrivate = false
            }
            guard depth == 0, token.kind == .word else { continue }
            if token.is("private") || token.is("fileprivate") { isFilePrivate = true }
            if token.is("func") || token.is("var") || token.is("let") || token.is("extension") { isFilePrivate = false }
            guard Self.keywords.contains(token.text), index + 1 < code.count, code[index + 1].kind == .word else {
                continue
            }
            // `import struct Foundation.URL`.
            if index > 0, code[index - 1].is("import") { continue }
            if !isFilePrivate { found.append(code[index + 1]) }
            isFilePrivate = false
        }
        return found
    }

    /// Types of two targets with one name: a reader who searches for the one finds the other. The facades' names are Apple's.
    static func pairs(in sources: [Source]) -> [Finding] {
        var first: [String: (target: String, path: String)] = [:]
        var findings: [Finding] = []
        for source in sources where source.isSwift && !source.isGenerated {
            guard let target = source.target, !House.facades.contains(target) else { continue }
            for name in self.topLevelTypes(in: source.code) {
                if let other = first[name.text] {
                    guard other.target != target else { continue }
                    findings.append(
                        source.finding(name, "\(other.path) has a \(name.text) too; two types get two names"))
                } else {
                    first[name.text] = (target, source.path)
                }
            }
        }
        return findings
    }

    /// Verbs that say nothing alone: a search for them finds everything.
    static let bareVerbs: Set<String> = ["take", "see", "note", "tell", "ask", "judge", "keep", "hear"]

    /// Functions of ours that are called by such a verb, without what it is done to.
    static func bareFunctions(in source: Source) -> [Finding] {
        guard source.isSwift, !source.isGenerated, !source.isTest else { return [] }
        let code = source.code
        return code.indices.dropFirst().compactMap { index in
            guard code[index - 1].is("func"), Self.bareVerbs.contains(code[index].text) else { return nil }
            return source.finding(code[index], "`\(code[index].text)` alone: add what it is done to")
        }
    }
}
