/// What of the tree no compiler here sees: branches of `#if` that Linux leaves out, and files that no target has. docs/apple.md lists them line by line.
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

    /// Whether a target of the manifest has the file, whose path is from the manifest's folder: by its `path:`, by the wing and the name the
    /// helpers are given, or by its name alone. A string of the manifest that is no target's name names no folder of sources.
    static func isBuilt(_ path: String, namedIn manifest: Set<String>) -> Bool {
        let parts = path.split(separator: "/").map(String.init)
        if parts.last == "Package.swift" { return true }
        if manifest.contains(where: { $0.contains("/") && path.hasPrefix($0 + "/") }) { return true }
        guard parts.count > 2 else { return false }
        switch parts[0] {
        case "Sources": return parts.count > 3 && manifest.contains(parts[1]) && manifest.contains(parts[2])
        case "Tests": return parts[1].hasSuffix("Tests") && manifest.contains(String(parts[1].dropLast(5)))
        default: return false  // tidy: only the two folders are named by helpers
        }
    }

    /// The Swift files that no package of the tree builds.
    static func unbuiltFiles(in sources: [Source]) -> [Source] {
        var manifests: [(folder: String, strings: Set<String>)] = []
        for source in sources where source.path == "Package.swift" || source.path.hasSuffix("/Package.swift") {
            let strings = source.code.filter { $0.kind == .string }.map { String($0.text.dropFirst().dropLast()) }
            manifests.append((String(source.path.dropLast("Package.swift".count)), Set(strings)))
        }
        return sources.filter { source in
            source.isSwift
                && !manifests.contains {
                    source.path.hasPrefix($0.folder)
                        && self.isBuilt(String(source.path.dropFirst($0.folder.count)), namedIn: $0.strings)
                }
        }
    }

    /// Lines with code on them, without comments and empty lines.
    private static func codeLines(of source: Source) -> Int {
        source.lines.count {
            let text = Source.trimmed($0)
            return !text.isEmpty && !text.hasPrefix("//")
        }
    }

    /// The list as the page has it, file by file. Of a file that nothing builds every line belongs to it, and their number stands for them.
    static func list(of sources: [Source]) -> String {
        let unbuilt = Set(self.unbuiltFiles(in: sources).map(\.path))
        var lines: [String] = []
        for source in sources.sorted(by: { $0.path < $1.path }) where source.isSwift {
            if unbuilt.contains(source.path) {
                lines += [source.path, "  the whole file, which no target has: \(self.codeLines(of: source)) lines"]
            } else if ["Sources", "Examples"].contains(source.path.split(separator: "/").first) {
                let branches = self.branches(in: source)
                if branches.isEmpty { continue }
                lines.append(source.path)
                for branch in branches {
                    lines.append("  #if \(branch.condition)")
                    lines += branch.lines.map { "    \($0)" }
                }
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

    /// Modules of Apple's that only lines of the list import, and that nothing stands for.
    static func withoutStandIn(in sources: [Source]) -> Set<String> {
        var modules: Set<String> = []
        for source in self.unbuiltFiles(in: sources) {
            for index in source.code.indices.dropLast() where source.code[index].is("import") {
                modules.insert(source.code[index + 1].text)
            }
        }
        for source in sources where source.isSwift && source.path.hasPrefix("Sources/") {
            for line in self.branches(in: source).flatMap(\.lines) where line.hasPrefix("import ") {
                modules.insert(String(line.dropFirst(7)))
            }
        }
        let ours = Set(sources.compactMap(\.target))
        return modules.subtracting(ours).subtracting(StandIns.frameworks.values)
    }
}
