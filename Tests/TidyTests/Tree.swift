import Foundation
import Testing

/// A text file of the tree.
struct Source {
    /// The path from the root of the tree, with `/` between its parts.
    let path: String
    let text: String
    let lines: [Substring]
    /// The lines without comments and with empty string literals, of a Swift file in `Sources`; empty for any other.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        self.lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let isCode = path.hasPrefix("Sources/") && path.hasSuffix(".swift") && !path.hasSuffix(".pb.swift")
        self.code = isCode ? Self.code(of: text) : []
    }

    var isSwift: Bool { self.path.hasSuffix(".swift") && !self.path.hasSuffix(".pb.swift") }

    /// The target the file belongs to: `Sources/<Wing>/<Target>/…`.
    var target: String? {
        let parts = self.path.split(separator: "/")
        return parts.count > 3 && parts[0] == "Sources" ? String(parts[2]) : nil
    }

    /// Leaves the ends of lines where they are. A raw string that holds a quote, and a block comment, are not understood; the tree has none.
    private static func code(of text: String) -> [String] {
        var code = ""
        var end = text.startIndex
        for found in text.matches(#"//[^\n]*|"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*""#) {
            code += text[end..<found.range.lowerBound]
            if found.text.hasPrefix("\"") { code += "\"\"" }
            code += String(repeating: "\n", count: found.text.count { $0 == "\n" })
            end = found.range.upperBound
        }
        return (code + text[end...]).components(separatedBy: "\n")
    }

    func finding(_ line: Int, _ what: String) -> Finding { Finding(path: self.path, line: line, what: what) }

    /// The comments on a line, and those directly above it.
    func comments(at line: Int) -> [Substring] {
        let above = self.lines[..<(line - 1)].reversed().prefix { ["//", "@"].contains(where: $0.trimmed.hasPrefix) }
        return [self.lines[line - 1].firstRange(of: "//").map { self.lines[line - 1][$0.lowerBound...] } ?? ""] + above
    }

    /// Whether one of the comments has the mark, and a reason of three words or more behind it.
    static func gives(reasonFor mark: String, in comments: some Sequence<Substring>) -> Bool {
        comments.contains { comment in
            guard let range = comment.firstRange(of: mark) else { return false }
            return comment[range.upperBound...].split(separator: " ").count >= 3
        }
    }
}

/// A place that breaks a rule.
struct Finding: Equatable, CustomStringConvertible {
    var path: String
    var line: Int
    var what: String

    var description: String { "\(self.path):\(self.line): \(self.what)" }
}

/// A match of a pattern: its place, its text, and the texts of its groups, empty where a group took no part.
struct Match {
    var range: Range<String.Index>
    var text: Substring
    var groups: [Substring]
}

extension StringProtocol {
    var trimmed: String {
        let head = self.drop { $0 == " " }
        return String(head[..<(head.lastIndex { $0 != " " }.map(head.index(after:)) ?? head.startIndex)])
    }
}

extension String {
    func matches(_ pattern: String) -> [Match] {
        guard let expression = try? NSRegularExpression(pattern: pattern, options: .anchorsMatchLines) else {
            Issue.record("no pattern: \(pattern)")
            return []
        }
        return expression.matches(in: self, range: NSRange(self.startIndex..., in: self)).compactMap { found in
            guard let range = Range(found.range, in: self) else { return nil }
            let groups = (0..<found.numberOfRanges).dropFirst().map { group in
                Range(found.range(at: group), in: self).map { self[$0] } ?? ""
            }
            return Match(range: range, text: self[range], groups: groups)
        }
    }

    /// The number of the line an index stands on, 1 for the first.
    func line(of index: String.Index) -> Int { 1 + self.utf8[..<index].count { $0 == UInt8(ascii: "\n") } }
}

/// The files of the tree that people wrote.
enum Tree {
    /// The root: `TIDY_ROOT` if it is set (the purity proof checks a copy), otherwise two folders above this one.
    static let root: URL = {
        if let other = ProcessInfo.processInfo.environment["TIDY_ROOT"] { return URL(fileURLWithPath: other) }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }()

    private static let endings: Set = ["swift", "md", "py", "yaml", "proto", "toml", "js", "css", "html", ""]
    private static let skipped: Set = [
        ".git", ".build", ".swiftpm", ".venv", "__pycache__", ".pytest_cache", "LICENSE", "screenshots", "node_modules",
    ]

    static let sources: [Source] = {
        guard let walk = FileManager.default.enumerator(at: Self.root, includingPropertiesForKeys: [.isRegularFileKey])
        else { return [] }
        let prefix = Self.root.resolvingSymlinksInPath().path + "/"
        var found: [Source] = []
        for case let url as URL in walk {
            if Self.skipped.contains(url.lastPathComponent) {
                walk.skipDescendants()
            } else if Self.endings.contains(url.pathExtension),
                (try? url.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true,
                let text = try? String(contentsOf: url, encoding: .utf8)
            {
                found.append(
                    Source(path: String(url.resolvingSymlinksInPath().path.dropFirst(prefix.count)), text: text))
            }
        }
        return found.sorted { $0.path < $1.path }
    }()

    static let swift = Self.sources.filter(\.isSwift)

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(path).path)
    }

    static func source(_ path: String) throws -> Source {
        Source(path: path, text: try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8))
    }
}

/// Fails with every place that breaks a rule.
func expectNone(_ findings: [Finding], _ location: SourceLocation = #_sourceLocation) {
    #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))", sourceLocation: location)
}
