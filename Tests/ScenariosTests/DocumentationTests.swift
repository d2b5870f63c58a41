import Foundation
import ScenarioCore
import Scenarios
import Testing

/// docs/testing/scenarios.md.
private enum Page {
    static let path = "\(Scenarios.root)/docs/testing/scenarios.md"
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
        var testDescription: String { "docs/testing/scenarios.md line \(self.line)" }
    }
}

@Suite struct `The page about scenarios` {
    @Test func `has examples`() { #expect(Page.examples.count >= 7) }

    @Test(arguments: Page.examples)
    fileprivate func `holds examples that pass`(example: Page.Example) throws {
        let file = try ScenarioFile(path: "docs/testing/scenarios.md", text: example.text)
        // Those with an app's own code are run by Tests/Interop/test_screen_scenarios.py.
        for one in file.scenario.cases where one.code == nil {
            let result = one.run()
            #expect(result.hasPassed, "\(result.name): \(result.differences)")
        }
    }

    @Test func `leaves every key and every call to the command, which explains it`() {
        let explained = ScenarioFormat.lines.joined(separator: "\n")
        for section in ScenarioSection.allCases {
            #expect(!section.keys.isEmpty)
            for key in section.keys { #expect(explained.contains(key.summary)) }
        }
        for call in CallWords.names { #expect(explained.contains(call.apple)) }
    }
}
