import ClientCore
import Foundation
import Testing
import TidingsClient
import TidingsKit
import TidingsModel

@testable import TidingsUI

private let bob = ConversationID(type: .direct, target: "bob")
private let team = ConversationID(type: .group, target: "team")
/// 15 January 2027, 12:00 in UTC.
private let noon: Int64 = 1_800_014_400_000
private let hour: Int64 = 3_600_000

private func stored(
    _ number: UInt64, _ text: String, from sender: UserID = "bob", at time: Int64 = noon, in place: ConversationID = bob
) -> StoredMessage {
    let message = Message(
        id: MessageID(rawValue: number), app: "demo", sender: sender, conversation: place,
        clientMessageID: ClientMessageID("c\(number)"), objectName: .text, content: MessageContent.text(text).json,
        flags: .normal, pushText: nil, sentAt: time)
    return StoredMessage(message: message, conversation: place, position: number, isUnread: false)
}

@MainActor private func rows(
    _ messages: [StoredMessage], in place: ConversationID = bob, words: InterfaceWords = .english,
    _ change: (inout ChatRows) -> Void = { _ in }
) -> [ChatRow] {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .current
    var rows = ChatRows(
        conversation: place, person: "alice", messages: messages, words: words.chat,
        kinds: words == .english ? .english : .simplifiedChinese, times: ChatTimes(words: words, calendar: calendar),
        now: noon, name: { $0.rawValue.capitalized })
    change(&rows)
    return rows.rows()
}

extension ChatRow {
    fileprivate var words: String {
        switch self {
        case .day(_, let text): "— \(text)"
        case .unread(let text): "- \(text)"
        case .notice(let notice): "(\(notice.text))" + (notice.recalledText.map { " \($0)" } ?? "")
        case .message(let row):
            [
                row.showsSender ? "\(row.senderName):" : nil, row.quote.map { "[\($0.name): \($0.text)]" }, row.text,
                row.state.map { "(\($0.text(in: .english)))" }, row.isEdited ? "*" : nil,
            ].compactMap(\.self).joined(separator: " ")
        }
    }
}

@MainActor @Suite struct `Rows of a conversation` {
    @Test func `begin each day with its name`() {
        let shown = rows([
            stored(1, "old", at: noon - 400 * 24 * hour), stored(2, "then", at: noon - 3 * 24 * hour),
            stored(3, "last evening", at: noon - 13 * hour), stored(4, "now"),
        ])
        #expect(shown.count == 8)
        #expect(shown.map(\.words)[4...] == ["— Yesterday", "Bob: last evening", "— Today", "Bob: now"])
        let dates = shown.map(\.words)
        #expect(dates[0].contains("2025") && dates[2].contains("12") && !dates[2].contains("2027"))
        let chinese = rows([stored(3, "昨晚", at: noon - 13 * hour)], words: .simplifiedChinese)
        #expect(chinese.first?.words == "— 昨天")
    }

    @Test func `say who writes at the first of several messages of one person`() {
        let shown = rows(
            [
                stored(1, "a", in: team), stored(2, "b", in: team), stored(3, "c", from: "carol", in: team),
                stored(4, "mine", from: "alice", in: team), stored(5, "d", from: "carol", in: team),
            ], in: team)
        #expect(shown.map(\.words) == ["— Today", "Bob: a", "b", "Carol: c", "mine (Sent)", "Carol: d"])
    }

    @Test func `mark own messages as delivered and read, as far as is known`() {
        let own = [stored(1, "a", from: "alice"), stored(2, "b", from: "alice"), stored(3, "c", from: "alice")]
        let shown = rows(own) { rows in
            rows.marks.record(.read, upTo: MessageID(rawValue: 1))
            rows.marks.record(.delivered, upTo: MessageID(rawValue: 2))
        }
        #expect(shown.map(\.words) == ["— Today", "a (Read)", "b (Delivered)", "c (Sent)"])
        let hidden = rows(own) { rows in
            rows.marks.record(.read, upTo: MessageID(rawValue: 3))
            rows.showsMarks = false
        }
        #expect(hidden.last?.words == "c (Sent)")
        let inGroup = rows([stored(1, "a", from: "alice", in: team)], in: team) { rows in
            rows.marks.receipts[MessageID(rawValue: 1)] = MessageReceipts(
                id: MessageID(rawValue: 1), recipients: 3, delivered: ["bob", "carol"], read: ["bob", "carol"])
        }
        #expect(inGroup.last?.words == "a (Read by 2 of 3)")
    }

