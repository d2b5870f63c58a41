/// Finds places of cores where the iteration order of a Dictionary or a Set can leave: Swift seeds hashing per process, so one seed
/// would give two traces.
///
/// Works without types, line by line, from the names that a file and its target declare. A name counts as hashed if it is declared as
/// `[K: V]`, `Dictionary` or `Set` and not also as something ordered; what the file itself declares goes first.
enum HashOrder {
    /// The escape for uses that fold or look up, so that no order gets out; the reason follows it.
    static let mark = "tidy: order does not leave:"

    /// Words of a statement that take the order away again.
    private static let settling = #"\b(?:sort|sorted|Set|Dictionary|formUnion|union|subtract|subtracting)\b"#
    private static let leaking =
        "map|compactMap|flatMap|forEach|reduce|first|enumerated|prefix|suffix|dropFirst|popFirst|removeFirst|joined|makeIterator|lazy"
    private static let asking = "count|isEmpty|contains|allSatisfy|max|min|elements|isSubset|isSuperset|isDisjoint"

    /// `owner.keys` and `owner.values`, `in a.name {`, `name.map` and `Array(a.name)`.
    private static let uses =
        #"(\w*)[?!]?\.(keys|values)\b(?!\[)(?!\.(?:\#(Self.asking))\b)|\bin (?:\w+\.)*(?!keys\b|values\b)(\w+)(?: where\b| \{)|\b(\w+)\.(?:\#(Self.leaking))\b|\bArray\((?:\w+\.)*(?!keys\b|values\b)(\w+)\)"#

    private static let hashed =
        #"\b(\w+): (?:inout )?(?:Set<|Dictionary<|\[[\w.<>\[\]? ]+: )|\b(?:let|var) (\w+) = (?:Set|Dictionary)[(<]"#
    /// A list, an ordered container, and a `let` that sorts or maps in its line: that step is judged where it stands.
    private static let ordered =
        #"\b(\w+): (?:inout )?(?:Ordered|Array<|Deque<|\[(?![\w.<>\[\]? ]*:|$))|\b(?:let|var) (\w+) = (?:\[|Ordered|.*\b(?:sorted|map|compactMap|flatMap|Array)\b)"#

    private struct Names {
        var hashed: Set<Substring> = []
        var ordered: Set<Substring> = []
    }

    static func findings(in sources: [Source]) -> [Finding] {
        var targets: [String: Names] = [:]
        let cores = sources.filter { CoreRules.cores.contains($0.target ?? "") }.map { source in
            let code = source.code.joined(separator: "\n")
            let names = Names(
                hashed: Set(code.matches(Self.hashed).flatMap(\.groups).filter { !$0.isEmpty }),
                ordered: Set(code.matches(Self.ordered).flatMap(\.groups).filter { !$0.isEmpty }))
            targets[source.target ?? "", default: Names()].hashed.formUnion(names.hashed)
            targets[source.target ?? "", default: Names()].ordered.formUnion(names.ordered)
            return (source, names)
        }
        return cores.flatMap { source, own in
            let spoken = own.hashed.union(own.ordered)
            let target = targets[source.target ?? ""] ?? Names()
            let ordered = own.ordered.union(target.ordered.subtracting(spoken))
            let hashed = own.hashed.union(target.hashed.subtracting(spoken))
            return source.code.indices.flatMap { index in
                source.code[index].matches(Self.uses).compactMap { use -> Finding? in
                    let (owner, view) = (use.groups[0], use.groups[1])
                    // A list has no `keys`; a property of ours may be called so, and what it holds is judged by its own declaration.
                    let isOwn = owner == "self" || ordered.contains(owner) || !owner.isEmpty && ordered.contains(view)
                    let leaks =
                        view.isEmpty
                        ? use.groups.contains { hashed.contains($0) && !ordered.contains($0) }
                        : hashed.contains(owner) && !ordered.contains(owner) || !isOwn
                    guard leaks, Self.statement(around: index, in: source.code).matches(Self.settling).isEmpty,
                        !Source.gives(reasonFor: Self.mark, in: source.comments(at: index + 1))
                    else { return nil }
                    return source.finding(
                        index + 1, "`\(use.text)` gives the order of a hash: sort, or state `// \(Self.mark) …` and why"
                    )
                }
            }
        }
    }

    /// The lines of a statement: back to where it begins, and on while it is indented further or goes on with a dot or a bracket.
    private static func statement(around index: Int, in code: [String]) -> String {
        func goesOn(_ line: String) -> Bool { [".", ")", "]", "?", "&", "+"].contains { line.trimmed.hasPrefix($0) } }
        func isOpen(_ line: String) -> Bool {
            ["(", "[", ",", "=", "in", "return"].contains { line.trimmed.hasSuffix($0) }
        }
        var (first, last) = (index, index)
        while first > 0, goesOn(code[first]) || isOpen(code[first - 1]) { first -= 1 }
        while last + 1 < code.count, goesOn(code[last + 1]) || isOpen(code[last]) { last += 1 }
        return code[first...last].joined(separator: "\n")
    }
}
