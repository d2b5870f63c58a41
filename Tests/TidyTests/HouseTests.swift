import Testing

/// Rules about every Swift file, and about what an app links.
enum HouseRules {
    /// The escape for a long file or function; the reason follows it.
    static let longMark = "tidy: long because"
    static let linesPerFile = 400
    static let linesPerFunction = 70

    static func longFile(_ source: Source) -> [Finding] {
        let count = source.text.count { $0 == "\n" }
        guard count > self.linesPerFile, !Source.gives(reasonFor: self.longMark, in: source.lines.prefix(15)) else {
            return []
        }
        return [
            source.finding(1, "\(count) lines; at most \(self.linesPerFile), or `// \(self.longMark) …` at the top")
        ]
    }

    private static let function = #"^( *)(?:[@\w]+(?:\([\w: ]*\))? )*(?:func |init[?(<]|deinit |subscript\()"#

    /// Goes by the indentation that `swift format` gives: a body ends where its first line begins.
    static func longFunctions(_ source: Source) -> [Finding] {
        let lines = source.lines
        return lines.indices.compactMap { begin in
            guard
                lines[begin].contains("func ") || lines[begin].contains("init") || lines[begin].contains("subscript("),
                let indent = String(lines[begin]).matches(self.function).first?.groups[0]
            else { return nil }
            func isOut(_ line: Substring) -> Bool {
                !line.hasPrefix("\(indent) ") && !line.isEmpty
                    && ![")", "{"].contains(line.dropFirst(indent.count).first)
            }
            guard
                let open = lines.indices[begin...].first(where: {
                    lines[$0].hasSuffix("{") || $0 > begin && isOut(lines[$0])
                }),
                open == begin || !isOut(lines[open]),
                let end = lines.indices[(open + 1)...].first(where: { lines[$0].hasPrefix("\(indent)}") }),
                end - begin + 1 > self.linesPerFunction
            else { return nil }
            let comments = source.comments(at: begin + 1) + lines[begin...min(open + 3, end)]
            if Source.gives(reasonFor: self.longMark, in: comments) { return nil }
            return source.finding(
                begin + 1,
                "a function of \(end - begin + 1) lines; at most \(self.linesPerFunction), or `// \(self.longMark) …`")
        }
    }

    /// What a comment beside an unchecked promise to the compiler has to name.
    private static let guards =
        #"(?i)guard|lock|mutex|loop|actor|queue|semaphore|immutable|thread|atomic|once|never changes"#

    static func unguarded(_ source: Source) -> [Finding] {
        source.code.indices.compactMap { index in
            guard !source.code[index].matches(#"@unchecked\b|nonisolated\(unsafe\)"#).isEmpty else { return nil }
            let comments = source.comments(at: index + 1) + source.lines[(index + 1)...].prefix(1)
            guard comments.joined(separator: "\n").matches(self.guards).isEmpty else { return nil }
            return source.finding(index + 1, "an unchecked promise without a comment that names what guards it")
        }
    }

    /// What does not follow the person's text size, appearance and direction of writing (docs/inside/decisions/0041-views.md).
    private static let fixed =
        #"\b(?:(?:bold|italic|monospaced)?[sS]ystemFont|leftAnchor|rightAnchor|leftMargin|rightMargin|UIEdgeInsets)\b|\bUI(?:Font|Color)\(|\.(?:left|right|black|white)\b|qualToConstant: \d|\b(?:row|sectionHeader|sectionFooter)Height = \d"#

    static func fixedViews(_ source: Source) -> [Finding] {
        guard source.target == "TidingsUI" else { return [] }
        return source.code.indices.flatMap { index in
            source.code[index].matches(self.fixed).map {
                source.finding(index + 1, "`\($0.text)` does not follow the person")
            }
        }
    }

    /// The SDK's targets, and what they are made of.
    static let sdk: Set = [
        "ClientCore", "TidingsAppGroup", "TidingsClient", "TidingsKit", "TidingsNotificationContent",
        "TidingsNotificationService", "TidingsUI", "TidingsModel", "TidingsWire",
    ]

    /// What iOS 15, or the compiler that the README promises, lacks (docs/inside/decisions/0010-ios-15.md). On Linux everything compiles.
    static func younger(_ source: Source) -> [Finding] {
        guard self.sdk.contains(source.target ?? "") else { return [] }
        let allowed = self.allowed(in: source.code)
        return source.code.indices.flatMap { index in
            source.code[index].matches(
                #"\b(?:Duration|ContinuousClock|SuspendingClock|Mutex|isolated deinit|weak let)\b|\bTask\.sleep\(for:"#
            ).compactMap { match in
                let needsMore = ["Mutex", "isolated deinit", "weak let"].contains(match.text)
                if allowed[index] == .linux || allowed[index] == .iOS16 && !needsMore { return nil }
                return source.finding(index + 1, "`\(match.text)` is younger than iOS 15")
            }
        }
    }

    private enum Place { case everywhere, iOS16, linux }

    /// Where a line is compiled: on Linux alone by its `#if`, or from iOS 16 on by `@available` or `if #available` before it, up to the end
    /// of what is indented further.
    private static func allowed(in code: [String]) -> [Place] {
        var branches: [(isLinux: Bool, isElseLinux: Bool)] = []
        var available: Int?
        var isBody = false
        return code.map { line in
            let text = line.trimmed
            let indent = line.prefix { $0 == " " }.count
            if text.hasPrefix("#if ") {
                branches.append((text.contains("os(Linux)") && !text.contains("||") && !text.contains("!os"), false))
                if text == "#if canImport(Darwin)" || text == "#if !os(Linux)" {
                    branches[branches.count - 1].isElseLinux = true
                }
            } else if text.hasPrefix("#else") {
                if let last = branches.popLast() {
                    branches.append((last.isElseLinux && text == "#else", last.isElseLinux))
                }
            } else if text.hasPrefix("#endif") {
                _ = branches.popLast()
            }
            if branches.contains(where: \.isLinux) { return .linux }
            if let start = available, isBody, indent <= start { available = nil }
            if available != nil, !text.hasPrefix("@"), !text.isEmpty { isBody = true }
            if !text.matches(#"^(?:@available|if .*#available)\(iOS 1[6-9]"#).isEmpty {
                (available, isBody) = (indent, text.hasPrefix("if"))
            }
            return available == nil ? .everywhere : .iOS16
        }
    }
}

@Suite struct `The Swift of the tree` {
    @Test func `has no file over 400 lines without a reason`() { expectNone(Tree.swift.flatMap(HouseRules.longFile)) }
    @Test func `has no function over 70 lines without a reason`() {
        expectNone(Tree.swift.flatMap(HouseRules.longFunctions))
    }
    @Test func `names the guard of every unchecked promise`() { expectNone(Tree.swift.flatMap(HouseRules.unguarded)) }
    @Test func `drops no failure by a fault of the compiler`() { expectNone(DroppedThrows.findings(in: Tree.swift)) }
    @Test func `has views that follow the person`() { expectNone(Tree.swift.flatMap(HouseRules.fixedViews)) }

