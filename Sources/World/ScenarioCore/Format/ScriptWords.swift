import PhoneCore

/// Turns the words of a script of `tidings phone` into steps of scenarios: one vocabulary is good for both.
enum ScriptWords {
    /// Returns the step that a line such as `lock` or `airplane on` stands for, or a key such as `lock: yes`; anything else as it is.
    static func step(_ node: ScenarioNode) -> ScenarioNode {
        guard var member = self.member(node) else { return node }
        if let step = member.node.text.flatMap({ StepWords.step(of: member.key, $0) }),
            let colon = step.firstIndex(of: ":")
        {
            member.key = String(step[..<colon])
            member.node.value = .scalar(String(step[colon...].dropFirst(2)), isQuoted: false)
        }
        return ScenarioNode(position: node.position, value: .mapping([member]))
    }

    private static func member(_ node: ScenarioNode) -> ScenarioNode.Member? {
        switch node.value {
        case .scalar(let line, isQuoted: false):
            guard let word = line.split(separator: " ").first else { return nil }
            let rest = line[word.endIndex...].drop { $0 == " " }
            let value = ScenarioNode(
                position: node.position, value: .scalar(rest.isEmpty ? "yes" : String(rest), isQuoted: false))
            return ScenarioNode.Member(key: String(word), position: node.position, node: value)
        // The step `focus: on` is not the line `focus on`.
        case .mapping(let members): return members.count == 1 && members[0].key != "focus" ? members[0] : nil
        case .scalar, .sequence: return nil
        }
    }
}
