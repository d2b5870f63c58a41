import PhoneCore

// What is expected.
extension ScenarioReader {
    mutating func expectation(_ node: ScenarioNode) -> Expectation? {
        guard let fields = self.reader.fields(node, .expect) else { return nil }
        var checks: [ExpectedValue] = []
        for member in fields.members {
            guard let key = ExpectKey(rawValue: member.key) else { continue }
            if key.needsSDK, !self.needSDK(member) { continue }
            guard let rows = self.rows(member.node, key) else { continue }
            checks.append(ExpectedValue(key: key, position: member.position, rows: rows))
        }
        if fields.members.isEmpty { self.reader.problem(node.position, "expect must check something") }
        return checks.isEmpty ? nil : Expectation(checks: checks)
    }

    private mutating func rows(_ node: ScenarioNode, _ key: ExpectKey) -> [ExpectedRow]? {
        let name = key.rawValue
        switch key.form {
        case .calls: return self.reader.list(node, name)?.compactMap { self.call($0).map { .call($0) } }
        case .presentations: return self.presentations(node)
        case .words(let words):
            return self.reader.words(node, name, words.map { ($0, $0) })?.map { .text($0) }
        case .labels:
            return self.reader.list(node, name)?.compactMap { node in
                key == .opened ? self.reader.text(node, name) : self.known(node, name)
            }.map { .text($0) }
        case .texts:
            return self.reader.list(node, name)?.compactMap { self.reader.text($0, name) }.map {
                key == .faults ? .part($0) : .text($0)
            }
        case .word(let words): return self.reader.word(node, name, words.map { ($0, $0) }).map { [.text($0)] }
        case .number: return self.reader.number(node, name).map { [.text(String($0))] }
        case .flag: return self.reader.flag(node, name).map { [.text($0 ? "yes" : "no")] }
        case .text: return self.reader.text(node, name).map { [.text($0)] }
        }
    }

    /// `nothing`, `[banner, list]`, or `[{m1: [banner, list]}, {m2: [list]}]`.
    private mutating func presentations(_ node: ScenarioNode) -> [ExpectedRow]? {
        if node.text == "nothing" { return [] }
        guard let nodes = self.reader.list(node, "shown") else { return nil }
        if nodes.isEmpty {
            self.reader.problem(node.position, "shown must name parts; write `nothing` for none")
            return nil
        }
        guard nodes.contains(where: { $0.text == nil }) else {
            return self.parts(node).map { [.presentation(ExpectedPresentation(label: nil, parts: $0))] }
        }
        var rows: [ExpectedRow] = []
        for node in nodes {
            for member in self.reader.mapping(node, "an entry of shown") ?? [] {
                let label = ScenarioNode(position: member.position, value: .scalar(member.key, isQuoted: true))
                guard let label = self.known(label, "shown"), let parts = self.parts(member.node) else { continue }
                rows.append(.presentation(ExpectedPresentation(label: label, parts: parts)))
            }
        }
        return rows
    }

    private mutating func parts(_ node: ScenarioNode) -> [PresentationPart]? {
        let words = PresentationPart.allCases.map { ($0.rawValue, $0) }
        guard let parts = self.reader.words(node, "part", words) else { return nil }
        return PresentationPart.allCases.filter { parts.contains($0) }
    }

    /// `didReceive(reply, "text") of m1 at 30 s`.
    private mutating func call(_ node: ScenarioNode) -> ExpectedCall? {
        guard let text = self.reader.text(node, "callbacks") else { return nil }
        var rest = Substring(text)
        let name = String(rest.prefix { $0.isLetter || $0.isNumber })
        rest = rest.dropFirst(name.count)
        guard CallWords.words.contains(name) else {
            self.reader.problem(
                node.position, "unknown callback \"\(text)\"\(Suggestion.text(for: name, among: CallWords.words))")
            return nil
        }
        var call = ExpectedCall(name: name, state: nil, arguments: [], label: nil, at: nil)
        if rest.first == "(" {
            guard let end = rest.lastIndex(of: ")") else { return self.malformed(node, text) }
            for argument in rest[rest.index(after: rest.startIndex)..<end].split(separator: ",") {
                let word = argument.drop { $0 == " " }
                if let state = ApplicationState(word: String(word)) {
                    call.state = state
                } else {
                    call.arguments.append(String(word))
                }
            }
            rest = rest[rest.index(after: end)...]
        }
        if rest.hasPrefix(" of ") {
            let word = rest.dropFirst(4).prefix { $0 != " " }
            let label = ScenarioNode(position: node.position, value: .scalar(String(word), isQuoted: true))
            guard let label = self.known(label, "of") else { return nil }
            call.label = label
            rest = rest.dropFirst(4 + word.count)
        }
        if rest.hasPrefix(" at ") {
            let time = ScenarioNode(position: node.position, value: .scalar(String(rest.dropFirst(4)), isQuoted: false))
            guard let at = self.reader.time(time, "at") else { return nil }
            call.at = at
            rest = ""
        }
        guard rest.isEmpty else { return self.malformed(node, text) }
        if CallWords.stateMatters.contains(name), call.state == nil {
            self.reader.problem(
                node.position,
                "\(name) needs its applicationState: active, inactive or background, as in \(name)(active)")
            return nil
        }
        if name == "didReceive", call.arguments.isEmpty { call.arguments = ["default"] }
        return call
    }

    private mutating func malformed(_ node: ScenarioNode, _ text: String) -> ExpectedCall? {
        let isCut = text.contains("(") && !text.contains(")")
        self.reader.problem(
            node.position,
            "a callback is written name(arguments) of notification at time, got \"\(text)\""
                + (isCut ? "; inside [ ] one with a comma needs quotes" : ""))
        return nil
    }
}
