/// Finds places where the iteration order of a Dictionary or a Set can leave: Swift seeds hashing per process, so one
/// seed would give two traces.
///
/// Works without types, from the names a file and its target declare. A name counts as hashed if it is declared as `[K: V]`,
/// `Dictionary` or `Set` and not also as something ordered; what the file itself declares goes first. `.keys` and `.values`
/// count unless the name before them, or a property called so, is declared as ordered.
enum HashOrder {
    /// The escape for uses that fold or look up, so that no order gets out; the reason follows it.
    static let mark = "tidy: order does not leave:"

    /// Members of an unordered collection whose result depends on its order.
    private static let leaking: Set<String> = [
        "map", "compactMap", "flatMap", "forEach", "reduce", "first", "enumerated", "prefix", "suffix", "dropFirst",
        "popFirst", "removeFirst", "joined", "makeIterator", "randomElement", "lazy",
    ]

    /// Words that take the order away again when they stand in the same statement.
    private static let settling: Set<String> = [
        "sorted", "sort", "Set", "Dictionary", "formUnion", "union", "subtract", "subtracting",
    ]

    /// Questions whose answer does not depend on an order, when asked of `.keys` or `.values` directly.
    private static let orderless: Set<String> = [
        "count", "isEmpty", "contains", "allSatisfy", "max", "min", "isSubset", "isSuperset", "isDisjoint",
    ]

    static func findings(in source: Source) -> [Finding] {
        let code = source.code
        let names = Self.declaredNames(in: code).completed(by: source.namesOfTarget)
        return code.indices.compactMap { index in
            guard let what = Self.leak(at: index, in: code, names: names) else { return nil }
            let statement = Self.statement(around: index, in: code)
            if statement.contains(where: { Self.settling.contains(code[$0].text) }) { return nil }
            if source.hasReason(Self.mark, at: code[index].line) { return nil }
            return source.finding(
                code[index], "\(what) gives the order of a hash: sort it, or state `// \(Self.mark) …` and why")
        }
    }

    struct Names: Equatable {
        var hashed: Set<String> = []
        var ordered: Set<String> = []

        /// These names, and those of others that these do not speak of.
        func completed(by others: Names) -> Names {
            let spoken = self.hashed.union(self.ordered)
            return Names(
                hashed: self.hashed.union(others.hashed.subtracting(spoken)),
                ordered: self.ordered.union(others.ordered.subtracting(spoken)))
        }

        func isHashed(_ name: String) -> Bool { self.hashed.contains(name) && !self.ordered.contains(name) }
    }

    /// Names declared with a type annotation or an initializer: `name: [K: V]`, `name: Set<T>`, `name = Set(…)`.
    static func declaredNames(in code: [Token]) -> Names {
        var names = Names()
        for index in code.indices.dropLast(2) where code[index].kind == .word {
            // An annotation, or the initial value of a `let` or `var`; a later assignment tells nothing.
            let isDeclared = index > 0 && (code[index - 1].is("let") || code[index - 1].is("var"))
            guard code[index + 1].is(":") || (code[index + 1].is("=") && isDeclared) else { continue }
            let type = code[index + 2]
            if type.is("Set") || type.is("Dictionary") || Self.isDictionaryType(at: index + 2, in: code) {
                names.hashed.insert(code[index].text)
            } else if ["OrderedDictionary", "OrderedSet", "Array", "Deque"].contains(type.text) || type.is("[")
                || (isDeclared && Self.makesList(from: index + 2, in: code))
            {
                names.ordered.insert(code[index].text)
            }
        }
        return names
    }

    /// Whether the rest of the line makes a list out of whatever it begins with; that step is judged where it stands.
    private static func makesList(from index: Int, in code: [Token]) -> Bool {
        code[index...].prefix { $0.line == code[index].line }
            .contains { ["sorted", "map", "compactMap", "flatMap", "Array"].contains($0.text) && $0.kind == .word }
    }

