import Testing

@Suite struct `The rule about requirements` {
    private func page(_ row: String = "| S0.1 | rule | [a](../Sources/A.swift) | [t](../Tests/T.swift) |") -> Source {
        let others = RequirementRules.numbers.dropFirst().map {
            "| \($0) | rule | [a](../Sources/A.swift) | [t](../Tests/T.swift) |"
        }
        return Source(path: "docs/requirements.md", text: ([row] + others).joined(separator: "\n"))
    }

    private let marks = RequirementRules.numbers.map {
        RequirementRules.Mark(path: "Tests/T.swift", line: 1, rows: [$0])
    }

    private func findings(_ page: Source, _ marks: [RequirementRules.Mark]) -> [String] {
        RequirementRules.findings(page: page, marks: marks, exists: { $0 == "Sources/A.swift" }).map(\.what)
    }

    @Test func `knows the 88 of the specification, and the five capabilities beside them`() {
        #expect(RequirementRules.numbers.count == 88 + 5)
        #expect(self.findings(self.page(), self.marks) == [])
    }

    @Test func `finds a requirement without a row, or with two`() {
        #expect(self.findings(self.page(""), self.marks) == ["S0.1 needs exactly one row"])
        let twice = "| S0.2 | r | [a](../Sources/A.swift) | [t](../Tests/T.swift) |"
        #expect(
            self.findings(self.page(twice), self.marks)
                == ["S0.1 needs exactly one row", "S0.2 needs exactly one row"])
    }

    @Test func `finds a row without a test`() {
        #expect(
            self.findings(self.page(), Array(self.marks.dropFirst()))
                == [
                    "S0.1 names Tests/T.swift, in which no test is marked with it", "no test is marked with S0.1",
                ])
        let silent = "| S0.1 | rule | [a](../Sources/A.swift) | none |"
        #expect(self.findings(self.page(silent), self.marks) == ["S0.1 names no test"])
    }

    @Test func `finds a row whose code is gone`() {
        let gone = "| S0.1 | rule | [b](../Sources/B.swift) | [t](../Tests/T.swift) |"
        #expect(self.findings(self.page(gone), self.marks) == ["S0.1 names code that is not there: Sources/B.swift"])
    }

    @Test func `finds a test with too many requirements, with none, and with one that does not exist`() {
        let many = RequirementRules.Mark(path: "Tests/T.swift", line: 3, rows: ["S0.1", "S0.2", "S0.3", "S0.4"])
        let none = RequirementRules.Mark(path: "Tests/T.swift", line: 4, rows: [])
        let wrong = RequirementRules.Mark(path: "Tests/T.swift", line: 5, rows: ["S5.1"])
        #expect(
            self.findings(self.page(), self.marks + [many, none, wrong])
                == [
                    "a test holds one to three requirements", "a test holds one to three requirements",
                    "there is no requirement S5.1",
                ])
    }

    @Test func `finds a row that says less than its source, also where it says so only as what is not met`() {
        let tail = "| [a](../Sources/A.swift) | [t](../Tests/T.swift) |"
        let asked = "The default needs the user, group and group-card providers."
        func findings(_ rule: String) -> [String] {
            let page = Source(path: "docs/requirements.md", text: "| S3.5 | \(rule) \(tail)")
            return RequirementRules.weakened(in: page).map(\.what)
        }
        let weak = "S3.5 no longer says: needs the user, group and group-card providers"
        #expect(findings("\(asked) *Not met*: the last one.") == [])
        #expect(findings("The default needs the user and group providers.") == [weak])
        #expect(findings("The default needs names. *Not met*: \(asked)") == [weak])
    }

    @Test func `reads marks from tests and scenarios only`() {
        let test = """
            // .requirement("S0.9")
            @Test(.requirement("S0.1", "S3.13")) func one() {}
            @Suite(.serialized, .requirement("S0.2")) struct Two {}
            """
        #expect(
            RequirementRules.marks(in: Source(path: "Tests/T.swift", text: test))
                == [
                    .init(path: "Tests/T.swift", line: 2, rows: ["S0.1", "S3.13"]),
                    .init(path: "Tests/T.swift", line: 3, rows: ["S0.2"]),
                ])
        #expect(RequirementRules.marks(in: Source(path: "Sources/A/B/C.swift", text: test)).isEmpty)
        let python = """
            @pytest.mark.requirement("S2.3", "S2.4")
            def test_one():
                # @pytest.mark.requirement("S2.5") is no mark here
            """
        #expect(
            RequirementRules.marks(in: Source(path: "Tests/Interop/test_t.py", text: python))
                == [.init(path: "Tests/Interop/test_t.py", line: 1, rows: ["S2.3", "S2.4"])])
        #expect(RequirementRules.marks(in: Source(path: "dev/tests/test_t.py", text: python)).isEmpty)
        let scenario = "name: x\nrequirement: [S1.4, S1.5]\ncases:\n  - requirement: S1.6\n"
        #expect(
            RequirementRules.marks(in: Source(path: "Tests/Scenarios/x.yaml", text: scenario))
                == [
                    .init(path: "Tests/Scenarios/x.yaml", line: 2, rows: ["S1.4", "S1.5"]),
                    .init(path: "Tests/Scenarios/x.yaml", line: 4, rows: ["S1.6"]),
                ])
    }
}
