import Foundation
import ScenarioCore
import Scenarios
import Testing

/// Where the scenario files are.
enum Scenarios {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    static let folder = "\(Self.root)/Tests/Scenarios"

    static let all: [String] = {
        let all = FileManager.default.enumerator(atPath: Self.folder)?.allObjects as? [String] ?? []
        return all.filter { $0.hasSuffix(".yaml") }.sorted()
    }()
    /// Those of the simulated app.
    static let files = Self.all.filter { !$0.hasPrefix("screens/") }
    /// Those of apps with their own code, which `tidings scenario` runs.
    static let screens = Self.all.filter { $0.hasPrefix("screens/") }
}

@Suite struct `A scenario file` {
    @Test(arguments: Scenarios.files)
    func `holds on the simulated phone`(file: String) {
        let run = ScenarioRun(["\(Scenarios.folder)/\(file)"])
        #expect(run.exitStatus == 0, "\(run.lines().joined(separator: "\n"))")
        #expect(run.caseCount > 0)
    }

    @Test(arguments: Scenarios.screens)
    func `of an app's own code can be read`(file: String) throws {
        let scenario = try ScenarioFile(path: "\(Scenarios.folder)/\(file)").scenario
        #expect(scenario.cases.allSatisfy { $0.code != nil })
    }

    @Test func `is there for every acceptance vector`() {
        let vectors = Scenarios.files.filter { $0.hasPrefix("vectors/") }.compactMap {
            Int($0.dropFirst("vectors/".count).prefix(2))
        }
        #expect(vectors.sorted() == Array(1...20))
    }
}
