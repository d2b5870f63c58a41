import Testing

/// Each rule against samples that break it and other tenants that do not, so that no rule passes because it sees nothing.
@Suite struct `A rule of the house` {
    private static let core = "Sources/Server/ServerCore/Sample.swift"
    private static let shell = "Sources/Server/MessageStore/Sample.swift"
    private static let test = "Tests/ServerCoreTests/Sample.swift"

    /// The lines of the findings.
    private func lines(_ rule: Rule, _ text: String, at path: String = Self.core) -> [Int] {
        rule.check(Source(path: path, text: text)).map(\.line)
    }

    @Test(arguments: [
        "import Foundation", "import NIOCore", "internal import GRDB", "@testable import Dispatch",
        "import struct Foundation.Date",
        "public import Synchronization", "import Glibc",
    ])
    func `refuses a core that imports anything but cores and containers`(_ line: String) {
        #expect(self.lines(CoreRules.imports, "// a core\n\(line)\n") == [2])
        #expect(self.lines(CoreRules.imports, line, at: Self.shell) == [])
    }

    @Test func `lets a core import cores and containers`() {
        #expect(
            self.lines(CoreRules.imports, "package import StoreModel\nimport HeapModule\n// import Foundation") == [])
    }

    @Test func `lets only the wire core import its runtime`() {
        #expect(self.lines(CoreRules.imports, "import SwiftProtobuf", at: "Sources/Model/TidingsWire/A.swift") == [])
        #expect(self.lines(CoreRules.imports, "import SwiftProtobuf") == [1])
    }

    @Test(arguments: [
        "let a = Date()", "let a = ContinuousClock.now", "let a: ContinuousClock.Instant", "f(at: .now)",
        "var t = SuspendingClock()",
        "gettimeofday(&t, nil)",
    ])
    func `refuses a clock in a core`(_ line: String) {
        #expect(!self.lines(CoreRules.clocks, line).isEmpty)
    }

    @Test(arguments: ["let a = self.now", "f(at: now)", "let a = event.now.wall", "let s = \"Date()\"", "// Date()"])
    func `lets a core use the time it was handed`(_ line: String) {
        #expect(self.lines(CoreRules.clocks, line) == [])
    }

    @Test(arguments: [
        "let a = Int.random(in: 0..<4)", "list.shuffled()", "let id = UUID()", "var g = SystemRandomNumberGenerator()",
        "let h = name.hashValue", "var h = Hasher()", "let e = list.randomElement()",
    ])
    func `refuses chance in a core`(_ line: String) { #expect(self.lines(CoreRules.chance, line) == [1]) }

    @Test(arguments: [
        "let a = Int.random(in: 0..<4, using: &generator)", "list.shuffled(using: &g)", "let random = 4",
        "func hash(into hasher: inout Hasher) {}",
    ])
    func `lets a core draw from a generator it was handed`(_ line: String) {
        #expect(self.lines(CoreRules.chance, line) == [])
    }

    @Test(arguments: ["Task { }", "func f() async {}", "await g()", "actor A {}", "let m = Mutex(0)"])
    func `refuses concurrency in a core`(_ line: String) { #expect(self.lines(CoreRules.tasks, line) == [1]) }

    @Test func `refuses printing in a core`() {
        #expect(
            self.lines(CoreRules.printing, "print(a)\ndump(b)\nself.print(c)\nfunc print() {}\n// print(d)") == [1, 2])
    }

    @Test(arguments: [
        "var a: [Int: Int] = [:]\nfor (k, v) in a { out.append(k) }",
        "var a: Set<Int>\nfor x in self.state.a where x > 1 {}",
        "let a: [Int: [Int]]\nreturn a.map { $0.key }", "var b: X\nlet c = self.b.values.map(\\.count)",
        "var b: X\nreturn (b.keys)", "let a = Set(list)\nlet c = Array(a)", "func f(a: Set<Int>) {\na.first }",
    ])
    func `refuses the order of a hash`(_ text: String) { #expect(self.lines(CoreRules.hashOrder, text) == [2]) }

    @Test(arguments: [
        "var a: [Int: Int]\nfor k in a.keys.sorted() { out.append(k) }", "var a: Set<Int>\nfor x in a.sorted() {}",
        "let a: OrderedDictionary<Int, Int>\nfor (k, v) in a {}", "let a: [Int]\nfor x in a {}\nreturn a.map { $0 }",
        "var a: [Int: Int]\nfunc f() {\nlet a = self.a.keys.sorted()\nfor x in a {}\n}",
        "var a: [Int: Int]\nreturn a.values\n    .map { $0 }\n    .sorted()", "var b: X\nreturn b.keys.contains(4)",
        "let keys: [Int]\nreturn self.keys.map { $0 }",
        "let a: OrderedDictionary<Int, Int>\nreturn a.values.map { $0 }",
        "var a: [Int: Int]\nreturn a.mapValues { $0 + 1 }",
        "var a: [Int: Int]\n// tidy: order does not leave: a sum is the same in any order\nreturn a.values.reduce(0, +)",
    ])
    func `lets a core use what has an order, or gives it one`(_ text: String) {
        #expect(self.lines(CoreRules.hashOrder, text) == [])
    }

    @Test func `judges a name by what its file declares, and then by what its target does`() {
        let namesOfTarget = HashOrder.Names(hashed: ["legs", "both"], ordered: ["lanes", "both"])
        let text = """
            for leg in self.legs {}
            for lane in self.lanes.keys {}
            for one in self.both {}
            for lane in self.unknown.keys {}
            let times = [a ? b : c, d]
            times.map { $0 }
            """
        let source = Source(path: Self.core, text: text, namesOfTarget: namesOfTarget)
        #expect(CoreRules.hashOrder.check(source).map(\.line) == [1, 4])
        let own = Source(path: Self.core, text: "let legs: [Int]\n" + text, namesOfTarget: namesOfTarget)
        #expect(CoreRules.hashOrder.check(own).map(\.line) == [5])
    }

    @Test func `wants a reason behind the escape, not only the mark`() {
        let text = "var a: [Int: Int]\n// tidy: order does not leave: fine\nreturn a.values.reduce(0, +)"
        #expect(self.lines(CoreRules.hashOrder, text) == [3])
    }

    @Test func `refuses default in a switch over state and event`() {
        let text = """
            switch (self.state, event) {
            case (.a, .b):
                switch event { default: break }
            default: break
            }
            switch (left, right) { default: break }
            """
        #expect(self.lines(CoreRules.machines, text) == [4])
    }

    @Test func `refuses a file of 401 lines, unless it says why`() {
        let long = String(repeating: "let a = 1\n", count: 401)
        #expect(self.lines(StyleRules.fileLength, long) == [1])
        #expect(self.lines(StyleRules.fileLength, String(long.dropLast(10))) == [])
        let mark = "// \(StyleRules.longMark)"
        #expect(self.lines(StyleRules.fileLength, "\(mark) it is one table\n" + long) == [])
        #expect(self.lines(StyleRules.fileLength, "\(mark) so\n" + long) == [1])
    }

    @Test func `refuses a function of 71 lines, unless it says why`() {
        let body = String(repeating: "    work() // {\n", count: 69)
        #expect(self.lines(StyleRules.functionLength, "let a = 1\nfunc f(a: [Int]) -> Int {\n\(body)}\n") == [2])
        #expect(self.lines(StyleRules.functionLength, "func f() {\n\(body.dropLast(16))}\n") == [])
        #expect(self.lines(StyleRules.functionLength, "init(a: Int) throws(E) {\n\(body)}\n") == [1])
        let reason = "// \(StyleRules.longMark) each case is one line"
        #expect(self.lines(StyleRules.functionLength, "\(reason)\nfunc f() {\n\(body)}\n") == [])
        #expect(self.lines(StyleRules.functionLength, "func f() {\n    \(reason)\n\(body)}\n") == [])
    }

    @Test func `does not take a requirement of a protocol for a function with a body`() {
        let body = String(repeating: "    work()\n", count: 80)
        #expect(
            self.lines(
                StyleRules.functionLength,
                "protocol P {\n    func f()\n    var a: Int { get }\n}\nlet c = {\n\(body)}\n") == [])
    }

    @Test(arguments: StyleRules.unfinished) func `refuses words of unfinished work in any file`(_ word: String) {
        #expect(self.lines(StyleRules.unfinishedWords, "fine\n# \(word) later\n", at: "docs/page.md") == [2])
    }

    @Test func `knows names of others that contain such a word`() {
        #expect(self.lines(StyleRules.unfinishedWords, StyleRules.namesOfOthers.joined(separator: ": String, ")) == [])
    }

    @Test(arguments: StyleRules.foldersOfAMachine + [StyleRules.temporaryFolder])
    func `refuses the folders of one machine`(_ folder: String) {
        #expect(self.lines(StyleRules.machinePaths, "cd \(folder)x", at: "dev/script") == [1])
    }

    @Test func `lets tests name the temporary folder`() {
        #expect(self.lines(StyleRules.machinePaths, "cd \(StyleRules.temporaryFolder)x", at: Self.test) == [])
    }

    @Test(arguments: ["let a = b!", "f()!.c", "a[1]!", "x as! Y", "var a: Int!", "self.a!.b = 1"])
    func `refuses a forced unwrap outside tests`(_ line: String) {
        #expect(self.lines(StyleRules.forcing, line, at: Self.shell) == [1])
        #expect(self.lines(StyleRules.forcing, line, at: Self.test) == [])
    }

    @Test func `refuses a forced try everywhere`() {
        #expect(self.lines(StyleRules.forcing, "let a = try! f()", at: Self.test) == [1])
    }

    @Test(arguments: ["if a != b {}", "if !a { f(!b) }", "#if !os(Linux)", "let s = \"wow!\"", "// now!"])
    func `knows negation from force`(_ line: String) {
        #expect(self.lines(StyleRules.forcing, line, at: Self.shell) == [])
    }

    @Test func `wants the guard of an unchecked promise named`() {
        let rule = StyleRules.uncheckedSendable
        #expect(self.lines(rule, "final class A: @unchecked Sendable {}") == [1])
        #expect(self.lines(rule, "/// Does work.\nfinal class A: @unchecked Sendable {}") == [2])
        #expect(self.lines(rule, "nonisolated(unsafe) var a = 1") == [1])
        #expect(self.lines(rule, "// `state` is guarded by `lock`.\nfinal class A: @unchecked Sendable {}") == [])
        #expect(self.lines(rule, "final class A: @unchecked Sendable {\n    // Immutable.\n}") == [])
        #expect(self.lines(rule, "final class A: @unchecked Sendable {}  // only on the event loop") == [])
    }

    @Test(arguments: [
        "public struct A {}", "public func f() {}", "// plain\npublic var a: Int",
        "/// A.\nvar b = 1\npublic static let c = 2",
        "@inlinable\npublic func f() {}", "public private(set) var a: Int",
        "extension A {\n    public init(a: Int) {}\n}",
        "public enum E: String {}", "extension A: P {\n    public struct B {}\n}",
        "extension A: P {}\npublic func f() {}",
    ])
    func `wants a doc comment on what others may use`(_ text: String) {
        #expect(self.lines(StyleRules.documentation, text).count == 1)
        #expect(self.lines(StyleRules.documentation, text, at: Self.test) == [])
    }

    @Test(arguments: [
        "/// A.\npublic struct A {}", "/// F.\n@discardableResult\npackage mutating func f() {}", "public import GRDB",
        "/// F.\n@available(iOS 15, *) @MainActor\npublic final class A {}", "struct A {}\nfunc f() {}",
        "public let rawValue: String\npublic init(_ rawValue: String) {}", "public init(rawValue: UInt8) {}",
        "public static func == (left: A, right: A) -> Bool { true }",
        "/// A.\n/// Long.\n// swift-format-ignore\npublic var a = 1",
        "extension A: P {\n    public func f() {}\n}", "public override func f() {}",
        "public init(stringLiteral value: String) {}", "package struct A {}\npackage func f() {}",
    ])
    func `is content with a doc comment, and with what needs none`(_ text: String) {
        #expect(self.lines(StyleRules.documentation, text) == [])
    }

    @Test func `lets Apple's documentation speak for the members of the facades, but not for their types`() {
        let text = "public struct A {\n    public var b: Int\n    public func c() {}\n}"
        #expect(self.lines(StyleRules.documentation, text, at: "Sources/Phone/UIKit/Sample.swift") == [1])
        #expect(self.lines(StyleRules.documentation, text) == [1, 2, 3])
    }

    @Test func `wants a doc comment on what a facade does in the place of an optional method`() {
        let text = "extension ADelegate {\n    public func b() {}\n    /// C.\n    public func c() {}\n}"
        #expect(self.lines(StyleRules.documentation, text, at: "Sources/Phone/UIKit/Sample.swift") == [2])
    }

    @Test func `leaves generated code alone`() {
        let path = "Sources/Model/TidingsWire/tidings.pb.swift"
        for rule in CoreRules.all + StyleRules.all where rule.name != StyleRules.machinePaths.name {
            #expect(
                self.lines(rule, "import Foundation\npublic struct A {}\nlet a = b!\n", at: path) == [], "\(rule.name)")
        }
    }

    @Test func `finds links that lead to nothing`() {
        let page = Source(
            path: "docs/a.md",
            text:
                "[b](b.md) [c](../README.md#top) [d](https://example.com/x)\n```\n[e](gone.md)\n```\n[f](gone.md) [g](../../x)\n"
        )
        let found = DocumentRules.deadLinks(in: page) { ["docs/b.md", "README.md"].contains($0) }
        #expect(found.map(\.line) == [5, 5])
    }

    @Test func `finds Swift on a page that no compiled file has`() {
        let compiled = Source(path: "Tests/A.swift", text: "func a() {\n    b()\n\n    c()\n}\n")
        func lines(_ block: String, fence: String = "swift") -> [Int] {
            let page = Source(path: "docs/a.md", text: "text\n```\(fence)\n\(block)\n```\nc()\n")
            return DocumentRules.unknownSwift(in: page, compiled: [compiled]).map(\.line)
        }
        #expect(lines("b()\n\nc()\n}") == [])
        #expect(lines("func a() {\n\nc()") == [])
        #expect(lines("b()\nc()") == [3], "the lines do not follow each other")
        #expect(lines("b()\n\nd()") == [5])
        #expect(lines("b() // why") == [3])
        #expect(lines("") == [2])
        #expect(lines("d()", fence: "text") == [])
    }

    @Test func `finds the names a page has to explain`() {
        let text = """
            .init("gateway.port", "a TCP port", .integer(0...9)),
            .init(
                "log.level", "the level"),
            /// .init("not.this")
            let other = "nor.this"
            """
        #expect(
            DocumentRules.quotedWords(in: Source(path: Self.core, text: text), near: ".init(") == [
                "gateway.port", "log.level",
            ])
    }

    @Test func `reads the cores and their helper out of a manifest`() {
        let manifest = """
            func core(_ wing: String, _ name: String, needs cores: [String] = [], uses: [Product] = []) -> [Target] { [] }
            targets += core("Model", "A")
            // targets += core("Model", "B")
            targets += core("APNs", "C", needs: ["A"]) + shell("X", "D")
            """
        #expect(House.cores(declaredIn: manifest) == ["A", "C"])
        #expect(House.coreHelperParameters(in: manifest) == ["wing", "name", "cores", "uses"])
    }
}

@Suite struct `The lexer of the tidy rules` {
    private func texts(_ text: String) -> [String] { SwiftLexer.tokens(of: text).map(\.text) }

    @Test func `keeps strings whole, with quotes and code inside`() {
        #expect(self.texts(#"a = "x \(f("y")) \" }" + b"#) == ["a", "=", #""x \(f("y")) \" }""#, "+", "b"])
        #expect(self.texts(##"#"raw " \(a) "# c"##) == [##"#"raw " \(a) "#"##, "c"])
        #expect(self.texts("\"\"\"\nq \" {\n\"\"\" d") == ["\"\"\"\nq \" {\n\"\"\"", "d"])
    }

    @Test func `keeps comments whole, nested ones too`() {
        #expect(self.texts("a // b\nc /* d /* e */ f */ g") == ["a", "// b", "c", "/* d /* e */ f */", "g"])
    }

    @Test func `counts lines through strings and comments`() {
        #expect(SwiftLexer.tokens(of: "/* a\nb */\n\"\"\"\nx\n\"\"\"\nc").map(\.line) == [1, 3, 6])
    }
}