    /// Whether `[` at the index opens `[K: V]` or `[:]` rather than an array.
    private static func isDictionaryType(at index: Int, in code: [Token]) -> Bool {
        guard code[index].is("[") else { return false }
        var depth = 0
        for token in code[index...] {
            if token.is("[") || token.is("(") || token.is("<") { depth += 1 }
            if token.is("]") || token.is(")") || token.is(">") { depth -= 1 }
            if depth == 0 { return false }
            if depth == 1, token.is(":") { return true }
            if depth == 1, token.is(",") || (token.is("?") && !token.touchesPrevious) { return false }
        }
        return false
    }

    /// What leaks at the token, if anything does.
    private static func leak(at index: Int, in code: [Token], names: Names) -> String? {
        let token = code[index]
        guard token.kind == .word, index > 0 else { return nil }
        let previous = code[index - 1]
        if previous.is("."), token.is("keys") || token.is("values") {
            let isAsked = index + 2 < code.count && code[index + 1].is(".")
            if isAsked, Self.orderless.contains(code[index + 2].text) { return nil }
            guard index > 1, code[index - 2].kind == .word else { return ".\(token.text)" }
            let owner = code[index - 2].text
            // A property of ours that happens to be called so; what it holds is judged by its own declaration.
            if owner == "self" || owner == "Self" || names.ordered.contains(token.text) { return nil }
            // A hash cannot be asked by number.
            if index + 1 < code.count, code[index + 1].is("["), code[index + 1].touchesPrevious { return nil }
            return names.ordered.contains(owner) && !names.hashed.contains(owner) ? nil : "\(owner).\(token.text)"
        }
        guard names.isHashed(token.text) else { return nil }
        if index + 2 < code.count, code[index + 1].is("."), Self.leaking.contains(code[index + 2].text) {
            return "\(token.text).\(code[index + 2].text)"
        }
        if index + 1 < code.count, code[index + 1].is("{") || code[index + 1].is("where"),
            Self.isIterated(index, in: code)
        {
            return "for … in \(token.text)"
        }
        let isWhole = index + 1 < code.count && code[index + 1].is(")")
        if isWhole, let open = Self.pathStart(of: index, in: code), open > 1, code[open - 1].is("("),
            code[open - 2].is("Array")
        {
            return "Array(\(token.text))"
        }
        return nil
    }

    /// Whether the path that ends at the index stands behind `in`, as in `for x in self.legs {`.
    private static func isIterated(_ index: Int, in code: [Token]) -> Bool {
        guard let start = Self.pathStart(of: index, in: code), start > 0 else { return false }
        return code[start - 1].is("in")
    }

    /// The first token of a dotted path such as `self.state.legs`.
    private static func pathStart(of index: Int, in code: [Token]) -> Int? {
        var start = index
        while start > 1, code[start - 1].is("."), code[start - 2].kind == .word { start -= 2 }
        return start
    }

    /// The tokens of the statement around an index: back to a brace or the end of a line outside brackets, and forward
    /// through brackets and lines that continue with a dot.
    private static func statement(around index: Int, in code: [Token]) -> Range<Int> {
        var start = index
        var depth = 0
        while start > 0 {
            let token = code[start - 1]
            let isNewLine = token.lastLine != code[start].line
            if depth == 0, isNewLine, !code[start].is("."), !Self.continues(token) { break }
            if token.is(")") || token.is("]") { depth += 1 }
            if token.is("(") || token.is("[") { depth = max(0, depth - 1) }
            if depth == 0, token.is("{") || token.is("}") { break }
            start -= 1
        }
        var end = index + 1
        depth = 0
        while end < code.count {
            let token = code[end]
            if token.is("(") || token.is("[") { depth += 1 }
            if token.is(")") || token.is("]") { depth -= 1 }
            let isNewLine = code[end - 1].lastLine != token.line
            if depth <= 0, isNewLine, !token.is("."), !token.is(")"), !Self.continues(code[end - 1]) { break }
            if depth <= 0, token.is("{"), code[start].is("for") { break }
            end += 1
        }
        return start..<end
    }

    /// Whether a line that ends with the token goes on in the next.
    private static func continues(_ token: Token) -> Bool {
        ["(", "[", ",", "=", "+", "-", "?", ":", "&", "|", "in", "return"].contains(token.text) && token.kind != .string
    }
}
