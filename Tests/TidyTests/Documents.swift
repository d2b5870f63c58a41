/// Rules about the pages for people.
enum DocumentRules {
    /// The targets of the relative links of a Markdown page, with the line each stands on; fragments are cut off.
    static func links(in source: Source) -> [(line: Int, path: String)] {
        guard source.path.hasSuffix(".md") else { return [] }
        var inFence = false
        var found: [(line: Int, path: String)] = []
        for (number, line) in source.lines.enumerated() {
            if line.hasPrefix("```") { inFence.toggle() }
            guard !inFence else { continue }
            for part in line.split(separator: "](", omittingEmptySubsequences: false).dropFirst() {
                guard let end = part.firstIndex(of: ")") else { continue }
                let target = part[..<end].prefix { $0 != "#" }
                if target.isEmpty || target.contains("://") || target.hasPrefix("mailto:") { continue }
                found.append((number + 1, String(target)))
            }
        }
        return found
    }

    /// The path a link on a page leads to, from the root of the tree; nil if it leads out of the tree.
    static func resolve(_ link: String, from page: String) -> String? {
        var parts = page.split(separator: "/").dropLast().map(String.init)
        for part in link.split(separator: "/") where part != "." {
            if part == ".." {
                guard !parts.isEmpty else { return nil }
                parts.removeLast()
            } else {
                parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }

    /// Links that lead to nothing, given what is in the tree.
    static func deadLinks(in source: Source, exists: (String) -> Bool) -> [Finding] {
        Self.links(in: source).compactMap { line, link in
            if let path = Self.resolve(link, from: source.path), exists(path) { return nil }
            return Finding(path: source.path, line: line, what: "the link \(link) leads to nothing")
        }
    }

    /// The lines of the fenced blocks of a language, in order.
    static func blocks(_ language: String, in source: Source) -> [String] {
        var found: [String] = []
        var isInside = false
        for line in source.lines {
            if line.hasPrefix("```") {
                isInside = !isInside && line == "```\(language)"
            } else if isInside {
                found.append(String(line))
            }
        }
        return found
    }

    /// The quoted words of a Swift file that stand on a line with the mark, or on the line after it: names that a page has
    /// to explain. Words are lower case, with dots and underscores.
    static func quotedWords(in source: Source, near mark: String) -> [String] {
        let lines = Set(
            source.lines.indices.filter { source.lines[$0].contains(mark) && !source.lines[$0].contains("///") }
                .flatMap { [$0 + 1, $0 + 2] })
        let words = source.code.filter { $0.kind == .string && lines.contains($0.line) }
            .map { $0.text.dropFirst().dropLast() }
        let isName = { (word: Substring) in
            !word.isEmpty && word.allSatisfy { $0 == "." || $0 == "_" || ($0.isASCII && $0.isLowercase) }
        }
        var seen: Set<Substring> = []
        return words.filter { isName($0) && seen.insert($0).inserted }.map(String.init)
    }
}
