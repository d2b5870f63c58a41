/// What the SDK's views say: every word comes from its words, and those are there in each language.
enum InterfaceWordRules {
    /// What is written or spoken, as a property that is set.
    private static let properties: Set = [
        "text", "title", "place" + "holder", "prompt", "backButtonTitle", "badgeValue", "accessibilityLabel",
        "accessibilityValue", "accessibilityHint",
    ]
    /// The same as an argument.
    private static let arguments: Set = ["title", "message", "header", "footer", "detail", "swipe"]
    /// Calls whose argument at a place is written or spoken.
    private static let calls: [String: Int] = ["setTitle": 0, "FormRow": 1]
    private static let custom = "UIAccessibilityCustomAction"

    static let literals = Rule(name: "what the SDK's views say comes from its words") { source in
        guard source.isSwift, source.target == InterfaceRules.target, !Self.isOfWords(source) else { return [] }
        let code = source.code
        return code.indices.compactMap { index in
            guard index > 1, code[index].kind == .string, Self.hasWords(code[index].text), Self.isSaid(index, in: code)
            else { return nil }
            return source.finding(
                code[index], "\(code[index].text) is said in one language only: take a word of InterfaceWords")
        }
    }

    /// Files that hold the words.
    private static func isOfWords(_ source: Source) -> Bool {
        source.path.split(separator: "/").last?.contains("Words") == true
    }

    private static func isSaid(_ index: Int, in code: [Token]) -> Bool {
        let (before, name) = (code[index - 1], code[index - 2])
        if before.is("="), Self.properties.contains(name.text) { return true }
        if before.is(":"), Self.arguments.contains(name.text) { return true }
        if before.is(":"), name.is("name"), index > 3, code[index - 4].is(Self.custom) { return true }
        // The place among the arguments of the call it stands in.
        var (depth, place, commas) = (0, index - 1, 0)
        while place > 0 {
            if code[place].is(")") || code[place].is("]") || code[place].is("}") { depth += 1 }
            if code[place].is("(") || code[place].is("[") || code[place].is("{") {
                if depth == 0 { break }
                depth -= 1
            }
            if depth == 0, code[place].is(",") { commas += 1 }
            place -= 1
        }
        return place > 0 && code[place].is("(") && Self.calls[code[place - 1].text] == commas && !before.is(":")
    }

    /// Whether a literal has letters of its own, beside what is put into it.
    static func hasWords(_ literal: String) -> Bool {
        var rest = literal[...]
        var text = ""
        while let place = rest.firstRange(of: "\\(") {
            text += rest[..<place.lowerBound]
            var depth = 1
            rest = rest[place.upperBound...]
            while depth > 0, let next = rest.popFirst() {
                if next == "(" { depth += 1 }
                if next == ")" { depth -= 1 }
            }
        }
        return (text + rest).contains(where: \.isLetter)
    }

    // MARK: Languages

    static let languages = Rule(name: "the SDK's views have every word in English and Chinese") { source in
        guard source.isSwift, source.target == InterfaceRules.target, Self.isOfWords(source) else { return [] }
        let english = Self.words("english", in: source)
        let chinese = Self.words("simplifiedChinese", in: source)
        switch (english, chinese) {
        case (nil, nil): return []
        case (let found?, nil), (nil, let found?):
            return [source.finding(found.token, "words in one language only")]
        case (let english?, let chinese?):
            var findings: [Finding] = []
            if english.labels != chinese.labels || english.literals.count != chinese.literals.count {
                findings.append(source.finding(chinese.token, "other words than in English"))
            }
            for literal in english.literals where literal.text == "\"\"" || Self.isChinese(literal.text) {
                findings.append(source.finding(literal, "\(literal.text) is no English"))
            }
            for literal in chinese.literals where !Self.isChinese(literal.text) {
                findings.append(source.finding(literal, "\(literal.text) is no Chinese"))
            }
            return findings
        }
    }

    private struct Words {
        var token: Token
        var labels: [String]
        var literals: [Token]
    }

    /// What stands between the parentheses of `static let NAME = X(…)`. A language's tag is no word.
    private static func words(_ name: String, in source: Source) -> Words? {
        let code = source.code
        guard
            let start = code.indices.first(where: {
                $0 + 4 < code.count && code[$0].is("let") && code[$0 + 1].is(name) && code[$0 + 2].is("=")
                    && code[$0 + 4].is("(")
            })
        else { return nil }
        let open = start + 4
        let end = InterfaceRules.end(of: open, in: code)
        var words = Words(token: code[start + 1], labels: [], literals: [])
        for place in open..<end {
            if code[place].kind == .word, code[place + 1].is(":"), !code[place - 1].is(".") {
                words.labels.append(code[place].text)
            }
            guard code[place].kind == .string else { continue }
            if code[place - 1].is(":"), code[place - 2].is("language") { continue }
            words.literals.append(code[place])
        }
        return words
    }

    private static func isChinese(_ text: String) -> Bool {
        text.unicodeScalars.contains { (0x4e00...0x9fff).contains($0.value) }
    }
}
