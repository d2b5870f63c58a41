import PhoneCore
import Scenarios
import Testing
import TidingsModel

@testable import ScenarioCore

private func file(_ text: String) throws -> Scenario { try ScenarioFile(path: "f.yaml", text: text).scenario }

private func problems(_ text: String) -> [String] {
    do {
        _ = try ScenarioFile(path: "f.yaml", text: text)
        return []
    } catch {
        return error.problems
    }
}

/// A file whose one case, of an app's own code, has these lines in its steps.
private func steps(_ lines: String..., server: String = "no") -> String {
    """
    title: t
    server: \(server)
    app: App
    cases:
      - case: c
        steps:
    \(lines.map { "      - \($0)" }.joined(separator: "\n"))
          - expect: {screen: {shows: [hi]}}
    """
}

private func read(_ line: String, server: String = "no") throws -> StepAction {
    try #require(try file(steps(line, server: server)).cases.first?.steps.first).action
}

@Suite struct `A scenario of an app's own code` {
    @Test func `names executables, and what the phone knows of the app beside its code`() throws {
        let scenario = try file(
            """
            title: t
            app: {executable: ./App, environment: {A: "1", B: x}, lifecycle: application}
            cases:
              - case: c
                app: {extension: Ext, bundle: com.example.own, appGroup: group.own, environment: {B: y}, refreshTask: r}
                stepTime: 3 s
                server: {people: {bob: secret}, settings: {lease.grace_milliseconds: 200}}
                steps: [expect: {screen: {shows: [hi]}}]
              - case: d
                app: Other
                caseTime: 10 min
                steps: [expect: {screen: {shows: [hi]}}]
            """)
        let code = try #require(scenario.cases[0].code)
        #expect(code.app == .init(path: "./App", position: .init(line: 2, column: 19)))
        #expect(code.serviceExtension?.path == "Ext")
        #expect(code.environment == ["A": "1", "B": "y"])
        #expect(
            code.server
                == ServerSetup(
                    people: [.init(user: "bob", password: "secret")], settings: ["lease.grace_milliseconds": "200"]))
        #expect(code.stepTime == 3_000)
        #expect(code.caseTime == 120_000)
        let app = scenario.cases[0].app.installed
        #expect(app.bundleID == "com.example.own")
        #expect(app.appGroup == "group.own")
        #expect(app.lifecycle == .application)
        #expect(app.hasServiceExtension)
        #expect(app.permittedTasks == ["r"])
        let other = try #require(scenario.cases[1].code)
        #expect(other.app.path == "Other")
        #expect(other.server == nil)
        #expect(other.stepTime == 10_000)
        #expect(other.caseTime == 600_000)
        #expect(scenario.cases[1].app.installed.bundleID == "com.example.chat")
        #expect(!scenario.cases[1].app.installed.hasServiceExtension)
    }

    @Test(
        arguments: [
            ("press: Send", .screen(.touch(view: "Send", .tap))), ("hold: hi", .screen(.touch(view: "hi", .longPress))),
            ("submit: Name", .screen(.touch(view: "Name", .submit))),
            ("enter: {text: a}", .screen(.enter("a", into: nil, submits: false))),
            ("enter: {text: 12, into: N, submit: yes}", .screen(.enter("12", into: "N", submits: true))),
            ("scroll: up", .screen(.scroll(.up, view: nil, until: nil))),
            ("scroll: {in: T, until: last}", .screen(.scroll(.down, view: "T", until: "last"))),
            ("swipe: {on: row, direction: left}", .screen(.touch(view: "row", .swipe(.left)))),
            ("input: {a: [1, yes]}", .screen(.input(["a": [1, true]]))), ("wait: 2 s", .wait(2_000)),
            ("tap: whatever", .act(on: "whatever", .tap)),
            ("person: home", .phone(.person(.wentHome))),
            ("set: {badge: off}", .switches([.init(which: .badge, isOn: false)])),
        ] as [(String, StepAction)]) func `has steps of a finger`(line: String, action: StepAction) throws
    {
        #expect(try read(line) == action)
    }

    @Test func `lets somebody write through its server`() throws {
        let action = try read("message: {id: m, from: alice, to: bob, text: hi}", server: "yes")
        #expect(action == .screen(.message(.init(label: "m", sender: "alice", recipient: "bob", text: "hi"))))
    }

    @Test(arguments: [
        ("press: ''", "7:16: press must name a view"), ("press: [a]", "7:16: press must be a text, got a list"),
        ("enter: {into: a}", "7:16: enter needs the key \"text\""),
        ("enter: {text: a, submit: maybe}", "7:34: submit must be on or off"),
        ("scroll: left", "7:17: unknown scroll \"left\" (allowed: up, down)"),
        ("swipe: {on: row}", "7:16: swipe needs the key \"direction\""),
        ("swipe: {on: row, direction: away}", "unknown direction \"away\" (allowed: up, down, left, right)"),
        ("wait: 2 h", "7:15: wait must be 1 ms to 1 h: it is real time, got \"2 h\""),
        ("expect: {screen: hi}", "7:26: screen must be a mapping, got \"hi\""),
        ("expect: {screen: {}}", "7:26: screen must name a text"),
        ("expect: {screen: {shows: ['']}}", "7:34: shows: a text must say something"),
        ("expect: {screen: {show: [a]}}", "unknown key \"show\" in screen; did you mean \"shows\"?"),
        ("expect: {within: 2 s}", "7:17: expect must check something"),
        (
            "expect: {callbacks: []}",
            "7:18: callbacks is for the simulated app, and this one runs its own code; with app.executable expect has says, within, faults"
        ),
        (
            "shows: x",
            "7:9: shows is for the simulated app, and this one runs its own code; with app.executable steps has press"
        ),
        ("system: remove", "7:17: remove is for the simulated app"),
        ("focus: on", "7:16: with app.executable focus must be off or timeSensitive"),
        ("push: {alert: a, headers: {apns-expiration: 0}}", "7:36: apns-expiration is for APNs"),
        ("message: {id: m, to: bob}", "7:18: message needs a server: give server: yes"),
        ("message: {id: m, to: bob, in: 'GRP:x'}", "7:35: in is for the simulated app"),
        ("enter: {text: '${backend}'}", "7:23: ${backend} needs a server: give server: yes"),
    ]) func `is told where and what`(line: String, message: String) {
        let found = problems(steps(line))
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }

    @Test(arguments: [
        (
            "enter: {text: '${backnd}'}",
            "unknown name \"backnd\"; did you mean \"backend\"? (allowed: backend, gateway, api, phones, token of USER)"
        ),
        ("enter: {text: '${backend}'}", "${backend} needs people who sign in there: give server.people"),
        ("message: {id: m}", "message needs the key \"to\""),
    ]) func `with a server is told where and what`(line: String, message: String) {
        let found = problems(steps(line, server: "yes"))
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }

    @Test(arguments: [
        ("    start: suspended", "5:5: start is for the simulated app"),
        ("    before: [person: open]", "5:5: before is for the simulated app"),
        ("    for: {start: [FA]}", "5:18: with app.executable a case begins with an app that is not running"),
        ("    phone: {clock: 07:30}", "5:13: clock is for the simulated app"),
        ("    phone: {notifications: provisional}", "5:28: with app.executable the app itself asks"),
        ("    app: {sdk: {}}", "5:11: sdk is for the simulated app"),
        ("    app: {executable: ''}", "5:23: executable must be the path of an executable"),
        ("    app: {bundle: a/b}", "5:19: bundle must be a bundle identifier, got \"a/b\""),
        ("    server: maybe", "5:13: server must be yes or a mapping (or no), got \"maybe\""),
        ("    server: {settings: {grace: 1}}", "5:25: a key of the configuration is written group.key, got \"grace\""),
        ("    caseTime: 2 h", "5:15: caseTime must be 1 ms to 1 h: it is real time, got \"2 h\""),
    ]) func `refuses what such a case has not`(line: String, message: String) {
        let found = problems(
            """
            title: t
            app: {executable: App}
            cases:
              - case: c
            \(line)
                steps: [expect: {screen: {shows: [hi]}}]
            """)
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }

    @Test(arguments: [
        (
            "server: yes", "steps: [expect: {badge: 0}]",
            "2:1: server needs an app with code of its own: give app.executable"
        ),
        (
            "app: {environment: {A: b}}", "steps: [expect: {badge: 0}]",
            "2:7: environment needs an app with code of its own"
        ),
        ("app: {}", "caseTime: 1 s", "5:5: caseTime needs an app with code of its own"),
        (
            "app: {}", "steps: [press: Send, expect: {badge: 0}]",
            "5:13: press needs an app with code of its own: give app.executable"
        ),
        (
            "app: {}", "steps: [expect: {screen: {shows: [a]}}]",
            "5:31: shows needs an app with code of its own: give app.executable"
        ),
        ("app: {}", "steps: [expect: {badge: 0, within: 1 s}]", "5:32: within needs an app with code of its own"),
    ]) func `is needed by its keys`(top: String, line: String, message: String) {
        let found = problems("title: t\n\(top)\ncases:\n  - case: c\n    \(line)")
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }

    @Test func `without a server has dollars and braces as they are`() throws {
        #expect(
            try read("enter: {text: '${x} costs $5'}") == .screen(.enter("${x} costs $5", into: nil, submits: false)))
    }

    @Test func `fails where nothing runs its code`() throws {
        let result = try #require(try file(steps("press: a")).cases.first).run()
        #expect(result.differences.map(\.actual) == [["only `tidings scenario` runs it"]])
    }

    @Test func `runs through what it is given, and tells what that finds wrong with the file once`() async throws {
        let run = await ScenarioRun(["\(Scenarios.folder)/screens"]) { _, one throws(ScenarioProblem) in
            if one.code?.app.path == "ChatApp" {
                throw ScenarioProblem(position: .init(line: 3, column: 15), message: "no")
            }
            return CaseResult(one)
        }
        #expect(run.problems == ["\(Scenarios.folder)/screens/chat.yaml:3:15: no"])
        #expect(run.exitStatus == 2)
        #expect(run.failedCount == 0)
        #expect(run.caseCount >= 6)
    }
}

