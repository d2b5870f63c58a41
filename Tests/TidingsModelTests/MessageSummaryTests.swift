import Requirements
import Testing
import TidingsModel

private func text(_ name: ObjectName, _ content: String, push: String? = nil, in words: NotificationWords = .english)
    -> String
{
    let message = Message(
        id: MessageID(rawValue: 1), app: "a", sender: "b", conversation: ConversationID(type: .direct, target: "c"),
        clientMessageID: "d",
        objectName: name, content: content, flags: .normal, pushText: push, sentAt: 0)
    return MessageSummary.text(of: message, in: words)
}

@Suite struct `The summary of a message` {
    @Test(.requirement("S0.13", "S3.9"))
    func `takes the sender's push text before the message's own, and else tells its kind`() {
        #expect(text("RC:TxtMsg", #"{"content":"hi"}"#, push: "look") == "look")
        #expect(text("RC:TxtMsg", #"{"content":"hi"}"#) == "hi")
        #expect(text("RC:TxtMsg", #"{"content":"hi"}"#, push: "") == "hi")
        #expect(text("RC:ImgMsg", "{}") == "[Image]")
        #expect(text("RC:ImgMsg", "{}", in: .simplifiedChinese) == "[图片]")
        #expect(text("RC:TxtMsg", "not json") == "New message")
        #expect(text("my:Type", "{}") == "New message")
        #expect(text("my:Type", "{}", in: .simplifiedChinese) == "新消息")
    }
}

@Suite struct `The words of notifications` {
    @Test func `are all there in every built-in language`() {
        for words in [NotificationWords.english, .simplifiedChinese] {
            for member in NotificationWords.members { #expect(!words[keyPath: member.path].isEmpty, "\(member.name)") }
            #expect(words.kinds.keys.sorted() == NotificationWords.english.kinds.keys.sorted())
            #expect(words.several.contains("{count}"))
        }
    }

    @Test func `are looked up by ever shorter front parts of a tag, then in the app's language, then in English`() {
        let german = NotificationWords(other: "Neue Nachricht")
        let words = AppWords(language: "de", byLanguage: ["DE": german])
        #expect(words.words(for: "de-AT").tag == "de")
        #expect(words.words(for: "zh-Hans-CN").words == .simplifiedChinese)
        #expect(words.words(for: "fr").tag == "de")
        #expect(words.words(for: nil).words.other == "Neue Nachricht")
        #expect(AppWords(language: "fr").words(for: nil).words == .english)
        #expect(AppWords().words(for: nil).words == .english)
    }

    @Test func `of an app are filled up with the built-in ones of the language, and else of English`() {
        let own = AppWords(byLanguage: [
            "zh": NotificationWords(kinds: ["RC:ImgMsg": "[照片]", "my:Poll": "[投票]"], recalled: "已撤回"),
            "de": NotificationWords(kinds: ["RC:ImgMsg": "[Bild]"], recalled: "Zurückgezogen"),
        ])
        var chinese = NotificationWords.simplifiedChinese
        chinese.kinds["RC:ImgMsg"] = "[照片]"
        chinese.kinds["my:Poll"] = "[投票]"
        chinese.recalled = "已撤回"
        #expect(own.words(for: "zh-Hans").words == chinese)
        var german = NotificationWords.english
        german.kinds = ["RC:ImgMsg": "[Bild]"]
        german.recalled = "Zurückgezogen"
        #expect(own.words(for: "de").words == german)
        #expect(text("RC:FileMsg", "{}", in: german) == "New message")
    }
}
