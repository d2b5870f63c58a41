import Foundation
import Testing

/// The rules, applied to the tree.
@Suite struct `The tree` {
    private func holds(_ rule: Rule, _ location: SourceLocation = #_sourceLocation) {
        let findings = Tree.sources.flatMap(rule.check)
        #expect(findings.isEmpty, "\(rule.name):\n\(Self.list(findings))", sourceLocation: location)
    }

    private static func list(_ findings: [Finding]) -> String { findings.map(\.description).joined(separator: "\n") }

    @Test func `was found, so that the rules below have something to look at`() {
        #expect(Tree.swift.count { $0.path.hasPrefix("Sources/") } > 10)
        for core in House.cores.union([House.wireCore]).sorted() {
            #expect(Tree.swift.contains { $0.target == core }, "no file of \(core) was read")
        }
    }

    @Test func `has cores whose imports are cores and ordered containers`() { self.holds(CoreRules.imports) }
    @Test func `has cores that read no clock`() { self.holds(CoreRules.clocks) }
    @Test func `has cores that draw no chance`() { self.holds(CoreRules.chance) }
    @Test func `has cores that start no task and wait for nothing`() { self.holds(CoreRules.tasks) }
    @Test func `has cores that print nothing`() { self.holds(CoreRules.printing) }
    @Test func `has cores that leak no hash order`() { self.holds(CoreRules.hashOrder) }
    @Test func `has machines that name every pair of state and event`() { self.holds(CoreRules.machines) }
    @Test func `has no file over 400 lines without a reason`() { self.holds(StyleRules.fileLength) }
    @Test func `has no function over 70 lines without a reason`() { self.holds(StyleRules.functionLength) }
    @Test func `leaves nothing for later`() { self.holds(StyleRules.unfinishedWords) }
    @Test func `names no folder of one machine`() { self.holds(StyleRules.machinePaths) }
    @Test func `forces nothing`() { self.holds(StyleRules.forcing) }
    @Test func `names the guard of every unchecked promise`() { self.holds(StyleRules.uncheckedSendable) }
    @Test func `documents every public declaration`() { self.holds(StyleRules.documentation) }

    @Test func `has no two types of one name in two targets`() {
        let findings = TypeNameRules.pairs(in: Tree.swift)
        #expect(findings.isEmpty, "\(Self.list(findings))")
    }

    @Test func `has functions whose name can be searched for`() {
        let findings = Tree.swift.flatMap(TypeNameRules.bareFunctions)
        #expect(findings.isEmpty, "\(Self.list(findings))")
    }

    @Test func `has the same cores in the manifest and in the list`() throws {
        #expect(House.cores(declaredIn: try Tree.text("Package.swift")) == House.cores)
    }

    @Test func `has a core helper that cannot take a package product`() throws {
        #expect(House.coreHelperParameters(in: try Tree.text("Package.swift")) == ["wing", "name", "cores"])
    }

    @Test func `has a row and a test for every requirement`() throws {
        let page = Source(path: "docs/requirements.md", text: try Tree.text("docs/requirements.md"))
        // The rules' own tests speak of marks that are none.
        let marks = Tree.sources.filter { !$0.path.hasPrefix("Tests/TidyTests/") }.flatMap(RequirementRules.marks)
        let findings =
            RequirementRules.findings(page: page, marks: marks, exists: Tree.exists)
            + RequirementRules.weakened(in: page)
        #expect(findings.isEmpty, "\(Self.list(findings))")
    }

    @Test func `has functions and types where the page on changing it says`() throws {
        let page = Source(path: "docs/changing.md", text: try Tree.text("docs/changing.md"))
        let findings = PlaceRules.findings(page: page) { path in
            Tree.sources.filter { $0.path == path || $0.path.hasPrefix("\(path)/") }
        }
        #expect(findings.isEmpty, "\(Self.list(findings))")
    }

    @Test func `has no page with a dead link`() {
        let findings = Tree.sources.flatMap { DocumentRules.deadLinks(in: $0, exists: Tree.exists) }
        #expect(findings.isEmpty, "\(Self.list(findings))")
    }

    @Test func `names every key, metric, problem and end of a leg in its page`() throws {
        let pages = [
            ("Sources/Server/TidingsServer/Configuration/ConfigurationKey.swift", "docs/configuration.md", ".init("),
            ("Sources/Server/TidingsServer/Operations/ServerMetrics.swift", "docs/metrics.md", "= \"tidings."),
            ("Sources/Model/TidingsModel/ServerFrame.swift", "docs/errors.md", "case "),
            ("Sources/Model/TidingsModel/Leg.swift", "docs/errors.md", ": \""),
        ]
        for (file, name, mark) in pages {
            let source = Source(path: file, text: try Tree.text(file))
            let words = DocumentRules.quotedWords(in: source, near: mark)
            #expect(words.count > 5, "\(file) was not understood")
            let page = try Tree.text(name)
            #expect(words.filter { !page.contains("`\($0)`") } == [], "\(name) lacks words of \(file)")
        }
    }

