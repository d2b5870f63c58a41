/// Where functions begin and end.
enum Functions {
    struct Body {
        /// The word `func`, `init`, `deinit` or `subscript`.
        var token: Token
        /// The line of the opening brace.
        var openingLine: Int
        /// The line of the closing brace.
        var closingLine: Int
        var lineCount: Int { self.closingLine - self.token.line + 1 }
    }

    /// Words that show that a requirement of a protocol has ended without a body.
    private static let nextDeclaration: Set<String> = [
        "func", "var", "let", "init", "case", "subscript", "associatedtype", "static", "mutating", "package", "public",
        "private", "internal", "typealias", "struct", "enum", "class", "extension", "protocol", "actor", "deinit", "@",
        "}",
    ]

    static func bodies(in code: [Token]) -> [Body] { code.indices.compactMap { Self.body(startingAt: $0, in: code) } }

    private static func body(startingAt index: Int, in code: [Token]) -> Body? {
        let token = code[index]
        guard ["func", "init", "deinit", "subscript"].contains(token.text), token.kind == .word else { return nil }
        // `.init(…)`, `self.init(…)`.
        if index > 0, code[index - 1].is(".") { return nil }
        guard let open = Self.openingBrace(after: index, in: code) else { return nil }
        var depth = 0
        for position in code.indices[open...] {
            if code[position].is("{") { depth += 1 }
            if code[position].is("}") { depth -= 1 }
            if depth == 0 {
                return Body(token: token, openingLine: code[open].line, closingLine: code[position].line)
            }
        }
        return nil
    }

    /// The brace that opens the body: the first one outside the parameters; nil for a requirement of a protocol.
    private static func openingBrace(after index: Int, in code: [Token]) -> Int? {
        var depth = 0
        var hasParameters = code[index].is("deinit")
        for position in code.indices[(index + 1)...] {
            let token = code[position]
            if token.is("(") || token.is("[") { depth += 1 }
            if token.is(")") || token.is("]") {
                depth -= 1
                hasParameters = true
            }
            if depth < 0 { return nil }
            guard depth == 0, hasParameters else { continue }
            if token.is("{") { return position }
            if Self.nextDeclaration.contains(token.text), token.kind != .string { return nil }
        }
        return nil
    }
}

/// Which declarations say what they are for.
enum Declarations {
    private static let access: Set<String> = ["public", "open"]
    private static let modifiers: Set<String> = [
        "static", "final", "mutating", "nonmutating", "nonisolated", "indirect", "class", "convenience", "required",
        "lazy", "weak", "unowned", "consuming", "borrowing", "isolated", "private", "set", "override", "dynamic",
        "prefix",
        "postfix", "infix", "unsafe",
    ]
    private static let keywords: Set<String> = [
        "struct", "enum", "class", "actor", "protocol", "func", "var", "let", "init", "subscript", "typealias",
        "associatedtype", "macro",
    ]
    private static let types: Set<String> = ["struct", "enum", "class", "actor", "protocol"]
    /// Requirements of well-known protocols, which mean what those protocols say.
    private static let wellKnown: Set<String> = ["rawValue", "==", "<", "hash", "hashValue", "description"]

    /// The names of public declarations without a doc comment.
    ///
    /// - Parameter typesOnly: whether members are excused, but for those of extensions, which are the product's own: defaults of what is
    ///   optional on Apple's systems.
    static func undocumented(in tokens: [Token], typesOnly: Bool = false) -> [Token] {
        let witnesses = Self.extensions(in: tokens, declaringConformance: true)
        let extensions = Self.extensions(in: tokens, declaringConformance: false)
        return tokens.indices.compactMap { index in
            guard Self.access.contains(tokens[index].text), tokens[index].kind == .word,
                let keyword = Self.keyword(after: index, in: tokens), keyword + 1 < tokens.count
            else { return nil }
            let isType = Self.types.contains(tokens[keyword].text)
            if !isType, witnesses.contains(where: { $0.contains(index) }) { return nil }
            if typesOnly, !isType, !extensions.contains(where: { $0.contains(index) }) { return nil }
            // `public import`, `.package(…)`, `package.targets`.
            if index > 0, tokens[index - 1].is(".") || tokens[index - 1].is("(") { return nil }
            if Self.isOverride(index..<keyword, in: tokens) { return nil }
            let name = Self.name(after: keyword, in: tokens)
            if Self.wellKnown.contains(name.text) { return nil }
            return Self.isDocumented(index, in: tokens) ? nil : name
        }
    }

