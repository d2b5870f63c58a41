package struct ScenarioPosition: Hashable, Sendable, Comparable {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

package struct ScenarioNode: Hashable, Sendable {
    package var position: ScenarioPosition
    package var value: Value

    package indirect enum Value: Hashable, Sendable {
        /// A text as written; quoted ones are never numbers or switches.
        case scalar(String, isQuoted: Bool)
        case sequence([ScenarioNode])
        case mapping([Member])
    }

    package struct Member: Hashable, Sendable {
        package var key: String
        package var position: ScenarioPosition
        package var node: ScenarioNode

        package init(key: String, position: ScenarioPosition, node: ScenarioNode) {
            self.key = key
            self.position = position
            self.node = node
        }
    }

    package init(position: ScenarioPosition, value: Value) {
        self.position = position
        self.value = value
    }

    var text: String? {
        if case .scalar(let text, _) = self.value { text } else { nil }
    }

    subscript(key: String) -> ScenarioNode? {
        guard case .mapping(let members) = self.value else { return nil }
        return members.first { $0.key == key }?.node
    }

    /// This node with another on top: mappings are joined key by key, everything else is replaced.
    func overlaid(by other: ScenarioNode?) -> ScenarioNode {
        guard let other else { return self }
        guard case .mapping(var members) = self.value, case .mapping(let others) = other.value else { return other }
        for member in others {
            if let index = members.firstIndex(where: { $0.key == member.key }) {
                members[index].node = members[index].node.overlaid(by: member.node)
            } else {
                members.append(member)
            }
        }
        return ScenarioNode(position: other.position, value: .mapping(members))
    }

    var kind: String {
        switch self.value {
        case .scalar(let text, _): "\"\(text)\""
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}

package struct ScenarioProblem: Error, Hashable, Sendable, CustomStringConvertible {
    package var position: ScenarioPosition
    package var message: String

    package init(position: ScenarioPosition, message: String) {
        self.position = position
        self.message = message
    }

    package var description: String { "\(self.position.line):\(self.position.column): \(self.message)" }
}
