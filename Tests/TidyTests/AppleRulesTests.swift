import Foundation
import Testing

@Suite struct `What only Apple's compiler sees` {
    private let page = Tree.sources.first { $0.path == AppleRules.page }

    /// Line by line, so that a new one is a decision. `TIDY_WRITE_APPLE=1` writes the list anew.
    @Test func `is listed line by line`() throws {
        let page = try #require(self.page)
        let list = AppleRules.list(of: Tree.swift)
        let listed = try #require(AppleRules.list(in: page), "the page was not understood")
        if ProcessInfo.processInfo.environment["TIDY_WRITE_APPLE"] == "1" {
            let text = page.text.replacingOccurrences(of: "```text\n\(listed)\n```", with: "```text\n\(list)\n```")
            try text.write(to: Tree.root.appendingPathComponent(AppleRules.page), atomically: true, encoding: .utf8)
        }
        #expect(listed == list, "\(AppleRules.page) must list:\n\(list)")
    }

    @Test func `has stand-ins for the frameworks it calls, with Apple's page for each`() throws {
        let standIns = AppleRules.standIns(in: try #require(self.page))
        #expect(Set(standIns.map(\.module)) == AppleRules.importedFacades(in: Tree.swift))
        #expect(AppleRules.findings(standIns, in: Tree.swift) == [])
        #expect(standIns.count > 8, "the page was not understood")
    }

    @Test func `is found in branches that Linux leaves out`() {
        let source = Source(
            path: "Sources/SDK/A.swift",
            text: """
                #if canImport(Darwin)
                    import Darwin
                    // A comment.
                #else
                    import Glibc
                #endif
                #if os(iOS) || TIDINGS_UIKIT
                    here()
                #elseif os(macOS)
                    there()
                #else
                    nowhere()
                #endif
                #if !os(Linux)
                    #if canImport(PushKit)
                        nested()
                    #endif
                #endif
                both()
                """)
        #expect(
            AppleRules.branches(in: source) == [
                .init(condition: "canImport(Darwin)", lines: ["import Darwin"]),
                .init(condition: "os(macOS)", lines: ["there()"]),
                .init(condition: "not os(macOS)", lines: ["nowhere()"]),
                .init(condition: "!os(Linux)", lines: ["nested()"]),
            ])
        #expect(
            AppleRules.list(of: [source]).hasPrefix("Sources/SDK/A.swift\n  #if canImport(Darwin)\n    import Darwin"))
    }

    @Test func `is told where a stand-in lacks a name, nothing uses it, or Apple's page is missing`() {
        let sources = [
            Source(path: "Sources/Phone/PushKit/A.swift", text: "public class PKPushRegistry {}"),
            Source(path: "Sources/SDK/K/B.swift", text: "import PushKit\nlet a = PKPushPayload()"),
        ]
        let page = Source(
            path: AppleRules.page,
            text: """
                ## Stand-ins
                | module | names | pages |
                |---|---|---|
                | `PushKit` | `PKPushRegistry`, `PKPushPayload` | [page](https://example.com/x) |
                """)
        let standIns = AppleRules.standIns(in: page)
        #expect(
            standIns == [
                .init(
                    module: "PushKit", names: ["PKPushRegistry", "PKPushPayload"],
                    documentation: ["https://example.com/x"])
            ])
        #expect(AppleRules.importedFacades(in: sources) == ["PushKit"])
        #expect(
            AppleRules.findings(standIns, in: sources) == [
                "PushKit does not declare PKPushPayload", "nothing uses PKPushRegistry of PushKit",
                "PushKit needs Apple's page",
            ])
    }
}
