import Foundation
import ScenarioCore
import Scenarios
import Testing
import TidingsModel

/// A folder that goes away with its owner.
private final class Folder {
    let path = FileManager.default.temporaryDirectory.appending(path: "scenarios-\(UUID().uuidString)").path

    init(_ files: [String: String]) throws {
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
        for (name, text) in files { try text.write(toFile: "\(self.path)/\(name)", atomically: true, encoding: .utf8) }
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }
}

private let good = """
    title: Good
    requirement: S0.4
    cases:
      - case: first
        start: suspended
        steps:
          - push: {id: m, alert: hello, sound: default}
          - expect: {shown: [{m: [banner, list, sound]}], callbacks: []}
    """

/// Two things are wrong: a call is missing, and the badge is another one.
private let bad = """
    title: Bad
    cases:
      - case: second
        phone: {ios: 12}
        app: {lifecycle: application}
        steps:
          - push: {id: m, alert: hello, badge: 2}
          - tap: m
          - expect:
              callbacks: [willFinishLaunching(remoteNotification), didReceive of m, didBecomeActive]
              badge: 3
              state: foreground active
    """

@Suite struct `A run of scenario files` {
    @Test func `passes with status 0 and a line for each case`() throws {
        let folder = try Folder(["good.yaml": good])
        let run = ScenarioRun([folder.path])
        #expect(run.exitStatus == 0)
        #expect(run.lines() == ["\(folder.path)/good.yaml: Good", "  ok   first", "1 case, 0 failed"])
    }

