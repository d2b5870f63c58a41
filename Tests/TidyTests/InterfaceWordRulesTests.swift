import Testing

@Suite struct `The rule about the words of the SDK's views` {
    private func lines(_ rule: Rule, _ text: String, at path: String = "Sources/SDK/TidingsUI/Sample.swift") -> [Int] {
        rule.check(Source(path: path, text: text)).map(\.line)
    }

    @Test(arguments: [
        "label.text = \"Hello\"", "field.placeholder = \"Name\"", "self.title = \"Chats\"",
        "button.setTitle(\"Send\", for: .normal)",
        "view.accessibilityLabel = \"Bob, \\(count) unread\"", "view.accessibilityHint = \"打开\"",
        "UIAlertAction(title: \"OK\", style: .cancel)", "UIAlertController(title: nil, message: \"Really?\")",
        "UIAccessibilityCustomAction(name: \"Dismiss\") { _ in true }", "FormRow(\"id\", \"Sound\", value: on)",
        "FormRow(id(of: a, b), \"Sound\")", "FormSection(\"id\", header: \"Sounds\", rows: [])",
        "item.badgeValue = \"new\"",
    ])
    func `refuses what is said in one language`(_ text: String) {
        #expect(!self.lines(InterfaceWordRules.literals, text).isEmpty)
        #expect(self.lines(InterfaceWordRules.literals, text, at: "Sources/SDK/TidingsKit/Sample.swift") == [])
        #expect(self.lines(InterfaceWordRules.literals, text, at: "Sources/SDK/TidingsUI/Chat/ChatWords.swift") == [])
    }

    @Test(arguments: [
        "label.text = words.hello", "self.title = \"\"", "label.text = \"\\(name): \\(text(of: message))\"",
        "view.accessibilityIdentifier = \"tidings.banner\"", "UIImage(systemName: \"pin\")",
        "FormRow(\"id\", words.sound)",
        "let text = Text(\"id\")", "button.setTitle(words.send, for: .normal)",
        "FormSection(\"id\", rows: [FormRow(\"on\", words.on)])",
        "label.text = \"99+\"", "// label.text = \"Hello\"",
    ])
    func `lets pass what is said in all, and what is not said`(_ text: String) {
        #expect(self.lines(InterfaceWordRules.literals, text) == [])
    }

    @Test(arguments: [
        ("static let english = W(a: \"A\", b: \"B\")\nstatic let simplifiedChinese = W(a: \"甲\")", [2]),
        ("static let english = W(a: \"A\", b: \"B\")\nstatic let simplifiedChinese = W(b: \"甲\", a: \"乙\")", [2]),
        ("static let english = W(a: \"A\")\nstatic let simplifiedChinese = W(a: \"A\")", [2]),
        ("static let english = W(a: \"\")\nstatic let simplifiedChinese = W(a: \"甲\")", [1]),
        ("static let english = W(a: \"甲\")\nstatic let simplifiedChinese = W(a: \"甲\")", [1]),
        ("static let english = W(a: [.b: \"A\", .c: \"C\"])\nstatic let simplifiedChinese = W(a: [.b: \"甲\"])", [2]),
        ("static let english = W(a: \"A\")", [1]), ("static let simplifiedChinese = W(a: \"甲\")", [1]),
    ])
    func `refuses a word that one language lacks`(text: String, lines: [Int]) {
        #expect(self.lines(InterfaceWordRules.languages, text, at: "Sources/SDK/TidingsUI/MyWords.swift") == lines)
    }

    @Test func `lets pass words in both`() {
        let text = """
            static let english = W(a: "A", b: [.c: "C"], d: .english, language: "en")
            static let simplifiedChinese = W(a: "甲", b: [.c: "丙"], d: .simplifiedChinese, language: "zh-Hans")
            """
        #expect(self.lines(InterfaceWordRules.languages, text, at: "Sources/SDK/TidingsUI/MyWords.swift") == [])
    }

    @Test func `holds in the tree`() {
        let files = Tree.swift.filter {
            $0.target == InterfaceRules.target && $0.code.contains { $0.is("simplifiedChinese") }
        }
        #expect(!files.isEmpty, "no words were read")
        let findings = Tree.sources.flatMap {
            InterfaceWordRules.literals.check($0) + InterfaceWordRules.languages.check($0)
        }
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
    }
}
