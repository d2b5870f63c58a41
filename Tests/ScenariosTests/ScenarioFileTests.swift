import Foundation
import Scenarios
import Testing

/// Where the scenario files are.
enum Scenarios {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    static let folder = "\(Self.root)/Tests/Scenarios"

    static let files: [String] = {
        let all = FileManager.default.enumerator(atPath: Self.folder)?.allObjects as? [String] ?? []
        return all.filter { $0.hasSuffix(".yaml") }.sorted()
    }()
}

@Suite struct `A scenario file` {
    @Test(arguments: Scenarios.files)
    func `holds on the simulated phone`(file: String) {
        let run = ScenarioRun(["\(Scenarios.folder)/\(file)"])
        #expect(run.exitStatus == 0, "\(run.lines().joined(separator: "\n"))")
        #expect(run.caseCount > 0)
    }

    @Test func `is there for every acceptance vector`() {
        let vectors = Scenarios.files.filter { $0.hasPrefix("vectors/") }.compactMap {
            Int($0.dropFirst("vectors/".count).prefix(2))
        }
        #expect(vectors.sorted() == Array(1...20))
    }
}
