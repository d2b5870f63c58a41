import Foundation
import PhoneCore
import Testing
import TidingsModel

@testable import PhoneTerminal

@Suite struct `A phone whose app shows views` {
    private func snapshot(_ views: [ViewNode]) -> PhoneSnapshot {
        var snapshot = Sample.front
        snapshot.views = views
        return snapshot
    }

    @Test func `draws them in place of what the app reported, above the list`() {
        let lines = Sample.frame(self.snapshot([ScreenSample.list]), columns: 120, rows: 40).lines
        let phone = lines.map { String($0.prefix { $0 != "│" }) }
        #expect(phone[1].hasPrefix(" Chat"))
        #expect(phone[2].hasPrefix(" ▼ Alice: "))
        #expect(phone[3].hasPrefix(" [Edit] "))
        #expect(phone[5].hasPrefix(" ○ Alice "))
        #expect(phone[33].hasPrefix("           [Chats 4]"))
        #expect(phone[34].hasPrefix("─ notifications (2) ─"))
        #expect(phone[37].hasPrefix("─ apps ─"))
        #expect(!phone.contains { $0.contains("connection: connected") })
        #expect(lines[39].hasPrefix(" o open  h home  l lock  P press  e enter  s return  t tap"))
    }

    @Test func `keeps what was reported where the views say nothing, on a few rows and while it is locked`() {
        let silent = Sample.frame(self.snapshot([ViewNode(.window)]), columns: 120, rows: 40).lines
        #expect(silent.contains { $0.hasPrefix("  connection: connected") })
        let few = Sample.frame(self.snapshot([ScreenSample.list]), columns: 40, rows: 12).lines
        #expect(few.contains(" Conversations > Chat PR:alice"))
        var locked = self.snapshot([ScreenSample.list])
        locked.isLocked = true
        #expect(!Sample.frame(locked, columns: 120, rows: 40).lines.contains { $0.contains("○ Alice") })
    }

    @Test(arguments: [[ScreenSample.list], [ScreenSample.chat], [ScreenSample.hostile]])
    func `fills every size exactly`(views: [ViewNode]) {
        for (columns, rows) in [(40, 12), (41, 17), (79, 24), (80, 24), (120, 40), (250, 50)] {
            let frame = Sample.frame(self.snapshot(views), columns: columns, rows: rows)
            for pieces in frame.rows {
                let width = pieces.reduce(0) { $0 + CharacterWidth.of($1.line.text) }
                #expect(width == columns, "\(columns)×\(rows): \(pieces.map(\.line.text))")
            }
        }
    }

    @Test func `says for scripts what is shown and what is spoken`() {
        let lines = self.snapshot([
            ViewNode(
                .window,
                children: [
                    ViewNode(.text, text: "Hi\nthere", label: "Hi\nthere"),
                    ViewNode(.row, label: "Alice, hi", value: "2 unread", children: [ViewNode(.text, text: "Alice")]),
                    ViewNode(.textField, label: "Message", hint: "Write"),
                    ViewNode(.switch, label: "Sound", value: "1"), ViewNode(.image),
                ])
        ]).lines
        #expect(
            lines.suffix(6) == [
                "shown: Hi⏎there", "spoken: Alice, hi, 2 unread", "shown: Alice", "shown: Write", "spoken: Message",
                "spoken: Sound, 1",
            ])
    }
}

@Suite struct `A picture of a phone` {
    static func picture(_ window: ViewNode) -> [String] {
        var snapshot = PhoneSnapshot()
        snapshot.foregroundApp = "com.example.chat"
        snapshot.apps = [PhoneSnapshot.App(bundle: "com.example.chat", state: "foregroundActive", processIdentifier: 7)]
        snapshot.views = [window]
        return PhoneTerminal.picture(of: snapshot, columns: 54, rows: 16)
    }

    @Test func `is its face in a frame, of the size that is asked for`() {
        let picture = Self.picture(ScreenSample.list)
        #expect(picture.count == 18)
        #expect(picture.allSatisfy { CharacterWidth.of($0) == 56 })
        #expect(picture.first?.first == "┌")
        #expect(picture[1].hasPrefix("│ Chat "))
        #expect(!picture.joined().contains("pid"), "what a person sees of the phone itself")
    }

    @Test func `of what the phone answers is the same`() {
        let screen: JSONValue = [
            "lock": "unlocked", "front_app": "com.example.chat",
            "apps": ["com.example.chat": ["state": "foregroundActive", "pid": 7]],
        ]
        #expect(
            PhoneTerminal.picture(screen: screen, views: [ScreenSample.chat], columns: 54, rows: 16)
                == Self.picture(ScreenSample.chat))
    }
}

@Suite struct `The page of the virtual phone` {
    private static let page: String = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return (try? String(contentsOf: root.appending(path: "docs/testing/virtual-phone.md"), encoding: .utf8)) ?? ""
    }()

    /// The rows of the table that begins so.
    private static func table(_ head: String) -> [Substring] {
        let lines = self.page.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { !$0.hasPrefix(head) }.prefix { $0.hasPrefix("|") }.dropFirst(2).map { $0 }
    }

    @Test func `names every word of keys and scripts`() {
        let (keys, steps) = (Self.table("| key | word |"), Self.table("| step | |"))
        for word in TerminalWord.all where word.word != "help" {
            let said = keys.contains { $0.contains("`\(word.word)`") || $0.contains("`\(word.word) ") }
            #expect(said, "\(word.word) stands in no table")
            guard let key = word.key else { continue }
            #expect(keys.contains { $0.contains("`\(key)`") || $0.hasPrefix("| \(key) |") }, "the key \(key)")
        }
        for (form, _) in Script.words {
            let word = form.prefix { $0 != " " }
            #expect(
                steps.contains { $0.contains("`\(word) ") || $0.contains("`\(word)`") }, "\(word) stands in no table")
        }
    }
}