    @Test func `end with what is not on the server, until it is`() {
        func item(_ id: String, _ change: (inout OutgoingMessage) -> Void = { _ in }) -> OutgoingMessage {
            var item = OutgoingMessage(
                id: ClientMessageID(id), conversation: bob, objectName: .text, content: MessageContent.text(id).json,
                writtenAt: noon)
            change(&item)
            return item
        }
        let items = [
            item("c1"), item("on its way"), item("refused") { $0.failure = .blocked },
            item("odd") { $0.failure = .failed },
            item("photo") {
                $0.content = ""
                $0.file = URL(fileURLWithPath: "/photo")
                $0.objectName = .image
                $0.percent = 40
            },
        ]
        let shown = rows([stored(1, "c1", from: "alice")]) { $0.outgoing = items }
        #expect(
            shown.map(\.words) == [
                "— Today", "c1 (Sent)", "on its way (Sending)",
                "refused (Not sent: The other person does not accept your messages)", "odd (Not sent)",
                "[Image] (40% sent)",
            ])
        let offline = rows([]) { rows in
            rows.outgoing = [items[1]]
            rows.isConnected = false
        }
        #expect(offline.last?.words == "on its way (Waiting for a connection)")
        #expect(shown.map(\.id).count == Set(shown.map(\.id)).count)
    }

    @Test func `have a line in the place of a recalled message, by whoever recalled it`() {
        var gone = stored(1, "", in: bob)
        gone.isRecalled = true
        var own = stored(2, "", from: "alice")
        own.isRecalled = true
        let direct = rows([gone, own]) { $0.recalledTexts[own.id] = "my words" }
        #expect(direct.map(\.words) == ["— Today", "(Bob recalled a message)", "(You recalled a message) my words"])
        var inGroup = stored(3, "", in: team)
        inGroup.isRecalled = true
        #expect(rows([inGroup], in: team).last?.words == "(A message was recalled)")
        let byAdmin = rows([inGroup], in: team) { $0.recallers[inGroup.id] = "carol" }
        #expect(byAdmin.last?.words == "(Carol recalled a message)")
        #expect(rows([gone], words: .simplifiedChinese).last?.words == "(Bob 撤回了一条消息)")
    }

    @Test func `quote what is answered, but nothing that was recalled`() {
        let first = stored(1, "At one?")
        var answer = stored(2, "", from: "alice")
        let content = MessageContent.reply("Yes", to: MessageQuote(of: first.message))
        answer.message.objectName = content.objectName
        answer.message.content = content.json
        #expect(rows([first, answer]).last?.words == "[Bob: At one?] Yes (Sent)")
        var recalled = first
        recalled.isRecalled = true
        #expect(rows([recalled, answer]).last?.words == "[Bob: This message was recalled] Yes (Sent)")
    }

    @Test func `have a line above the first unread message, edits marked, commands left out and types named`() {
        var edited = stored(2, "b")
        edited.isEdited = true
        var command = stored(3, "")
        command.message.objectName = .command
        var place = stored(4, "")
        place.message.objectName = .location
        place.message.content = MessageContent.location(.init(latitude: 1, longitude: 2)).json
        var said = stored(5, "")
        said.message.objectName = .information
        said.message.content = #"{"message":"Carol has joined"}"#
        let shown = rows([stored(1, "a"), edited, command, place, said]) { $0.firstUnread = MessageID(rawValue: 2) }
        #expect(
            shown.map(\.words) == [
                "— Today", "Bob: a", "- New messages", "Bob: b *", "[Location]", "(Carol has joined)",
            ])
    }

    @Test func `are spoken with name, answer, words and time`() throws {
        let first = stored(1, "At one?")
        guard case .message(let row) = try #require(rows([first]).last) else {
            Issue.record("no message is shown")
            return
        }
        #expect(row.spoken(in: .english) == "Bob, At one?, \(row.time)")
        #expect(row.footer(in: .english).isEmpty)
        var own = row
        own.isOwn = true
        own.state = .read
        own.isEdited = true
        #expect(own.spoken(in: .simplifiedChinese) == "你, At one?, \(row.time)")
        #expect(own.footer(in: .simplifiedChinese) == "已编辑 · 已读")
    }
}

