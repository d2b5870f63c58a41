import Testing

/// Rules about docs/inside/requirements.md and docs/inside/threats-*.md: each row has a test that holds it.
enum PromiseRules {
    /// 88 requirements of the specification, and what it has besides its rules.
    static let numbers: [String] = [
        ("S0", 22), ("S1", 18), ("S2", 22), ("S3", 13), ("S4", 13), ("C0", 2), ("C1", 1), ("C2", 1), ("C4", 1),
    ].flatMap { part, count in (1...count).map { "\(part).\($0)" } }

    /// A test in Swift or Python, or a scenario, that says which requirements it holds.
    struct Mark: Equatable {
        var path: String
        var line: Int
        var rows: [Substring]
    }

    /// `.requirement("S0.1", "S0.2")` in a Swift test, `@pytest.mark.requirement("S0.1")` in a Python test, `requirement: [S0.1]` in a scenario.
    static func marks(in source: Source) -> [Mark] {
        let pattern: String
        switch source.path.split(separator: ".").last {
        case "swift": pattern = #"^(?!\s*//).*\.requirement\(([^)]*)\)"#
        case "py": pattern = #"^@pytest\.mark\.requirement\(([^)]*)\)"#
        case "yaml" where source.path.hasPrefix("Tests/Scenarios/"): pattern = #"^[ -]*requirement:(.*)$"#
        default: return []  // tidy: other files hold nothing
        }
        guard source.path.hasPrefix("Tests/"), source.text.contains("requirement") else { return [] }
        return source.text.matches(pattern).map { match in
            let rows = match.groups[0].split { "[]\", \n".contains($0) }
            return Mark(path: source.path, line: source.text.line(of: match.range.lowerBound), rows: rows)
        }
    }

    /// What the source of a row says, and the row must say too. What is not met stands behind the rule as it is.
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

