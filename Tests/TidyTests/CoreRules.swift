/// Rules that hold in cores only: values in, values out (docs/decisions/0001-pure-cores.md).
enum CoreRules {
    static let all = [Self.imports, Self.clocks, Self.chance, Self.tasks, Self.printing, Self.hashOrder, Self.machines]

    /// Runs a check on the hand-written files of cores only.
    private static func rule(_ name: String, _ check: @escaping @Sendable (Source) -> [Finding]) -> Rule {
        Rule(name: name) { source in
            guard House.isCore(source.target), source.isSwift, !source.isGenerated else { return [] }
            return check(source)
        }
    }

    static let imports = Self.rule("cores import cores and ordered containers only") { source in
        source.code.indices.compactMap { index in
            guard source.code[index].is("import"), let module = Self.module(importedAt: index, in: source.code) else {
                return nil
            }
            if House.cores.contains(module.text) || House.containers.contains(module.text) { return nil }
            if source.target == House.wireCore, ["SwiftProtobuf", House.wireCore].contains(module.text) { return nil }
            return source.finding(
                module,
                "core \(source.target ?? "") imports \(module.text); a core imports cores and \(House.containers.sorted())"
            )
        }
    }

    /// The module of `import X`, `import struct X.Y` or `import X.Z`.
    private static func module(importedAt index: Int, in code: [Token]) -> Token? {
        let kinds: Set = ["typealias", "struct", "class", "enum", "protocol", "let", "var", "func"]
        var next = index + 1
        if next < code.count, kinds.contains(code[next].text) { next += 1 }
        return next < code.count && code[next].kind == .word ? code[next] : nil
    }

    static let clocks = Self.rule("cores read no clock; time comes in as `Now`") { source in
        let clocks: Set = [
            "ContinuousClock", "SuspendingClock", "DispatchTime", "clock_gettime", "gettimeofday", "Date",
        ]
        return source.code.indices.compactMap { index in
            let token = source.code[index]
            if token.kind == .word, clocks.contains(token.text) {
                return source.finding(token, "a core reads a clock: \(token.text)")
            }
            // `.now` and `Some.now`, but not `self.now` or `event.now`, which are values handed in.
            guard token.is("now"), index > 0, source.code[index - 1].is(".") else { return nil }
            if index > 1, source.code[index - 1].touchesPrevious, Self.isValue(source.code[index - 2]) { return nil }
            return source.finding(token, "a core reads a clock: .now")
        }
    }

    private static func isValue(_ token: Token) -> Bool {
        if token.is(")") || token.is("]") || token.is("?") { return true }
        guard token.kind == .word, let first = token.text.first else { return false }
        return first.isLowercase || first == "_" || first == "$"
    }

    static let chance = Self.rule("cores draw no chance of their own; a generator comes in as `using:`") { source in
        let sources: Set = ["SystemRandomNumberGenerator", "UUID", "arc4random", "hashValue"]
        let drawing: Set = ["random", "randomElement", "shuffled", "shuffle"]
        return source.code.indices.compactMap { index in
            let token = source.code[index]
            guard token.kind == .word else { return nil }
            // Naming `Hasher` in `hash(into:)` is fine; making one is not.
            let isHasher =
                token.is("Hasher") && index + 1 < source.code.count && source.code[index + 1].is("(")
                && source.code[index + 1].touchesPrevious
            if sources.contains(token.text) || isHasher {
                return source.finding(token, "a core draws chance, or a hash seeded per process: \(token.text)")
            }
            guard drawing.contains(token.text), index > 0, source.code[index - 1].is("."),
                index + 1 < source.code.count,
                source.code[index + 1].is("("), !Self.arguments(after: index + 1, in: source.code).contains("using")
            else { return nil }
            return source.finding(token, "\(token.text)() without `using:` draws from the system's generator")
        }
    }

    private static func arguments(after open: Int, in code: [Token]) -> [String] {
        var depth = 0
        var words: [String] = []
        for token in code[open...] {
            if token.is("(") { depth += 1 }
            if token.is(")") { depth -= 1 }
            if depth == 0 { break }
            if depth == 1 { words.append(token.text) }
        }
        return words
    }

    static let tasks = Self.rule("cores start no tasks, wait for nothing and lock nothing") { source in
        let words: Set = [
            "Task", "TaskGroup", "withTaskGroup", "withThrowingTaskGroup", "async", "await", "actor", "Mutex", "Thread",
            "DispatchQueue", "DispatchSemaphore", "NSLock",
        ]
        return source.code.indices.compactMap { index in
            let token = source.code[index]
            guard token.kind == .word, words.contains(token.text) else { return nil }
            // A label or a case may carry one of the lower-case words as its name.
            if index > 0, source.code[index - 1].is(".") || source.code[index - 1].is("case") { return nil }
            if index + 1 < source.code.count, source.code[index + 1].is(":") { return nil }
            if token.is("actor"), !Self.declaresActor(at: index, in: source.code) { return nil }
            return source.finding(token, "a core leaves the realm of values: \(token.text)")
        }
    }

    /// `actor A {`, `actor A: B` or `actor A<B>`; elsewhere the word is a name, of who does something.
    private static func declaresActor(at index: Int, in code: [Token]) -> Bool {
        guard index + 2 < code.count, code[index + 1].kind == .word else { return false }
        if index > 0, code[index - 1].is("let") || code[index - 1].is("var") { return false }
        return ["{", ":", "<"].contains(code[index + 2].text)
    }

    static let printing = Self.rule("cores print nothing") { source in
        let words: Set = ["print", "debugPrint", "dump", "NSLog", "fputs", "putchar"]
        return source.code.indices.compactMap { index in
            let token = source.code[index]
            guard token.kind == .word, words.contains(token.text), index + 1 < source.code.count,
                source.code[index + 1].is("("), source.code[index + 1].touchesPrevious
            else { return nil }
            if index > 0, [".", "func", "case"].contains(source.code[index - 1].text) { return nil }
            return source.finding(token, "a core prints: \(token.text)")
        }
    }

    static let hashOrder = Self.rule("no order that a hash decides leaves a core", HashOrder.findings)

    static let machines = Self.rule("a machine's switch over its state names every pair, without `default:`") {
        source in
        source.code.indices.flatMap { index -> [Finding] in
            guard source.code[index].is("switch"), index + 1 < source.code.count, source.code[index + 1].is("(") else {
                return []
            }
            let subject = Self.arguments(after: index + 1, in: source.code)
            guard subject.contains(","), subject.contains(where: { $0.lowercased().hasSuffix("state") }) else {
                return []
            }
            guard let body = source.code.indices[index...].first(where: { source.code[$0].is("{") }) else { return [] }
            var depth = 0
            var found: [Finding] = []
            for token in source.code[body...] {
                if token.is("{") { depth += 1 }
                if token.is("}") { depth -= 1 }
                if depth == 0 { break }
                if depth == 1, token.is("default") {
                    found.append(source.finding(token, "`default:` in a switch over (state, event) hides pairs"))
                }
            }
            return found
        }
    }
}
