import ClientCore
import Testing
import TidingsModel

@testable import TidingsClient

private let toAlice = ConversationID(type: .direct, target: "alice")
private let withBob = ConversationID(type: .direct, target: "bob")

@Suite struct `What the local store counts` {
    @Test func `is unread messages and mentions, by conversation and in total`() throws {
        let bench = try StoreBench()
        try bench.appendText("plain")
        try bench.appendText("to alice", mentions: .users(["alice", "carol"]))
        try bench.appendText("to carol", mentions: .users(["carol"]))
        try bench.appendText("to all", mentions: .everyone)
        try bench.appendText("not counted", mentions: .everyone, flags: .stored)
        try bench.appendText("direct", in: toAlice)
        let counts = try bench.store.counts()
        #expect(counts.by == [team: .init(unread: 4, mentions: 2), withBob: .init(unread: 1, mentions: 0)])
        #expect(counts.unread == 5)
        #expect(counts.unreadWithMuted == 5)
        #expect(counts.mentions == 2)
        let history = try bench.store.history(team, before: nil, limit: 9)
        #expect(history.map(\.mentionsMe) == [false, true, false, true, true])
    }

    @Test func `follows recall, deletion and reading`() throws {
        let bench = try StoreBench()
        let ids = try (1...4).map { _ in try bench.appendText("to all", mentions: .everyone) }
        try bench.recall(ids[0])
        #expect(try bench.store.counts().by[team] == .init(unread: 3, mentions: 3))
        try bench.append(.deletion(Deletion(conversation: team, messages: [ids[0], ids[1]])))
        #expect(try bench.store.counts().by[team] == .init(unread: 2, mentions: 2))
        #expect(try bench.append(.read(conversation: team, upTo: 3)).unread == 1)
        #expect(try bench.store.history(team, before: nil, limit: 9).map(\.id) == [ids[2], ids[3]])
    }

    @Test func `leaves out conversations that are muted, by themselves or by their kind`() throws {
        let bench = try StoreBench()
        try bench.appendText("to all", mentions: .everyone)
        try bench.appendText("direct", in: toAlice)
        let mute = ConversationSettings(level: .blocked, levelUntil: 1)
        #expect(try bench.append(.conversationSettings(team, mute)).unread == 1)
        #expect(try bench.store.counts().unreadWithMuted == 2)
        #expect(try bench.store.counts().mentions == 1)
        // It ends by the server's entry, not by a clock.
        #expect(try bench.append(.conversationSettings(team, ConversationSettings())).unread == 2)
        #expect(try bench.append(.personSettings(PersonSettings(levels: [.group: .blocked]))).unread == 1)
        #expect(try bench.append(.conversationSettings(team, ConversationSettings(level: .mentions))).unread == 2)
    }

    @Test func `leaves nothing unread where the person is a member no more`() throws {
        let bench = try StoreBench()
        _ = try bench.change(1, .create(name: "Team", portrait: nil, members: ["alice", "carol"]))
        try bench.appendText("hi")
        #expect(try bench.change(2, .remove(["carol"])).unread == 1)
        #expect(try bench.change(3, .remove(["alice"])).unread == 0)
        #expect(try bench.appendText("again") == MessageID(rawValue: 105))
        #expect(try bench.store.counts().unread == 1)
    }
}

