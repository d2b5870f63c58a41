import Foundation
import PhoneCore
import PhoneTerminal
import ScenarioCore
import Scenarios
import Testing
import TidingsModel
import VirtualPhone

@testable import tidings

@Suite struct `A step of a scenario on a phone in processes` {
    private let app: BundleID = "com.example.screen"

    private func actions(_ line: String) throws -> [Script.Action] {
        let text = "title: t\napp: App\ncases:\n  - case: c\n    steps:\n      - \(line)\n      - expect: {badge: 0}"
        let file = try ScenarioFile(path: "f.yaml", text: text)
        let step = try #require(file.scenario.cases.first?.steps.first)
        return try #require(step.action.scriptActions(app: self.app), "\(line) is no step of a script")
    }

    @Test func `is the word of a script`() throws {
        let name = self.app.rawValue
        let words: [(String, Script.Action)] = [
            ("person: open", .command(.open(name))), ("person: home", .command(.home)),
            ("person: lock", .command(.lock)), ("person: unlock", .command(.unlock)),
            ("person: forceQuit", .command(.forceQuit(name))), ("person: overlayAppears", .command(.cover(.on))),
            ("person: overlayDisappears", .command(.cover(.off))), ("system: kill", .command(.kill(name))),
            ("system: freeze", .command(.freeze(name))), ("system: lowMemory", .command(.memory)),
            ("system: restart", .command(.restart)), ("prompt: allow", .command(.allow)),
            ("prompt: deny", .command(.deny)), ("panel: view", .command(.panel(opens: true))),
            ("call: answer", .command(.answerCall)), ("call: decline", .command(.declineCall)),
            ("airplaneMode: on", .command(.airplane(.on))), ("lowPowerMode: off", .command(.lowPower(.off))),
            ("focus: timeSensitive", .command(.focus(.on))), ("focus: off", .command(.focus(.off))),
            ("alertStyle: alert", .command(.alertStyle(.alert, app: name))), ("wait: 2 s", .wait(milliseconds: 2_000)),
        ]
        for (line, action) in words { #expect(try self.actions(line) == [action], "\(line)") }
    }

    @Test func `may be written as a script has it`() throws {
        let name = self.app.rawValue
        let words: [(String, Script.Action)] = [
            ("open", .command(.open(name))), ("home", .command(.home)), ("lock", .command(.lock)),
            ("unlock", .command(.unlock)), ("force-quit", .command(.forceQuit(name))),
            ("cover on", .command(.cover(.on))), ("cover off", .command(.cover(.off))), ("kill", .command(.kill(name))),
            ("freeze", .command(.freeze(name))), ("memory", .command(.memory)), ("restart", .command(.restart)),
            ("allow", .command(.allow)), ("deny", .command(.deny)), ("view", .command(.panel(opens: true))),
            ("close", .command(.panel(opens: false))), ("answer-call", .command(.answerCall)),
            ("decline-call", .command(.declineCall)), ("airplane on", .command(.airplane(.on))),
            ("low-power off", .command(.lowPower(.off))), ("focus off", .command(.focus(.off))),
            ("focus on", .command(.focus(.on))), ("alert-style alert", .command(.alertStyle(.alert, app: name))),
            ("wait 2s", .wait(milliseconds: 2_000)),
            ("lock: yes", .command(.lock)), ("airplane: on", .command(.airplane(.on))),
        ]
        for (line, action) in words { #expect(try self.actions(line) == [action], "\(line)") }
    }

    @Test func `is done to the phone where a script has no word for it`() throws {
        #expect(try self.actions("system: evict") == [.perform(.evict(self.app))])
        #expect(try self.actions("mute: on") == [.perform(.change(.mute(isOn: true)))])
        #expect(try self.actions("install: again") == [.perform(.change(.reinstall(self.app)))])
        #expect(try self.actions("openSettings: app") == [.perform(.change(.appSettings(self.app)))])
        #expect(
            try self.actions("set: {badge: off, sound: on}")
                == [
                    .perform(.setting(self.app, .badge, isOn: false)), .perform(.setting(self.app, .sound, isOn: true)),
                ])
        #expect(
            try self.actions("backgroundRefresh: restricted") == [.perform(.change(.restrictedRefresh(isOn: true)))])
    }

    @Test func `is a push whose notification has its name in the file`() throws {
        guard case .perform(.push(let push))? = try self.actions("push: {id: m, alert: hi}").first else {
            Issue.record("no push")
            return
        }
        #expect(push.topic == "com.example.screen")
        #expect(push.collapseID == "m")
        #expect(push.payload["aps"] == ["alert": "hi"])
        guard
            case .perform(.push(let call))? = try self.actions(
                "push: {id: c, headers: {apns-push-type: voip, apns-collapse-id: own}, data: {a: 1}}"
            ).first
        else {
            Issue.record("no push")
            return
        }
        #expect(call.topic == "com.example.screen.voip")
        #expect(call.collapseID == "own")
    }

    @Test(arguments: ["person", "system"])
    func `is there for every word that such a case takes`(key: String) throws {
        let keys = ScenarioSection.steps.keys
        let words = try #require(keys.first { $0.name == key }).type.split(separator: ", ")
        for word in words where word != "remove" {
            #expect(try self.actions("\(key): \(word)").count == 1, "\(word)")
        }
    }
}
