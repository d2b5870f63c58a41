import PhoneCore

/// Screens as the facade of UIKit tells them.
enum ScreenSample {
    static func text(_ text: String) -> ViewNode { ViewNode(.text, text: text) }
    static func button(_ text: String, identifier: String? = nil) -> ViewNode {
        ViewNode(.button, text: text, label: text, identifier: identifier, actions: [.tap])
    }

    private static func conversation(
        _ name: String, _ time: String, _ summary: String, _ unread: String? = nil, muted: Bool = false
    ) -> ViewNode {
        ViewNode(
            .row, label: "\(name), \(summary)", actions: [.tap, .longPress],
            children: [ViewNode(.image), Self.text(name), Self.text(time), Self.text(summary)]
                + (muted ? [ViewNode(.image, label: "Muted")] : []) + (unread.map { [Self.text($0)] } ?? []))
    }

    static let tabs = ViewNode(
        .tabBar,
        children: [
            ViewNode(.button, text: "Chats", label: "Chats", value: "4", isSelected: true, actions: [.tap]),
            ViewNode(.button, text: "Settings", label: "Settings", actions: [.tap]),
        ])

    static let list = ViewNode(
        .window,
        children: [
            ViewNode(
                .table, actions: [.scroll(.down)],
                children: [
                    Self.conversation("Alice", "09:41", "See you at eight", "2"),
                    Self.conversation("周末爬山群", "昨天", "小红: 明天早上七点半在南门集合，记得带够水和雨衣", "12"),
                    Self.conversation("Team", "Mon", "[Draft] I think that we", muted: true),
                ]),
            ViewNode(
                .navigationBar,
                children: [Self.button("Edit"), Self.text("Chats"), Self.button("New Message")]),
            Self.tabs,
        ])

    /// Names and messages that would drive a terminal.
    static let hostile = ViewNode(
        .window,
        children: [
            ViewNode(.table, children: [Self.conversation("\u{1b}[2JMallory", "Mon", "\u{7}ring\n\u{202e}", "99+")]),
            ViewNode(
                .navigationBar, children: [Self.button("\u{1b}c", identifier: "back"), Self.text("\u{9b}5n")]),
            ViewNode(.textField, text: "\u{1b}]0;owned\u{7}", label: "\u{1b}"), Self.button("\u{0}"),
            ViewNode(.tabBar, children: [Self.button("\u{1b}[31m")]),
        ])

    private static func message(_ side: String, _ texts: [String], things: [ViewNode] = []) -> ViewNode {
        ViewNode(
            .row, label: texts.joined(separator: ", "), identifier: "\(side).m1", actions: [.longPress],
            children: texts.map(Self.text) + things)
    }

    static let bar = ViewNode(
        .navigationBar, children: [Self.button("Chats", identifier: "back"), Self.text("Alice"), Self.button("Info")])

    /// As an app does that labels its own empty text view.
    static let input = [
        Self.text("Message"),
        Self.button("+"),
        ViewNode(.textField, label: "Message", hint: "Message", actions: [.enter(""), .submit]), Self.button("Send"),
    ]

    static let chat = ViewNode(
        .window,
        children: [
            ViewNode(
                .table,
                children: [
                    ViewNode(.row, identifier: "day.1", children: [Self.text("Today")]),
                    Self.message("incoming", ["Do you come tonight? 我们在老地方见。", "09:40"]),
                    Self.message("outgoing", ["Yes", "09:41", "Read"]),
                    Self.message(
                        "outgoing",
                        ["And I bring the book that you lent me in spring, if I find it in time", "09:41", "Sent"]),
                    ViewNode(.row, identifier: "notice.m2", children: [Self.text("Alice recalled a message")]),
                    Self.message("incoming", ["And I bring the book…", "Great!", "09:42"]),
                    Self.message("outgoing", ["🎉🎉", "09:42", "Not sent"], things: [Self.button("Try Again")]),
                ])
        ] + Self.input + [Self.bar])

    static func over(_ window: ViewNode, _ box: ViewNode) -> [ViewNode] {
        var window = window
        window.children.append(box)
        return [window]
    }

    static let alert = ViewNode(
        .alert, text: "Delete the conversation?",
        children: [
            Self.text("Delete the conversation?"),
            Self.text("Its messages are removed from this phone; others keep theirs."), Self.button("Cancel"),
            Self.button("Delete"),
        ])

    static let menu = ViewNode(
        .menu, children: [Self.button("Reply"), Self.button("Copy"), Self.button("Recall")])

    static let signIn = ViewNode(
        .window,
        children: [
            Self.text("Welcome"),
            ViewNode(.textField, text: "https://chat.example.com", label: "Server", actions: [.enter("")]),
            ViewNode(.textField, label: "Name", hint: "Your name", actions: [.enter("")]),
            ViewNode(.textField, text: "••••", label: "Password", actions: [.enter("")]), Self.button("Sign In"),
        ])

    static let settings = ViewNode(
        .window,
        children: [
            ViewNode(
                .table,
                children: [
                    ViewNode(.header, text: "Notifications"),
                    ViewNode(
                        .row, label: "Sound",
                        children: [Self.text("Sound"), ViewNode(.switch, label: "Sound", value: "1", actions: [.tap])]),
                    ViewNode(
                        .row, label: "Hide content",
                        children: [Self.text("Hide content"), ViewNode(.switch, value: "0", actions: [.tap])]),
                    ViewNode(.row, label: "Quiet hours", children: [Self.text("Quiet hours"), Self.text("22:00")]),
                    ViewNode(.row, label: "Groups", children: [Self.text("Groups"), Self.text("Only mentions")]),
                    ViewNode(.row, text: "Mentions only", isSelected: true, actions: [.tap]),
                ]),
            ViewNode(.navigationBar, children: [Self.button("Back", identifier: "back"), Self.text("Settings")]),
        ])
}
