/// Modules with the names and signatures of Apple's frameworks, which SDK and examples are compiled against on Linux. docs/apple.md lists them, with
/// Apple's page for each type.
enum StandIns {
    /// Apple's framework, where the module has another name.
    static let frameworks = ["KeychainServices": "Security", "URLSessionWebSocket": "Foundation"]

    private static let declarations: Set<String> = ["class", "struct", "enum", "protocol", "actor", "func"]
    /// How the names of the framework begin.
    private static func beginnings(of module: String) -> [String] {
        switch module {
        case "AudioToolbox": ["AudioServices"]
        case "BackgroundTasks": ["BG"]
        case "CallKit": ["CX"]
        case "Intents": ["IN"]
        case "KeychainServices": ["SecItem"]
        case "PushKit": ["PK"]
        case "UIKit": ["UI", "NS"]
        case "URLSessionWebSocket": ["URLSession"]
        case "UserNotifications", "UserNotificationsUI": ["UN"]
        default: []  // tidy: names of a framework that is not here yet need rows
        }
    }

    /// The public types and functions of a module, but for what is inside a type: the page of the type tells of it.
    static func names(of module: String, in sources: [Source]) -> Set<String> {
        var found: Set<String> = []
        for source in sources where source.isSwift && source.path.hasPrefix("Sources/Phone/\(module)/") {
            var depth = 0
            for index in source.code.indices {
                let token = source.code[index]
                if token.is("{") || token.is("(") { depth += 1 }
                if token.is("}") || token.is(")") { depth -= 1 }
                guard depth == 0, token.is("public") || token.is("open") else { continue }
                let end = source.code[index...].prefix(4)
                guard
                    let word = end.firstIndex(where: { Self.declarations.contains($0.text) }),
                    word + 1 < source.code.endIndex
                else { continue }
                found.insert(source.code[word + 1].text)
            }
        }
        return found
    }

    /// The facades that the SDK and the examples import.
    static func imported(in sources: [Source]) -> Set<String> {
        var found: Set<String> = []
        for source in sources where Self.isUser(source) {
            for index in source.code.indices.dropLast() where source.code[index].is("import") {
                let module = source.code[index + 1].text
                if House.facades.contains(module) { found.insert(module) }
            }
        }
        return found
    }

    private static func isUser(_ source: Source) -> Bool {
        source.isSwift && (source.path.hasPrefix("Sources/SDK/") || source.path.hasPrefix("Examples/"))
    }

    /// The rows of the page: module, Apple's framework, and what SDK and examples name of it.
    static func table(of sources: [Source]) -> String {
        let used = Set(sources.filter(Self.isUser).flatMap { $0.code.map(\.text) })
        let rows = Self.imported(in: sources).sorted().map { module in
            let names = Self.names(of: module, in: sources).filter(used.contains).sorted()
            let framework = Self.frameworks[module] ?? module
            return "| `\(module)` | \(framework) | \(names.map { "`\($0)`" }.joined(separator: ", ")) |"
        }
        return rows.joined(separator: "\n")
    }

    /// Lines of the section that are rows, but for the table's head.
    private static func rows(under heading: String, in page: Source) -> [Substring] {
        guard let begin = page.lines.firstIndex(where: { $0 == heading }) else { return [] }
        let section = page.lines[(begin + 1)...].prefix { !$0.hasPrefix("#") }
        return section.filter { $0.hasPrefix("| `") }
    }

    static func table(in page: Source) -> String { Self.rows(under: "## Stand-ins", in: page).joined(separator: "\n") }

    /// The pages that do not follow the rule, by name.
    static func exceptions(in page: Source) -> [String: String] {
        var found: [String: String] = [:]
        for row in Self.rows(under: "### Apple's page of a type", in: page) {
            let cells = row.split(separator: "|").map { Source.trimmed($0) }
            guard cells.count == 2, let name = Self.quoted(in: String(cells[0])).first else { continue }
            found[name] = String(cells[1].drop { $0 != "<" }.dropFirst().prefix { $0 != ">" })
        }
        return found
    }

    /// The names in backquotes on the line that begins so.
    static func names(after words: String, in page: Source) -> Set<String> {
        Set(page.lines.filter { $0.hasPrefix(words) }.flatMap { Self.quoted(in: String($0)) })
    }

    private static func quoted(in text: String) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().compactMap { index, part in
            index % 2 == 1 ? String(part) : nil
        }
    }

    private static let root = "https://developer.apple.com/documentation/"

    /// Apple's page of a type, by the rule.
    static func documentation(of type: String, in module: String) -> String {
        Self.root + "\((Self.frameworks[module] ?? module).lowercased())/\(type.lowercased())"
    }

    /// Types that have no page of Apple's by the rule, though they are public, and rows of the page about nothing.
    static func findings(in page: Source, of sources: [Source]) -> [String] {
        let exceptions = Self.exceptions(in: page)
        let own = Self.names(after: "The modules' own: ", in: page)
        var known: Set<String> = []
        var found: [String] = []
        for module in House.facades.sorted() {
            let names = Self.names(of: module, in: sources)
            known.formUnion(names)
            found += names.subtracting(own).sorted().filter { name in
                exceptions[name] == nil && !Self.beginnings(of: module).contains { name.hasPrefix($0) }
            }.map { "\(module).\($0) needs Apple's page, or is the module's own" }
            found += names.sorted().filter { exceptions[$0] == Self.documentation(of: $0, in: module) }.map {
                "the page of \($0) follows from the rule"
            }
        }
        found += own.subtracting(known).sorted().map { "no module has \($0)" }
        let words = Set(sources.filter { $0.path.hasPrefix("Sources/Phone/") }.flatMap { $0.code.map(\.text) })
        for (name, page) in exceptions.sorted(by: { $0.key < $1.key }) {
            if !words.contains(name) { found.append("no module has \(name)") }
            if !page.hasPrefix(Self.root) { found.append("\(name) needs Apple's page") }
        }
        return found
    }
}