    /// The bodies of extensions. What stands in one that declares a conformance means what the protocol says.
    private static func extensions(in tokens: [Token], declaringConformance: Bool) -> [Range<Int>] {
        tokens.indices.compactMap { index in
            guard tokens[index].is("extension"),
                let open = tokens.indices[index...].first(where: { tokens[$0].is("{") }),
                tokens[index..<open].contains(where: { $0.is(":") }) == declaringConformance
            else { return nil }
            var depth = 0
            for position in tokens.indices[open...] {
                if tokens[position].is("{") { depth += 1 }
                if tokens[position].is("}") { depth -= 1 }
                if depth == 0 { return open..<position }
            }
            return nil
        }
    }

    private static func name(after keyword: Int, in tokens: [Token]) -> Token {
        var name = tokens[keyword].is("init") || tokens[keyword].is("subscript") ? tokens[keyword] : tokens[keyword + 1]
        if name.kind == .symbol, keyword + 2 < tokens.count, tokens[keyword + 2].touchesPrevious {
            name.text += tokens[keyword + 2].is("(") ? "" : tokens[keyword + 2].text
        }
        // `init(rawValue:)` and `init(_ rawValue:)` are the raw value's other half; a literal is its value.
        let isWitness = tokens[(keyword + 1)...].prefix(3).contains {
            $0.is("rawValue") || $0.text.hasSuffix("Literal")
        }
        if tokens[keyword].is("init"), isWitness { name.text = "rawValue" }
        return name
    }

    private static func isOverride(_ range: Range<Int>, in tokens: [Token]) -> Bool {
        tokens[range].contains { $0.is("override") }
            || (range.lowerBound > 0 && tokens[range.lowerBound - 1].is("override"))
    }

    /// The declaring keyword behind an access modifier; nil if none follows, as in `public import`.
    private static func keyword(after index: Int, in tokens: [Token]) -> Int? {
        var position = index + 1
        while position < tokens.count {
            let token = tokens[position]
            if Self.keywords.contains(token.text), token.kind == .word {
                let isModifier =
                    token.is("class") && position + 1 < tokens.count
                    && Self.keywords.contains(tokens[position + 1].text)
                if !isModifier { return position }
            } else if !Self.modifiers.contains(token.text), !["(", ")"].contains(token.text), token.kind != .comment {
                return nil
            }
            position += 1
        }
        return nil
    }

    /// Whether the nearest thing before the modifiers and attributes of a declaration is a doc comment.
    private static func isDocumented(_ index: Int, in tokens: [Token]) -> Bool {
        var position = index - 1
        while position >= 0 {
            let token = tokens[position]
            if token.kind == .comment {
                if token.text.hasPrefix("///") || token.text.hasPrefix("/**") { return true }
                position -= 1
            } else if Self.modifiers.contains(token.text), token.kind == .word {
                position -= 1
            } else if let attribute = Self.attributeStart(endingAt: position, in: tokens) {
                position = attribute - 1
            } else {
                return false
            }
        }
        return false
    }

    /// The `@` of an attribute that ends at the position, with or without arguments; nil if none does.
    private static func attributeStart(endingAt position: Int, in tokens: [Token]) -> Int? {
        var name = position
        if tokens[position].is(")") {
            var depth = 0
            while name >= 0 {
                if tokens[name].is(")") { depth += 1 }
                if tokens[name].is("(") { depth -= 1 }
                name -= 1
                if depth == 0 { break }
            }
        }
        guard name > 0, tokens[name].kind == .word, tokens[name - 1].is("@") else { return nil }
        return name - 1
    }
}
