import Foundation
import PhoneCore
import Testing

@testable import PhoneTerminal

@Suite struct `An app's screen drawn from its views` {
    private func lines(_ windows: [ViewNode], columns: Int = 54, rows: Int) -> [String] {
        ScreenDrawing.lines(of: windows, columns: columns, rows: rows).map { spans in
            var text = Line(spans, columns: columns).text
            while text.last == " " { text.removeLast() }
            return text
        }
    }

    private func expect(
        _ windows: [ViewNode], columns: Int = 54, _ golden: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let wanted = golden.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(self.lines(windows, columns: columns, rows: wanted.count) == wanted, sourceLocation: sourceLocation)
    }

    @Test func `is a list of conversations between its bars`() {
        self.expect(
            [ScreenSample.list],
            """
             [Edit]                 Chats           [New Message]
            ──────────────────────────────────────────────────────
             ○ Alice                                        09:41
               See you at eight                                 2
             ○ 周末爬山群                                    昨天
               小红: 明天早上七点半在南门集合，记得带够水和雨… 12
             ○ Team                                           Mon
               [Draft] I think that we                      Muted






            ──────────────────────────────────────────────────────
                       [Chats 4]            Settings
            """)
    }

    @Test func `is a chat with own messages at the right and the input line below`() {
        self.expect(
            [ScreenSample.chat],
            """
             ‹ Chats                Alice                  [Info]
            ──────────────────────────────────────────────────────
                                    Today
             ▌ Do you come tonight? 我们在老地方见。  09:40
                                                09:41 Read  Yes ▐
                          And I bring the book that you lent me ▐
                          in spring, if I find it in time       ▐
                                                     09:41 Sent ▐
                           Alice recalled a message
             ▌ And I bring the book…
             ▌ Great!  09:42
                               09:42 Not sent [Try Again]  🎉🎉 ▐



             [+] ⟨Message_______________________________⟩ [Send]
            """)
    }

    @Test func `shows the end of a chat and the beginning of a list where there is no room for all, in whole rows`() {
        let chat = self.lines([ScreenSample.chat], rows: 10)
        #expect(chat[2] == " ⋮")
        #expect(chat[9].contains("[Send]"))
        #expect(chat[8].contains("Not sent"))
        let list = self.lines([ScreenSample.list], rows: 9)
        #expect(list[2].contains("Alice"))
        #expect(list[5].hasSuffix(" 12"))
        #expect(list[6] == " ⋮")
        #expect(list[8].contains("[Chats 4]"))
        let less = self.lines([ScreenSample.list], rows: 8)
        #expect(less[4...5] == [" ⋮", ""], "half a row is not shown")
    }

    @Test func `has an alert or a menu over it`() {
        self.expect(
            ScreenSample.over(ScreenSample.chat, ScreenSample.alert),
            """
             ‹ Chats                Alice                  [Info]
            ──────────────────────────────────────────────────────
                                    Today
             ▌ Do you come tonight? 我们在老地方见。  09:40
                                                09:41 Read  Yes ▐
                 ┌──────────────────────────────────────────┐
                 │ Delete the conversation?                 │
                 │ Its messages are removed from this       │
                 │ phone; others keep theirs.               │
                 │            [Cancel] [Delete]             │
                 └──────────────────────────────────────────┘
                               09:42 Not sent [Try Again]  🎉🎉 ▐



             [+] ⟨Message_______________________________⟩ [Send]
            """)
        self.expect(
            ScreenSample.over(ScreenSample.list, ScreenSample.menu),
            """
             [Edit]                 Chats           [New Message]
            ──────────────────────────────────────────────────────
             ○ Alice                                        09:41
               See you at eight                                 2
             ○ 周末爬山群                                    昨天
                 ┌──────────────────────────────────────────┐
                 │ [Reply]                                  │
                 │ [Copy]                                   │
                 │ [Recall]                                 │
                 └──────────────────────────────────────────┘




            ──────────────────────────────────────────────────────
                       [Chats 4]            Settings
            """)
    }

