import Foundation
import Testing

/// One after another: two write the page.
@Suite(.serialized) struct `What only Apple's compiler sees` {
    private let page = Tree.sources.first { $0.path == AppleRules.page }

    /// Line by line, so that a new one is a decision. `TIDY_WRITE_APPLE=1` writes the list anew.
    @Test func `is listed line by line`() throws {
        let page = try #require(self.page)
        let list = AppleRules.list(of: Tree.swift)
        let listed = try #require(AppleRules.list(in: page), "the page was not understood")
        try Self.write(list, over: listed)
        #expect(listed == list, "\(AppleRules.page) must list:\n\(list)")
    }

    @Test func `has stand-ins for the frameworks it calls, and the page says what of them is called`() throws {
        let page = try #require(self.page)
        let table = StandIns.table(of: Tree.swift)
        let listed = StandIns.table(in: page)
        try #require(listed.contains("UIKit"), "the page was not understood")
        try Self.write(table, over: listed)
        #expect(listed == table, "\(AppleRules.page) must have the rows:\n\(table)")
        #expect(
            StandIns.names(after: "Without a stand-in: ", in: page) == AppleRules.withoutStandIn(in: Tree.swift))
    }

    @Test func `follows Apple's documentation: each type of a stand-in has its page`() throws {
        let page = try #require(self.page)
        #expect(StandIns.findings(in: page, of: Tree.swift) == [])
        #expect(StandIns.names(of: "UIKit", in: Tree.swift).count > 80, "the stand-in was not understood")
        #expect(
            StandIns.documentation(of: "UITableView", in: "UIKit")
                == "https://developer.apple.com/documentation/uikit/uitableview")
    }

    private static func write(_ text: String, over old: String) throws {
        guard ProcessInfo.processInfo.environment["TIDY_WRITE_APPLE"] == "1" else { return }
        let page = try Tree.text(AppleRules.page).replacingOccurrences(of: old, with: text)
        try page.write(to: Tree.root.appendingPathComponent(AppleRules.page), atomically: true, encoding: .utf8)
    }

    @Test func `is found in branches that Linux leaves out`() {
        let source = Source(
            path: "Sources/SDK/Client/A.swift",
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
        let manifest = Source(path: "Package.swift", text: #"targets += core("SDK", "Client")"#)
        #expect(
            AppleRules.list(of: [manifest, source]).hasPrefix(
                "Sources/SDK/Client/A.swift\n  #if canImport(Darwin)\n    import Darwin"))
    }

    @Test func `is found in files that no target has`() {
        let sources = [
            Source(
                path: "Package.swift",
                text: """
                    targets += core("Phone", "PhoneCore")
                    targets += [.target(name: "App", path: "Examples/App"), .target(name: "Own", path: "Sources/Own")]
                    """),
            Source(path: "Bench/Package.swift", text: #"let targets = [.target(name: "B", path: "All/B")]"#),
            Source(path: "Bench/All/B/Store/A.swift", text: ""),
            Source(path: "Bench/C/A.swift", text: "a()"),
            Source(path: "Sources/Phone/PhoneCore/Part/A.swift", text: ""),
            Source(path: "Sources/Phone/Other/A.swift", text: "import SwiftUI\n\n// A comment.\nlet a = 1"),
            Source(path: "Sources/Own/A.swift", text: ""),
            Source(path: "Sources/A.swift", text: "a()"),
            Source(path: "Tests/PhoneCoreTests/A.swift", text: ""),
            Source(path: "Tests/OtherTests/A.swift", text: "a()"),
            Source(path: "Examples/App/A.swift", text: ""),
            Source(path: "Examples/Apple/A.swift", text: "a()"),
        ]
        #expect(
            AppleRules.unbuiltFiles(in: sources).map(\.path) == [
                "Bench/C/A.swift", "Sources/Phone/Other/A.swift", "Sources/A.swift", "Tests/OtherTests/A.swift",
                "Examples/Apple/A.swift",
            ])
        #expect(
            AppleRules.list(of: sources).hasSuffix(
                "Sources/Phone/Other/A.swift\n  the whole file, which no target has: 2 lines\n"
                    + "Tests/OtherTests/A.swift\n  the whole file, which no target has: 1 lines"))
        #expect(AppleRules.withoutStandIn(in: sources) == ["SwiftUI"])
    }

    @Test func `is told which types of a stand-in have no page, and which rows are about nothing`() {
        let sources = [
            Source(
                path: "Sources/Phone/PushKit/A.swift",
                text: """
                    @MainActor public final class PKPushRegistry { public enum PKInside {} }
                    public class CARegistry {}
                    public func PKCall(_ a: Int) {}
                    public protocol Holder {}
                    class Hidden {}
                    """),
            Source(path: "Sources/SDK/K/B.swift", text: "import PushKit\nlet a = PKPushRegistry()"),
        ]
        let page = Source(
            path: AppleRules.page,
            text: """
                ## Stand-ins
                | module | framework | names |
                |---|---|---|
                | `PushKit` | PushKit | `PKPushRegistry` |

                The modules' own: `Nobody`.

                ### Apple's page of a type
                | `PKPushRegistry` | <https://developer.apple.com/documentation/pushkit/pkpushregistry> |
                | `PKCall` | <https://example.com/x> |
                | `PKNone` | <https://developer.apple.com/documentation/pushkit/pknone-2> |
                """)
        #expect(StandIns.names(of: "PushKit", in: sources) == ["PKPushRegistry", "CARegistry", "PKCall", "Holder"])
        #expect(StandIns.imported(in: sources) == ["PushKit"])
        #expect(StandIns.table(in: page) == StandIns.table(of: sources))
        #expect(
            StandIns.findings(in: page, of: sources) == [
                "PushKit.CARegistry needs Apple's page, or is the module's own",
                "PushKit.Holder needs Apple's page, or is the module's own",
                "the page of PKPushRegistry follows from the rule", "no module has Nobody", "PKCall needs Apple's page",
                "no module has PKNone",
            ])
    }
}
