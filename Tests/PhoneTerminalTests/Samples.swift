import PhoneTerminal
import TidingsModel

/// Phones and traces for the tests.
enum Sample {
    static let reply = PhonePicture.Action(identifier: "reply", title: "Reply", takesText: true)
    static let read = PhonePicture.Action(identifier: "read", title: "Mark as Read")

    static let first = PhonePicture.Notice(
        identifier: "0m1", app: "com.example.chat", title: "Alice", body: "你好，吃了吗？👋", actions: [Self.reply, Self.read])
    static let second = PhonePicture.Notice(
        identifier: "0m2", app: "com.example.chat", title: "Team", subtitle: "Carol",
        body: "\u{1b}[2J\u{1b}]0;owned\u{7} a text that is much longer than a phone is wide, so that it must be cut")

    /// The chat app in the foreground, with a banner.
    static var front: PhonePicture {
        var picture = PhonePicture()
        picture.foregroundApp = "com.example.chat"
        picture.banners = [Self.first]
        picture.list = [Self.first, Self.second]
        picture.apps = [
            PhonePicture.App(
                bundle: "com.example.chat", state: "foregroundActive", processIdentifier: 4_711, badge: 3,
                stack: ["Conversations", "Chat PR:alice"], details: ["alice: hi", "connection: connected"])
        ]
        return picture
    }

    /// iOS 9 on its home screen, with an alert panel and one notification in the list.
    static var panel: PhonePicture {
        var picture = Self.front
        picture.foregroundApp = nil
        picture.banners = []
        picture.list = [Self.first]
        picture.alertPanel = Self.first
        picture.apps[0].state = "suspended"
        picture.apps[0].stack = []
        picture.apps[0].details = []
        return picture
    }

    /// Locked since its restart, in airplane mode and with everything else that can be on.
    static var locked: PhonePicture {
        var picture = PhonePicture()
        picture.isLocked = true
        picture.isBeforeFirstUnlock = true
        picture.airplaneMode = true
        picture.lowPowerMode = true
        picture.focus = true
        picture.list = [Self.second]
        picture.apps = [PhonePicture.App(bundle: "com.example.chat", state: "notRunning", badge: 1)]
        return picture
    }

    static func callback(_ number: Int, _ name: String, _ state: String) -> PhoneTraceLine {
        PhoneTraceLine([
            "event": "callback", "wall": .int(1_767_225_600_000 + number * 1_001), "app": "com.example.chat",
            "n": .int(number), "number": .int(number), "process": "com.example.chat#1", "role": "app",
            "name": .string(name), "state": .string(state), "arguments": ["name": "x"],
        ])
    }

    static let trace: [PhoneTraceLine] = [
        Self.callback(1, "application(_:didFinishLaunchingWithOptions:)", "inactive"),
        PhoneTraceLine(["event": "state", "wall": 1_767_225_602_500, "n": 2, "state": "foregroundActive"]),
        Self.callback(3, "sceneDidBecomeActive(_:)", "active"),
        PhoneTraceLine([
            "event": "presentation", "wall": 1_767_225_612_345, "app": "com.example.chat", "n": 4,
            "notification": "0m1", "banner": true, "list": true, "sound": true, "reason": "system",
        ]),
        PhoneTraceLine(["event": "fault", "wall": 1_767_225_613_000, "n": 5, "text": "a rule \u{1b}[31mbroken"]),
    ]

    static func machine(_ picture: PhonePicture, columns: Int, rows: Int) -> TerminalMachine {
        var machine = TerminalMachine(size: TerminalSize(columns: columns, rows: rows))
        _ = machine.handle(.looked(picture))
        for line in Self.trace { _ = machine.handle(.traced(line)) }
        return machine
    }

    static func frame(_ picture: PhonePicture, columns: Int, rows: Int) -> Frame {
        PhoneView(title: "bob  iOS 17.0").frame(of: self.machine(picture, columns: columns, rows: rows))
    }
}
