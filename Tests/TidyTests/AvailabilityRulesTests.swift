import Testing

@Suite struct `The rule about the oldest iOS` {
    private static let sample = "Sources/SDK/TidingsKit/Sample.swift"

    private func lines(_ text: String, at path: String = Self.sample) -> [Int] {
        AvailabilityRules.deploymentTarget.check(Source(path: path, text: text)).map(\.line)
    }

    @Test(arguments: [
        "let a: Duration", "let c = ContinuousClock()", "let c = SuspendingClock.now", "let m = Mutex(0)",
        "try await Task.sleep(for: .seconds(1))", "isolated deinit { self.end() }", "weak let owner: Owner?",
        "@available(iOS 16, *)\nfunc f() {}\nlet a: Duration", "@available(iOS 16, *)\nlet m = Mutex(0)",
        "@available(iOS 18, *)\nisolated deinit {}", "@available(iOS 26, *)\nweak let owner: Owner?",
        "@available(iOS 16, *)\npublic var a: Int\npublic var b: Duration",
        "@available(macOS 15, *)\nlet a: Duration",
        "#if canImport(Darwin)\nlet a: Duration\n#endif", "#if os(Linux)\n#else\nlet a: Duration\n#endif",
        "if #available(iOS 15, *) {\n    let a: Duration\n}", "if #available(iOS 16, *) {} else { f(Duration.zero) }",
        "guard #available(iOS 16, *) else { return f(Duration.zero) }",
        "#if os(Linux) || os(iOS)\nlet a: Duration\n#endif", "#if os(Linux)\n#endif\nlet a: Duration",
    ])
    func `refuses what a newer system has`(_ text: String) {
        #expect(self.lines(text).count == 1)
        #expect(self.lines(text, at: "Sources/Server/TidingsServer/Sample.swift") == [])
        #expect(self.lines(text, at: "Tests/TidingsKitTests/Sample.swift") == [])
    }

    @Test(arguments: [
        "try await Task.sleep(nanoseconds: 1)", "let milliseconds: Int64", "weak var owner: Owner?", "deinit {}",
        "// Mutex, Duration", "let s = \"Duration\"",
        "@available(iOS 16, *)\npublic var limit: Duration {\n    get { .seconds(1) }\n    set { f(newValue) }\n}",
        "@available(iOS 16, *)\nextension Duration {\n    var a: Duration { self }\n}",
        "@available(iOS 16.0, *) @inlinable\nfunc f(\n    a: Duration\n) -> Duration {\n    a\n}",
        "if #available(iOS 16, *) {\n    try await Task.sleep(for: a)\n} else {\n    f()\n}",
        "@available(iOS 18.4, *)\nisolated deinit {}", "@available(iOS 16, *)\nlet a: Duration",
        "#if os(Linux)\n    import Synchronization\n    let m = Mutex(0)\n#endif",
        "#if !canImport(Darwin)\nlet m = Mutex(0)\n#endif",
        "#if canImport(Darwin)\nlet a = 1\n#else\nlet m = Mutex(0)\n#endif",
        "#if os(Linux) && DEBUG\n    #if SMALL\n    let a: Duration\n    #endif\n#endif",
    ])
    func `lets pass what iOS 15 has, what says its system, and what Linux alone compiles`(_ text: String) {
        #expect(self.lines(text) == [])
    }

    @Test func `reads every target it names, and leaves generated code alone`() {
        for target in AvailabilityRules.targets.sorted() {
            #expect(Tree.swift.contains { $0.target == target }, "no file of \(target) was read")
        }
        #expect(self.lines("let a: Duration", at: "Sources/Model/TidingsWire/tidings.pb.swift") == [])
    }

    @Test func `holds in the tree`() {
        let findings = Tree.sources.flatMap(AvailabilityRules.deploymentTarget.check)
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
    }
}
