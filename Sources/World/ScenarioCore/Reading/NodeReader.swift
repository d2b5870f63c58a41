import TidingsModel

/// Reads nodes and collects everything that is wrong with them, so that a person sees all problems at once.
struct NodeReader {
    private(set) var problems: [ScenarioProblem] = []

    mutating func problem(_ position: ScenarioPosition, _ message: String) {
        let problem = ScenarioProblem(position: position, message: message)
        if !self.problems.contains(problem) { self.problems.append(problem) }
    }

    struct Fields {
        let section: ScenarioSection
        let position: ScenarioPosition
        let members: [ScenarioNode.Member]

        subscript(key: String) -> ScenarioNode? { self.members.first { $0.key == key }?.node }
    }

    mutating func fields(_ node: ScenarioNode, _ section: ScenarioSection) -> Fields? {
        guard let members = self.mapping(node, section.rawValue) else { return nil }
        let allowed = section.keys.map(\.name)
        for member in members where !allowed.contains(member.key) {
            let isHeader = member.key.hasPrefix("apns-") && allowed.contains("headers")
            let hint = isHeader ? "; it stands in headers" : Suggestion.text(for: member.key, among: allowed)
            self.problem(member.position, "unknown key \"\(member.key)\" in \(section.rawValue)\(hint)")
        }
        let fields = Fields(section: section, position: node.position, members: members)
        for key in section.keys where key.isNeeded { _ = self.needed(key.name, in: fields) }
        return fields
    }

    mutating func mapping(_ node: ScenarioNode, _ name: String) -> [ScenarioNode.Member]? {
        guard case .mapping(let members) = node.value else {
            self.problem(node.position, "\(name) must be a mapping, got \(node.kind)")
            return nil
        }
        return members
    }

    mutating func list(_ node: ScenarioNode, _ name: String) -> [ScenarioNode]? {
        guard case .sequence(let nodes) = node.value else {
            self.problem(node.position, "\(name) must be a list, got \(node.kind)")
            return nil
        }
        return nodes
    }

    mutating func text(_ node: ScenarioNode, _ name: String) -> String? {
        guard let text = node.text else {
            self.problem(node.position, "\(name) must be a text, got \(node.kind)")
            return nil
        }
        return text
    }

    /// For what is needed by what else stands there: `fields` looks for the keys that always are.
    mutating func needed(_ key: String, in fields: Fields) -> ScenarioNode? {
        if let node = fields[key] { return node }
        self.problem(fields.position, "\(fields.section.rawValue) needs the key \"\(key)\"")
        return nil
    }

    mutating func number(_ node: ScenarioNode, _ name: String, from least: Int = 0) -> Int? {
        guard case .scalar(let text, isQuoted: false) = node.value, let number = Int(text), number >= least else {
            self.problem(node.position, "\(name) must be a whole number of \(least) or more, got \(node.kind)")
            return nil
        }
        return number
    }

    private static let flags = ["on": true, "yes": true, "true": true, "off": false, "no": false, "false": false]

    mutating func flag(_ node: ScenarioNode, _ name: String) -> Bool? {
        self.flag(node, rule: "\(name) must be on or off (or yes or no)")
    }

    mutating func flag(_ node: ScenarioNode, rule: String) -> Bool? {
        if case .scalar(let text, isQuoted: false) = node.value, let flag = Self.flags[text] { return flag }
        self.problem(node.position, "\(rule), got \(node.kind)")
        return nil
    }

    mutating func word<Word>(_ node: ScenarioNode, _ name: String, _ words: [(String, Word)]) -> Word? {
        guard let text = node.text, let match = words.first(where: { $0.0 == text }) else {
            let got = node.text ?? node.kind
            let text = node.text.map { "unknown \(name) \"\($0)\"" } ?? "\(name) must be a word, got \(node.kind)"
            self.problem(node.position, text + Suggestion.text(for: got, among: words.map(\.0)))
            return nil
        }
        return match.1
    }

    mutating func word<Word: RawRepresentable & CaseIterable>(_ node: ScenarioNode, _ name: String, _: Word.Type)
        -> Word?
    where Word.RawValue == String {
        self.word(node, name, Word.allCases.map { ($0.rawValue, $0) })
    }

    mutating func words<Word>(_ node: ScenarioNode, _ name: String, _ words: [(String, Word)]) -> [Word]? {
        guard let nodes = self.list(node, name) else { return nil }
        return nodes.compactMap { self.word($0, name, words) }
    }

