import EmbeddedFiles
import NIOCore
import TidingsModel
import Yams

/// Describes the API to its clients.
enum OpenAPI {
    /// `openapi.yaml` beside this file, compiled in, so that the binary needs no file at its side. What recurs there stands in `x-parts`.
    static var source: String { String(cString: embedded_api_description()) }
    /// The document that is served. Tests hold it against the source, the routes and every answer.
    static let document = (try? Self.writtenOut(Self.source)) ?? ""
    /// Shared by all answers: it is large, and anybody may ask for it.
    static let bytes = ByteBuffer(string: Self.document)
    /// The document as JSON, for the console: browsers read no YAML.
    static let json = ByteBuffer(bytes: ((try? JSONValue.value(ofYAML: Self.document)) ?? .null).serialized)

    /// Puts what aliases and merge keys name in their place, and leaves `x-parts` away: OpenAPI wants YAML as JSON could say it. The members keep
    /// their order, those of a merge key at its place; statuses among them ascend.
    /// - Throws: `YamlError` for what is not YAML, as an alias of nothing; `InvalidField` for a merge key that names anything but mappings, or a
    ///   member twice, of which readers of YAML take one or the other.
    static func writtenOut(_ source: String) throws -> String {
        guard case .mapping(let document)? = try Yams.compose(yaml: source, .basic) else {
            throw InvalidField(field: "the document", rule: "must be a mapping")
        }
        let writing = WritingOut(lines: source.split(separator: "\n", omittingEmptySubsequences: false))
        let members = try writing.members(of: document).filter { $0.0.scalar?.string != "x-parts" }
        return try Yams.serialize(node: Node(members), width: -1, allowUnicode: true)
    }
}

/// Makes nodes without merge keys of those that Yams has read from these lines.
private struct WritingOut {
    let lines: [Substring]

    func members(of mapping: Node.Mapping) throws -> [(Node, Node)] {
        let own = Set(mapping.keys.map { $0.scalar?.string })
        var members: [(Node, Node)] = []
        for (key, value) in mapping {
            if key.scalar?.string == "<<" {
                members += try self.merged(value).filter { !own.contains($0.0.scalar?.string) }
            } else {
                members.append((key, try self.node(value)))
            }
        }
        return members
    }

    private func merged(_ value: Node) throws -> [(Node, Node)] {
        var members: [(Node, Node)] = []
        var names: Set<String?> = []
        for part in value.sequence == nil ? [value] : value.array() {
            guard case .mapping(let mapping) = part else { throw InvalidField(field: "<<", rule: "must name mappings") }
            for member in try self.members(of: mapping) {
                let name = member.0.scalar?.string
                try InvalidField.check(names.insert(name).inserted, name ?? "<<", "must be in one of the parts alone")
                members.append(member)
            }
        }
        func status(_ member: (Node, Node)) -> Int { member.0.scalar.flatMap { Int($0.string) } ?? 0 }
        return members.sorted { status($0) < status($1) }
    }

    private func node(_ node: Node) throws -> Node {
        switch node {
        case .mapping(let mapping):
            .mapping(.init(try self.members(of: mapping), mapping.tag, self.isFlow(mapping.mark) ? .flow : .block))
        case .sequence(let sequence):
            .sequence(.init(try sequence.map(self.node), sequence.tag, self.isFlow(sequence.mark) ? .flow : .block))
        case .scalar, .alias: node
        }
    }

    /// Returns true if the node stands between brackets. Yams has read that, but does not tell.
    private func isFlow(_ mark: Mark?) -> Bool {
        guard let mark, self.lines.indices.contains(mark.line - 1) else { return false }
        let first = self.lines[mark.line - 1].unicodeScalars.dropFirst(mark.column - 1).first
        return first == "{" || first == "["
    }
}
