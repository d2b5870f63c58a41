import Testing
import TidingsModel

@testable import PhoneTerminal

@Suite struct `A phone that takes keys` {
    private func press(_ keys: String, on machine: inout TerminalMachine) -> [TerminalEffect] {
        keys.flatMap { machine.handle(.key(.character($0))) }
    }

    private func asked(_ keys: String, _ snapshot: PhoneSnapshot = Sample.front) -> [TerminalEffect] {
        var machine = Sample.machine(snapshot, columns: 80, rows: 24)
        return self.press(keys, on: &machine)
    }

    @Test(
        arguments: [
            ("h", ["do": "home"]), ("l", ["do": "lock"]), ("o", ["do": "launch", "app": "com.example.chat"]),
            ("k", ["do": "kill", "app": "com.example.chat"]), ("x", ["do": "force_quit", "app": "com.example.chat"]),
            ("z", ["do": "freeze", "app": "com.example.chat"]), ("t", ["do": "tap", "notification": "0m1"]),
            ("d", ["do": "dismiss", "notification": "0m1"]), ("p", ["do": "airplane", "on": true]),
            ("f", ["do": "focus", "on": true]), ("w", ["do": "low_power", "on": true]), ("m", ["do": "memory_low"]),
            ("R", ["do": "restart"]), ("y", ["do": "allow_notifications"]), ("n", ["do": "deny_notifications"]),
            ("a2", ["do": "action", "notification": "0m1", "action": "read"]),
        ] as [(String, JSONValue)]) func `asks the phone for what the key says`(keys: String, request: JSONValue)
    {
        #expect(self.asked(keys) == [.send(command(request))])
    }

    @Test(
        arguments: [
            ("v", ["do": "alert_panel", "open": true]), ("c", ["do": "alert_panel", "open": false]),
        ] as [(String, JSONValue)]) func `answers the alert panel of iOS 3–9`(key: String, request: JSONValue)
    {
        #expect(self.asked(key, Sample.panel) == [.send(command(request))])
        var machine = Sample.machine(Sample.front, columns: 80, rows: 24)
        #expect(self.press(key, on: &machine) == [])
        #expect(machine.notice == "alert panel is missing: nothing on the screen asks")
    }

    @Test func `has a key for every word that can stand alone`() {
        for word in TerminalWord.all {
            guard let key = word.key, !"qarPe?".contains(key) else { continue }
            #expect(self.asked(String(key), Self.called).count == 1, "\(word.word)")
        }
    }

    /// With an alert panel and a call: something for every key.
    private static var called: PhoneSnapshot {
        var snapshot = Sample.panel
        snapshot.calls = [PhoneSnapshot.Call(caller: "Ann", isAnswered: false)]
        return snapshot
    }

