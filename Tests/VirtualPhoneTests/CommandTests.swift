import PhoneCore
import Testing
import TidingsModel
import VirtualPhone

@Suite struct `A command of the control channel` {
    let one: [BundleID] = ["com.example.chat"]
    let two: [BundleID] = ["com.example.chat", "com.example.mail"]

    private func fault(_ json: JSONValue, _ apps: [BundleID]) -> InvalidField? {
        do throws(InvalidField) {
            _ = try PhoneCommand(json: json, apps: apps)
            return nil
        } catch {
            return error
        }
    }

    @Test func `means the only app if it names none`() throws {
        #expect(try PhoneCommand(json: ["do": "launch"], apps: self.one) == .launch("com.example.chat"))
        #expect(
            try PhoneCommand(json: ["do": "force_quit", "app": "com.example.mail"], apps: self.two)
                == .forceQuit("com.example.mail"))
        #expect(
            self.fault(["do": "launch"], self.two)
                == InvalidField(field: "app", rule: "is missing; installed are com.example.chat, com.example.mail"))
    }

    @Test func `is read with its arguments`() throws {
        let chat: BundleID = "com.example.chat"
        let cases: [(JSONValue, PhoneCommand)] = [
            (["do": "home"], .home), (["do": "lock"], .lock), (["do": "unlock"], .unlock),
            (["do": "freeze"], .freeze(chat)), (["do": "kill"], .kill(chat)), (["do": "evict"], .evict(chat)),
            (["do": "tap", "notification": "m1"], .tap("m1")),
            (["do": "dismiss", "notification": "m1"], .dismiss("m1")),
            (
                ["do": "action", "notification": "m1", "action": "reply", "text": "yes"],
                .action(notification: "m1", action: "reply", text: "yes")
            ),
            (["do": "allow_notifications"], .answerPrompts(allowed: true)),
            (["do": "deny_notifications"], .answerPrompts(allowed: false)),
            (["do": "setting", "setting": "sound", "on": false], .setting(chat, .sound, isOn: false)),
            (["do": "airplane", "on": true], .airplane(isOn: true)),
            (["do": "low_power", "on": true], .lowPower(isOn: true)),
            (["do": "overlay", "on": true], .overlay(isOn: true)), (["do": "memory_low"], .memoryLow),
            (["do": "restart"], .restart), (["do": "input", "value": ["a": 1]], .input(chat, ["a": 1])),
            (["do": "screen"], .screen), (["do": "trace"], .trace(after: 0)),
            (["do": "trace", "after": 7], .trace(after: 7)), (["do": "quit"], .quit),
        ]
        for (json, command) in cases { #expect(try PhoneCommand(json: json, apps: self.one) == command) }
    }

    @Test func `that is wrong names the member and the rule`() {
        #expect(self.fault([:] as JSONValue, self.one) == InvalidField(field: "do", rule: "is missing"))
        #expect(self.fault(["do": "fly"], self.one)?.field == "do")
        #expect(
            self.fault(["do": "launch", "app": "com.example.mail"], self.one)
                == InvalidField(
                    field: "app", rule: "is not installed: com.example.mail; installed are com.example.chat"))
        #expect(
            self.fault(["do": "airplane", "on": 1], self.one)
                == InvalidField(field: "on", rule: "must be a Boolean, got a number"))
        #expect(self.fault(["do": "tap"], self.one) == InvalidField(field: "notification", rule: "is missing"))
        #expect(
            self.fault(["do": "setting", "setting": "volume", "on": true], self.one)
                == InvalidField(
                    field: "setting",
                    rule: "must be one of notifications, alert, sound, badge, notificationCenter, lockScreen,"
                        + " backgroundRefresh, got volume"))
    }
}
