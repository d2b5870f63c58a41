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
            (["do": "views"], .views(chat)), (["do": "picture"], .picture(columns: 54, rows: 38)),
            (["do": "picture", "columns": 40, "rows": 12], .picture(columns: 40, rows: 12)),
        ]
        for (json, command) in cases { #expect(try PhoneCommand(json: json, apps: self.one) == command) }
    }

    @Test func `reads every change of settings, answers and installations`() throws {
        let chat: BundleID = "com.example.chat"
        let cases: [(JSONValue, PhoneChange)] = [
            (["do": "previews", "show": "whenAuthenticated"], .previews(chat, .whenAuthenticated)),
            (["do": "alert_style", "style": "alert"], .alertStyle(chat, .alert)),
            (["do": "summary_times", "minutes": [480, 1_080]], .summaryTimes([480, 1_080])),
            (["do": "background_refresh", "on": false], .backgroundRefresh(isOn: false)),
            (["do": "restricted_refresh", "on": true], .restrictedRefresh(isOn: true)),
            (["do": "mute", "on": true], .mute(isOn: true)),
            (["do": "notification_settings", "notification": "m1"], .notificationSettings("m1")),
            (["do": "app_settings"], .appSettings(chat)),
            (["do": "swipe_away", "notification": "m1"], .swipeAway("m1")),
            (["do": "provisional", "keep": true], .provisional(chat, keep: true)),
            (["do": "alert_panel", "open": true], .alertPanel(opens: true)),
            (["do": "dismiss_activity", "activity": "a1"], .dismissActivity(chat, "a1")),
            (["do": "disconnect_scene"], .disconnectScene(chat)), (["do": "prewarm"], .prewarm(chat)),
            (["do": "update"], .update(chat)), (["do": "reinstall"], .reinstall(chat)),
            (["do": "restore_from_backup"], .restoreFromBackup),
            (["do": "background_chance"], .backgroundChance(chat)),
            (["do": "cross_region", "region": "home", "entering": true], .crossRegion("home", entering: true)),
        ]
        for (json, change) in cases { #expect(try PhoneCommand(json: json, apps: self.one) == .change(change)) }
        #expect(
            self.fault(["do": "previews", "show": "sometimes"], self.one)
                == InvalidField(
                    field: "show", rule: "must be one of always, whenAuthenticated, never, got sometimes"))
        #expect(
            self.fault(["do": "summary_times", "minutes": [1_440]], self.one)
                == InvalidField(field: "minutes", rule: "must hold whole numbers from 0 to 1439, got 1440"))
    }

    @Test func `says what is done with a view, a tap unless told otherwise`() throws {
        let cases: [(JSONValue, String?, ViewAction)] = [
            (["do": "touch", "view": "Send"], "Send", .tap),
            (["do": "touch", "view": "Message", "action": "enter", "text": "你好"], "Message", .enter("你好")),
            (["do": "touch", "action": "submit"], nil, .submit),
            (["do": "touch", "action": "scroll", "direction": "up"], nil, .scroll(.up)),
            (["do": "touch", "view": "Alice", "action": "swipe", "direction": "left"], "Alice", .swipe(.left)),
            (["do": "touch", "view": "hi", "action": "long_press"], "hi", .longPress),
            (["do": "touch", "view": "hi", "action": "activate"], "hi", .activate),
            (["do": "touch", "view": "hi", "action": "escape"], "hi", .escape),
            (["do": "touch", "view": "Alice", "action": "named", "name": "Pin"], "Alice", .named("Pin")),
        ]
        for (json, view, action) in cases {
            #expect(try PhoneCommand(json: json, apps: self.one) == .touch("com.example.chat", view: view, action))
        }
        #expect(
            self.fault(["do": "touch", "view": "Send", "action": "stroke"], self.one)
                == InvalidField(field: "action", rule: "is not what is done with a view: stroke"))
        #expect(
            self.fault(["do": "touch", "view": "Alice", "action": "swipe"], self.one)
                == InvalidField(field: "direction", rule: "is missing"))
        #expect(
            self.fault(["do": "touch", "view": "Name", "action": "enter"], self.one)
                == InvalidField(field: "text", rule: "is missing"))
    }

    @Test func `that is wrong names the member and the rule`() {
        #expect(
            self.fault(["do": "picture", "columns": 39], self.one)
                == InvalidField(field: "columns", rule: "must be a whole number from 40 to 250, got 39"))
        #expect(self.fault(["do": "picture", "rows": 201], self.one)?.field == "rows")
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
                        + " backgroundRefresh, criticalAlert, announcement, timeSensitive, scheduledDelivery,"
                        + " directMessages, got volume"))
    }
}
