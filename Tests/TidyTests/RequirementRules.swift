/// Rules about docs/requirements.md: every requirement has a row, every row a test that says it holds it.
enum RequirementRules {
    /// A row of the page.
    struct Row: Equatable {
        var number: String
        var line: Int
        /// The files of the last column, from the root of the tree.
        var tests: [String]
        /// The files of the column before it.
        var code: [String]
    }

    /// A place that says which requirements it holds: a test in Swift or Python, or a scenario.
    struct Mark: Equatable {
        var path: String
        var line: Int
        var rows: [String]
    }

    /// How many requirements each part of the specification has: S0.1–S0.22 and so on, 88 in all; and what each has besides its rules.
    static let parts = [
        ("S0", 22), ("S1", 18), ("S2", 22), ("S3", 13), ("S4", 13), ("C0", 2), ("C1", 1), ("C2", 1), ("C4", 1),
    ]

    static let numbers: [String] = Self.parts.flatMap { part, count in (1...count).map { "\(part).\($0)" } }

    /// How many rows one test may hold, so that its failure says what broke.
    static let rowsPerTest = 3

    /// The rows of the page: `| S0.1 | rule | code | tests |`.
    static func rows(in page: Source) -> [Row] {
        page.lines.enumerated().compactMap { index, line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map(Source.trimmed)
            guard cells.count == 4, Self.isNumber(cells[0]) else { return nil }
            return Row(
                number: String(cells[0]), line: index + 1, tests: Self.paths(in: cells[3], of: page),
                code: Self.paths(in: cells[2], of: page))
        }
    }

    private static func paths(in cell: Substring, of page: Source) -> [String] {
        DocumentRules.links(in: Source(path: page.path, text: String(cell))).compactMap {
            DocumentRules.resolve($0.path, from: page.path)
        }
    }

    private static func isNumber(_ text: some StringProtocol) -> Bool {
        let parts = text.split(separator: ".")
        return parts.count == 2 && parts[0].count == 2 && "SC".contains(parts[0].prefix(1))
            && parts[1].allSatisfy(\.isNumber)
    }

    /// The marks of a file: `.requirement("S0.1", "S0.2")` in a Swift test, `@pytest.mark.requirement("S0.1")` in a Python test,
    /// `requirement: [S0.1]` in a scenario.
    static func marks(in source: Source) -> [Mark] {
        guard source.path.hasPrefix("Tests/") else { return [] }
        if source.isSwift { return Self.marks(inSwift: source) }
        if source.path.hasSuffix(".py") { return Self.marks(inPython: source) }
        guard source.path.hasPrefix("Tests/Scenarios/"), source.path.hasSuffix(".yaml") else { return [] }
        return source.lines.enumerated().compactMap { index, line in
            let text = Source.trimmed(line)
            let entry = text.hasPrefix("- ") ? text.dropFirst(2) : text
            guard entry.hasPrefix("requirement:") else { return nil }
            let rows = entry.dropFirst("requirement:".count).split(whereSeparator: { "[], ".contains($0) })
            return Mark(path: source.path, line: index + 1, rows: rows.map(String.init))
        }
    }

    private static func marks(inPython source: Source) -> [Mark] {
        let decorator = "@pytest.mark.requirement("
        return source.lines.enumerated().compactMap { index, line in
            let text = Source.trimmed(line)
            guard text.hasPrefix(decorator) else { return nil }
            let rows = text.dropFirst(decorator.count).prefix { $0 != ")" }.split(whereSeparator: {
                "\", ".contains($0)
            })
            return Mark(path: source.path, line: index + 1, rows: rows.map(String.init))
        }
    }

    private static func marks(inSwift source: Source) -> [Mark] {
        let code = source.code
        var found: [Mark] = []
        for index in code.indices.dropLast(3)
        where code[index].is(".") && code[index + 1].is("requirement") && code[index + 2].is("(") {
            var rows: [String] = []
            for token in code[(index + 3)...] {
                if token.is(")") { break }
                if token.kind == .string { rows.append(String(token.text.dropFirst().dropLast())) }
            }
            found.append(Mark(path: source.path, line: code[index].line, rows: rows))
        }
        return found
    }

    /// What the source of a row says and an earlier row left out or made weaker, in the words of the row.
    static let kept = [
        "S0.4": ["must have implemented the user-info provider and the group-info provider"],
        "S0.8": ["device token and the app's push certificate"],
        "S1.16": ["`type`", "`info[\"type\"]`"], "S2.3": ["uploaded to the administration backend"],
        "S2.4": ["has the Push Notifications capability", "bundle identifier"],
        "S2.11": ["The SDK does not set the icon's number; the app does"],
        "S2.15": ["Service Extension", "Content Extension", "bundle identifiers must match its certificates"],
        "S2.16": ["the badge is an Int under the badge key"], "S2.19": ["each push adds 1, a recall takes 1 away"],
        "S3.2": ["two minutes"], "S3.4": ["without the callback the default one is shown"],
        "S3.5": ["needs the user, group and group-card providers"],
        "S4.12": ["named in-process notification with `title`, `content`, `extras`"],
    ]

    /// Rows that say less than their source. What is not met stands in the row, behind the rule as it is.
    static func weakened(in page: Source) -> [Finding] {
        Self.rows(in: page).flatMap { row in
            let rule = page.lines[row.line - 1].split(separator: "|", omittingEmptySubsequences: false)[2]
            let ends = ["*Not met*", "*Otherwise*"].compactMap { rule.firstRange(of: $0)?.lowerBound }
            let met = rule[..<(ends.min() ?? rule.endIndex)]
            return (Self.kept[row.number] ?? []).filter { !met.contains($0) }.map {
                Finding(path: page.path, line: row.line, what: "\(row.number) no longer says: \($0)")
            }
        }
    }

    /// What is wrong between page and marks. `exists` says whether a path is in the tree.
    static func findings(page: Source, marks: [Mark], exists: (String) -> Bool) -> [Finding] {
        let rows = Self.rows(in: page)
        var found: [Finding] = []
        for number in Self.numbers where rows.count(where: { $0.number == number }) != 1 {
            found.append(Finding(path: page.path, line: 1, what: "\(number) needs exactly one row"))
        }
        for row in rows {
            func wrong(_ what: String) { found.append(Finding(path: page.path, line: row.line, what: what)) }
            if !Self.numbers.contains(row.number) { wrong("there is no requirement \(row.number)") }
            if row.code.isEmpty { wrong("\(row.number) names no file of code") }
            for path in row.code where !exists(path) { wrong("\(row.number) names code that is not there: \(path)") }
            if row.tests.isEmpty { wrong("\(row.number) names no test") }
            for path in row.tests where !marks.contains(where: { $0.path == path && $0.rows.contains(row.number) }) {
                wrong("\(row.number) names \(path), in which no test is marked with it")
            }
            if !marks.contains(where: { $0.rows.contains(row.number) }) {
                wrong("no test is marked with \(row.number)")
            }
        }
        for mark in marks {
            if mark.rows.isEmpty || mark.rows.count > Self.rowsPerTest {
                found.append(Finding(path: mark.path, line: mark.line, what: "a test holds one to three requirements"))
            }
            for row in mark.rows where !Self.numbers.contains(row) {
                found.append(Finding(path: mark.path, line: mark.line, what: "there is no requirement \(row)"))
            }
        }
        return found
    }
}
