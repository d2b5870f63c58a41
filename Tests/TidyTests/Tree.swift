import Foundation

/// The files of the tree that people wrote.
enum Tree {
    /// The root: `TIDY_ROOT` if it is set (the purity proof checks a copy), otherwise two folders above this one.
    static let root: URL = {
        if let other = ProcessInfo.processInfo.environment["TIDY_ROOT"] { return URL(fileURLWithPath: other) }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }()

    private static let endings: Set = [
        "swift", "md", "py", "sh", "yml", "yaml", "json", "proto", "txt", "toml", "html", "js", "css", "example", "",
    ]
    private static let skipped: Set = [
        ".git", ".build", ".swiftpm", ".venv", "__pycache__", ".pytest_cache", "LICENSE", "Package.resolved",
        "screenshots",
        "node_modules",
    ]

    static let sources: [Source] = Self.read()

    static let swift: [Source] = Self.sources.filter(\.isSwift)

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(path).path)
    }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    private static func read() -> [Source] {
        guard
            let walk = FileManager.default.enumerator(
                at: Self.root, includingPropertiesForKeys: [.isRegularFileKey], options: [])
        else { return [] }
        let prefix = Self.root.resolvingSymlinksInPath().path + "/"
        var found: [Source] = []
        for case let url as URL in walk {
            if Self.skipped.contains(url.lastPathComponent) {
                walk.skipDescendants()
                continue
            }
            guard Self.endings.contains(url.pathExtension),
                (try? url.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true,
                let text = try? String(contentsOf: url, encoding: .utf8)
            else { continue }
            let path = url.resolvingSymlinksInPath().path
            found.append(Source(path: path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path, text: text))
        }
        return Self.acquainted(found.sorted { $0.path < $1.path })
    }

    /// Tells the files of each core what their target declares.
    private static func acquainted(_ sources: [Source]) -> [Source] {
        var names: [String: HashOrder.Names] = [:]
        for source in sources {
            guard let target = source.target, House.isCore(target) else { continue }
            let declared = HashOrder.declaredNames(in: source.code)
            names[target, default: .init()].hashed.formUnion(declared.hashed)
            names[target, default: .init()].ordered.formUnion(declared.ordered)
        }
        return sources.map { source in
            var source = source
            if let target = source.target { source.namesOfTarget = names[target] ?? .init() }
            return source
        }
    }
}