    @Test func `fails with status 1 and a table of expected against actual for what differs`() throws {
        let folder = try Folder(["bad.yaml": bad])
        let run = ScenarioRun(["\(folder.path)/bad.yaml"])
        #expect(run.exitStatus == 1)
        #expect(
            run.lines() == [
                "\(folder.path)/bad.yaml: Bad",
                "  FAIL second",
                "       callbacks at \(folder.path)/bad.yaml:10:11",
                "         expected                                 actual",
                "         willFinishLaunching(remoteNotification)  willFinishLaunching(remoteNotification)",
                "       ≠ didReceive of m                          didFinishLaunching(remoteNotification)",
                "       ≠ didBecomeActive                          didReceive of m",
                "       ≠ –                                        didBecomeActive",
                "       badge at \(folder.path)/bad.yaml:11:11",
                "         expected  actual",
                "       ≠ 3         2",
                "1 case, 1 failed",
            ])
    }

    @Test func `has status 2 if a file cannot be read, and still runs the others`() throws {
        let folder = try Folder(["a.yaml": "title: 1\nsteps: []", "good.yaml": good])
        let run = ScenarioRun([folder.path])
        #expect(run.exitStatus == 2)
        #expect(run.caseCount == 1)
        #expect(run.problems.first?.hasPrefix("\(folder.path)/a.yaml:1:1: file needs the key \"cases\"") == true)
        #expect(ScenarioRun(["\(folder.path)/none.yaml"]).problems.count == 1)
        #expect(ScenarioRun(["\(folder.path)/none.yaml"]).exitStatus == 2)
    }

    @Test func `is filtered by file, title and case`() throws {
        let folder = try Folder(["bad.yaml": bad, "good.yaml": good])
        #expect(ScenarioRun([folder.path]).caseCount == 2)
        #expect(ScenarioRun([folder.path], filter: "FIRST").exitStatus == 0)
        #expect(ScenarioRun([folder.path], filter: "bad").failedCount == 1)
        #expect(ScenarioRun([folder.path], filter: "third").problems == ["--filter \"third\" leaves no case"])
    }

    @Test func `is told to programs as JSON, with requirements and differences`() throws {
        let folder = try Folder(["bad.yaml": bad, "good.yaml": good])
        let json = try JSONValue(parsing: ScenarioRun([folder.path]).json().text)
        #expect(json["cases"] == 2)
        #expect(json["failed"] == 1)
        let files = try #require(json["files"]?.arrayValue)
        #expect(files.map { $0["title"] } == ["Bad", "Good"])
        let first = try #require(files[1]["cases"]?.arrayValue?.first)
        #expect(first["requirements"] == ["S0.4"])
        #expect(first["passed"] == true)
        #expect(first["checks"] == 2)
        #expect(first["trace"] == nil)
        let second = try #require(files[0]["cases"]?.arrayValue?.first)
        #expect(
            second["differences"]?.arrayValue?.last
                == ["line": 11, "column": 11, "key": "badge", "expected": ["3"], "actual": ["2"]])
    }

    @Test func `tells everything that happened with aligned times`() throws {
        let folder = try Folder(["good.yaml": good])
        let run = ScenarioRun([folder.path])
        let lines = run.lines(showsTrace: true)
        #expect(lines.contains("       0.000  shows    m: banner, list, sound (system)"))
        #expect(lines.contains("       0.000  step     push: m"))
        #expect(lines.contains("       0.000  arrives  m: alert"))
        let trace = run.json(showsTrace: true)["files"]?.arrayValue?.first?["cases"]?.arrayValue?.first?["trace"]
        #expect(trace?.arrayValue?.first?["kind"] == "step")
    }

    @Test func `says which step is not possible and what would be`() throws {
        let folder = try Folder([
            "f.yaml": """
            title: Gone
            cases:
              - case: dismissed twice
                start: suspended
                steps:
                  - push: {id: m, alert: hello}
                  - push: {id: n, alert: hello}
                  - dismiss: m
                  - tap: m
                  - expect: {callbacks: []}
            """
        ])
        let run = ScenarioRun([folder.path])
        #expect(run.exitStatus == 1)
        #expect(run.lines().contains("       step at \(folder.path)/f.yaml:9:9"))
        #expect(run.lines().contains { $0.hasSuffix("m is not on the screen; there: n, n") })
    }

    @Test(arguments: [
        ("person: unlock", "the phone is unlocked"), ("person: overlayDisappears", "the app is not running"),
        ("system: kill", "the app is not running"), ("system: freeze", "the app is not running"),
        ("system: disconnectScene", "the app is not running"), ("prompt: allow", "no prompt is on the screen"),
        ("panel: view", "no alert panel is on the screen"),
        ("summaryTimes: [08:00]", "the scheduled summary needs iOS 15"),
        ("focus: on", "a Focus needs iOS 15"), ("system: prewarm", "a prewarm needs iOS 15"),
        ("setBadgeCount: 1", "setBadgeCount needs iOS 16"),
    ]) func `says so where a step cannot be done, instead of doing nothing`(step: String, reason: String) throws {
        let folder = try Folder([
            "f.yaml": """
            title: Impossible
            phone: {ios: 14}
            cases:
              - case: c
                steps:
                  - wait: 1 s
                  - \(step)
                  - expect: {callbacks: []}
            """
        ])
        let run = ScenarioRun([folder.path])
        let difference = try #require(run.files.first?.cases.first?.differences.first)
        #expect(difference.key == "step")
        #expect(difference.actual == [reason])
        #expect(difference.position == ScenarioPosition(line: 7, column: 9))
    }

    @Test func `names the step of before that was not possible, or against the rules`() throws {
        let folder = try Folder([
            "f.yaml": """
            title: Before
            cases:
              - case: impossible
                before:
                  - push: {id: m, alert: hello}
                  - system: kill
                  - system: kill
                steps:
                  - expect: {callbacks: []}
              - case: against the rules
                before:
                  - push: {id: m, alert: hello, category: none}
                  - person: home
                  - push: {id: n, alert: hello}
                  - action: {id: reply, on: n}
                steps:
                  - expect: {callbacks: []}
            """
        ])
        let run = ScenarioRun([folder.path])
        let cases = try #require(run.files.first?.cases)
        #expect(cases[0].differences.map(\.key) == ["step"])
        #expect(cases[0].differences.map(\.position) == [ScenarioPosition(line: 7, column: 9)])
        #expect(cases[0].checks == 0)
        #expect(cases[1].differences.map(\.key) == ["faults"])
        #expect(cases[1].differences.map(\.position) == [ScenarioPosition(line: 15, column: 9)])
    }

    @Test func `fails where the trace does not begin as the file says`() throws {
        let folder = try Folder([
            "f.yaml": """
            title: Start
            app: {answers: {didFinishLaunching: never}}
            cases:
              - case: never launched
                start: foreground active
                steps: [expect: {badge: 0}]
              - case: locked in the foreground
                phone: {locked: yes}
                app: {answers: {didFinishLaunching: returns}}
                start: foreground active
                steps: [expect: {badge: 0}]
            """
        ])
        let cases = try #require(ScenarioRun([folder.path]).files.first?.cases)
        #expect(cases.map { $0.differences.first?.key } == ["start", "start"])
        #expect(cases.map { $0.differences.first?.expected } == [["foreground active"], ["foreground active"]])
    }

    @Test func `compares a text with a comma, and a Live Activity's content`() throws {
        let folder = try Folder([
            "f.yaml": """
            title: Words
            app: {categories: [{id: c, actions: [{id: reply, textInput: yes}]}]}
            cases:
              - case: text
                start: suspended
                steps:
                  - push: {id: m, alert: hello, category: c}
                  - action: {id: reply, on: m, text: "yes, soon"}
                  - expect: {callbacks: ['didReceive(reply, "yes, soon") of m']}
              - case: content
                start: foreground active
                steps:
                  - startActivity: {id: ride, content-state: {eta: 9}}
                  - expect: {activities: [ride: {eta: 5}]}
            """
        ])
        let cases = try #require(ScenarioRun([folder.path]).files.first?.cases)
        #expect(cases[0].differences == [])
        #expect(cases[1].differences.map(\.expected) == [["ride: {\"eta\":5}"]])
        #expect(cases[1].differences.map(\.actual) == [["ride: {\"eta\":9}"]])
    }

    @Test func `begins the trace when its clock says so`() throws {
        let folder = try Folder([
            "f.yaml": """
            title: Clock
            phone: {clock: 07:59, summaryTimes: [08:00], settings: {scheduledDelivery: on}}
            cases:
              - case: to the second
                for: {start: [FA, SU, NK]}
                steps:
                  - person: home
                  - push: {id: m, alert: hello}
                  - wait: 59 s
                  - expect: {summary: [m]}
                  - wait: 1 s
                  - expect: {summary: [], list: [m]}
            """
        ])
        let run = ScenarioRun([folder.path])
        #expect(run.exitStatus == 0, "\(run.lines())")
    }

    @Test func `never lets a fault of the app pass unnoticed`() throws {
        let folder = try Folder([
            "f.yaml": """
            title: Twice
            app: {answers: {didReceiveRemoteNotificationFetch: {result: newData, twice: yes}}}
            cases:
              - case: handler called twice
                start: suspended
                steps:
                  - push: {content-available: 1}
                  - expect: {callbacks: [didReceiveRemoteNotificationFetch(background)]}
            """
        ])
        let run = ScenarioRun([folder.path])
        #expect(run.exitStatus == 1)
        #expect(run.files.first?.cases.first?.differences.map(\.key) == ["faults"])
    }
}
