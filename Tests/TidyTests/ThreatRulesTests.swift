import Testing

@Suite struct `The threat model` {
    private let page = Tree.sources.first { $0.path == "docs/threat-model.md" }

    @Test func `names for every threat a test that is there`() throws {
        let page = try #require(self.page)
        let findings = ThreatRules.findings(page: page) { try? Tree.text($0) }
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
        #expect(Set(page.lines.flatMap(ThreatRules.tests)).count > 40, "the page was not understood")
    }

    @Test func `lists every package of the manifest with its licence, and no other`() throws {
        let packages = ThreatRules.packages(in: try Tree.text("Package.swift"))
        #expect(packages.count > 10, "the manifest was not understood")
        let licences = ThreatRules.licences(in: try #require(self.page))
        #expect(Set(licences.keys) == Set(packages))
        #expect(Set(licences.values) == ["Apache-2.0", "MIT"])
    }

    @Test func `is found wanting without a test, and with one that is not there`() {
        let page = Source(
            path: "docs/threat-model.md",
            text: """
                ## Trusted
                | nobody | – | – |
                ## Threats
                | an attacker wants to | in the way | held by |
                |---|---|---|
                | hold | a door | [`holds`](../Tests/A.swift), [`test_it`](../Tests/b.py) |
                | break | a wall | nothing |
                | fly | a roof | [`flies`](../Tests/A.swift), [`holds`](../Tests/C.swift) |
                """)
        let files = ["Tests/A.swift": "@Test func `holds`() {}", "Tests/b.py": "def test_it(site):"]
        #expect(
            ThreatRules.findings(page: page) { files[$0] } == [
                Finding(path: page.path, line: 7, what: "the threat names no test"),
                Finding(path: page.path, line: 8, what: "Tests/A.swift has no test \"flies\""),
                Finding(path: page.path, line: 8, what: "Tests/C.swift has no test \"holds\""),
            ])
    }

    @Test func `reads packages and licences`() {
        let manifest =
            ".package(url: \"https://x.y/a/one\", from: \"1\"), .package(url: \"https://x.y/two.git\", from: \"1\")"
        #expect(ThreatRules.packages(in: manifest) == ["one", "two"])
        let page = Source(
            path: "p.md",
            text:
                "## Dependencies\n| package | licence | for |\n|---|---|---|\n| one | MIT | x |\n## More\n| two | y | z |"
        )
        #expect(ThreatRules.licences(in: page) == ["one": "MIT"])
    }
}