    mutating func options<Options: OptionSet>(
        _ node: ScenarioNode, _ name: String, _ words: [(String, Options)]
    ) -> Options? where Options.Element == Options {
        self.words(node, name, words)?.reduce([]) { $0.union($1) }
    }

    mutating func text(_ key: String, in fields: Fields) -> String? { fields[key].flatMap { self.text($0, key) } }

    mutating func mapping(_ key: String, in fields: Fields) -> [ScenarioNode.Member] {
        fields[key].flatMap { self.mapping($0, key) } ?? []
    }

    /// A key that may be left out.
    mutating func read<Value>(
        _ key: String, in fields: Fields, into value: inout Value,
        by read: (inout NodeReader, ScenarioNode, String) -> Value?
    ) {
        if let node = fields[key], let new = read(&self, node, key) { value = new }
    }

    /// A time with its unit, in milliseconds: `500 ms`, `30 s`, `2 min`, `1 h`, `1 d`.
    mutating func time(_ node: ScenarioNode, _ name: String) -> Int64? {
        let units: [(String, Int64)] = [("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000), ("d", 86_400_000)]
        return self.quantity(node, name, units, "and a unit such as 30 s, at most 366 d") { number, factor in
            let (product, overflow) = number.multipliedReportingOverflow(by: factor)
            return !overflow && product <= 366 * 86_400_000
        }
    }

    /// An amount of memory with its unit, in bytes: `500 kB`, `24 MB`.
    mutating func size(_ node: ScenarioNode, _ name: String) -> Int? {
        let units: [(String, Int64)] = [("kB", 1_000), ("MB", 1_000_000)]
        let rule = "of at most 1000000 and a unit such as 24 MB"
        return self.quantity(node, name, units, rule) { number, _ in number <= 1_000_000 }.map { Int($0) }
    }

    private mutating func quantity(
        _ node: ScenarioNode, _ name: String, _ units: [(String, Int64)], _ rule: String,
        isAllowed: (Int64, Int64) -> Bool
    ) -> Int64? {
        let text = node.text ?? ""
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count).drop { $0 == " " }
        guard let number = Int64(digits), let factor = units.first(where: { $0.0 == unit })?.1,
            isAllowed(number, factor)
        else {
            self.problem(
                node.position,
                "\(name) must be a whole number \(rule), got \(node.kind) "
                    + "(units: \(units.map(\.0).joined(separator: ", ")))")
            return nil
        }
        return number * factor
    }

    /// A time of day such as `07:30`, in minutes after midnight.
    mutating func clock(_ node: ScenarioNode, _ name: String) -> Int? {
        let parts = (node.text ?? "").split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.count == 2 && part.allSatisfy { $0.isASCII && $0.isNumber } ? Int(part) : nil
        }
        guard parts.count == 2, numbers.count == 2, numbers[0] < 24, numbers[1] < 60 else {
            self.problem(node.position, "\(name) must be a time from 00:00 to 23:59, got \(node.kind)")
            return nil
        }
        return numbers[0] * 60 + numbers[1]
    }

    mutating func fraction(_ node: ScenarioNode, _ name: String) -> JSONValue? {
        guard case .scalar(let text, isQuoted: false) = node.value, let number = Double(text), (0...1).contains(number)
        else {
            self.problem(node.position, "\(name) must be a number from 0 to 1, got \(node.kind)")
            return nil
        }
        return self.json(node)
    }

    mutating func object(_ node: ScenarioNode, _ name: String) -> JSONValue? {
        self.mapping(node, name).map { _ in self.json(node) }
    }

    mutating func texts(_ node: ScenarioNode, _ name: String) -> [String]? {
        self.list(node, name)?.compactMap { self.text($0, name) }
    }

    /// Any value as JSON: plain numbers and switches become such, everything quoted a string.
    mutating func json(_ node: ScenarioNode) -> JSONValue {
        switch node.value {
        case .scalar(let text, isQuoted: true): return .string(text)
        case .scalar(let text, isQuoted: false):
            if let number = Int64(text) { return .int(number) }
            if let number = Double(text), number.isFinite, let value = JSONNumber(number) { return .number(value) }
            if let flag = Self.flags[text] { return .bool(flag) }
            return ["null", "~", ""].contains(text) ? .null : .string(text)
        case .sequence(let nodes): return .array(nodes.map { self.json($0) })
        case .mapping(let members): return .members(members.map { ($0.key, self.json($0.node)) })
        }
    }
}
