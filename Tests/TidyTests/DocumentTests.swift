import Testing

/// Rules about the pages for people.
enum DocumentRules {
    /// The relative links of a page, with the line each stands on; fragments are cut off, and what is shown as code is none.
    static func links(in page: Source) -> [(line: Int, path: String)] {
        self.prose(of: page).flatMap { line, text in
            text.matches(#"\]\((?!#|mailto:|[^)]*://)([^)#]+)"#).map {
                (line, self.resolved($0.groups[0], from: page.path))
            }
        }
    }

    /// The lines outside of fences, by number.
    private static func prose(of page: Source) -> [(line: Int, text: String)] {
        var isShown = false
        return page.lines.enumerated().compactMap { index, line in
            if line.hasPrefix("```") { isShown.toggle() }
            return isShown ? nil : (index + 1, String(line))
        }
    }

    /// The path from the root; one that leads out of the tree keeps its dots.
    private static func resolved(_ link: Substring, from page: String) -> String {
        var parts = page.split(separator: "/").dropLast().map(String.init)
        for part in link.split(separator: "/") where part != "." {
            if part == "..", parts.last.map({ $0 != ".." }) == true {
                parts.removeLast()
            } else {
                parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }

    static func deadLinks(in page: Source, exists: (String) -> Bool) -> [Finding] {
        guard page.path.hasSuffix(".md") else { return [] }
        return self.links(in: page).filter { !exists($0.path) }.map { page.finding($0.line, "\($0.path) is not there") }
    }

    /// The fenced blocks of a language, each with the line it begins on.
    static func fences(_ language: String, in page: Source) -> [(line: Int, lines: [String])] {
        var found: [(line: Int, lines: [String])] = []
        var (isInside, isWanted) = (false, false)
        for (number, line) in page.lines.enumerated() {
            if line.trimmed.hasPrefix("```") {
                isInside.toggle()
                isWanted = isInside && line.trimmed == "```\(language)"
                if isWanted { found.append((number + 1, [])) }
            } else if isWanted {
                found[found.count - 1].lines.append(line.trimmed)
            }
        }
        return found
    }

    /// The runs of lines of a page's Swift that stand in no compiled file as they are, indentation aside. An empty line separates runs, so that
    /// a block may leave out what lies between them.
    static func unknownSwift(in page: Source, compiled: [String]) -> [Finding] {
        self.fences("swift", in: page).flatMap { fence in
            fence.lines.split(separator: "").filter { run in
                !compiled.contains { $0.contains("\n\(run.joined(separator: "\n"))\n") }
            }.map { page.finding(fence.line + 1 + $0.startIndex, "no compiled file has: \($0.first ?? "")") }
        }
    }

    /// A file for comparison, without indentation.
    static func flat(_ source: Source) -> String { "\n\(source.lines.map(\.trimmed).joined(separator: "\n"))\n" }

    // MARK: Sections

    /// References to numbered sections of the project's own pages: `design.md §5 "Badge"`, P3, `APNs reference, sections 14 and 15`. One may be
    /// continued on the next line, behind the marks of a comment.
    private static let reference = {
        let gap = #"(?:\s|//+|# )+"#
        let number = #"P?\d+(?:\.\d+)*"#
        let quoted = #"(?:,?\#(gap)"[^"]+"(?: and "[^"]+")*)?"#
        let and = #"(?:,\#(gap)and\#(gap)|,\#(gap)|\#(gap)and\#(gap)|\#(gap)to\#(gap)|–)"#
        let marked = #"(?:§|(?=P\d))\#(number)\#(quoted)"#
        return #"\b(design\.md|ios-delivery\.md|apns\.md|APNs reference)`?,?\#(gap)"#
            + #"((?:section\#(gap)\#(number)\#(quoted))|sections\#(gap)\#(number)(?:\#(and)\#(number))*|\#(marked)(?:\#(and)\#(marked))*)"#
    }()

    static let numberedPages = [
        "design.md": "docs/inside/design.md", "ios-delivery.md": "docs/testing/ios-delivery.md",
        "apns.md": "docs/testing/apns.md", "APNs reference": "docs/testing/apns.md",
    ]

    /// The sections a text refers to: page, number and the words that are quoted of it, empty for none.
    static func references(in text: String) -> [(
        range: Range<String.Index>, page: String, section: Substring, words: [String]
    )] {
        text.matches(self.reference).flatMap { match in
            String(match.groups[1]).matches(#"(P?\d+(?:\.\d+)*)((?:[\s,/]*(?:and )?"[^"]+")*)"#).map { section in
                let words = String(section.groups[1]).matches(#""([^"]+)""#).map { match in
                    match.groups[0].split { " \n/".contains($0) }.joined(separator: " ")
                }
                return (match.range, self.numberedPages[String(match.groups[0])] ?? "", section.groups[0], words)
            }
        }
    }

    static func sections(of page: Source) -> [Substring: String] {
        let headings = page.text.matches(#"^#+ (P?\d+(?:\.\d+)*)\.? .*$"#)
        let all = page.text.matches(#"^#+ .*$"#).map(\.range.lowerBound) + [page.text.endIndex]
        return Dictionary(
            headings.map { heading in
                let end = all.first { $0 > heading.range.lowerBound } ?? page.text.endIndex
                return (heading.groups[0], String(page.text[heading.range.upperBound..<end]).lowercased())
            }, uniquingKeysWith: { first, _ in first })
    }

    static func deadReferences(in source: Source, sections: [String: [Substring: String]]) -> [Finding] {
        self.references(in: source.text).compactMap { range, page, section, words in
            let text = sections[page]?[section]
            if let text, words.allSatisfy({ text.contains($0.lowercased()) }) { return nil }
            return source.finding(
                source.text.line(of: range.lowerBound), "\(page) has no section \(section) with \(words)")
        }
    }

    // MARK: Where things are

    /// The names in backquotes that are not where the page leads: in a row of the table one that no file of the row declares, elsewhere one that
    /// stands in no file its section links. Commands, keys and object names, which have other characters, are none.
    static func misplaced(in page: Source, files: (String) -> [Source]) -> [Finding] {
        var section: [(line: Int, text: String)] = []
        var findings: [Finding] = []
        func check(_ lines: [(line: Int, text: String)], _ pattern: (String) -> String) {
            let text = Source(path: page.path, text: lines.map(\.text).joined(separator: "\n"))
            let linked = self.links(in: text).flatMap { files($0.path) }
            for line in lines {
                for match in line.text.matches(#"(?<!\[)`([A-Za-z][\w.+]*)(?:\([\w:]*\))?`"#) {
                    let whole = String(match.groups[0])
                    let isFile = whole.hasSuffix(".swift") || whole.hasSuffix(".js")
                    let name = isFile ? whole : whole.split(separator: ".").last.map(String.init) ?? whole
                    let stands = linked.contains {
                        $0.path.hasSuffix("/\(whole)") || !isFile && !$0.text.matches(pattern(name)).isEmpty
                    }
                    if !stands { findings.append(page.finding(line.line, "no file that is linked here has \(name)")) }
                }
            }
        }
        for line in self.prose(of: page) {
            if line.text.hasPrefix("|") {
                check([line]) {
                    #"\b(?:func|var|let|case|struct|class|enum|protocol|actor|typealias|extension) \#($0)\b"#
                }
            } else {
                if line.text.hasPrefix("## ") {
                    check(section) { #"\b\#($0)\b"# }
                    section = []
                }
                section.append(line)
            }
        }
        check(section) { #"\b\#($0)\b"# }
        return findings
    }
}

@Suite struct `The pages` {
    private static let compiled = Tree.swift.filter { source in
        ["Examples/Chat/", "Tests/"].contains { source.path.hasPrefix($0) }
    }.map(DocumentRules.flat)

    @Test func `have no dead link`() {
        expectNone(Tree.sources.flatMap { DocumentRules.deadLinks(in: $0, exists: Tree.exists) })
    }

    @Test func `have every section that a file refers to`() throws {
        var sections: [String: [Substring: String]] = [:]
        for path in DocumentRules.numberedPages.values {
            sections[path] = DocumentRules.sections(of: try Tree.source(path))
        }
        let sources = Tree.sources.filter { !$0.path.hasPrefix("Tests/TidyTests/") }
        expectNone(sources.flatMap { DocumentRules.deadReferences(in: $0, sections: sections) })
        let pages = sources.flatMap { DocumentRules.references(in: $0.text).map(\.page) }
        for page in sections.keys {
            #expect(pages.count { $0 == page } > 100, "references to \(page) were not understood")
        }
    }

    @Test(arguments: ["docs/inside/changing.md", "docs/inside/adding.md"])
    func `have functions and types where the pages on changing it say`(page: String) throws {
        expectNone(
            DocumentRules.misplaced(in: try Tree.source(page)) { path in
                Tree.sources.filter { $0.path == path || $0.path.hasPrefix("\(path)/") }
            })
    }

    @Test(arguments: [
        (
            "Sources/Server/TidingsServer/Configuration/ConfigurationKey.swift", "docs/server/configuration.md",
            #"\.init\(\s*"#
        ),
        ("Sources/Server/TidingsServer/Operations/ServerMetrics.swift", "docs/server/metrics.md", "= "),
        ("Sources/Model/TidingsModel/ServerFrame.swift", "docs/server/errors.md", #"^ *case .*"#),
        ("Sources/Model/TidingsModel/Leg.swift", "docs/server/errors.md", ": "),
    ])
    func `name every key, metric, problem and end of a leg`(file: String, page: String, before: String) throws {
        let words = try Tree.source(file).text.matches(#"\#(before)"([a-z_.]+)""#).map(\.groups[0])
        #expect(words.count > 5, "\(file) was not understood")
        let page = try Tree.source(page)
        #expect(words.filter { !page.text.contains("`\($0)`") } == [], "\(page.path) lacks words of \(file)")
    }

    @Test func `show the same commands in both languages`() throws {
        func shown(_ path: String) throws -> [String] {
            try DocumentRules.fences("sh", in: Tree.source(path)).flatMap(\.lines).map { line in
                line.firstRange(of: "# ").map { line[..<$0.lowerBound].trimmed } ?? line
            }
        }
        #expect(try shown("README.md") == ["make demo", "make run"])
        #expect(try shown("README.md") == shown("README.zh-CN.md"))
    }

    /// The doc comments of a Swift file are read like a page.
    @Test(arguments: [
        "docs/app/README.md", "docs/app/five-steps.md", "docs/app/setup.md", "docs/app/extensions.md",
        "docs/app/messages.md",
        "docs/app/conversations.md", "docs/app/notifications.md", "docs/app/taps.md", "docs/app/badge.md",
        "docs/app/calls.md", "docs/app/data.md", "docs/app/silent.md", "docs/app/screens.md",
        "docs/app/migrating-from-rongcloud.md", "docs/app/migrating-from-jpush.md", "docs/app/migrating-from-xg.md",
        "docs/server/apns-client.md", "docs/testing/apns-simulator.md",
        "Sources/SDK/TidingsClient/TidingsClient.docc/TidingsClient.md",
        "Sources/SDK/TidingsKit/TidingsKit.docc/TidingsKit.md", "Sources/SDK/TidingsUI/TidingsUI.docc/TidingsUI.md",
        "Sources/APNs/APNsClient/APNsClient.docc/APNsClient.md", "Sources/SDK/TidingsClient/ChatClient.swift",
        "Sources/SDK/TidingsKit/NotificationIntegration.swift",
        "Sources/SDK/TidingsNotificationService/NotificationServiceHandler.swift",
        "Sources/SDK/TidingsUI/ChatInterface.swift", "Sources/SDK/TidingsUI/Chat/ConversationViewController.swift",
        "Sources/SDK/TidingsUI/InAppBannerPresenter.swift", "Sources/APNs/APNsClient/APNsClient.swift",
        "Sources/Phone/VirtualPhone/InProcess/VirtualPhone.swift",
    ])
    func `show app developers Swift that is compiled`(path: String) throws {
        var page = try Tree.source(path)
        if page.isSwift {
            let comments = page.lines.map { $0.trimmed.hasPrefix("///") ? String($0.trimmed.dropFirst(3)) : "" }
            page = Source(path: path, text: comments.joined(separator: "\n"))
        }
        #expect(!DocumentRules.fences("swift", in: page).isEmpty, "\(path) shows no Swift")
        expectNone(DocumentRules.unknownSwift(in: page, compiled: Self.compiled))
    }
}

/// Each rule against pages that break it and others that do not.
@Suite struct `A rule about pages` {
    private static func page(_ text: String) -> Source { Source(path: "docs/a.md", text: text) }

    @Test func `finds links that lead to nothing`() {
        let page = Self.page(
            "[b](b.md) [c](../README.md#top) [d](https://e.com/x)\n```\n[e](no.md)\n```\n[f](no.md) [g](../../x)\n")
        let found = DocumentRules.deadLinks(in: page) { ["docs/b.md", "README.md"].contains($0) }
        #expect(found.map(\.line) == [5, 5])
    }

    @Test(
        arguments: [
            ("b()\n\nc()\n}", []), ("func a() {\n\nc()", []), ("b()\nc()", [3]), ("b()\n\nd()", [5]),
            ("b() // why", [3]),
        ] as [(String, [Int])])
    func `finds Swift that no compiled file has`(block: String, lines: [Int]) {
        let compiled = Source(path: "Tests/A.swift", text: "func a() {\n    b()\n\n    c()\n}\n")
        let page = Self.page("text\n```swift\n\(block)\n```\nd()\n```text\nd()\n```\n")
        #expect(DocumentRules.unknownSwift(in: page, compiled: [DocumentRules.flat(compiled)]).map(\.line) == lines)
    }

    @Test(
        arguments: [
            ("(design.md §3)", ["3"]), ("(design.md P4, P7, §5 \"Recall\").", ["P4", "P7", "5 Recall"]),
            ("design.md §5 \"Badge\" and \"One\", ios-delivery.md §10", ["5 Badge One", "10"]),
            ("`ios-delivery.md §0.3` the app has", ["0.3"]), ("of `docs/inside/design.md`, section 5", ["5"]),
            ("ios-delivery.md §4 gate 8, §7.3", ["4"]), ("design.md §3–§5.", ["3", "5"]),
            ("ios-delivery.md sections 5.5, 6.4, 9 and 11", ["5.5", "6.4", "9", "11"]),
            ("APNs reference, section 4, \"Key kinds\")", ["4 Key kinds"]), ("APNs reference, section 9, 20 of", ["9"]),
            ("(APNs reference,\n    /// section 3.5). `close`", ["3.5"]), ("apns.md §9\n// §10 is of another", ["9"]),
            ("\"design.md §5\", \"apns.md is a page\"", ["5"]), ("ios-delivery.md says so in 5", []),
        ] as [(String, [String])])
    func `reads references in the forms that are in use`(text: String, expected: [String]) {
        let found = DocumentRules.references(in: text).map { ([String($0.section)] + $0.words).joined(separator: " ") }
        #expect(found == expected)
    }

    @Test func `finds a section that is not there, or does not say what is quoted`() {
        let sections = [
            "docs/inside/design.md": DocumentRules.sections(
                of: Self.page("## 5. A\n**Badge.**\n### P3 B\n## Six\nno\n"))
        ]
        let text = "design.md §5 \"Badge\", P3\ndesign.md §5 \"Recall\"\n\ndesign.md §6\nno\ndesign.md P4"
        #expect(DocumentRules.deadReferences(in: Self.page(text), sections: sections).map(\.line) == [2, 4, 6])
    }

    @Test(
        arguments: [
            ("| `Badge` | [a](../B.swift) (`pushed`) |", []), ("| it is counted | [a](../B.swift) (`count`) |", [1]),
            ("| a | [a](../B.swift) |\n| `Badge` | |", [2]), ("| `r.js` | [a](../P) |", []),
            ("| `s.js` | [a](../P) |", [1]),
            ("## A\n[a](../B.swift)\nThen `pushed(_:)`, `count`, `make x`, `A:B`, [`no`](../P).\n```\n`no`\n```", []),
            ("## A\n[a](../B.swift)\n## B\n`count`", [4]), ("[a](../B.swift)\n`coun`", [2]),
        ] as [(String, [Int])])
    func `finds a name that is not where the page leads`(text: String, lines: [Int]) {
        let files = [
            Source(path: "B.swift", text: "struct Badge { func pushed() { self.count() } }"),
            Source(path: "P/r.js", text: ""),
        ]
        let found = DocumentRules.misplaced(in: Self.page(text)) { path in
            files.filter { $0.path == path || $0.path.hasPrefix("\(path)/") }
        }
        #expect(found.map(\.line) == lines)
    }
}
