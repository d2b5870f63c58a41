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
        "row.heightAnchor.constraint(greaterThanOrEqualToConstant: 44)", "table.rowHeight = 44",
        "func tableView(_ table: UITableView, heightForRowAt path: IndexPath) -> CGFloat { 44 }",
        "let list = UICollectionView(frame: .zero, collectionViewLayout: layout)",
        "self.send.setImage(image, for: .normal)",
        "a.send.setImage(image, for: .normal)\na.more.setTitle(words.more, for: .normal)",
        "let item = UIBarButtonItem(image: image, primaryAction: action)",
        "self.item = UIBarButtonItem(title: nil, image: image)\nself.other.accessibilityLabel = words.more",
        "bar.rightBarButtonItem = UIBarButtonItem(title: \"\", image: image, menu: menu)",
        "let action = UIAction(title: \"\", image: image) { _ in }", "let action = UIAction(image: image) { _ in }",
        "class Row: UITableViewCell { let a = UILabel(); let b = UILabel() }",
        "class Row: UITableViewCell { let a = MessageCell.label(.body); let b = MessageCell.label(.footnote) }",
        "class Row: UITableViewCell { let a = UILabel(); let b = MessageCell.label(.body) }",
        "class Row: UITableViewCell { let a = UILabel(), b = UILabel(); func f() { self.isAccessibilityElement = true } }",
        "class Row: UITableViewCell { let a = UILabel(), b = UILabel(); func f() { self.accessibilityLabel = b.text } }",
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
        "table.rowHeight = UITableView.automaticDimension",
        "self.send.setImage(image, for: .normal)\nself.send.accessibilityLabel = words.send",
        "send.setImage(image, for: .normal)\nself.send.setTitle(words.send, for: .normal)",
        "let item = UIBarButtonItem(title: words.more, image: image)", "let item = UIBarButtonItem(systemItem: .add)",
        "let item = UIBarButtonItem(image: image, menu: menu)\nitem.accessibilityLabel = words.more",
        "UIAction(title: words.pin, image: UIImage(systemName: \"pin\")) { _ in }", "UIAction { _ in }",
        "class Row: UITableViewCell { let a = UILabel() }",
        "class Row: UITableViewCell { let a = UILabel(); func label() -> UILabel { self.a } }",
        "class Row: UIView { let a = UILabel(); let b = UILabel() }",
        """
        class Row: UITableViewCell {
            let a = UILabel(), b = UILabel()
            func f() { self.isAccessibilityElement = true; self.accessibilityLabel = a.text }
        }
        """,
    ])
    func `lets pass what does`(_ text: String) { #expect(self.lines(text) == []) }

    @Test func `holds in the tree`() {
        #expect(Tree.swift.contains { $0.target == InterfaceRules.target }, "no file was read")
        let findings = Tree.sources.flatMap(InterfaceRules.all.check)
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
    }

    /// What an app may override, and what it may call on screens, cells and bars.
    @Test func `have a page that names every member an app may use`() throws {
        let page = try Tree.text("docs/sdk/screens.md")
        let apart = ["Row", "Words", "State", "Times", "Configuration", "Action", "Plugin"]
        let members = Tree.swift.filter { $0.target == InterfaceRules.target }.flatMap { source -> [String] in
            let isOpenOnly = apart.contains { source.path.contains($0) }
            return source.text.split(separator: "\n").compactMap { Self.member(in: $0, isOpenOnly: isOpenOnly) }
        }
        #expect(members.count > 60, "the declarations were not understood")
        let missing = Set(members).filter { name in
            !["`\(name)`", "`\(name)(", ".\(name)(", ".\(name)`"].contains { page.contains($0) }
        }
        #expect(missing.sorted() == [])
    }

    @Test func `are at most 5,000 lines`() {
        let lines = Tree.swift.filter { $0.target == InterfaceRules.target }.map { $0.text.count { $0 == "\n" } }
        #expect(lines.reduce(0, +) <= 5_000)
    }

    /// The facade had 2,012 lines before the screens, and may have 3,500 for them.
    @Test func `stand on Linux on a facade of UIKit of at most 5,512 lines`() {
        let lines = Tree.swift.filter { $0.path.hasPrefix("Sources/Phone/UIKit/") }.map { $0.text.count { $0 == "\n" } }
        #expect((1...5_512).contains(lines.reduce(0, +)))
    }

    private static func member(in line: Substring, isOpenOnly: Bool) -> String? {
        var words = line.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count > 2, words[0] == "open" || words[0] == "public" && !isOpenOnly else { return nil }
        words.removeFirst()
        words.removeAll { $0 == "static" }
        guard words.count > 1, ["func", "var", "let"].contains(words[0]) else { return nil }
        let name = words[1].prefix { $0.isLetter || $0.isNumber }
        // UIKit's own, of its delegates.
        guard !["tableView", "textView", "scrollView"].contains(where: { name.hasPrefix($0) && words[0] == "func" })
        else { return nil }
        return String(name)
    }
}
