import PhoneCore
import TidingsModel

// What is expected.
extension ScenarioReader {
    mutating func expectation(_ node: ScenarioNode) -> Expectation? {
        guard let fields = self.reader.fields(node, .expect) else { return nil }
        self.mustFit(fields)
        if fields.members.isEmpty { self.reader.problem(node.position, "expect must check something") }
        if self.runsCode { return self.screenExpectation(fields) }
        let checks = self.checks(fields)
        guard let anyOf = fields["anyOf"] else { return checks.isEmpty ? nil : Expectation(checks: checks) }
        var alternatives: [[ExpectedValue]] = []
        for node in self.reader.list(anyOf, "anyOf") ?? [] {
            guard let fields = self.reader.fields(node, .expect) else { continue }
            if fields.members.isEmpty { self.reader.problem(node.position, "an alternative must check something") }
            if let nested = fields["anyOf"] {
                self.reader.problem(nested.position, "an alternative has no alternatives of its own")
            }
            let own = self.checks(fields)
            for check in own where checks.contains(where: { $0.key == check.key }) {
                self.reader.problem(
                    check.position, "\(check.key.rawValue) stands beside anyOf already: one of the two can go")
            }
            alternatives.append(own)
        }
        if case .sequence(let nodes) = anyOf.value, nodes.count < 2 {
            self.reader.problem(anyOf.position, "anyOf must hold two expectations or more, got \(nodes.count)")
        }
        return Expectation(checks: checks, alternatives: alternatives)
    }

    mutating func checks(_ fields: NodeReader.Fields) -> [ExpectedValue] {
        var checks: [ExpectedValue] = []
        for member in fields.members {
            guard let key = ExpectKey(rawValue: member.key), !(self.runsCode && key == .screen) else { continue }
            if key.needsSDK, !self.needSDK(member) { continue }
            let choices = self.choices(member.node, key)
            if !choices.isEmpty {
                checks.append(ExpectedValue(key: key, position: member.position, choices: choices))
            }
        }
        return checks
    }

    /// The value of a key, or `{anyOf: [value, value]}`.
    private mutating func choices(_ node: ScenarioNode, _ key: ExpectKey) -> [ExpectedRows] {
        guard case .mapping = node.value, node["anyOf"] != nil else {
            return self.value(node, key).map { [$0] } ?? []
        }
        guard let member = self.only(node, key), let nodes = self.reader.list(member.node, "anyOf") else { return [] }
        if nodes.count < 2 {
            self.reader.problem(member.position, "anyOf must hold two values or more, got \(nodes.count)")
        }
        return nodes.compactMap { self.value($0, key) }
    }

    /// One value: as the key has it, or `{anywhere: [row, row]}`.
    private mutating func value(_ node: ScenarioNode, _ key: ExpectKey) -> ExpectedRows? {
        guard case .mapping = node.value else { return self.rows(node, key).map { ExpectedRows(rows: $0) } }
        guard let member = self.only(node, key) else { return nil }
        guard member.key == "anywhere" else {
            self.reader.problem(member.position, "a value of anyOf has no alternatives of its own")
            return nil
        }
        guard key.form.isList else {
            self.reader.problem(member.position, "\(key.rawValue) is no list: it has one value and no anywhere")
            return nil
        }
        guard let rows = self.rows(member.node, key) else { return nil }
        if rows.isEmpty {
            self.reader.problem(member.position, "anywhere must name something: \(key.rawValue) may hold anything then")
        }
        return ExpectedRows(rows: rows, isAnywhere: true)
    }

    private mutating func only(_ node: ScenarioNode, _ key: ExpectKey) -> ScenarioNode.Member? {
        if key == .screen, let member = self.screenMember(of: node) {
            self.needCode(member)
            return nil
        }
        guard let fields = self.reader.fields(node, .expectedValue) else { return nil }
        guard let member = fields.members.first, fields.members.count == 1 else {
            self.reader.problem(node.position, "\(key.rawValue) is a mapping with one key, anyOf or anywhere")
            return nil
        }
        guard ["anyOf", "anywhere"].contains(member.key) else { return nil }
        return member
    }

