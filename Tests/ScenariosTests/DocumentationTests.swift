import Foundation
import ScenarioCore
import Scenarios
import Testing

/// docs/scenarios.md.
private enum Page {
    static let path = "\(Scenarios.root)/docs/scenarios.md"
    static let text = (try? String(contentsOfFile: Self.path, encoding: .utf8)) ?? ""
    static let lines = Self.text.split(separator: "\n", omittingEmptySubsequences: false)

    /// The fenced YAML blocks, each with the line it begins on.
    static let examples: [Example] = {
        var examples: [Example] = []
        var block: [Substring]?
        for (index, line) in Self.lines.enumerated() {
            if line == "```yaml" {
                block = []
            } else if line == "```", let lines = block {
                examples.append(Example(line: index - lines.count, text: lines.joined(separator: "\n")))
                block = nil
            } else {
                block?.append(line)
            }
        }
        return examples
    }()

    struct Example: CustomTestStringConvertible {
        var line: Int
        var text: String
        var testDescription: String { "docs/scenarios.md line \(self.line)" }
    }

    /// A row of a table of keys, as the page writes it.
    static func row(_ key: ScenarioKey) -> String { "| `\(key.name)` | \(key.type) | \(key.summary) |" }
}

@Suite struct `The page about scenarios` {
    @Test func `has examples`() { #expect(Page.examples.count >= 12) }

    @Test(arguments: Page.examples)
    fileprivate func `holds examples that pass`(example: Page.Example) throws {
        let file = try ScenarioFile(path: "docs/scenarios.md", text: example.text)
        // Those with an app's own code are run by Tests/Interop/test_screen_scenarios.py.
        for one in file.scenario.cases where one.code == nil {
            let result = one.run()
            #expect(result.hasPassed, "\(result.name): \(result.differences)")
        }
    }

    @Test(arguments: ScenarioSection.allCases)
    func `lists every key of`(section: ScenarioSection) {
        let lines = Set(Page.lines.map(String.init))
        #expect(!section.keys.isEmpty)
        for key in section.keys { #expect(lines.contains(Page.row(key)), "\(section.rawValue).\(key.name)") }
    }

    @Test func `lists every call`() {
        for call in CallWords.names {
            #expect(Page.text.contains("| `\(call.word)` | \(call.apple) |"), "\(call.word)")
        }
    }

    @Test func `is what the command explains`() {
        let explained = ScenarioFormat.lines.joined(separator: "\n")
        for section in ScenarioSection.allCases {
            for key in section.keys { #expect(explained.contains(key.summary)) }
        }
    }
}
