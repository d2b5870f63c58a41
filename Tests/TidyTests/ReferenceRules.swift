/// Rules about references to numbered sections of the project's own pages: `design.md §5`, `ios-delivery.md §6.1`,
/// `APNs reference, sections 14 and 15`.
enum ReferenceRules {
    /// The pages with numbered sections, by the names under which files refer to them.
    static let pages = [
        "design.md": "docs/design.md",
        "ios-delivery.md": "docs/reference/ios-delivery.md",
        "apns.md": "docs/reference/apns.md", "APNs reference": "docs/reference/apns.md",
    ]

    /// A section that a file names.
    struct Reference: Equatable {
        var line: Int
        /// The page's name as written.
        var name: String
        /// `5`, `6.1` or `P3`.
        var section: String
        /// Words of the section, if it is quoted: `design.md §5 "Badge"`.
        var part: String?
    }

    /// The numbered sections of a page: the text of each up to the next heading.
    static func sections(of page: Source) -> [String: String] {
        var found: [String: String] = [:]
        var current: String?
        for line in page.lines {
            if line.hasPrefix("#") {
                let title = line.drop { $0 == "#" }.dropFirst().prefix { $0 != " " }
                let number = title.hasSuffix(".") ? title.dropLast() : title
                current = self.isNumber(number) ? String(number) : nil
                if let current { found[current] = "" }
            } else if let current {
                found[current, default: ""] += line + "\n"
            }
        }
        return found
    }

    /// The sections that a file names. A reference may be continued on the next line.
    static func references(in source: Source) -> [Reference] {
        let names = self.pages.keys.sorted().filter { source.text.contains($0) }
        guard !names.isEmpty else { return [] }
        return source.lines.indices.flatMap { index in
            names.flatMap { name in
                let line = source.lines[index]
                let next = index + 1 < source.lines.count ? self.withoutCommentMarks(source.lines[index + 1]) : ""
                return line.ranges(of: name).flatMap { range -> [Reference] in
                    var rest = Substring("\(line[range.upperBound...]) \(next)")
                    return self.list(&rest).map { section, part in
                        Reference(line: index + 1, name: name, section: section, part: part)
                    }
                }
            }
        }
    }

    /// References to sections that are not there, or do not have the words that are quoted.
    ///
    /// - Parameter sections: the text of the sections of each page, by path and number.
    static func findings(in source: Source, sections: [String: [String: String]]) -> [Finding] {
        self.references(in: source).compactMap { reference in
            let path = self.pages[reference.name] ?? reference.name
            guard let text = sections[path]?[reference.section] else {
                return Finding(
                    path: source.path, line: reference.line, what: "\(path) has no section \(reference.section)")
            }
            guard let part = reference.part, !text.lowercased().contains(part.lowercased()) else { return nil }
            return Finding(
                path: source.path, line: reference.line,
                what: "\(path), section \(reference.section), does not say “\(part)”")
        }
    }

    /// The sections at the head of a text: `§5 "Badge" and "Queue", §7`, `P3, P7`, `sections 4 to 11`, `section 4`.
    private static func list(_ rest: inout Substring) -> [(section: String, part: String?)] {
        self.skip(["`, ", "`", ", ", " "], &rest)
        self.skip([" "], &rest)
        let isPlural = self.skip(["sections "], &rest)
        let isSingular = !isPlural && self.skip(["section "], &rest)
        var found: [(section: String, part: String?)] = []
        while let section = self.section(&rest, bare: isPlural || isSingular) {
            let parts = self.parts(&rest)
            if parts.isEmpty { found.append((section, nil)) }
            for part in parts { found.append((section, part)) }
            if isSingular || !self.skip([", and ", ", ", " and ", " to ", "–"], &rest) { break }
        }
        return found
    }

    /// A section's number at the head of a text; with a `§` or a `P` unless it may be bare.
    private static func section(_ rest: inout Substring, bare: Bool) -> String? {
        var after = rest
        let isMarked = self.skip(["§"], &after)
        let digits = after.prefix { $0 == "P" || $0 == "." || $0.isNumber }
        let number = digits.hasSuffix(".") ? digits.dropLast() : digits
        guard self.isNumber(number), isMarked || bare || number.hasPrefix("P") else { return nil }
        rest = after.dropFirst(number.count)
        return String(number)
    }

    /// The quoted words at the head of a text: ` "Badge" and "Queue"`.
    private static func parts(_ rest: inout Substring) -> [String] {
        var found: [String] = []
        var after = rest
        while self.skip([", \"", " \"", " and \""], &after), let end = after.firstIndex(of: "\"") {
            found.append(String(after[..<end]))
            after = after[after.index(after: end)...]
            rest = after
        }
        return found
    }

    /// Whether it is `5`, `6.1` or `P3`.
    private static func isNumber(_ text: Substring) -> Bool {
        let digits = text.first == "P" ? text.dropFirst() : text
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        return !digits.isEmpty && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0.isASCII && $0.isNumber } }
    }

    /// Takes the first of some words that the text begins with.
    @discardableResult private static func skip(_ words: [String], _ rest: inout Substring) -> Bool {
        guard let word = words.first(where: { rest.hasPrefix($0) }) else { return false }
        rest = rest.dropFirst(word.count)
        return true
    }

    private static func withoutCommentMarks(_ line: Substring) -> Substring {
        Source.trimmed(line).drop { $0 == "/" || $0 == "#" || $0 == "*" || $0 == " " }
    }
}