    @Test func `answers “when is a push sent?” from the first screen of both READMEs`() throws {
        for name in ["README.md", "README.zh-CN.md"] {
            let page = Source(path: name, text: try Tree.text(name))
            let firstScreen = page.lines.prefix(45).joined(separator: "\n")
            #expect(firstScreen.contains("make demo") && firstScreen.contains("make run"), "\(name)")
            #expect(firstScreen.contains("/PushVerdict.swift)"), "\(name)")
        }
    }

    @Test func `shows the same commands and the same code in both languages`() throws {
        let english = Source(path: "README.md", text: try Tree.text("README.md"))
        let chinese = Source(path: "README.zh-CN.md", text: try Tree.text("README.zh-CN.md"))
        for language in ["sh", "swift"] {
            let shown = Self.withoutComments(DocumentRules.blocks(language, in: english))
            #expect(!shown.isEmpty)
            #expect(shown == Self.withoutComments(DocumentRules.blocks(language, in: chinese)))
        }
    }

    @Test func `shows Swift that is compiled`() throws {
        let files = ["Tests/TidingsKitTests/ReadmeSnippet.swift", "Tests/APNsClientTests/GuideSnippets.swift"]
        let compiled = try files.map { file in
            Self.withoutComments(Source(path: file, text: try Tree.text(file)).lines.map(String.init))
        }
        let fences = DocumentRules.fences("swift", in: Source(path: "README.md", text: try Tree.text("README.md")))
        #expect(fences.count == 2, "the SDK and the APNs client")
        for fence in fences {
            let shown = Self.withoutComments(fence.lines.map(String.init))
            #expect(
                !shown.isEmpty && compiled.contains { $0.contains(shown) },
                "README.md:\(fence.line) shows what no compiled file has")
        }
    }

    @Test(arguments: [
        ("docs/sdk.md", 11), ("docs/apns-client.md", 3), ("docs/apns-simulator.md", 1),
        ("docs/sdk/screens.md", 4), ("docs/migrating-from-rongcloud.md", 1), ("docs/migrating-from-jpush.md", 1),
        ("docs/migrating-from-xg.md", 1),
        ("Sources/SDK/TidingsClient/TidingsClient.docc/TidingsClient.md", 1),
        ("Sources/SDK/TidingsKit/TidingsKit.docc/TidingsKit.md", 1),
        ("Sources/SDK/TidingsUI/TidingsUI.docc/TidingsUI.md", 1),
        ("Sources/APNs/APNsClient/APNsClient.docc/APNsClient.md", 1),
    ])
    func `shows app developers Swift that is compiled`(path: String, blocksMin: Int) throws {
        let compiled = Tree.swift.filter { $0.path.hasPrefix("Examples/Chat/") || $0.path.hasPrefix("Tests/") }
        let page = Source(path: path, text: try Tree.text(path))
        #expect(DocumentRules.fences("swift", in: page).count >= blocksMin, "the page was not understood")
        let findings = DocumentRules.unknownSwift(in: page, compiled: compiled)
        #expect(findings.isEmpty, "\(Self.list(findings))")
    }

    /// The doc comments of a file are read like a page, line by line.
    @Test(arguments: [
        "Sources/SDK/TidingsClient/ChatClient.swift", "Sources/SDK/TidingsKit/NotificationIntegration.swift",
        "Sources/SDK/TidingsNotificationService/NotificationServiceHandler.swift",
        "Sources/SDK/TidingsUI/ChatInterface.swift", "Sources/SDK/TidingsUI/Chat/ConversationViewController.swift",
        "Sources/SDK/TidingsUI/InAppBannerPresenter.swift",
        "Sources/APNs/APNsClient/APNsClient.swift", "Sources/Phone/VirtualPhone/InProcess/VirtualPhone.swift",
    ])
    func `shows at each entry point a call that is compiled`(path: String) throws {
        let lines = try Tree.text(path).split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let line = Source.trimmed(line)
            return line.hasPrefix("///") ? line.dropFirst(3) : ""
        }
        let page = Source(path: path, text: lines.joined(separator: "\n"))
        #expect(!DocumentRules.fences("swift", in: page).isEmpty, "\(path) shows no call")
        let findings = DocumentRules.unknownSwift(in: page, compiled: Tree.swift.filter { $0.path.hasPrefix("Tests/") })
        #expect(findings.isEmpty, "\(Self.list(findings))")
    }

    /// The words of a block up to a comment, which is translated; lines that are only a comment fall away.
    private static func withoutComments(_ lines: [String]) -> [String] {
        lines.compactMap { line in
            let end = [line.firstRange(of: "//"), line.firstRange(of: "# ")].compactMap { $0?.lowerBound }.min()
            let text = Source.trimmed(line[..<(end ?? line.endIndex)])
            return text.isEmpty ? nil : String(text)
        }
    }
}