    @Test func `uses nothing younger than iOS 15 in what an app links`() {
        for target in HouseRules.sdk {
            #expect(Tree.swift.contains { $0.target == target }, "no file of \(target) was read")
        }
        expectNone(Tree.swift.flatMap(HouseRules.younger))
    }

    @Test(arguments: [("Sources/SDK/TidingsUI/", 5_000), ("Sources/Phone/UIKit/", 5_512)])
    func `keeps the views, and the facade they stand on here, small`(folder: String, linesMax: Int) {
        let lines = Tree.swift.filter { $0.path.hasPrefix(folder) }.map { $0.text.count { $0 == "\n" } }
        #expect((1...linesMax).contains(lines.reduce(0, +)))
    }
}

/// Each rule against samples that break it and others that do not.
@Suite struct `A rule about Swift` {
    private static func source(_ text: String, at path: String = "Sources/SDK/TidingsUI/Sample.swift") -> Source {
        Source(path: path, text: text)
    }

    private static let cases = source("enum RowFact {\n    case fact(Int, Int)\n    case page(Int, of: Int), none\n}")

    @Test func `refuses a file of 401 lines and a function of 71, unless they say why`() {
        let long = String(repeating: "let a = 1\n", count: 401)
        #expect(HouseRules.longFile(Self.source(long)).count == 1)
        #expect(HouseRules.longFile(Self.source("// \(HouseRules.longMark) so\n" + long)).count == 1)
        #expect(HouseRules.longFile(Self.source("// \(HouseRules.longMark) it is one table\n" + long)) == [])
        #expect(HouseRules.longFile(Self.source(String(long.dropLast(10)))) == [])
        let body = String(repeating: "    work() // {\n", count: 69)
        for head in ["private static func f(a: [Int]) -> Int {", "init(a: Int) throws(E) {", "func f(\n) {"] {
            let short = head.contains("\n") ? String(body.dropLast(32)) : String(body.dropLast(16))
            #expect(HouseRules.longFunctions(Self.source("let a = 1\n\(head)\n\(body)}\n")).map(\.line) == [2])
            #expect(HouseRules.longFunctions(Self.source("\(head)\n\(short)}\n")) == [])
            let reason = "// \(HouseRules.longMark) each case is one line"
            #expect(HouseRules.longFunctions(Self.source("\(reason)\n\(head)\n\(body)}\n")) == [])
        }
        #expect(
            HouseRules.longFunctions(
                Self.source("protocol P {\n    func f()\n    var a: Int\n}\nlet c = {\n\(body)\(body)}\n")) == [])
    }

