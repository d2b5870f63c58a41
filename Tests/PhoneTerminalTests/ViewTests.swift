import Testing
import TidingsModel

@testable import PhoneTerminal

@Suite struct `A phone drawn on a terminal` {
    @Test func `shows an app in the foreground beside its trace on 80×24`() {
        expect(
            Sample.frame(Sample.front, columns: 80, rows: 24),
            """
             bob  iOS 17.0                                                           ? help
             Chat                                   │─ trace ───────────────────────────────
             ▼ Alice: 你好，吃了吗？👋              │ 01.001 inactive didFinishLaunchingWit…
            ─ screens ──────────────────────────────│ 02.500 state: foregroundActive
              Conversations                         │ 03.003 active sceneDidBecomeActive
                └ Chat PR:alice                     │ 12.345 presentation: banner+list+soun…
              alice: hi                             │ 13.000 fault: a rule ␛[31mbroken
              connection: connected                 │
            ─ notifications (2) ────────────────────│
             > 1 Alice: 你好，吃了吗？👋            │
               2 Team: Carol: ␛[2J␛]0;owned␇ a text…│
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
            ─ apps ─────────────────────────────────│
             Chat foregroundActive badge 3 pid 4711 │
             o open  h home  l lock  t tap  d dismiss  a button  r reply  k kill  x quit app
            """)
    }

    @Test func `shows more of both on 100×30`() {
        expect(
            Sample.frame(Sample.front, columns: 100, rows: 30),
            """
             bob  iOS 17.0                                                                               ? help
             Chat                                        │─ trace ──────────────────────────────────────────────
             ▼ Alice: 你好，吃了吗？👋                   │ 01.001 inactive didFinishLaunchingWithOptions:
            ─ screens ───────────────────────────────────│ 02.500 state: foregroundActive
              Conversations                              │ 03.003 active sceneDidBecomeActive
                └ Chat PR:alice                          │ 12.345 presentation: banner+list+sound (system) 0m1
              alice: hi                                  │ 13.000 fault: a rule ␛[31mbroken
              connection: connected                      │
            ─ notifications (2) ─────────────────────────│
             > 1 Alice: 你好，吃了吗？👋                 │
               2 Team: Carol: ␛[2J␛]0;owned␇ a text that…│
                                                         │
                                                         │
                                                         │
                                                         │
                                                         │
                                                         │
                                                         │
                                                         │
                                                         │
                                                         │
                                                         │
                                                         │
                                                         │
                                                         │
                                                         │
                                                         │
            ─ apps ──────────────────────────────────────│
             Chat foregroundActive badge 3 pid 4711      │
             o open  h home  l lock  t tap  d dismiss  a button  r reply  k kill  x quit app  p airplane
            """)
    }

    @Test func `shows one above the other on 40×12`() {
        expect(
            Sample.frame(Sample.front, columns: 40, rows: 12),
            """
             bob  iOS 17.0                   ? help
             Chat
             ▼ Alice: 你好，吃了吗？👋
             Conversations > Chat PR:alice
             > 1 Alice: 你好，吃了吗？👋
               2 Team: Carol: ␛[2J␛]0;owned␇ a text…

             Chat foregroundActive badge 3 pid 4711
            ─ trace ────────────────────────────────
             12.345 presentation: banner+list+sound…
             13.000 fault: a rule ␛[31mbroken
             o open  h home  l lock  t tap
            """)
    }

    @Test func `shows what is on after a restart`() {
        expect(
            Sample.frame(Sample.locked, columns: 80, rows: 24),
            """
             bob  iOS 17.0                                                           ? help
             locked since restart                   │─ trace ───────────────────────────────
             [airplane mode] [low power] [focus]    │ 01.001 inactive didFinishLaunchingWit…
            ─ notifications (1) ────────────────────│ 02.500 state: foregroundActive
             > 1 Team: Carol: ␛[2J␛]0;owned␇ a text…│ 03.003 active sceneDidBecomeActive
                                                    │ 12.345 presentation: banner+list+soun…
                                                    │ 13.000 fault: a rule ␛[31mbroken
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
            ─ apps ─────────────────────────────────│
             Chat notRunning badge 1                │
             l unlock  t tap  d dismiss  a button  r reply  k kill  x quit app  p airplane
            """)
    }

