import Testing

@Suite struct `A reference to a section` {
    /// The pages that files refer to, as they are.
    private static func sections() throws -> [String: [String: String]] {
        var found: [String: [String: String]] = [:]
        for path in Set(ReferenceRules.pages.values) {
            found[path] = ReferenceRules.sections(of: Source(path: path, text: try Tree.text(path)))
        }
        return found
    }

    @Test func `resolves in every file`() throws {
        let sections = try Self.sections()
        // The tests of the rule name sections that are not there.
        let sources = Tree.sources.filter { $0.path != "Tests/TidyTests/ReferenceRulesTests.swift" }
        let findings = sources.flatMap { ReferenceRules.findings(in: $0, sections: sections) }
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
        let references = sources.flatMap(ReferenceRules.references)
        for name in ["design.md", "ios-delivery.md", "APNs reference"] {
            #expect(references.count { $0.name == name } > 50, "the references to \(name) were not understood")
        }
    }

    @Test func `is found wanting where the page lacks the section or the words that are quoted`() {
        let sections = [
            "docs/design.md": ["5": "**Badge.** A number.", "P3": ""], "docs/reference/apns.md": ["4": ""],
        ]
        let source = Source(
            path: "a.swift",
            text: """
                // Good (design.md §5 "Badge", P3), and good: APNs reference, section 4.
                // Bad: design.md §5 "Recall", P9; design.md §6.
                // Bad: apns.md §4.1, and ios-delivery.md §4.
                """)
        #expect(
            ReferenceRules.findings(in: source, sections: sections) == [
                Finding(path: "a.swift", line: 2, what: "docs/design.md, section 5, does not say “Recall”"),
                Finding(path: "a.swift", line: 2, what: "docs/design.md has no section P9"),
                Finding(path: "a.swift", line: 2, what: "docs/design.md has no section 6"),
                Finding(path: "a.swift", line: 3, what: "docs/reference/apns.md has no section 4.1"),
                Finding(path: "a.swift", line: 3, what: "docs/reference/ios-delivery.md has no section 4"),
            ])
    }

    @Test(
        arguments: [
            ("(design.md §3)", ["3"]),
            ("(design.md P4, P7, §5 \"Recall\").", ["P4", "P7", "5 Recall"]),
            ("design.md §5 \"Badge\" and \"Keep-one\", ios-delivery.md §10", ["5 Badge", "5 Keep-one", "10"]),
            ("those of design.md §3–§5.", ["3", "5"]),
            ("ios-delivery.md §14.", ["14"]),
            ("`ios-delivery.md §0.3` the app has", ["0.3"]),
            ("of `docs/design.md`, section 5", ["5"]),
            ("ios-delivery.md §4 gate 8, §7.3", ["4"]),
            ("ios-delivery.md sections 5.5, 6.4, 9 and 11", ["5.5", "6.4", "9", "11"]),
            ("APNs reference, section 4, \"Key kinds\")", ["4 Key kinds"]),
            ("APNs reference, section 9, 20 of them", ["9"]),
            ("APNs reference, sections 4 to 11).", ["4", "11"]),
            ("(APNs reference,\n    /// section 3.5). `close`", ["3.5"]),
            ("(APNs reference, section\n        # 3.1). 4", ["3.1"]),
            ("\"design.md §5\", \"apns.md is a page\"", ["5"]),
            ("apns.md §9\n// §10 is of another page", ["9"]),
            ("ios-delivery.md says so in 5", []),
        ] as [(String, [String])])
    func `is read in the forms that are in use`(text: String, expected: [String]) {
        let found = ReferenceRules.references(in: Source(path: "a.md", text: text))
        #expect(
            Set(found.map { [$0.section, $0.part].compactMap(\.self).joined(separator: " ") }) == Set(expected))
        #expect(found.count == expected.count)
    }

    @Test func `leads to a heading with a number`() {
        let page = Source(
            path: "p.md", text: "# 7 ways\n## 1. One\na\n### 1.2 Two\nb\n\nc\n### P3. Three\n## Four\nd\n## 5.\n")
        #expect(
            ReferenceRules.sections(of: page) == ["7": "", "1": "a\n", "1.2": "b\n\nc\n", "P3": "", "5": ""])
    }
}
