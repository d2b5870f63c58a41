package import TidingsModel
import Yams

extension JSONValue {
    /// Limits what aliases of aliases can grow to.
    private static let yamlNodesMax = 100_000

    /// Reads YAML as the JSON that says the same. What is thrown names the text `file`.
    package static func value(ofYAML text: String) throws(InvalidField) -> Self {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw InvalidField(field: "file", rule: "must be YAML: \(error)")
        }
        guard let root else { return .null }
        var nodes = 0
        return try self.value(of: root, counting: &nodes)
    }

    private static func value(of node: Node, counting nodes: inout Int) throws(InvalidField) -> Self {
        nodes += 1
        try InvalidField.check(nodes <= self.yamlNodesMax, "file", "must have at most \(self.yamlNodesMax) values")
        switch node {
        case .scalar(let scalar): return self.value(of: scalar)
        case .sequence(let sequence):
            var elements: [Self] = []
            for element in sequence { elements.append(try self.value(of: element, counting: &nodes)) }
            return .array(elements)
        case .mapping(let mapping):
            var members: [(String, Self)] = []
            for (key, member) in mapping {
                guard let name = key.scalar?.string else {
                    throw InvalidField(field: "file", rule: "must have texts as names")
                }
                members.append((name, try self.value(of: member, counting: &nodes)))
            }
            return .members(members)
        case .alias: return .null
        }
    }

    /// Plain numbers, `true`, `false` and `null` are what they are in JSON; everything else is text: `no` is Norwegian.
    private static func value(of scalar: Node.Scalar) -> Self {
        guard scalar.style == .plain else { return .string(scalar.string) }
        if scalar.string.isEmpty || scalar.string == "~" { return .null }
        return (try? Self(parsing: scalar.string)) ?? .string(scalar.string)
    }
}