@Suite struct `What must stand on a screen` {
    private let position = ScenarioPosition(line: 7, column: 9)

    private func differences(
        _ expectation: String, screen: [String] = [], values: [ExpectKey: [String]] = [:], faults: [String] = []
    ) throws -> [Difference] {
        guard case .expect(let expectation) = try read("expect: \(expectation)") else { return [] }
        var phone = ObservedPhone()
        (phone.screen, phone.values, phone.faults) = (screen, values, faults)
        return expectation.differences(from: phone, at: self.position)
    }

    @Test func `is there as a whole, in part, or not`() throws {
        let wanted = "{screen: {shows: [10 taps, Count], contains: [Lat], lacks: [0 taps]}}"
        #expect(try self.differences(wanted, screen: ["Count", "10 taps", "Count Later"]) == [])
        let found = try self.differences(wanted, screen: ["0 taps", "Count"])
        #expect(
            found == [
                Difference(
                    position: .init(line: 7, column: 18), key: "screen",
                    expected: ["shows \"10 taps\"", "shows \"Count\"", "contains \"Lat\"", "lacks \"0 taps\""],
                    actual: ["not there", "\"Count\"", "not there", "\"0 taps\""], differing: [0, 2, 3])
            ])
    }

    @Test func `is compared beside the other keys, in the order of the file`() throws {
        let found = try self.differences(
            "{badge: 2, screen: {shows: [a]}, texts: {anywhere: [b]}}", values: [.badge: ["1"], .texts: ["c", "b"]])
        #expect(found.map(\.key) == ["badge", "screen"])
        #expect(found.map(\.actual) == [["1"], ["not there"]])
    }

    @Test func `may be what the app itself says of it`() throws {
        let wanted = "{says: {anywhere: ['run_state: foreground']}}"
        #expect(try self.differences(wanted, values: [.says: ["stack: Chats", "run_state: foreground"]]) == [])
        #expect(try self.differences(wanted, values: [.says: ["stack: Chats"]]).map(\.key) == ["says"])
    }

    @Test func `does not let a fault pass unless it is expected`() throws {
        let unexpected = try self.differences("{badge: 0}", values: [.badge: ["0"]], faults: ["answered twice"])
        #expect(unexpected.map(\.key) == ["faults"])
        #expect(try self.differences("{faults: [twice]}", faults: ["answered twice"]) == [])
        #expect(try self.differences("{faults: [twice]}").map(\.key) == ["faults"])
    }
}

@Suite struct `A text with names of the server` {
    @Test func `is filled, and keeps what is no name`() {
        let filled = ServerWords.fill("${api}/a $5 ${token of bob} ${x} ${api") { "<\($0)>" }
        #expect(filled == "<api>/a $5 <token(\"bob\")> ${x} ${api")
    }
}