    @Test func `shows the icons with their numbers on the home screen`() {
        var snapshot = Sample.front
        snapshot.foregroundApp = nil
        snapshot.banners = []
        snapshot.list = []
        let lines = Sample.frame(snapshot, columns: 80, rows: 24).lines
        #expect(lines[1].hasPrefix(" home screen "))
        #expect(lines[2].hasPrefix("─ icons ─"))
        #expect(lines[3].hasPrefix("  Chat (3) "))
    }

    @Test func `asks the permission question until it is answered`() {
        var snapshot = Sample.front
        snapshot.permissionPrompt = "com.example.chat"
        let lines = Sample.frame(snapshot, columns: 80, rows: 24).lines
        #expect(lines[2].hasPrefix(" com.example.chat would like to send no"))
        #expect(lines[23] == " y allow  n deny  ? help  q quit")
    }

    @Test func `shows an alert panel over the home screen on 80×24, with the keys that answer it`() {
        let lines = Sample.frame(Sample.panel, columns: 80, rows: 24).lines
        #expect(lines[1].hasPrefix(" home screen "))
        #expect(lines[2].hasPrefix(" ! Alice: 你好，吃了吗？👋 "))
        #expect(lines[3].hasPrefix("   [v View] [c Close] "))
        #expect(lines[23] == " v view  c close  l lock  h home  ? help  q quit")
        var more = Sample.panel
        more.permissionPrompt = "com.example.chat"
        #expect(Sample.frame(more, columns: 80, rows: 24).lines[23] == " y allow  n deny  ? help  q quit")
    }

    @Test func `keeps an alert panel in sight on 40×12`() {
        let lines = Sample.frame(Sample.panel, columns: 40, rows: 12).lines
        #expect(lines[2].hasPrefix(" ! Alice: "))
        #expect(lines[3] == "   [v View] [c Close]")
        #expect(lines[11] == " v view  c close  l lock  h home  ? help")
    }

    @Test func `keeps the chosen notification in sight`() {
        var snapshot = Sample.front
        snapshot.list = (1...40).map { PhoneSnapshot.Notice(identifier: "id\($0)", app: "a", title: "number \($0)") }
        for (columns, rows) in [(40, 12), (80, 24), (200, 60)] {
            var machine = Sample.machine(snapshot, columns: columns, rows: rows)
            for number in 1...40 {
                let lines = PhoneView(title: "bob").frame(of: machine).lines
                #expect(
                    lines.contains { $0.hasPrefix(" > \(number) number \(number)") }, "\(columns)×\(rows), \(number)")
                _ = machine.handle(.key(.down))
            }
        }
    }

    @Test(arguments: [Sample.front, Sample.panel, Sample.locked, PhoneSnapshot()])
    func `fills every size exactly`(snapshot: PhoneSnapshot) {
        for columns in [40, 41, 57, 79, 80, 81, 100, 132, 250] {
            for rows in [12, 13, 17, 24, 50] {
                let frame = Sample.frame(snapshot, columns: columns, rows: rows)
                #expect(frame.rows.count == rows)
                for pieces in frame.rows {
                    let width = pieces.reduce(0) { $0 + CharacterWidth.of($1.line.text) }
                    #expect(width == columns, "\(columns)×\(rows): \(pieces.map(\.line.text))")
                }
            }
        }
    }

    @Test(arguments: [(39, 24), (80, 11), (1, 1), (10, 3)])
    func `says what it needs when the terminal is too small`(columns: Int, rows: Int) {
        let frame = Sample.frame(Sample.front, columns: columns, rows: rows)
        #expect(frame.lines.joined(separator: " ").hasPrefix("t"))
        #expect(!frame.lines.contains { $0.contains("Chat") })
        #expect(
            TerminalSize(columns: columns, rows: rows).refusal
                == "the terminal has \(columns)×\(rows) characters; the phone needs 40×12 or more")
    }

    @Test func `shows every word of help on one of its pages`() {
        for (columns, rows) in [(40, 12), (80, 24), (120, 40)] {
            var machine = Sample.machine(Sample.front, columns: columns, rows: rows)
            var seen = ""
            for _ in 0..<12 {
                _ = machine.handle(.key(.character("?")))
                seen += PhoneView(title: "bob").frame(of: machine).lines.joined(separator: "\n")
            }
            for word in TerminalWord.all {
                #expect(seen.contains(" \(word.word) "), "\(word.word) on \(columns)×\(rows)")
            }
            _ = machine.handle(.key(.escape))
            #expect(machine.mode == .phone)
        }
    }

    @Test func `shows what is typed with the cursor at its end`() {
        var machine = Sample.machine(Sample.front, columns: 80, rows: 24)
        for key in "r你好" { _ = machine.handle(.key(.character(key))) }
        let frame = PhoneView(title: "bob").frame(of: machine)
        #expect(frame.lines[23] == "Reply: 你好")
        #expect(frame.cursor?.column == 11)
        #expect(frame.cursor?.row == 23)
    }

    private func expect(_ frame: Frame, _ golden: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let lines = golden.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(frame.lines == lines, sourceLocation: sourceLocation)
    }
}

