import Testing

/// What holds in cores only: values in, values out (docs/inside/decisions/0001-pure-cores.md).
enum CoreRules {
    /// The targets that the manifest declares with `core(…)`, and the one core with a package product (design.md §2).
    static let cores: Set<String> = [
        "TidingsModel", "APNsModel", "APNsCore", "APNsClientCore", "StoreModel", "StoreMachine", "ServerCore",
        "PhoneCore", "ClientCore", "SimulatedPhone", "SimulatedServer", "World", "ScenarioCore", Self.wireCore,
    ]
    static let wireCore = "TidingsWire"
    /// Containers whose order is defined.
    static let containers: Set = ["DequeModule", "OrderedCollections", "HeapModule"]

    static let importPattern =
        #"^ *(?:@\w+ |public |package |internal |private )*import (?:(?:struct|class|enum|protocol|func|let|var|typealias) )?(\w+)"#

    static func imports(in source: Source) -> [Finding] {
        guard let target = source.target, self.cores.contains(target) else { return [] }
        let allowed = self.cores.union(self.containers).union(target == self.wireCore ? ["SwiftProtobuf"] : [])
        return self.findings(Self.importPattern, in: source) { match in
            let module = String(match.groups[0])
            return allowed.contains(module) ? nil : "the core \(target) imports \(module)"
        }
    }

    /// What a core must not write, and what is said of it.
    static let patterns: [String: [String]] = [
        "reads a clock; time comes in as `Now`": [
            #"\b(?:ContinuousClock|SuspendingClock|DispatchTime|clock_gettime|gettimeofday|Date)\b"#,
            #"(?<![\w)\]?`])\.now\b|\b[A-Z]\w*\.now\b"#,
        ],
        "draws chance, or a hash seeded per process; a generator comes in as `using:`": [
            #"\b(?:SystemRandomNumberGenerator|UUID|arc4random|hashValue)\b|\bHasher\("#,
            #"\.(?:random|randomElement|shuffled|shuffle)\((?!(?:[^()]|\([^()]*\))*\busing:)"#,
        ],
        "starts a task, waits or locks": [
            #"(?<!\.)(?<!case )\b(?:Task|TaskGroup|with(?:Throwing)?TaskGroup|async|await|Mutex|Thread|DispatchQueue|DispatchSemaphore|NSLock)\b(?!:)"#,
            #"(?<!let |var |\.)\bactor \w+ ?[{:<]"#,
        ],
        "prints": [#"(?<![.\w])(?<!func )(?<!case )(?:print|debugPrint|dump|NSLog|fputs|putchar)\("#],
        "hides pairs of state and event behind `default:`": [
            #"^( *)switch \([^{]*[sS]tate\b[^{]*,[^{]*\) \{\n(?:(?!\1\}).*\n)*?\1default:"#
        ],
    ]

    static func impurities(in source: Source) -> [Finding] {
        guard self.cores.contains(source.target ?? "") else { return [] }
        return self.patterns.sorted { $0.key < $1.key }.flatMap { what, patterns in
            patterns.flatMap { self.findings($0, in: source) { _ in "a core \(what)" } }
        }
    }

    private static func findings(_ pattern: String, in source: Source, _ what: (Match) -> String?) -> [Finding] {
        let code = source.code.joined(separator: "\n")
        return code.matches(pattern).compactMap { match in
            what(match).map { source.finding(code.line(of: match.range.lowerBound), $0) }
        }
    }
}

@Suite struct `The tree` {
    @Test func `was found, with files of every core`() {
        for core in CoreRules.cores {
            #expect(Tree.swift.contains { $0.target == core }, "no file of \(core) was read")
        }
    }

    @Test func `has cores whose imports are cores and ordered containers`() {
        expectNone(Tree.swift.flatMap(CoreRules.imports))
    }

    @Test func `has cores that are pure`() { expectNone(Tree.swift.flatMap(CoreRules.impurities)) }

    @Test func `has cores that leak no hash order`() { expectNone(HashOrder.findings(in: Tree.swift)) }

    @Test func `has the cores that the manifest declares`() throws {
        let declared = try Tree.source("Package.swift").text.matches(#"^targets \+= core\(\s*"\w+", "(\w+)""#)
        #expect(Set(declared.map { String($0.groups[0]) } + [CoreRules.wireCore]) == CoreRules.cores)
    }

    /// The targets that sources import, and those that these import (docs/inside/decisions/0054-phones-in-the-console.md).
    @Test func `has no code of phones in anything that the server is built from`() {
        var imported: [String: Set<String>] = [:]
        for source in Tree.swift {
            guard let target = source.target else { continue }
            let modules = source.text.matches(CoreRules.importPattern).map { String($0.groups[0]) }
            imported[target, default: []].formUnion(modules)
        }
        func reached(from target: String) -> Set<String> {
            var (reached, waiting): (Set<String>, [String]) = ([target], [target])
            while let next = waiting.popLast() {
                for name in imported[next] ?? [] where reached.insert(name).inserted { waiting.append(name) }
            }
            return reached
        }
        let phones = Set(Tree.swift.filter { $0.path.hasPrefix("Sources/Phone/") }.compactMap(\.target))
        #expect(phones.isSuperset(of: ["PhoneCore", "VirtualPhone", "UIKit", "PhoneTerminal"]))
        let server = reached(from: "TidingsServer")
        #expect(server.isSuperset(of: ["ServerCore", "StoreMachine", "MessageStore", "APNsClient", "Console"]))
        #expect(server.isDisjoint(with: phones))
        #expect(reached(from: "UIKit").isSuperset(of: ["VirtualPhone", "PhoneCore"]))
    }
}

/// Each rule against samples that break it and others that do not, so that no rule passes because it sees nothing.
@Suite struct `A rule about cores` {
    private static func source(_ text: String, at path: String = "Sources/Server/ServerCore/Sample.swift") -> Source {
        Source(path: path, text: text)
    }

