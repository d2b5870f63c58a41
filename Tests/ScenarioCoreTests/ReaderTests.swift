import PhoneCore
import ScenarioCore
import Testing

/// A node of plain values; every node stands at its own place.
indirect enum Plain: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    case text(String)
    case list([Plain])
    case map([(String, Plain)])

    init(stringLiteral value: String) { self = .text(value) }
    init(arrayLiteral elements: Plain...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, Plain)...) { self = .map(elements) }

    var node: ScenarioNode {
        var line = 0
        return self.node(&line)
    }

    private func node(_ line: inout Int) -> ScenarioNode {
        line += 1
        let position = ScenarioPosition(line: line, column: 1)
        switch self {
        case .text(let text): return ScenarioNode(position: position, value: .scalar(text, isQuoted: false))
        case .list(let nodes):
            return ScenarioNode(position: position, value: .sequence(nodes.map { $0.node(&line) }))
        case .map(let members):
            return ScenarioNode(
                position: position,
                value: .mapping(
                    members.map { ScenarioNode.Member(key: $0.0, position: position, node: $0.1.node(&line)) }))
        }
    }
}

@Suite struct `A scenario that is read` {
    @Test func `has one case for each combination of its variations`() throws {
        let node: Plain = [
            "title": "t",
            "cases": [
                [
                    "case": "c", "for": ["ios": ["9.3", "17"], "start": ["SU", "background"]],
                    "steps": [["expect": ["badge": "0"]]],
                ]
            ],
        ]
        let scenario = try ScenarioReader.scenario(of: node.node)
        #expect(
            scenario.cases.map(\.name) == [
                "c — iOS 9.3, SU", "c — iOS 9.3, BR", "c — iOS 17.0, SU", "c — iOS 17.0, BR",
            ])
        #expect(scenario.cases.map(\.phone.version) == [OSVersion(9, 3), OSVersion(9, 3), 17, 17])
        #expect(scenario.cases.map(\.start) == [.suspended, .background, .suspended, .background])
    }

    @Test func `has one case for each cell of its matrix that can happen`() throws {
        let node: Plain = [
            "title": "t",
            "cases": [
                [
                    "case": "c", "columns": ["A": ["steps": [["wait": "1 s"]]], "B": ["steps": [["wait": "2 s"]]]],
                    "matrix": [
                        "FA": ["A": ["badge": "0"], "B": ["badge": "1"]],
                        "NK": ["A": ["badge": "2"], "B": "cannot happen"],
                    ],
                ]
            ],
        ]
        let scenario = try ScenarioReader.scenario(of: node.node)
        #expect(scenario.cases.map(\.name) == ["c — FA, A", "c — FA, B", "c — NK, A"])
        #expect(
            scenario.cases.map { $0.steps.map(\.action) }.map(\.first) == [.wait(1_000), .wait(2_000), .wait(1_000)])
    }

    @Test func `lays a case's phone and app over the file's, key by key`() throws {
        let node: Plain = [
            "title": "t", "phone": ["ios": "12", "locked": "yes", "quirks": ["Q8": "off"]],
            "app": ["implements": ["willPresent"], "setsDelegate": "never"],
            "cases": [
                [
                    "case": "c", "phone": ["ios": "17"], "app": ["setsDelegate": "didBecomeActive"],
                    "steps": [["expect": ["badge": "0"]]],
                ]
            ],
        ]
        let one = try #require(try ScenarioReader.scenario(of: node.node).cases.first)
        #expect(one.phone.version == 17)
        #expect(one.phone.conditions == [.person(.locked)])
        #expect(!one.phone.settings.quirks.badgeZeroClearsDelivered)
        #expect(one.app.delegateMoment == .didBecomeActive)
        #expect(one.app.installed.methods == .willPresent)
    }

    @Test func `sets each quirk of the reference by its number, and each its own`() throws {
        var changed: Set<PhoneSettings> = []
        let words = (1...15).map { "Q\($0)" } + ["sceneLaunchOptionsOnWake"]
        for word in words {
            var settings: [PhoneSettings] = []
            for state in ["on", "off"] {
                let node: Plain = [
                    "title": "t", "phone": .map([("quirks", .map([(word, .text(state))]))]),
                    "cases": [["case": "c", "steps": [["expect": ["badge": "0"]]]]],
                ]
                settings.append(try #require(try ScenarioReader.scenario(of: node.node).cases.first).phone.settings)
            }
            #expect(settings[0] != settings[1], "\(word)")
            changed.formUnion(settings.filter { $0 != PhoneSettings() })
        }
        #expect(changed.count == words.count)
    }

    @Test(arguments: [
        ("500 ms", Int64(500)), ("30 s", 30_000), ("2min", 120_000), ("1 h", 3_600_000), ("1 d", 86_400_000),
    ])
    func `takes times with their unit`(text: String, milliseconds: Int64) throws {
        let node: Plain = [
            "title": "t",
            "cases": [["case": "c", "steps": [["wait": .text(text)], ["expect": ["badge": "0"]]]]],
        ]
        let one = try #require(try ScenarioReader.scenario(of: node.node).cases.first)
        #expect(one.steps.first?.action == .wait(milliseconds))
    }

    @Test func `names the requirements of the file and of the case, three at most`() throws {
        let node: Plain = [
            "title": "t", "requirement": ["S0.1", "S0.2"],
            "cases": [
                ["case": "c", "requirement": ["S0.2", "S4.13"], "steps": [["expect": ["badge": "0"]]]],
                ["case": "d", "requirement": ["S0.3", "S0.4"], "steps": [["expect": ["badge": "0"]]]],
            ],
        ]
        let problems = #expect(throws: ScenarioProblems.self) { try ScenarioReader.scenario(of: node.node) }
        #expect(problems?.problems.count == 1)
        #expect(problems?.problems.first?.message.hasPrefix("a case can hold 3 requirements at most") == true)
    }
}