@Suite struct `A drawing` {
    private let rows = { (text: String) in text.split(separator: "\u{1b}[").filter { $0.contains("H") }.count }

    @Test func `sends what changed and nothing else`() {
        var drawing = Drawing(hasColours: true)
        let before = Sample.frame(Sample.front, columns: 80, rows: 24)
        let whole = drawing.update(to: before)
        #expect(whole.contains("\u{1b}[2J"))
        #expect(self.rows(whole) >= 24)
        #expect(drawing.update(to: before) == "")
        var snapshot = Sample.front
        snapshot.apps[0].badge = 4
        let change = drawing.update(to: Sample.frame(snapshot, columns: 80, rows: 24))
        #expect(!change.contains("\u{1b}[2J"))
        #expect(change.contains("badge 4"))
        #expect(self.rows(change) == 3, "the phone, the line between, and the trace: one row")
        drawing.forget()
        #expect(drawing.update(to: before).contains("\u{1b}[2J"))
    }

    @Test func `draws everything again on another size`() {
        var drawing = Drawing(hasColours: true)
        _ = drawing.update(to: Sample.frame(Sample.front, columns: 80, rows: 24))
        #expect(drawing.update(to: Sample.frame(Sample.front, columns: 100, rows: 30)).contains("\u{1b}[2J"))
    }