    private mutating func rows(_ node: ScenarioNode, _ key: ExpectKey) -> [ExpectedRow]? {
        let name = key.rawValue
        switch key.form {
        case .calls: return self.reader.list(node, name)?.compactMap { self.call($0).map { .call($0) } }
        case .presentations: return self.presentations(node)
        case .words(let words):
            return self.reader.words(node, name, words.map { ($0, $0) })?.map { .text($0) }
        case .labels: return self.reader.list(node, name)?.compactMap { self.known($0, name) }.map { .text($0) }
        case .conversations:
            return self.reader.list(node, name)?.compactMap { node in
                self.reader.text(node, name).flatMap { self.conversation($0, node.position) }
            }.map { .text($0.description) }
        case .activities: return self.reader.list(node, name)?.compactMap { self.shownActivity($0) }
        case .activityChanges:
            let rule = "a change of a Live Activity is written `update of id`"
            return self.rows(node, key, of: ActivityUpdate.Change.self, rule, "changes") { $0.activity($1, $2) }
        case .undelivered:
            let rule = "what never arrived is written `expired of id`"
            return self.rows(node, key, of: UndeliveredReason.self, rule, "reasons") {
                $0.notificationOrActivity($1, $2)
            }
        case .texts:
            return self.reader.list(node, name)?.compactMap { node in
                guard let text = self.reader.text(node, name) else { return nil }
                // Every fault holds an empty text.
                if key == .faults, text.isEmpty {
                    self.reader.problem(node.position, "faults: a text must say something")
                }
                return key == .faults ? .part(text) : .text(text)
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
                guard let label = self.notificationOrActivity(label, "shown"), let parts = self.parts(member.node)
                else { continue }
                if parts.isEmpty {
                    self.reader.problem(
                        member.node.position, "shown must name parts; what shows nothing is not in the list")
                }
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
            for word in Self.arguments(rest[rest.index(after: rest.startIndex)..<end]) {
                if let state = ApplicationState(word: word) {
                    call.state = state
                } else if let allowed = CallWords.arguments(of: name), !allowed.contains(word) {
                    let all = ["active", "inactive", "background"] + allowed
                    self.reader.problem(
                        node.position,
                        "unknown argument \"\(word)\" of \(name)\(Suggestion.text(for: word, among: all))")
                    return nil
                } else {
                    call.arguments.append(word)
                }
            }
            rest = rest[rest.index(after: end)...]
        }
        if rest.hasPrefix(" of ") {
            let word = rest.dropFirst(4).prefix { $0 != " " }
            let label = ScenarioNode(position: node.position, value: .scalar(String(word), isQuoted: true))
            guard let label = name.hasPrefix("activity") ? self.activity(label, "of") : self.known(label, "of") else {
                return nil
            }
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

    /// Returns the texts between commas, without spaces around them; commas in quotes do not count.
    private static func arguments(_ text: Substring) -> [String] {
        var words = [""]
        var isQuoted = false
        for letter in text {
            if letter == "\"" { isQuoted.toggle() }
            if letter == ",", !isQuoted { words.append("") } else { words[words.count - 1].append(letter) }
        }
        let trimmed = words.map { Table.trimmed(Substring($0)) }
        return trimmed == [""] ? [] : trimmed
    }

    /// `ride`, or `ride: {eta: 5}` to look at its content too.
    private mutating func shownActivity(_ node: ScenarioNode) -> ExpectedRow? {
        guard case .mapping(let members) = node.value else {
            return self.activity(node, "activities").map { .activity($0, contentState: nil) }
        }
        guard let member = members.first, members.count == 1 else {
            self.reader.problem(node.position, "an entry of activities is an id, or one id with its content-state")
            return nil
        }
        let name = ScenarioNode(position: member.position, value: .scalar(member.key, isQuoted: true))
        guard let id = self.activity(name, "activities"), let state = self.reader.object(member.node, "content-state")
        else { return nil }
        return .activity(id, contentState: state)
    }

    /// `update of ride`, `payloadTooLarge of m`.
    private mutating func rows<Word: RawRepresentable<String> & CaseIterable>(
        _ node: ScenarioNode, _ key: ExpectKey, of _: Word.Type, _ rule: String, _ kind: String,
        _ known: (inout Self, ScenarioNode, String) -> String?
    ) -> [ExpectedRow]? {
        self.reader.list(node, key.rawValue)?.compactMap { node in
            guard let text = self.reader.text(node, key.rawValue) else { return nil }
            let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, parts[1] == "of", Word(rawValue: parts[0]) != nil else {
                let all = Word.allCases.map(\.rawValue).joined(separator: ", ")
                self.reader.problem(node.position, "\(rule), got \"\(text)\" (\(kind): \(all))")
                return nil
            }
            let name = ScenarioNode(position: node.position, value: .scalar(parts[2], isQuoted: true))
            return known(&self, name, key.rawValue).map { .text("\(parts[0]) of \($0)") }
        }
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
