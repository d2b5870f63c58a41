import TidingsModel
import VirtualPhone

@testable import PhoneTerminal

enum Sample {
    static let reply = PhoneSnapshot.Action(identifier: "reply", title: "Reply", takesText: true)
    static let read = PhoneSnapshot.Action(identifier: "read", title: "Mark as Read")

    static let first = PhoneSnapshot.Notice(
        identifier: "0m1", app: "com.example.chat", title: "Alice", body: "你好，吃了吗？👋", actions: [Self.reply, Self.read])
    static let second = PhoneSnapshot.Notice(
        identifier: "0m2", app: "com.example.chat", title: "Team", subtitle: "Carol",
        body: "\u{1b}[2J\u{1b}]0;owned\u{7} a text that is much longer than a phone is wide, so that it must be cut")

    static var front: PhoneSnapshot {
        var snapshot = PhoneSnapshot()
        snapshot.foregroundApp = "com.example.chat"
        snapshot.banners = [Self.first]
        snapshot.list = [Self.first, Self.second]
        snapshot.apps = [
            PhoneSnapshot.App(
                bundle: "com.example.chat", state: "foregroundActive", processIdentifier: 4_711, badge: 3,
                stack: ["Conversations", "Chat PR:alice"], details: ["alice: hi", "connection: connected"])
        ]
        return snapshot
    }

    /// iOS 9 on its home screen, with an alert panel and one notification in the list.
    static var panel: PhoneSnapshot {
        var snapshot = Self.front
        snapshot.foregroundApp = nil
        snapshot.banners = []
        snapshot.list = [Self.first]
        snapshot.alertPanel = Self.first
        snapshot.apps[0].state = "suspended"
        snapshot.apps[0].stack = []
        snapshot.apps[0].details = []
        return snapshot
    }

    static var locked: PhoneSnapshot {
        var snapshot = PhoneSnapshot()
        snapshot.isLocked = true
        snapshot.isBeforeFirstUnlock = true
        snapshot.airplaneMode = true
        snapshot.lowPowerMode = true
        snapshot.focus = true
        snapshot.list = [Self.second]
        snapshot.apps = [PhoneSnapshot.App(bundle: "com.example.chat", state: "notRunning", badge: 1)]
        return snapshot
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

    static func machine(_ snapshot: PhoneSnapshot, columns: Int, rows: Int) -> TerminalMachine {
        var machine = TerminalMachine(size: TerminalSize(columns: columns, rows: rows))
        _ = machine.handle(.refreshed(snapshot))
        for line in Self.trace { _ = machine.handle(.traced(line)) }
        return machine
    }

    static func frame(_ snapshot: PhoneSnapshot, columns: Int, rows: Int) -> Frame {
        PhoneView(title: "bob  iOS 17.0").frame(of: self.machine(snapshot, columns: columns, rows: rows))
    }
}

/// What a line of the control channel asks of a phone with the chat app.
func command(_ line: JSONValue) -> PhoneCommand {
    guard let command = try? PhoneCommand(json: line, apps: ["com.example.chat"]) else {
        preconditionFailure("no command: \(line.text)")
    }
    return command
}