    @Test func `wants the guard of an unchecked promise named`() {
        #expect(
            HouseRules.unguarded(Self.source("/// Does work.\nfinal class A: @unchecked Sendable {}")).map(\.line) == [
                2
            ])
        #expect(HouseRules.unguarded(Self.source("nonisolated(unsafe) var a = 1")).count == 1)
        #expect(
            HouseRules.unguarded(Self.source("// `state` is guarded by `lock`.\nclass A: @unchecked Sendable {}")) == []
        )
        #expect(HouseRules.unguarded(Self.source("class A: @unchecked Sendable {\n    // Immutable.\n}")) == [])
    }

    @Test(arguments: [
        "return try a || self.rows.has(.fact(1, b))", "let x = try a && self.rows.has(RowFact.fact(1, b))",
        "return try a\n    ?? self.read(.page(1, of: b))", "if a || (try has(.fact(x(y, z), b))) {",
        "let x = a ?? (try? has(.fact(1, b)))", "return try f(a, b && has(.fact([1, 2], b)))",
        "guard try !a.isEmpty\n    || self.has(\n        .fact(1, b)),\n    let c else { return }",
        "return try a.map { $0 } ?? self.read(.page(1, of: b))", "return try [a || has(.fact(1, 2))]",
        "return try a == 1 && f(.none) && f(.fact(1, 2))", "try f(a) { try b || has(.fact(1, 2)) }",
    ])
    func `refuses a case of several values in an operand that may throw`(_ text: String) {
        #expect(DroppedThrows.findings(in: [Self.cases, Self.source(text)]).count == 1)
    }

    @Test(arguments: [
        "return try self.has(.fact(1, b)) || a", "return try a || self.rows.has(fact)",
        "return try a || self.rows.has(.fact(b))", "return a || self.rows.has(.fact(1, b))",
        "let x = try a || b\nlet c = RowFact.fact(1, 2)", "return try a || b ? .fact(1, 2) : .none",
        "if try a || b, case .fact(let x, let y) = c {", "return try a || b.contains { try has(.fact(1, $0)) }",
        "f(try a, b || c(.fact(1, 2)))", "return try f(a ?? b, .fact(1, 2))", "return try a || self.fact(1, b)",
        "if try a {\n    f()\n} else if b || c == .fact(1, 2) {", "return try a || b(.other(1, 2))",
        "case .one: try a || b\ncase .fact(let x, let y): c", "guard try a || b else { return .fact(1, 2) }",
    ])
    func `lets pass operands that do not throw, or make no such case`(_ text: String) {
        expectNone(DroppedThrows.findings(in: [Self.cases, Self.source(text)]))
    }

    @Test(arguments: [
        "label.font = .systemFont(ofSize: 17)", "a.leftAnchor.constraint(equalTo: b.leading)", "view.color = .white",
        "let c = UIColor(white: 0, alpha: 1)", "row.heightAnchor.constraint(equalToConstant: 44)",
        "table.rowHeight = 44",
    ])
    func `refuses views that do not follow the person`(_ text: String) {
        #expect(HouseRules.fixedViews(Self.source(text)).count == 1)
        #expect(HouseRules.fixedViews(Self.source(text, at: "Sources/SDK/TidingsKit/Sample.swift")) == [])
        #expect(HouseRules.fixedViews(Self.source("let left = total - right // .white")) == [])
    }

    @Test(arguments: [
        "let a: Duration", "let c = ContinuousClock()", "let m = Mutex(0)", "try await Task.sleep(for: .seconds(1))",
        "isolated deinit { self.end() }", "weak let owner: Owner?", "@available(iOS 16, *)\nlet m = Mutex(0)",
        "@available(iOS 16, *)\npublic var a: Int\npublic var b: Duration",
        "#if canImport(Darwin)\nlet a: Duration\n#endif", "#if os(Linux)\n#else\nlet a: Duration\n#endif",
        "if #available(iOS 15, *) {\n    let a: Duration\n}",
        "if #available(iOS 16, *) {\n    a()\n} else {\n    f(Duration.zero)\n}",
        "#if os(Linux) || os(iOS)\nlet a: Duration\n#endif", "#if os(Linux)\n#endif\nlet a: Duration",
    ])
    func `refuses what a newer system has`(_ text: String) {
        #expect(HouseRules.younger(Self.source(text)).count == 1)
        #expect(HouseRules.younger(Self.source(text, at: "Sources/Server/TidingsServer/Sample.swift")) == [])
    }

    @Test(arguments: [
        "try await Task.sleep(nanoseconds: 1)", "weak var owner: Owner?", "// Mutex, Duration", "let s = \"Duration\"",
        "@available(iOS 16, *)\npublic var limit: Duration {\n    get { .seconds(1) }\n    set { f(newValue) }\n}",
        "@available(iOS 16, *) @inlinable\nfunc f(\n    a: Duration\n) {\n    a\n}",
        "if #available(iOS 16, *) {\n    try await Task.sleep(for: a)\n}",
        "#if os(Linux)\n    let m = Mutex(0)\n#endif",
        "#if canImport(Darwin)\nlet a = 1\n#else\nlet m = Mutex(0)\n#endif",
    ])
    func `lets pass what iOS 15 has, what says its system, and what Linux alone compiles`(_ text: String) {
        expectNone(HouseRules.younger(Self.source(text)))
    }
}