    @Test func `has symbols by their names, and photos of messages as frames`() {
        func row(_ identifier: String, _ children: [ViewNode]) -> ViewNode {
            ViewNode(.row, identifier: identifier, children: children)
        }
        let (photo, portrait) = (ViewNode(.image), ViewNode(.image))
        let time = ScreenSample.text("09:41")
        let chat = ViewNode(
            .window,
            children: [
                ViewNode(
                    .table,
                    children: [
                        row("incoming.1", [photo, time]),
                        row("incoming.2", [portrait, photo, time]),
                        row("incoming.3", [ScreenSample.text("Bob"), ViewNode(.image, label: "Boat"), time]),
                        row("incoming.4", [portrait, ScreenSample.text("09:40"), time]),
                        row("outgoing.5", [photo, time, ScreenSample.text("Sent")]),
                        row(
                            "outgoing.6",
                            [
                                ViewNode(.text, text: "Bob: Which one of them do you like?", identifier: "quote"),
                                ScreenSample.text("This one"), time, ScreenSample.text("Sent"),
                            ]),
                    ])
            ])
        self.expect(
            [chat], columns: 40,
            """
             ▌ ┌─────────┐
             ▌ │  Image  │
             ▌ └─────────┘  09:41
             ▌ ┌─────────┐
             ▌ │  Image  │
             ▌ └─────────┘  09:41
             ▌ Bob
             ▌ ┌────────┐
             ▌ │  Boat  │
             ▌ └────────┘  09:41
             ▌ 09:40  09:41
                                      ┌─────────┐ ▐
                                      │  Image  │ ▐
                                      └─────────┘ ▐
                                       09:41 Sent ▐
                      │ Bob: Which one of them do ▐
                      │ you like?                 ▐
                      This one                    ▐
                                       09:41 Sent ▐
            """)
        let list = ViewNode(
            .table,
            children: [
                row(
                    "team",
                    [
                        ViewNode(.image, identifier: "person.2.circle"), ScreenSample.text("Team"), time,
                        ScreenSample.text("All here and nobody there"), ViewNode(.image, identifier: "bell.slash"),
                        ScreenSample.text("12"),
                    ])
            ])
        self.expect(
            [ViewNode(.window, children: [list])], columns: 40,
            """
             ○ Team                           09:41
               All here and nobody t… bell.slash 12
            """)
    }

    @Test func `has fields, each in its line, and switches at the right`() {
        self.expect(
            [ScreenSample.signIn], columns: 40,
            """
             Welcome
             ⟨https://chat.example.com___________⟩
             ⟨Your name__________________________⟩
             ⟨••••_______________________________⟩
             [Sign In]

            """)
        self.expect(
            [ScreenSample.settings], columns: 40,
            """
             ‹ Back         Settings
            ────────────────────────────────────────
             Notifications
             Sound                             [on]
             Hide content                     [off]
             Quiet hours                      22:00
             Groups                   Only mentions
            ✓Mentions only


            """)
    }

    @Test func `is covered above by a window in front`() {
        let banner = ViewNode(
            .window,
            children: [
                ViewNode(
                    .button, label: "Bob, hi",
                    children: [ViewNode(.image), ScreenSample.text("Bob"), ScreenSample.text("hi")])
            ])
        let lines = self.lines([ScreenSample.list, banner], rows: 16)
        #expect(lines[0] == " ▼ Bob")
        #expect(lines[1] == " ▼ hi")
        #expect(lines[2].contains("Alice"))
    }

    @Test func `shows the end of what is being typed`() {
        let field = ViewNode(.textField, text: "a long text of which only the last words are seen", label: "Message")
        self.expect(
            [ViewNode(.window, children: [field, ScreenSample.button("Send")])], columns: 40,
            " ⟨only the last words are seen⟩ [Send]")
    }

    @Test(arguments: [
        [ScreenSample.list], [ScreenSample.chat], [ScreenSample.signIn], [ScreenSample.settings],
        [ScreenSample.hostile],
        [ScreenSample.signIn, ScreenSample.hostile],
        ScreenSample.over(ScreenSample.chat, ScreenSample.alert),
        ScreenSample.over(ScreenSample.list, ScreenSample.menu),
        [], [ViewNode(.window)],
    ])
    func `fills every size exactly and sends no control character`(windows: [ViewNode]) {
        for columns in [40, 41, 54, 56, 79, 250] {
            for rows in [0, 1, 2, 5, 9, 10, 24, 60] {
                let lines = ScreenDrawing.lines(of: windows, columns: columns, rows: rows)
                #expect(lines.count == rows)
                for spans in lines {
                    #expect(spans.width == columns, "\(columns)×\(rows): \(spans.map(\.text).joined())")
                    let text = spans.map(\.text).joined()
                    #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) })
                    #expect(!text.contains("\u{202e}"))
                }
            }
        }
    }

    @Test func `is nothing where the app's views say nothing`() {
        #expect(!ScreenDrawing.hasContent([ViewNode(.window, children: [ViewNode(.button)])]))
        #expect(!ScreenDrawing.hasContent([]))
        #expect(ScreenDrawing.hasContent([ScreenSample.list]))
    }
}