    @Test func `begins the words for views, which a name or a text follows`() {
        var machine = Sample.machine(Sample.front, columns: 80, rows: 24)
        #expect(self.press("PAlice", on: &machine) == [])
        #expect(
            machine.handle(.key(.enter))
                == [.send(command(["do": "touch", "app": "com.example.chat", "view": "Alice"]))])
        #expect(self.press("ehi into Message", on: &machine) == [])
        #expect(
            machine.handle(.key(.enter)) == [
                .send(
                    command([
                        "do": "touch", "app": "com.example.chat", "view": "Message", "action": "enter", "text": "hi",
                    ]))
            ])
        #expect(
            self.press("s", on: &machine)
                == [.send(command(["do": "touch", "app": "com.example.chat", "action": "submit"]))])
    }

    @Test func `answers and declines a call, which stands on the screen`() {
        #expect(Self.called.lines.contains("call from Ann"))
        #expect(self.asked("A", Self.called) == [.send(command(["do": "answer_call"]))])
        #expect(self.asked("D", Self.called) == [.send(command(["do": "decline_call"]))])
        var machine = Sample.machine(Sample.front, columns: 80, rows: 24)
        #expect(self.press("A", on: &machine) == [])
        #expect(machine.notice == "call is missing: nothing rings on the screen")
        let read = PhoneSnapshot(
            screen: ["calls": [["app": "com.example.chat", "caller": "Ann", "answered": true]]])
        #expect(read.lines.contains("call from Ann, answered"))
    }

    @Test func `unlocks a locked phone with the same key`() {
        #expect(self.asked("l", Sample.locked) == [.send(command(["do": "unlock"]))])
    }

    @Test func `taps the notification that was chosen`() {
        var machine = Sample.machine(Sample.front, columns: 80, rows: 24)
        _ = machine.handle(.key(.down))
        #expect(machine.handle(.key(.enter)) == [.send(command(["do": "tap", "notification": "0m2"]))])
        // It stays chosen when a newer one comes, and is the newest again when it goes.
        var more = Sample.front
        more.list.insert(PhoneSnapshot.Notice(identifier: "0m3", app: "com.example.chat", title: "new"), at: 0)
        _ = machine.handle(.refreshed(more))
        #expect(machine.selectedIndex == 2)
        more.list.removeLast()
        _ = machine.handle(.refreshed(more))
        #expect(machine.selectedIndex == 0)
    }

    @Test func `follows the newest unless another was chosen`() {
        var machine = Sample.machine(Sample.front, columns: 80, rows: 24)
        _ = machine.handle(.key(.down))
        _ = machine.handle(.key(.up))
        var more = Sample.front
        more.list.insert(PhoneSnapshot.Notice(identifier: "0m3", app: "com.example.chat"), at: 0)
        _ = machine.handle(.refreshed(more))
        #expect(machine.handle(.key(.enter)) == [.send(command(["do": "tap", "notification": "0m3"]))])
    }

    @Test func `sends a reply that was typed, and none that was left`() {
        var machine = Sample.machine(Sample.front, columns: 80, rows: 24)
        #expect(self.press("rhqx", on: &machine) == [])
        #expect(machine.handle(.key(.backspace)) == [])
        #expect(machine.handle(.key(.pasted("你好\n"))) == [])
        #expect(
            machine.handle(.key(.enter)) == [
                .send(command(["do": "action", "notification": "0m1", "action": "reply", "text": "hq你好"]))
            ])
        _ = self.press("rno", on: &machine)
        #expect(machine.handle(.key(.escape)) == [])
        #expect(machine.mode == .phone)
    }

    @Test func `takes any word after a colon`() {
        var machine = Sample.machine(Sample.front, columns: 80, rows: 24)
        _ = self.press(":cover on", on: &machine)
        #expect(machine.handle(.key(.enter)) == [.send(command(["do": "overlay", "on": true]))])
        _ = self.press(":blub", on: &machine)
        #expect(machine.handle(.key(.enter)) == [])
        #expect(machine.notice?.hasPrefix("command must be one of home, lock") == true)
        _ = self.press(":select 2", on: &machine)
        #expect(machine.handle(.key(.enter)) == [])
        #expect(machine.selectedIndex == 1)
    }

    @Test func `ends at the second q only, and at once when interrupted`() {
        #expect(self.asked("q") == [])
        #expect(self.asked("qq") == [.quit])
        #expect(self.asked("qh") == [])
        var machine = Sample.machine(Sample.front, columns: 80, rows: 24)
        #expect(machine.handle(.key(.interrupt)) == [.quit])
        #expect(machine.handle(.ended) == [.quit])
    }

    @Test func `shows what was refused until the next key`() {
        var machine = Sample.machine(Sample.front, columns: 80, rows: 24)
        _ = machine.handle(.refused("app does not run: \u{1b}[2J"))
        #expect(machine.notice == "app does not run: ␛[2J")
        _ = machine.handle(.key(.down))
        #expect(machine.notice == nil)
        _ = machine.handle(.key(.character("Q")))
        #expect(machine.notice == "Q is no key of the phone; ? shows all of them")
    }

    @Test func `says once what an app reports again and again`() {
        var machine = TerminalMachine(size: TerminalSize(columns: 80, rows: 24))
        for unread in 0..<3 {
            _ = machine.handle(
                .traced(PhoneTraceLine(["event": "screen", "screen": ["stack": ["Chat"], "unread": .int(unread)]])))
        }
        #expect(machine.trace.map(\.short) == ["[\"Chat\"]"])
        _ = machine.handle(.traced(PhoneTraceLine(["event": "screen", "screen": ["stack": ["Settings"]]])))
        #expect(machine.trace.count == 2)
    }

    @Test func `keeps what was scrolled to while the trace goes on`() {
        var machine = Sample.machine(Sample.front, columns: 80, rows: 24)
        _ = machine.handle(.key(.pageUp))
        #expect(machine.scrolled == 4)
        for _ in 0..<3_000 { _ = machine.handle(.traced(Sample.trace[0])) }
        #expect(machine.scrolled < machine.trace.count)
        #expect(machine.trace.count <= 2 * TerminalMachine.traceMax)
        _ = machine.handle(.key(.escape))
        #expect(machine.scrolled == 0)
    }
}
