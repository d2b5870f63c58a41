import Testing
import TidingsModel

private func message(_ content: MessageContent, from sender: UserID = "bob") -> Message {
    Message(
        id: MessageID(rawValue: 7), app: "a", sender: sender, conversation: ConversationID(type: .direct, target: "c"),
        clientMessageID: "d", objectName: content.objectName, content: content.json, flags: .normal, pushText: nil,
        sentAt: 0)
}

@Suite struct `An answer that quotes` {
    @Test func `carries whom and what it answers, and says its own text`() {
        let quote = MessageQuote(of: message(.text("At one?")))
        let answer = message(.reply("Yes", to: quote), from: "alice")
        #expect(answer.objectName == .reference)
        #expect(answer.text == "Yes")
        #expect(answer.quote == quote)
        #expect(answer.quote?.message == MessageID(rawValue: 7))
        #expect(answer.answers("bob") && !answer.answers("carol"))
        #expect(MessageSummary.text(of: answer, in: .english) == "Yes")
    }

    @Test func `quotes another answer's own text, and of a file only its type`() {
        let first = message(.reply("Yes", to: MessageQuote(of: message(.text("At one?")))))
        #expect(MessageQuote(of: first).text == "Yes")
        let image = MessageQuote(of: message(.image(.init(url: "https://example.com/a.jpg"))))
        #expect(image.text == nil && image.objectName == .image)
        let answer = message(.reply("Nice", to: image))
        #expect(answer.quote == image)
        #expect(!answer.content.contains("example.com"))
    }

    @Test func `cuts a long text, and is none where nobody is quoted`() {
        let long = MessageQuote(of: message(.text(String(repeating: "好", count: 300))))
        #expect(long.text?.count == MessageQuote.textMax)
        #expect(long.text?.hasSuffix("…") == true)
        #expect(message(.text("a")).quote == nil)
        #expect(message(.custom(.reference, "{}")).quote == nil)
        #expect(message(.custom(.reference, "{}")).text == nil)
        #expect(message(.custom(.reference, "[")).quote == nil)
    }
}
