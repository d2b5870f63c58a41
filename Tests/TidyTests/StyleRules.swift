/// Rules about size, words and safety, and about what a declaration has to say.
enum StyleRules {
    static let all = [
        Self.fileLength, Self.functionLength, Self.unfinishedWords, Self.machinePaths, Self.forcing,
        Self.uncheckedSendable,
        Self.documentation,
    ]

    static let linesPerFile = 400
    static let linesPerFunction = 70
    /// The escape for a long file or function; the reason follows it.
    static let longMark = "tidy: long because"

    private static func swift(_ name: String, _ check: @escaping @Sendable (Source) -> [Finding]) -> Rule {
        Rule(name: name) { source in source.isSwift && !source.isGenerated ? check(source) : [] }
    }

    static let fileLength = Self.swift("files have at most 400 lines, or state why not") { source in
        guard source.lines.count > Self.linesPerFile,
            !source.lines.prefix(15).contains(where: { Source.states(Self.longMark, in: $0) })
        else { return [] }
        return [
            Finding(
                path: source.path, line: 1,
                what: "\(source.lines.count) lines; at most \(Self.linesPerFile), or `// \(Self.longMark) …` at the top"
            )
        ]
    }

    static let functionLength = Self.swift("functions have at most 70 lines, or state why not") { source in
        Functions.bodies(in: source.code).compactMap { function in
            guard function.lineCount > Self.linesPerFunction else { return nil }
            let top = source.lines[(function.token.line - 1)..<min(function.openingLine + 3, source.lines.count)]
            if top.contains(where: { Source.states(Self.longMark, in: $0) }) { return nil }
            if source.hasReason(Self.longMark, at: function.token.line) { return nil }
            return source.finding(
                function.token,
                "a function of \(function.lineCount) lines; at most \(Self.linesPerFunction), or `// \(Self.longMark) …`"
            )
        }
    }

    /// Spelled in halves, so that this file keeps the rule it states.
    static let unfinished = [
        "TO" + "DO", "FIX" + "ME", "HA" + "CK:", "X" + "XX", "place" + "holder", "not yet " + "implemented",
        "not implemented" + " yet", "lorem " + "ipsum",
    ]
    /// Names of others that contain one of the words: Apple's, and the template of `mkdtemp`.
    static let namesOfOthers = [
        "XX" + "XX" + "XX", "textInput" + "Place" + "holder", "hiddenPreviewsBody" + "Place" + "holder",
        "place" + "holderText", "var place" + "holder", ".place" + "holder",
    ]
    /// The attribute of HTML, and what CSS calls its text.
    static let namesOfPages = ["place" + "holder: ", "::place" + "holder"]

    static let unfinishedWords = Rule(name: "nothing is left for later") { source in
        guard !source.isGenerated else { return [] }
        let isPage = source.path.hasSuffix(".js") || source.path.hasSuffix(".css")
        let names = Self.namesOfOthers + (isPage ? Self.namesOfPages : [])
        return source.lines.enumerated().flatMap { number, line in
            let text = names.reduce(String(line)) { $0.replacing($1, with: "") }
            let lowercased = text.lowercased()
            return Self.unfinished.compactMap { word in
                let isShouted = word == word.uppercased()
                let found = isShouted ? text.contains(word) : lowercased.contains(word)
                return found ? Finding(path: source.path, line: number + 1, what: "says “\(word)”") : nil
            }
        }
    }

    /// Folders of one machine, spelled in halves.
    static let foldersOfAMachine = ["/wo" + "rk/", "/ro" + "ot/", "/opt/swift" + "-packages", "/opt/whe" + "els"]
    static let temporaryFolder = "/t" + "mp/"

    static let machinePaths = Rule(name: "no file names a folder of one machine") { source in
        let folders = Self.foldersOfAMachine + (source.isTest ? [] : [Self.temporaryFolder])
        return source.lines.enumerated().flatMap { number, line in
            folders.filter { line.contains($0) }.map {
                Finding(path: source.path, line: number + 1, what: "names a folder of one machine: \($0)")
            }
        }
    }

    static let forcing = Self.swift("nothing is forced: no `try!`, and no `!` outside tests") { source in
        source.code.indices.compactMap { index in
            let token = source.code[index]
            guard token.is("!"), token.touchesPrevious, index > 0 else { return nil }
            let previous = source.code[index - 1]
            if previous.is("try") { return source.finding(token, "`try!`") }
            // `!=` after an operand, and `!` in front of one.
            if index + 1 < source.code.count, source.code[index + 1].is("="), source.code[index + 1].touchesPrevious {
                return nil
            }
            guard !source.isTest, previous.kind == .word || [")", "]", ">", "?", "!"].contains(previous.text) else {
                return nil
            }
            // A file-private prefix such as `if !a` has a space; `#if !os(Linux)` too.
            return source.finding(token, "`\(previous.text)!` is forced outside a test")
        }
    }

    /// What a comment beside an unchecked promise has to name.
    static let guards = [
        "guard", "lock", "mutex", "loop", "actor", "queue", "semaphore", "immutable", "thread", "atomic", "once",
        "never changes",
    ]

    static let uncheckedSendable = Self.swift("`@unchecked Sendable` names its guard") { source in
        source.code.indices.compactMap { index in
            let token = source.code[index]
            let isUnsafe =
                token.is("unsafe") && index > 1 && source.code[index - 1].is("(")
                && source.code[index - 2].is("nonisolated")
            let isUnchecked = token.is("unchecked") && index > 0 && source.code[index - 1].is("@")
            guard isUnsafe || isUnchecked else { return nil }
            let next = source.lines.dropFirst(token.line).first.map(Source.trimmed)
            let comments = source.comments(at: token.line) + (next?.hasPrefix("//") == true ? [next ?? ""] : [])
            if comments.contains(where: { comment in Self.guards.contains { comment.lowercased().contains($0) } }) {
                return nil
            }
            return source.finding(token, "an unchecked promise without a comment that names what guards it")
        }
    }

    static let documentation = Self.swift("every public declaration has a doc comment") { source in
        guard let target = source.target else { return [] }
        return Declarations.undocumented(in: source.tokens, typesOnly: House.facades.contains(target)).map {
            source.finding($0, "`\($0.text)` without a doc comment")
        }
    }
}