    /// Rows are `| S0.1 | rule | code | tests |`.
    static func requirements(_ page: Source, marks: [Mark], exists: (String) -> Bool) -> [Finding] {
        var findings: [Finding] = []
        var seen: [String: Int] = [:]
        for (index, line) in page.lines.enumerated() {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(\.trimmed)
            guard cells.count == 6, !cells[1].matches(#"^[SC]\d\.\d+$"#).isEmpty else { continue }
            let number = cells[1]
            func wrong(_ what: String) { findings.append(page.finding(index + 1, "\(number) \(what)")) }
            func links(_ cell: String) -> [String] {
                DocumentRules.links(in: Source(path: page.path, text: cell)).map(\.path)
            }
            seen[number, default: 0] += 1
            if !self.numbers.contains(number) { wrong("is no requirement") }
            if links(cells[3]).isEmpty || !links(cells[3]).allSatisfy(exists) { wrong("names no code that is there") }
            let holding = marks.filter { $0.rows.contains { $0 == number } }.map(\.path)
            if holding.isEmpty || links(cells[4]).isEmpty { wrong("has no test") }
            for path in links(cells[4]) where !holding.contains(path) {
                wrong("names \(path), which has no test of it")
            }
            let met = cells[2].matches(#"^(?:(?!\*Not met\*|\*Otherwise\*).)*"#).first?.text ?? ""
            for words in self.kept[number] ?? [] where !met.contains(words) { wrong("no longer says: \(words)") }
        }
        findings += self.numbers.filter { seen[$0] != 1 }.map { page.finding(1, "\($0) needs exactly one row") }
        for mark in marks
        where !(1...3).contains(mark.rows.count) || !mark.rows.allSatisfy({ self.numbers.contains(String($0)) }) {
            findings.append(Finding(path: mark.path, line: mark.line, what: "a test holds one to three requirements"))
        }
        return findings
    }

    /// Threats without a test, and tests that are not where the page says: links to their files with their names in backquotes.
    static func threats(_ page: Source, text: (String) -> String?) -> [Finding] {
        self.section("Threats", of: page).flatMap { line, row -> [Finding] in
            let tests = row.matches(#"\[`([^`]+)`\]\((?:\.\./)+(Tests/[^)]*)\)"#)
            let gone = tests.filter { test in
                let name = test.groups[0]
                let forms = ["func `\(name)`", "func \(name)(", "def \(name)("]
                return !forms.contains { text(String(test.groups[1]))?.contains($0) == true }
            }
            return (tests.isEmpty ? [page.finding(line, "the threat names no test")] : [])
                + gone.map { page.finding(line, "\($0.groups[1]) has no test \($0.groups[0])") }
        }
    }

    /// The rows of the tables under a heading, by line, without their heads.
    static func section(_ heading: String, of page: Source) -> [(line: Int, row: String)] {
        let begin = page.lines.firstIndex { $0 == "## \(heading)" } ?? page.lines.endIndex
        return page.lines.indices.dropFirst(begin + 1).prefix { !page.lines[$0].hasPrefix("## ") }
            .filter { page.lines[$0].hasPrefix("| ") && page.lines.dropFirst($0 + 1).first?.hasPrefix("|---") != true }
            .map { ($0 + 1, String(page.lines[$0])) }
    }
}

@Suite struct `What is promised` {
    @Test func `has a row and a test for every requirement`() throws {
        #expect(PromiseRules.numbers.count == 88 + 5)
        let marks = Tree.sources.filter { !$0.path.hasPrefix("Tests/TidyTests/") }.flatMap(PromiseRules.marks)
        expectNone(
            PromiseRules.requirements(
                try Tree.source("docs/inside/requirements.md"), marks: marks, exists: Tree.exists))
    }

    @Test func `names for every threat a test that is there`() throws {
        let pages = try ["access", "keys", "faults"].map { try Tree.source("docs/inside/threats-\($0).md") }
        for page in pages {
            #expect(PromiseRules.section("Threats", of: page).count > 20, "\(page.path) was not understood")
        }
        expectNone(pages.flatMap { page in PromiseRules.threats(page) { try? Tree.source($0).text } })
    }

    @Test func `lists every package of the manifest with its licence, and no other`() throws {
        let packages = try Tree.source("Package.swift").text.matches(#"\.package\(url: "[^"]*/([^/"]+?)(?:\.git)?""#)
        #expect(packages.count > 10, "the manifest was not understood")
        let rows = PromiseRules.section("Dependencies", of: try Tree.source("docs/inside/threat-model.md"))
        let cells = rows.map { $0.row.split(separator: "|").map(\.trimmed) }
        #expect(Set(cells.map { $0[0] }) == Set(packages.map { String($0.groups[0]) }))
        #expect(Set(cells.map { $0[1] }) == ["Apache-2.0", "MIT"])
    }
}

/// Each rule against pages that break it and others that do not.
@Suite struct `A rule about promises` {
    private static let tail = "| [a](../../Sources/A.swift) | [t](../../Tests/T.swift) |"
    private static let marks = PromiseRules.numbers.map {
        PromiseRules.Mark(path: "Tests/T.swift", line: 1, rows: [$0[...]])
    }

    /// The findings on a page whose rows are in order, but for one.
    private static func findings(_ row: String, for number: String, _ more: [PromiseRules.Mark] = []) -> [String] {
        let rows = PromiseRules.numbers.filter { $0 != number }.map { number in
            "| \(number) | \((PromiseRules.kept[number] ?? []).joined(separator: " ")) \(Self.tail)"
        }
        let page = Source(path: "docs/inside/requirements.md", text: ([row] + rows).joined(separator: "\n"))
        return PromiseRules.requirements(page, marks: Self.marks + more) { $0 == "Sources/A.swift" }.map(\.what)
    }

    @Test(
        arguments: [
            ("| S0.1 | rule \(Self.tail)", "S0.1", nil), ("", "S0.1", "S0.1 needs exactly one row"),
            ("| S0.2 | rule \(Self.tail)", "S0.1", "S0.1 needs exactly one row"),
            ("| S0.1 | rule | [a](../../Sources/A.swift) | none |", "S0.1", "S0.1 has no test"),
            (
                "| S0.1 | r | [a](../../Sources/A.swift) | [u](../../Tests/U.swift) |", "S0.1",
                "S0.1 names Tests/U.swift, which has no test of it"
            ),
            (
                "| S0.1 | rule | [b](../../Sources/B.swift) | [t](../../Tests/T.swift) |", "S0.1",
                "S0.1 names no code that is there"
            ),
            ("| S3.2 | two minutes *Not met*: x \(Self.tail)", "S3.2", nil),
            ("| S3.2 | minutes \(Self.tail)", "S3.2", "S3.2 no longer says: two minutes"),
            ("| S3.2 | x *Not met*: two minutes \(Self.tail)", "S3.2", "S3.2 no longer says: two minutes"),
        ] as [(String, String, String?)])
    func `finds a requirement without a row, code or test, or with a weaker rule`(
        row: String, number: String, what: String?
    ) {
        #expect(Self.findings(row, for: number).first == what)
    }

    @Test(arguments: [["S0.1", "S0.2", "S0.3", "S0.4"], [], ["S5.1"]])
    func `finds a test with too many requirements, none, or one that does not exist`(rows: [String]) {
        let mark = PromiseRules.Mark(path: "Tests/T.swift", line: 3, rows: rows.map { $0[...] })
        let found = Self.findings("| S0.1 | rule \(Self.tail)", for: "S0.1", [mark])
        #expect(found == ["a test holds one to three requirements"])
    }

    @Test(arguments: [
        ("Tests/T.swift", "// .requirement(\"S0.9\")\n@Test(.requirement(\"S0.1\", \"S3.13\")) func one() {}"),
        ("Tests/t.py", "\n@pytest.mark.requirement(\"S0.1\", \"S3.13\")\ndef test(): # .requirement(\"S0.9\")"),
        ("Tests/Scenarios/x.yaml", "name: x\n  - requirement: [S0.1, S3.13]\n"),
    ])
    func `reads marks`(path: String, text: String) {
        #expect(
            PromiseRules.marks(in: Source(path: path, text: text)) == [
                .init(path: path, line: 2, rows: ["S0.1", "S3.13"])
            ])
        #expect(PromiseRules.marks(in: Source(path: "Sources/\(path)", text: text)) == [])
    }

    @Test func `finds a threat without a test, and with one that is not there`() {
        let text = """
            ## Trusted
            | nobody | – |
            ## Threats
            | an attacker wants to | held by |
            |---|---|
            | hold | [`holds`](../../Tests/A.swift), [`test_it`](../../Tests/b.py) |
            | break | nothing |
            | fly | [`flies`](../../Tests/A.swift), [`holds`](../../Tests/C.swift) |
            """
        let files = ["Tests/A.swift": "@Test func `holds`() {}", "Tests/b.py": "def test_it(site):"]
        let found = PromiseRules.threats(Source(path: "docs/inside/threats-a.md", text: text)) { files[$0] }
        #expect(found.map(\.line) == [7, 8, 8])
    }
}
