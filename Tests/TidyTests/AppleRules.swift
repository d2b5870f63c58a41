/// What of the tree no compiler here sees: branches of `#if` that Linux leaves out. docs/apple.md lists them line by line.
enum AppleRules {
    static let page = "docs/apple.md"

    /// The branches of one file.
    struct Branch: Equatable {
        var condition: String
        var lines: [String]
    }

    /// Code in branches that are not built on Linux, without comments and empty lines.
    static func branches(in source: Source) -> [Branch] {
        struct Open {
            var condition: String
            var isBuilt: Bool
            /// Whether an earlier branch of the same `#if` is built.
            var wasBuilt: Bool
        }
        var open: [Open] = []
        var found: [Branch] = []
        for line in source.lines {
            let text = String(Source.trimmed(line))
            if text.hasPrefix("#if ") {
                let holds = self.holdsOnLinux(text.dropFirst(4))
                open.append(Open(condition: String(text.dropFirst(4)), isBuilt: holds, wasBuilt: holds))
            } else if text.hasPrefix("#elseif "), let last = open.popLast() {
                let holds = !last.wasBuilt && self.holdsOnLinux(text.dropFirst(8))
                open.append(
                    Open(condition: String(text.dropFirst(8)), isBuilt: holds, wasBuilt: last.wasBuilt || holds))
            } else if text.hasPrefix("#else"), let last = open.popLast() {
                open.append(Open(condition: "not \(last.condition)", isBuilt: !last.wasBuilt, wasBuilt: true))
            } else if text.hasPrefix("#endif") {
                _ = open.popLast()
            } else if let branch = open.first(where: { !$0.isBuilt }), !text.isEmpty, !text.hasPrefix("//") {
                if found.last?.condition == branch.condition {
                    found[found.count - 1].lines.append(text)
                } else {
                    found.append(Branch(condition: branch.condition, lines: [text]))
                }
            }
        }
        return found
    }

    /// `&&` binds closer than `||`; nothing here has parentheses but those of `os` and `canImport`.
    static func holdsOnLinux(_ condition: some StringProtocol) -> Bool {
        let bare = condition.firstRange(of: "//").map { condition[..<$0.lowerBound] } ?? condition[...]
        let words = bare.filter { !$0.isWhitespace }
        return words.split(separator: "|").contains { any in
            any.split(separator: "&").allSatisfy { self.wordHoldsOnLinux(String($0)) }
        }
    }

    private static func wordHoldsOnLinux(_ word: String) -> Bool {
        if word.hasPrefix("!") { return !self.wordHoldsOnLinux(String(word.dropFirst())) }
        // Of `#if DEBUG` both branches are built here, one at a time.
        if ["os(Linux)", "canImport(Glibc)", "canImport(FoundationNetworking)", "TIDINGS_UIKIT", "DEBUG"].contains(word)
        {
            return true
        }
        guard word.hasPrefix("canImport("), word.hasSuffix(")") else { return false }
        return House.facades.contains(String(word.dropFirst(10).dropLast()))
    }

    /// The list as the page has it, file by file.
    static func list(of sources: [Source]) -> String {
        var lines: [String] = []
        for source in sources
        where source.isSwift && ["Sources", "Examples"].contains(source.path.split(separator: "/").first) {
            let branches = self.branches(in: source)
            if branches.isEmpty { continue }
            lines.append(source.path)
            for branch in branches {
                lines.append("  #if \(branch.condition)")
                lines += branch.lines.map { "    \($0)" }
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The block of text under the page's heading of that name.
    static func list(in page: Source) -> String? {
        guard let heading = page.lines.firstIndex(where: { $0 == "## Lines no compiler here sees" }),
            let begin = page.lines[heading...].firstIndex(of: "```text"),
            let end = page.lines[(begin + 1)...].firstIndex(of: "```")
        else { return nil }
        return page.lines[(begin + 1)..<end].joined(separator: "\n")
    }

    /// A row of the table of stand-ins.
    struct StandIn: Equatable {
        var module: String
        var names: [String]
        var documentation: [String]
    }

    /// `| module | names in backquotes | Apple's pages |`.
    static func standIns(in page: Source) -> [StandIn] {
        var isInside = false
        var found: [StandIn] = []
        for line in page.lines {
            if line.hasPrefix("## ") { isInside = line == "## Stand-ins" }
            let cells = line.split(separator: "|").map(String.init)
            guard isInside, line.hasPrefix("| `"), cells.count >= 3 else { continue }
            found.append(
                StandIn(
                    module: self.quoted(in: cells[0]).first ?? "", names: self.quoted(in: cells[1]),
                    documentation: cells[2].split(separator: "](").dropFirst().map { String($0.prefix { $0 != ")" }) }))
        }
        return found
    }

    private static func quoted(in text: String) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().compactMap { index, part in
            index % 2 == 1 ? String(part) : nil
        }
    }

    /// The facades that the SDK and the examples import.
    static func importedFacades(in sources: [Source]) -> Set<String> {
        var found: Set<String> = []
        for source in sources
        where source.isSwift && (source.path.hasPrefix("Sources/SDK/") || source.path.hasPrefix("Examples/")) {
            for index in source.code.indices.dropLast() where source.code[index].is("import") {
                let module = source.code[index + 1].text
                if House.facades.contains(module) { found.insert(module) }
            }
        }
        return found
    }

    /// Names of the table that the stand-in does not declare, or nothing uses.
    static func findings(_ standIns: [StandIn], in sources: [Source]) -> [String] {
        func words(_ belongs: (Source) -> Bool) -> Set<String> {
            Set(sources.filter { $0.isSwift && belongs($0) }.flatMap { $0.code.map(\.text) })
        }
        let used = words { $0.path.hasPrefix("Sources/SDK/") || $0.path.hasPrefix("Examples/") }
        return standIns.flatMap { standIn -> [String] in
            let declared = words { $0.path.hasPrefix("Sources/Phone/\(standIn.module)/") }
            var found = standIn.names.filter { !declared.contains($0) }.map {
                "\(standIn.module) does not declare \($0)"
            }
            found += standIn.names.filter { !used.contains($0) }.map { "nothing uses \($0) of \(standIn.module)" }
            let pages = standIn.documentation
            if pages.isEmpty || pages.contains(where: { !$0.hasPrefix("https://developer.apple.com/documentation/") }) {
                found.append("\(standIn.module) needs Apple's page")
            }
            return found
        }
    }
}