    @Test func `has no colours where none are wanted`() {
        var plain = Drawing(hasColours: false)
        var coloured = Drawing(hasColours: true)
        let frame = Sample.frame(Sample.front, columns: 80, rows: 24)
        let rendition = /\u{1b}\[[0-9;]*m/
        #expect(plain.update(to: frame).firstMatch(of: rendition) == nil)
        #expect(coloured.update(to: frame).firstMatch(of: rendition) != nil)
        #expect((Drawing.enter + Drawing.leave).firstMatch(of: rendition) == nil)
    }

    @Test func `lets no message send a sequence of its own`() {
        var drawing = Drawing(hasColours: false)
        var snapshot = Sample.front
        snapshot.banners[0].body = "\u{1b}[31mred\u{9b}5n"
        snapshot.apps[0].stack = ["\u{1b}[?1049l"]
        snapshot.apps[0].details = ["\u{1b}c"]
        snapshot.apps[0].bundle = "com.\u{1b}[2K"
        snapshot.foregroundApp = snapshot.apps[0].bundle
        let text = drawing.update(to: Sample.frame(snapshot, columns: 120, rows: 30))
        for part in text.split(separator: "\u{1b}").dropFirst(text.hasPrefix("\u{1b}") ? 0 : 1) {
            #expect(part.hasPrefix("[") && "HJhl".contains(part.drop { "[?;0123456789".contains($0) }.first ?? " "))
        }
        #expect(!text.contains("1049") || text.contains("␛[?1049l"))
        #expect(!text.contains("\u{9b}"))
    }
}

@Suite struct `What a phone answers` {
    @Test func `becomes a snapshot`() {
        let snapshot = PhoneSnapshot(screen: [
            "lock": "unlocked", "airplane": true, "front_app": "com.example.chat", "low_power": true, "focus": true,
            "banners": [],
            "list": [
                [
                    "app": "com.example.chat", "notification": "0m1", "title": "Alice", "subtitle": "",
                    "body": "secret",
                    "shown": ["title": "Chat", "subtitle": "", "body": "Notification"],
                    "actions": [["action": "reply", "title": "Reply", "text": true]],
                ]
            ],
            "badges": ["com.example.chat": 3], "permission_prompt": .null, "alert_panel": .null, "new_member": 1,
            "apps": [
                "com.example.chat": [
                    "state": "foregroundActive", "pid": 7,
                    "screen": ["stack": ["Conversations", "Chat"], "messages": ["alice: hi"], "unread": 3],
                ]
            ],
        ])
        var expected = PhoneSnapshot()
        expected.airplaneMode = true
        expected.lowPowerMode = true
        expected.focus = true
        expected.foregroundApp = "com.example.chat"
        expected.list = [
            PhoneSnapshot.Notice(
                identifier: "0m1", app: "com.example.chat", title: "Chat", body: "Notification",
                actions: [PhoneSnapshot.Action(identifier: "reply", title: "Reply", takesText: true)])
        ]
        expected.apps = [
            PhoneSnapshot.App(
                bundle: "com.example.chat", state: "foregroundActive", processIdentifier: 7, badge: 3,
                stack: ["Conversations", "Chat"], details: ["alice: hi", "unread: 3"])
        ]
        #expect(snapshot == expected)
        #expect(
            snapshot.lines == [
                "in the foreground: com.example.chat", "airplane mode", "low power", "focus",
                "notification 1: Chat: Notification", "app: com.example.chat foregroundActive badge 3",
                "screens: Conversations > Chat", "alice: hi", "unread: 3",
            ])
    }

    @Test(arguments: [("locked", false), ("beforeFirstUnlock", true)])
    func `tells a locked phone from one before its first unlock`(word: String, isBeforeFirstUnlock: Bool) {
        let snapshot = PhoneSnapshot(screen: ["lock": .string(word), "front_app": .null])
        #expect(snapshot.isLocked)
        #expect(snapshot.isBeforeFirstUnlock == isBeforeFirstUnlock)
        #expect(snapshot.front == nil)
    }
}

@Suite struct `An event of a phone as a line` {
    @Test func `has its time, its kind and what is known, without empty members`() {
        let line = PhoneTraceLine([
            "event": "presentation", "wall": 1_767_225_612_345, "app": "com.example.chat", "n": 4,
            "notification": "01qdq6qdr0000", "banner": true, "badge": .null,
        ])
        #expect(line.text == "00:00:12.345  presentation     notification=01qdq6qdr0000 banner=true")
        #expect(line.short == "banner (?) 01qdq6qdr0000")
    }

    @Test func `is short for a callback: state, name and launch options`() {
        let line = PhoneTraceLine([
            "event": "callback", "wall": 0, "role": "app", "state": "inactive", "number": 2,
            "name": "application(_:didFinishLaunchingWithOptions:)",
            "arguments": [
                "name": "didFinishLaunching", "remote_notification": ["aps": [:]], "local_notification": .null,
            ],
        ])
        #expect(line.short == "inactive didFinishLaunchingWithOptions: [remote_notification]")
        let center = PhoneTraceLine([
            "event": "callback", "role": "app", "state": "active",
            "name": "userNotificationCenter(_:didReceive:withCompletionHandler:)",
        ])
        #expect(center.short == "active center didReceive:withCompletionHandler:")
    }

    @Test func `lets no text of an app break the line`() {
        let line = PhoneTraceLine(["event": "log", "wall": 0, "text": "a\u{1b}[2Jb\nc"])
        #expect(!line.text.contains("\u{1b}"))
        #expect(!line.text.contains("\n"))
        #expect(line.short == "a␛[2Jb⏎c")
    }
}
