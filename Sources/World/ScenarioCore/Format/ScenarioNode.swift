/// A place in a scenario file, both counted from 1.
package struct ScenarioPosition: Hashable, Sendable, Comparable {
    /// The line.
    package var line: Int
    /// The column.
    package var column: Int

    /// A place.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Orders as a file is read.
    package static func < (left: Self, right: Self) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// What a YAML parser made of a file: values that know where they stand. Numbers and switches are texts still.
package struct ScenarioNode: Hashable, Sendable {
    /// Where it begins.
    package var position: ScenarioPosition
    /// What it is.
    package var value: Value

    /// What a node can be.
    package indirect enum Value: Hashable, Sendable {
        /// A text as written; quoted ones are never numbers or switches.
        case scalar(String, isQuoted: Bool)
        case sequence([ScenarioNode])
        case mapping([Member])
    }

    /// One key of a mapping.
    package struct Member: Hashable, Sendable {
        /// The key as written.
        package var key: String
        /// Where the key begins.
        package var position: ScenarioPosition
        /// What it has.
        package var node: ScenarioNode

        /// A key with its node.
        package init(key: String, position: ScenarioPosition, node: ScenarioNode) {
            self.key = key
            self.position = position
            self.node = node
        }
    }

    /// A node.
    package init(position: ScenarioPosition, value: Value) {
        self.position = position
        self.value = value
    }

    /// The text of a scalar.
    var text: String? {
        if case .scalar(let text, _) = self.value { text } else { nil }
    }

    /// The node of a key of a mapping.
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

    /// What it is, in words for messages.
    var kind: String {
        switch self.value {
        case .scalar(let text, _): "\"\(text)\""
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}

/// What is wrong with a scenario file.
package struct ScenarioProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where.
    package var position: ScenarioPosition
    /// What, with the allowed values.
    package var message: String

    /// A problem.
    package init(position: ScenarioPosition, message: String) {
        self.position = position
        self.message = message
    }

    /// `line:column: message`.
    package var description: String { "\(self.position.line):\(self.position.column): \(self.message)" }
}