@Suite struct `Messages that are loaded` {
    @Test func `stand by their ids, each once, and stay deleted`() {
        var log = ChatLog()
        log.merge([stored(2, "b"), stored(5, "e"), stored(3, "c")])
        log.merge([stored(3, "c again"), stored(1, "a")])
        #expect(log.messages.compactMap(\.text) == ["a", "b", "c again", "e"])
        log.remove([MessageID(rawValue: 2)])
        log.merge([stored(2, "b")])
        log.merge(fromServer: [stored(1, "other", at: 0).message, stored(4, "d").message], seenBy: "alice")
        #expect(log.messages.compactMap(\.text) == ["a", "c again", "d", "e"])
        #expect(log[MessageID(rawValue: 4)]?.text == "d")
        #expect(log[MessageID(rawValue: 2)] == nil)
        #expect(log.oldestPosition == 1)
        log.hasEarlierOnServer = false
        log.trim(to: 2)
        #expect(log.messages.compactMap(\.text) == ["d", "e"])
        #expect(log.hasEarlierOnServer)
        log.trim(to: 2)
        #expect(log.messages.count == 2)
    }
}

@Suite struct `Mentions that are typed` {
    private let all = [
        MentionCompletion.Candidate(user: nil, name: "Everyone"), .init(user: "bob", name: "Bob Brown"),
        .init(user: "u17", name: "李雷"),
    ]

    @Test(arguments: [
        ("@", 1, ""), ("Hi @bo", 6, "bo"), ("你好@李", 4, "李"), ("Hi @bo", 5, "b"), ("@Bob Br", 7, "Bob Br"),
        ("👍 @b", 5, "b"),
    ])
    func `are the name before the caret`(text: String, caret: Int, name: String) {
        #expect(MentionCompletion.query(in: text, caret: caret)?.name == name)
    }

    @Test(arguments: [("", 0), ("Hi", 2), ("bob@example", 11), ("@bob\nwell", 9), ("@a", 0), ("@a  b", 5), ("a", 9)])
    func `are none in addresses, and where no name is typed`(text: String, caret: Int) {
        #expect(MentionCompletion.query(in: text, caret: caret) == nil)
    }

    @Test func `offer whose name, word or id begins so`() {
        func names(_ typed: String) -> [String] {
            MentionCompletion.candidates(for: typed, among: self.all).map(\.name)
        }
        #expect(names("") == ["Everyone", "Bob Brown", "李雷"])
        #expect(names("br") == ["Bob Brown"])
        #expect(names("李") == ["李雷"])
        #expect(names("U1") == ["李雷"])
        #expect(names("x").isEmpty)
    }

    @Test func `put the name in, and mention who is still named`() throws {
        let typed = try #require(MentionCompletion.query(in: "Hi @bo!", caret: 6))
        let (text, caret) = MentionCompletion.completed("Hi @bo!", typed.range, with: self.all[1])
        #expect(text == "Hi @Bob Brown !")
        #expect(caret == 14)
        #expect(MentionCompletion.mentions(in: text, chosen: [self.all[1], self.all[2]]) == .users(["bob"]))
        #expect(MentionCompletion.mentions(in: "@Everyone hi", chosen: self.all) == .everyone)
        #expect(MentionCompletion.mentions(in: "@Bob Brow", chosen: self.all) == Mentions.none)
    }