    @Test(arguments: [
        "import Foundation", "internal import GRDB", "@testable import Dispatch", "import struct Foundation.Date",
        "public import Synchronization", "import Glibc", "import SwiftProtobuf",
    ])
    func `refuses a core that imports anything but cores and containers`(_ line: String) {
        #expect(CoreRules.imports(in: Self.source("// a core\n\(line)\n")).map(\.line) == [2])
        #expect(CoreRules.imports(in: Self.source(line, at: "Sources/Server/MessageStore/Sample.swift")) == [])
    }

    @Test func `lets a core import cores and containers, and the wire core its runtime`() {
        let text = "package import StoreModel\nimport HeapModule\n// import Foundation"
        #expect(CoreRules.imports(in: Self.source(text)) == [])
        #expect(
            CoreRules.imports(in: Self.source("import SwiftProtobuf", at: "Sources/Model/TidingsWire/A.swift")) == [])
    }

    @Test(arguments: [
        "let a = Date()", "let a = ContinuousClock.Instant", "f(at: .now)", "let a = Instant.now",
        "gettimeofday(&t, nil)",
        "let a = Int.random(in: 0..<4)", "list.shuffled()", "let id = UUID()", "var g = SystemRandomNumberGenerator()",
        "let h = name.hashValue", "var h = Hasher()", "let e = list.randomElement()", "f(list.shuffled(), using: 1)",
        "Task { }", "func f() async {}", "await g()", "actor A {}", "let m = Mutex(0)", "print(a)", "dump(b)",
        "switch (self.state, event) {\ncase (.a, .b): f()\ndefault: break\n}",
    ])
    func `refuses what is not pure`(_ text: String) {
        #expect(CoreRules.impurities(in: Self.source(text)).count == 1)
        #expect(CoreRules.impurities(in: Self.source(text, at: "Sources/Server/MessageStore/Sample.swift")) == [])
    }

    @Test(arguments: [
        "let a = self.now", "f(at: now)", "let a = event.now.wall", "let s = \"Date()\"", "// Date()",
        "let a = Int.random(in: 0..<max(4, 5), using: &generator)", "let random = 4", "case async", "f(async: true)",
        "func hash(into hasher: inout Hasher) {}", "let actor = 1", "self.print(c)", "func print() {}",
        "let s = \"\"\"\n    Task { print(\"x\") }\n    \"\"\"", "switch (left, right) {\ndefault: break\n}",
        "switch (self.state, event) {\ncase (.a, .b):\n    switch event {\n    default: break\n    }\n}\ndefault:",
    ])
    func `lets pass what is`(_ text: String) { expectNone(CoreRules.impurities(in: Self.source(text))) }

    @Test(arguments: [
        "var a: [Int: Int] = [:]\nfor (k, v) in a { out.append(k) }",
        "var a: Set<Int>\nfor x in self.state.a where x > 1 {}",
        "let a: [Int: [Int]]\nreturn a.map { $0.key }", "var b: X\nlet c = self.b.values.map(\\.count)",
        "var b: X\nreturn (b.keys)", "let a = Set(list)\nlet c = Array(a)", "func f(a: Set<Int>) {\na.first }",
        "var a: [Int: Int]\na.values.reduce(0, +)  // tidy: order does not leave: fine",
    ])
    func `refuses the order of a hash`(_ text: String) {
        #expect(HashOrder.findings(in: [Self.source(text)]).map(\.line) == [2])
    }

    @Test(arguments: [
        "var a: [Int: Int]\nfor k in a.keys.sorted() { out.append(k) }", "var a: Set<Int>\nfor x in a.sorted() {}",
        "let a: OrderedDictionary<Int, Int>\nfor (k, v) in a {}", "let a: [Int]\nfor x in a {}\nreturn a.map { $0 }",
        "var a: [Int: Int]\nreturn a.values\n    .map { $0 }\n    .sorted()", "var b: X\nreturn b.keys.contains(4)",
        "let a: OrderedDictionary<Int, Int>\nreturn a.values.map { $0 }",
        "let keys: [Int]\nreturn self.keys.map { $0 }",
        "var a: [Int: Int]\nreturn a.mapValues { $0 + 1 }",
        "var a: [Int: Int]\n// tidy: order does not leave: a sum is the same in any order\nreturn a.values.reduce(0, +)",
    ])
    func `lets a core use what has an order, or gives it one`(_ text: String) {
        expectNone(HashOrder.findings(in: [Self.source(text)]))
    }

    @Test func `judges a name by what its file declares, and then by what its target does`() {
        let declaring = Self.source("var legs: [Int: Leg]\nlet lanes: [Lane]", at: "Sources/Server/ServerCore/A.swift")
        let using = Self.source("for leg in self.legs {}\nfor lane in self.lanes.keys {}\nfor x in self.other.keys {}")
        #expect(HashOrder.findings(in: [declaring, using]).map(\.line) == [1, 3])
        let own = Self.source("let legs: [Leg]\nfor leg in self.legs {}")
        #expect(HashOrder.findings(in: [declaring, own]) == [])
    }
}
