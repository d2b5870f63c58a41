/// Rules about the page that says where things are and how they are changed.
enum PlaceRules {
    private static let keywords: Set<String> = [
        "func", "var", "let", "case", "struct", "class", "enum", "protocol", "actor", "typealias", "extension",
    ]

    /// The names in backquotes that are not where the page leads: in a row of the table one that no file of the row declares,
    /// elsewhere one that stands in no file its section links.
    ///
    /// - Parameter files: what is linked, a file or all files of a folder; empty for what is no file of the tree.
    static func findings(page: Source, files: (String) -> [Source]) -> [Finding] {
        var findings: [Finding] = []
        for section in self.sections(of: page) {
            let (rows, others) = (section.filter { $0.text.hasPrefix("|") }, section.filter { !$0.text.hasPrefix("|") })
            for row in rows {
                let linked = self.linked(from: [row], page, files)
                for name in self.names(in: row.text)
                where !linked.contains(where: { self.isCalled($0, name) || self.declares($0, name) }) {
                    findings.append(
                        Finding(path: page.path, line: row.line, what: "no file of the row declares \(name)"))
                }
            }
            let linked = self.linked(from: others, page, files)
            for line in others {
                for name in self.names(in: line.text)
                where !linked.contains(where: { self.isCalled($0, name) || self.has($0, name) }) {
                    findings.append(
                        Finding(path: page.path, line: line.line, what: "no file its section links has \(name)"))
                }
            }
        }
        return findings
    }

    private typealias Line = (line: Int, text: Substring)

    /// Without what is shown as code.
    private static func sections(of page: Source) -> [[Line]] {
        var isShown = false
        var found: [[Line]] = [[]]
        for (index, line) in page.lines.enumerated() {
            if line.hasPrefix("```") { isShown.toggle() }
            if line.hasPrefix("## ") { found.append([]) }
            if !isShown { found[found.count - 1].append((index + 1, line)) }
        }
        return found
    }

    private static func linked(from lines: [Line], _ page: Source, _ files: (String) -> [Source]) -> [Source] {
        let text = lines.map(\.text).joined(separator: "\n")
        return DocumentRules.links(in: Source(path: page.path, text: text)).flatMap { link in
            DocumentRules.resolve(link.path, from: page.path).map(files) ?? []
        }
    }

    /// Identifiers and names of files in backquotes, outside of links: `count`, `Badge`, `send(_:to:)`, `routes.js`. Commands,
    /// keys and object names, which have other characters, are none.
    static func names(in line: Substring) -> [String] {
        line.split(separator: "`", omittingEmptySubsequences: false).enumerated().compactMap { index, part in
            guard index % 2 == 1, line[..<part.startIndex].dropLast().last != "[" else { return nil }
            let name = part.prefix { $0 != "(" }
            guard let first = name.first, first.isLetter,
                name.allSatisfy({ $0.isLetter || $0.isNumber || "_.+".contains($0) })
            else { return nil }
            if name.hasSuffix(".swift") || name.hasSuffix(".js") { return String(name) }
            return name.split(separator: ".").last.map(String.init)
        }
    }

    private static func isCalled(_ file: Source, _ name: String) -> Bool { file.path.hasSuffix("/\(name)") }

    private static func declares(_ file: Source, _ name: String) -> Bool {
        file.code.indices.dropFirst().contains {
            file.code[$0].is(name) && self.keywords.contains(String(file.code[$0 - 1].text))
        }
    }

    /// Comments of Swift do not count.
    private static func has(_ file: Source, _ name: String) -> Bool {
        guard file.isSwift else { return self.hasWord(name, in: file.text) }
        return file.code.contains { $0.is(name) || $0.kind == .string && self.hasWord(name, in: $0.text) }
    }

    private static func hasWord(_ name: String, in text: String) -> Bool {
        text.ranges(of: name).contains { range in
            let around = [text[..<range.lowerBound].last, text[range.upperBound...].first]
            return around.allSatisfy { $0.map { !$0.isLetter && !$0.isNumber && $0 != "_" } ?? true }
        }
    }
}