    @Test(arguments: [
        ("@Bobby hi", ["Bobby"]), ("@Bob, hi", ["Bob"]), ("@Bob Brown", ["Bob Brown"]), ("Hi @李雷你好", ["李雷"]),
        ("me@Bob", []), ("@Bobs", []), ("@Bob", ["Bob"]), ("@Bobby and @Bob", ["Bobby", "Bob"]),
    ])
    func `are names that stand there whole`(text: String, names: [String]) {
        let all = self.all + [.init(user: "b2", name: "Bob"), .init(user: "b3", name: "Bobby")]
        #expect(MentionCompletion.named(in: text, among: all).map(\.name) == names)
    }
}

@Suite struct `What can be done with a message` {
    private func actions(
        _ change: (inout MessageRow) -> Void = { _ in }, _ facts: (inout MessageAction.Facts) -> Void = { _ in }
    ) -> [MessageAction] {
        let message = stored(1, "a", from: "alice").message
        var row = MessageRow(
            id: .message(message.id), message: message, objectName: .text, content: .text("a"), text: "a",
            sender: "alice", senderName: "Alice", showsSender: false, isOwn: true, time: "", sentAt: noon,
            isEdited: false, quote: nil, state: .sent, file: nil)
        change(&row)
        var known = MessageAction.Facts(conversation: bob, now: noon + 1_000)
        facts(&known)
        return MessageAction.available(for: row, known)
    }

    @Test func `depends on whose it is, what it says and where it is`() {
        #expect(self.actions() == [.reply, .copy, .edit, .recall, .delete])
        #expect(self.actions({ $0.isOwn = false }) == [.reply, .copy, .delete])
        #expect(self.actions({ $0.isOwn = false }, { $0.role = .admin }) == [.reply, .copy, .recall, .delete])
        #expect(self.actions({ $0.objectName = .image }) == [.reply, .recall, .delete])
        #expect(
            self.actions({ _ in }, { $0.conversation = team }) == [.reply, .copy, .edit, .recall, .readers, .delete])
        #expect(self.actions({ _ in }, { $0.conversation.type = .chatRoom }) == [.reply, .copy])
        #expect(self.actions({ _ in }, { $0.mayWrite = false }) == [.copy, .recall, .delete])
    }

    @Test func `ends with the time to recall, where the app says one`() {
        #expect(self.actions({ _ in }, { $0.recallLimit = 1_000 }).contains(.recall))
        #expect(!self.actions({ _ in }, { $0.recallLimit = 999 }).contains(.recall))
    }

    @Test func `is to send again, to give up and to delete what is not on the server`() {
        func unsent(_ state: SendState) -> [MessageAction] {
            self.actions {
                $0.message = nil
                $0.state = state
            }
        }
        #expect(unsent(.failed(.failed)) == [.retry, .copy, .delete])
        #expect(unsent(.uploading(percent: 3)) == [.cancel, .copy])
        #expect(unsent(.sending) == [.copy])
    }
}

@Suite struct `Words of the screens` {
    @Test func `say every failure and state in both languages`() {
        for words in [ChatWords.english, .simplifiedChinese] {
            let texts =
                ChatFailure.allCases.map { $0.text(in: words) } + MessageAction.allCases.map { $0.title(in: words) }
            #expect(texts.allSatisfy { !$0.isEmpty && !$0.contains("{") })
            #expect(!SendState.readBy(1, of: 2).text(in: words).contains("{"))
            #expect(!SendState.uploading(percent: 1).text(in: words).contains("{"))
        }
    }

    @Test(arguments: [
        (ChatError.blocked, ChatFailure.blocked), (.muted(reason: ""), .muted), (.tooLate(reason: ""), .tooLate),
        (.notConnected, .noConnection), (.media(code: "media_quota_exceeded", status: 413), .fileRefused),
        (.invalid(InvalidField(field: "content", rule: "")), .tooLong), (.unknownMessage(reason: ""), .gone),
        (.store(reason: ""), .failed),
    ])
    func `name what a person can do about an error`(error: ChatError, failure: ChatFailure) {
        #expect(ChatFailure(error) == failure)
    }
}
