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

    /// The fenced blocks of a language, each with the line it begins on.
    static func fences(_ language: String, in source: Source) -> [(line: Int, lines: [Substring])] {
        var found: [(line: Int, lines: [Substring])] = []
        var isInside = false
        var isWanted = false
        for (number, line) in source.lines.enumerated() {
            let line = Source.trimmed(line)
            if line.hasPrefix("```") {
                isInside.toggle()
                isWanted = isInside && line == "```\(language)"
                if isWanted { found.append((number + 1, [])) }
            } else if isWanted {
                found[found.count - 1].lines.append(line)
            }
        }
        return found
    }

    /// The runs of lines of a page's Swift that stand in no compiled file as they are, indentation aside. An empty line of a
    /// block separates runs, so that a block may leave out what lies between them.
    static func unknownSwift(in page: Source, compiled: [Source]) -> [Finding] {
        let files = compiled.map { $0.lines.map { Source.trimmed($0) } }
        return Self.fences("swift", in: page).flatMap { fence in
            let lines = fence.lines.map { Source.trimmed($0) }
            guard lines.contains(where: { !$0.isEmpty }) else {
                return [Finding(path: page.path, line: fence.line, what: "a block of Swift is empty")]
            }
            return lines.split(separator: "").compactMap { run in
                if files.contains(where: { $0.contains(run) }) { return nil }
                return Finding(
                    path: page.path, line: fence.line + 1 + run.startIndex,
                    what: "no compiled file has: \(run[run.startIndex])")
            }
        }
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
