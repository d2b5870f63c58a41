import Testing

@Suite struct `The rule about the SDK's views` {
    private func lines(_ text: String, at path: String = "Sources/SDK/TidingsUI/Sample.swift") -> [Int] {
        InterfaceRules.all.check(Source(path: path, text: text)).map(\.line)
    }

    @Test(arguments: [
        "label.font = .systemFont(ofSize: 17)", "label.font = UIFont(name: \"A\", size: 17)",
        "label.font = .boldSystemFont(ofSize: 17)", "a.leftAnchor.constraint(equalTo: b.leftAnchor)",
        "label.textAlignment = .left", "label.textAlignment = .right", "view.contentInset = UIEdgeInsets.zero",
        "view.backgroundColor = .white", "label.textColor = UIColor.black", "let c = UIColor(white: 0, alpha: 1)",
        "row.heightAnchor.constraint(equalToConstant: 44)", "label.font = .preferredFont(forTextStyle: .body)",
    ])
    func `refuses what does not follow the person`(_ text: String) {
        #expect(!self.lines(text).isEmpty)
        #expect(self.lines(text, at: "Sources/SDK/TidingsKit/Sample.swift") == [])
        #expect(self.lines(text, at: "Tests/TidingsUITests/Sample.swift") == [])
    }

    @Test(arguments: [
        "label.font = .preferredFont(forTextStyle: .body)\nlabel.adjustsFontForContentSizeCategory = true",
        "a.leadingAnchor.constraint(equalTo: b.leadingAnchor, constant: 8)", "label.textAlignment = .natural",
        "view.backgroundColor = .secondarySystemBackground", "let left = total - right",
        "image.widthAnchor.constraint(equalToConstant: side)", "// UIFont(name:), .left", "let s = \".white\"",
    ])
    func `lets pass what does`(_ text: String) { #expect(self.lines(text) == []) }

    @Test func `holds in the tree`() {
        #expect(Tree.swift.contains { $0.target == InterfaceRules.target }, "no file was read")
        let findings = Tree.sources.flatMap(InterfaceRules.all.check)
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
    }
}
