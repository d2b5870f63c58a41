import Foundation
package import ScenarioCore
import TidingsModel
import Yams

package struct ScenarioFile: Sendable {
    package var path: String
    package var scenario: Scenario

    /// - Throws: `ScenarioFileError` if it cannot be read or says something that is not allowed.
    package init(path: String) throws(ScenarioFileError) {
        let text: String
        do {
            text = try FileText.read(Data(contentsOf: URL(fileURLWithPath: path)), field: "the file")
        } catch let fault as InvalidField {
            throw ScenarioFileError(path: path, problems: ["\(path): \(fault)"])
        } catch {
            throw ScenarioFileError(path: path, problems: ["\(path): cannot be read: \(error.localizedDescription)"])
        }
        try self.init(path: path, text: text)
    }

    /// - Throws: `ScenarioFileError` with every problem, each with its line and column.
    package init(path: String, text: String) throws(ScenarioFileError) {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw ScenarioFileError(path: path, problems: [Self.words(error, path: path)])
        }
        guard let root else { throw ScenarioFileError(path: path, problems: ["\(path):1:1: the file is empty"]) }
        var nodes = 0
        guard let node = Self.node(root, counting: &nodes) else {
            throw ScenarioFileError(
                path: path,
                problems: ["\(path):1:1: has more than \(Self.nodesMax) values when its aliases are written out"])
        }
        do {
            self.scenario = try ScenarioReader.scenario(of: node)
        } catch let error {
            throw ScenarioFileError(path: path, problems: error.problems.map { "\(path):\($0)" })
        }
        self.path = path
    }

    private static func words(_ error: any Error, path: String) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _)?, .parser(_, let problem, let mark, _)?,
            .composer(_, let problem, let mark, _)?:
            "\(path):\(mark.line):\(mark.column): not YAML: \(problem)"
        case .duplicatedKeysInMapping(let duplicates, let context)?:
            "\(path):\(context.mark.line):\(context.mark.column): the same key twice: "
                + duplicates.joined(separator: ", ")
        default: "\(path): not YAML: \(error)"
        }
    }

    /// Limits what aliases of aliases can grow to.
    private static let nodesMax = 100_000

    /// A node of the parser as the core knows it; nil from `nodesMax` on.
    private static func node(_ node: Node, counting nodes: inout Int) -> ScenarioNode? {
        nodes += 1
        guard nodes <= self.nodesMax else { return nil }
        let position = self.position(node)
        switch node {
        case .scalar(let scalar):
            let isQuoted = scalar.style != .plain && scalar.style != .any
            return ScenarioNode(position: position, value: .scalar(scalar.string, isQuoted: isQuoted))
        case .sequence(let sequence):
            var elements: [ScenarioNode] = []
            for element in sequence {
                guard let element = self.node(element, counting: &nodes) else { return nil }
                elements.append(element)
            }
            return ScenarioNode(position: position, value: .sequence(elements))
        case .mapping(let mapping):
            var members: [ScenarioNode.Member] = []
            for (key, value) in mapping {
                guard let node = self.node(value, counting: &nodes) else { return nil }
                members.append(
                    ScenarioNode.Member(
                        key: key.scalar?.string ?? "a key that is not a text", position: self.position(key), node: node)
                )
            }
            return ScenarioNode(position: position, value: .mapping(members))
        case .alias: return ScenarioNode(position: position, value: .scalar("", isQuoted: true))
        }
    }

    private static func position(_ node: Node) -> ScenarioPosition {
        ScenarioPosition(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }
}

package struct ScenarioFileError: Error, Equatable, Sendable {
    package var path: String
    /// The problems, each with file, line and column, in the order of the file.
    package var problems: [String]
}

/// Named files as they are, and every `.yaml` and `.yml` in named folders, sorted.
package enum ScenarioFiles {
    /// - Throws: `ScenarioFileError` if there is nothing at a path, or no scenario in a folder.
    package static func paths(of names: [String]) throws(ScenarioFileError) -> [String] {
        var paths: [String] = []
        for name in names {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: name, isDirectory: &isFolder) else {
                throw ScenarioFileError(path: name, problems: ["\(name): there is no such file or folder"])
            }
            guard isFolder.boolValue else {
                paths.append(name)
                continue
            }
            let inside = (FileManager.default.enumerator(atPath: name)?.allObjects as? [String] ?? [])
                .filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }.sorted()
            guard !inside.isEmpty else {
                throw ScenarioFileError(path: name, problems: ["\(name): there is no .yaml file in this folder"])
            }
            paths += inside.map { name.hasSuffix("/") ? name + $0 : "\(name)/\($0)" }
        }
        return paths
    }
}