@Suite struct `A message in the local store` {
    @Test func `says what it was edited to, unless it was recalled`() throws {
        let bench = try StoreBench()
        let id = try bench.appendText("old")
        let edit = Edit(message: id, conversation: team, content: #"{"content":"new"}"#, at: 7)
        try bench.append(.edit(edit))
        #expect(try bench.store.message(id)?.text == "new")
        #expect(try bench.store.message(id)?.isEdited == true)
        #expect(try bench.found("old") == [])
        #expect(try bench.found("new") == ["new"])
        try bench.recall(id)
        try bench.append(.edit(edit))
        #expect(try bench.store.message(id)?.text == nil)
        #expect(try bench.found("new") == [])
    }

    @Test func `keeps whom it names, whom it is for and until when it is worth showing`() throws {
        let bench = try StoreBench()
        for (position, mentions) in [(1, Mentions.none), (2, .everyone), (3, .users(["alice", "b\"ob"]))] {
            let message = Message(
                id: MessageID(rawValue: UInt64(position)), app: "demo", sender: "bob", conversation: team,
                clientMessageID: "c", objectName: .text, content: "{}", flags: .normal, pushText: nil, sentAt: 5,
                mentions: mentions, recipients: position == 3 ? ["alice"] : [], expiresAt: position == 2 ? 9 : nil)
            try bench.append(.message(message))
            #expect(try bench.store.message(message.id)?.message == message)
        }
        let draft = MessageDraft(
            clientMessageID: "out", conversation: team, objectName: .text, content: "x", mentions: .users(["bob"]),
            recipients: ["bob", "carol"], lifetimeMilliseconds: 1_000)
        try bench.store.writeOutgoing(draft)
        try bench.reopen()
        #expect(try bench.store.restored().outbox == [draft])
    }
}

@Suite struct `Text search` {
    @Test func `finds two Chinese characters that stand together, anywhere in a message`() throws {
        let bench = try StoreBench()
        try bench.appendText("明天北京开会")
        try bench.appendText("京北的天气")
        try bench.appendText("会议改到后天，北京时间九点", in: toAlice)
        #expect(try bench.found("北京") == ["会议改到后天，北京时间九点", "明天北京开会"])
        #expect(try bench.found("天气") == ["京北的天气"])
        #expect(try bench.found("北京", in: team) == ["明天北京开会"])
        #expect(try bench.found("北京", in: withBob) == ["会议改到后天，北京时间九点"])
        #expect(try bench.found("天") == ["会议改到后天，北京时间九点", "京北的天气", "明天北京开会"])
        #expect(try bench.found("天", limit: 1) == ["会议改到后天，北京时间九点"])
        #expect(try bench.found("北京 九点") == ["会议改到后天，北京时间九点"])
    }

    @Test func `finds words by how they begin, whatever their capitals and accents`() throws {
        let bench = try StoreBench()
        try bench.appendText("Café at Noon")
        try bench.appendText("ticket ＡＢＣ-12 for iPhone手机")
        #expect(try bench.found("cafe no") == ["Café at Noon"])
        #expect(try bench.found("oon") == [])
        #expect(try bench.found("abc") == ["ticket ＡＢＣ-12 for iPhone手机"])
        #expect(try bench.found("iphone 手机") == ["ticket ＡＢＣ-12 for iPhone手机"])
        #expect(try bench.found("iphone手") == ["ticket ＡＢＣ-12 for iPhone手机"])
    }

    @Test func `takes a question for words, whatever is in it`() throws {
        let bench = try StoreBench()
        try bench.appendText(#"a "quoted" NEAR word"#)
        for question in ["", "  ", "。", "*", "\"", "AND", "NEAR(", "words:a", "a*b\" OR", "-a", "^"] {
            _ = try bench.found(question)
        }
        #expect(try bench.found("NEAR word") == [#"a "quoted" NEAR word"#])
        #expect(try bench.found(#""quoted""#) == [#"a "quoted" NEAR word"#])
        #expect(try bench.found("NEAR OR word") == [])
    }

    @Test func `finds neither recalled nor deleted nor command messages`() throws {
        let bench = try StoreBench()
        let ids = try (1...3).map { try bench.appendText("北京 \($0)") }
        try bench.appendText("北京 command", flags: .notified)
        try bench.recall(ids[0])
        try bench.append(.deletion(Deletion(conversation: team, messages: [ids[1]])))
        #expect(try bench.found("北京") == ["北京 3"])
        // What is kept of another log is found, too.
        try bench.store.resetLog(nil)
        #expect(try bench.found("北京") == ["北京 3"])
    }
}
