/// Rules about the page that says what an attacker could want.
enum ThreatRules {
    /// A test that a page names: its file, from the root of the tree, and its name.
    struct Named: Hashable {
        var file: String
        var test: String
    }

    /// The tests a line names, as links to their files with their names in backquotes.
    static func tests(in line: Substring) -> [Named] {
        line.split(separator: "[`", omittingEmptySubsequences: false).dropFirst().compactMap { part in
            let halves = part.split(separator: "`](../Tests/", maxSplits: 1)
            guard halves.count == 2, let end = halves[1].firstIndex(of: ")") else { return nil }
            return Named(file: "Tests/\(halves[1][..<end])", test: String(halves[0]))
        }
    }

    /// Threats without a test, and tests that are not where the page says.
    ///
    /// - Parameter text: what a file holds; nil if it is not there.
    static func findings(page: Source, text: (String) -> String?) -> [Finding] {
        var findings: [Finding] = []
        var isInside = false
        for (index, line) in page.lines.enumerated() {
            if line.hasPrefix("## ") { isInside = line == "## Threats" }
            guard isInside, line.hasPrefix("| "), !line.hasPrefix("| an attacker") else { continue }
            let named = self.tests(in: line)
            if named.isEmpty {
                findings.append(Finding(path: page.path, line: index + 1, what: "the threat names no test"))
            }
            for test in named where !self.holds(test.test, in: text(test.file)) {
                findings.append(
                    Finding(path: page.path, line: index + 1, what: "\(test.file) has no test \"\(test.test)\""))
            }
        }
        return findings
    }

    private static func holds(_ test: String, in text: String?) -> Bool {
        guard let text else { return false }
        return ["func `\(test)`", "func \(test)(", "def \(test)("].contains { text.contains($0) }
    }

    /// The packages a manifest depends on, as the last part of their addresses.
    static func packages(in manifest: String) -> [String] {
        manifest.split(separator: ".package(url: \"", omittingEmptySubsequences: false).dropFirst().compactMap { part in
            part.prefix { $0 != "\"" }.split(separator: "/").last.map { $0.hasSuffix(".git") ? $0.dropLast(4) : $0 }
                .map(String.init)
        }
    }

    /// The packages of the page's list, with their licences.
    static func licences(in page: Source) -> [String: String] {
        var found: [String: String] = [:]
        var isInside = false
        for line in page.lines {
            if line.hasPrefix("## ") { isInside = line == "## Dependencies" }
            let cells = line.split(separator: "|").map { $0.trimming(" ") }
            guard isInside, line.hasPrefix("| "), cells.count == 3, cells[0] != "package" else { continue }
            found[cells[0]] = cells[1]
        }
        return found
    }
}

extension Substring {
    fileprivate func trimming(_ character: Character) -> String {
        var rest = self
        while rest.first == character { rest.removeFirst() }
        while rest.last == character { rest.removeLast() }
        return String(rest)
    }
}