@Suite struct `A case that runs` {
    private func run(_ steps: Plain, start: Plain = "not running", app: Plain = [:], phone: Plain = [:]) throws
        -> CaseResult
    {
        let node: Plain = [
            "title": "t", "phone": phone, "app": app, "cases": [["case": "c", "start": start, "steps": steps]],
        ]
        let one = try #require(try ScenarioReader.scenario(of: node.node).cases.first)
        return one.run()
    }

    @Test func `gives the same trace every time`() throws {
        let steps: Plain = [
            ["message": ["id": "m"]], ["wait": "1 h"], ["tap": "m"], ["expect": ["state": "foreground active"]],
        ]
        let first = try self.run(steps, start: "background", app: ["sdk": [:]])
        #expect(first.hasPassed, "\(first.differences)")
        #expect(try self.run(steps, start: "background", app: ["sdk": [:]]) == first)
    }

    @Test func `delivers the newest push only to a phone that was offline`() throws {
        let result = try self.run(
            [
                ["push": ["id": "one", "alert": "a"]], ["push": ["id": "two", "alert": "b"]],
                ["expect": ["shown": "nothing", "list": []]], ["airplaneMode": "off"], ["expect": ["list": ["two"]]],
            ], phone: ["airplaneMode": "on"])
        #expect(result.hasPassed, "\(result.differences)")
    }

    @Test func `compares the moment of a call to the millisecond`() throws {
        let steps: Plain = [
            ["push": ["alert": ["body": "a"], "mutable-content": "1"]], ["wait": "31 s"],
            ["expect": ["callbacks": ["serviceExtension at 0 s", "serviceExtensionTimeWillExpire at 29 s"]]],
        ]
        let result = try self.run(steps, app: ["answers": ["serviceExtension": "never"]])
        #expect(result.differences.map(\.differing) == [[1]])
        #expect(result.differences.first?.actual.last == "serviceExtensionTimeWillExpire at 30000 ms")
    }

    @Test func `stops at a step that is not possible`() throws {
        let result = try self.run([["setBadgeCount": "3"], ["expect": ["badge": "3"]], ["expect": ["badge": "4"]]])
        #expect(result.differences.map(\.actual) == [["the app is not running: only a running app can call anything"]])
    }

    @Test func `ends when phone and app would go on forever`() throws {
        let result = try self.run(
            [["wait": "366 d"], ["expect": ["state": "not running"]]], app: ["sdk": ["offline": "yes"]])
        #expect(result.hasPassed, "\(result.differences)")
    }
}
