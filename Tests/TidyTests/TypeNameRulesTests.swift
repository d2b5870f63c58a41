import Testing

@Suite struct `The rule about names of types` {
    private func findings(_ files: (path: String, text: String)...) -> [String] {
        TypeNameRules.pairs(in: files.map { Source(path: $0.path, text: $0.text) }).map(\.description)
    }

    @Test func `refuses one name for types of two targets`() {
        #expect(
            self.findings(
                ("Sources/A/One/Push.swift", "package struct Push {}"),
                ("Sources/B/Two/Lanes.swift", "import X\n\nfinal class Push: Sendable {}")) == [
                    "Sources/B/Two/Lanes.swift:3: Sources/A/One/Push.swift has a Push too; two types get two names"
                ])
        for other in ["enum", "actor", "protocol", "typealias", "indirect enum", "@MainActor public struct"] {
            let text = other == "typealias" ? "typealias Push = Int" : "\(other) Push {}"
            #expect(
                self.findings(("Sources/A/One/A.swift", "struct Push {}"), ("Sources/B/Two/B.swift", text)).count == 1,
                "\(other)")
        }
        // What stands before does not hide it.
        for before in ["private let a = 1\n", "private func f() {}\n", "private struct B { var c = 1 }\n"] {
            #expect(
                self.findings(
                    ("Sources/A/One/A.swift", "struct Push {}"), ("Sources/B/Two/B.swift", before + "struct Push {}")
                ).count == 1, "\(before)")
        }
    }

    @Test func `lets names stand that nobody can take for each other`() {
        let one = ("Sources/A/One/A.swift", "struct Push {}")
        for text in [
            "struct Other { struct Push {} }", "extension Machine { package struct Push {} }", "private struct Push {}",
            "fileprivate final class Push {}", "extension Push {}", "import struct One.Push", "// struct Push {}",
            "let text = \"struct Push {}\"",
        ] { #expect(self.findings(one, ("Sources/B/Two/B.swift", text)) == [], "\(text)") }
        #expect(self.findings(one, ("Sources/A/One/B.swift", "#if os(Linux)\nstruct Push {}\n#endif")) == [])
        #expect(self.findings(one, ("Sources/Phone/UIKit/B.swift", "public class Push {}")) == [])
        #expect(self.findings(one, ("Sources/Model/Wire/a.pb.swift", "struct Push {}")) == [])
        #expect(self.findings(one, ("Tests/TwoTests/B.swift", "struct Push {}")) == [])
    }

    @Test func `wants functions whose name can be searched for`() {
        let text =
            "func take(_ a: Int) {}\nfunc takeLine() {}\nfunc keep<A>(_ a: A) {}\nfunc asks() {}\n// func tell()\n"
        let findings = TypeNameRules.bareFunctions(in: Source(path: "Sources/Server/A/B.swift", text: text))
        #expect(findings.map(\.line) == [1, 3])
        #expect(TypeNameRules.bareFunctions(in: Source(path: "Tests/ATests/B.swift", text: text)).isEmpty)
    }
}
