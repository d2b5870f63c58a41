import APNsModel
package import TidingsModel

/// The words of pushes in one language.
package struct PushWords: Hashable, Sendable {
    /// What stands for a message whose content has no words, by its type (S0.13).
    package var kinds: [ObjectName: String]
    /// What stands for a message of any other type.
    package var other: String
    /// What a push says until the service extension on the right person's phone writes the real text (DESIGN §7): it names nobody.
    package var neutral: String
    /// What a push says for good if the person wants its content hidden.
    package var hidden: String
    /// What stands in the place of a message that was withdrawn.
    package var recalled: String
    /// What a push says that counts several messages; `{count}` is their number.
    package var several: String

    /// Words from their parts; by default all are missing.
    package init(
        kinds: [ObjectName: String] = [:], other: String = "", neutral: String = "", hidden: String = "",
        recalled: String = "", several: String = ""
    ) {
        self.kinds = kinds
        self.other = other
        self.neutral = neutral
        self.hidden = hidden
        self.recalled = recalled
        self.several = several
    }

    /// The words for a number of messages.
    func several(_ count: Int) -> String {
        guard let mark = self.several.range(of: "{count}") else { return self.several }
        return self.several[..<mark.lowerBound] + "\(count)" + self.several[mark.upperBound...]
    }
}

extension StringProtocol {
    /// Where a text first stands.
    fileprivate func range(of text: String) -> Range<Index>? { self.firstRange(of: text) }
}

/// The words of one app's pushes in all its languages.
package struct AppWords: Hashable, Sendable {
    /// The language of people who have set none, or one there are no words in.
    package var language: String
    /// By BCP 47 tag in lowercase. What is not here is looked up among the built-in ones.
    package var byLanguage: [String: PushWords]

    /// Words from their parts; by default the built-in ones, in English.
    package init(language: String = "en", byLanguage: [String: PushWords] = [:]) {
        self.language = language
        self.byLanguage = byLanguage
    }

    /// The words for a language: those of the tag, or of the longest front part of it there are words in (RFC 4647 §3.4).
    ///
    /// - Parameter language: a BCP 47 tag, or nil for the app's.
    /// - Returns: the tag they were found under, and the words.
    package func words(for language: String?) -> (tag: String, words: PushWords) {
        for tag in [language, self.language].compactMap({ $0 }) {
            if let found = PushWords.lookUp(tag, { self.byLanguage[$0] ?? PushWords.builtIn[$0] }) { return found }
        }
        return ("en", .english)
    }

    /// Whether there are words in the language of people who have set none.
    package var hasLanguage: Bool {
        PushWords.lookUp(self.language) { self.byLanguage[$0] ?? PushWords.builtIn[$0] } != nil
    }
}

extension PushWords {
    /// Looks words up by a BCP 47 tag, then by ever shorter front parts of it (RFC 4647 §3.4).
    fileprivate static func lookUp(
        _ tag: String, _ words: (String) -> PushWords?
    ) -> (tag: String, words: PushWords)? {
        var parts = tag.lowercased().split(separator: "-")
        while !parts.isEmpty {
            let tag = parts.joined(separator: "-")
            if let words = words(tag) { return (tag, words) }
            parts.removeLast()
        }
        return nil
    }

    /// The built-in words for a BCP 47 tag; nil if there are none in that language.
    package static func builtIn(for tag: String) -> PushWords? { Self.lookUp(tag) { Self.builtIn[$0] }?.words }

    /// The built-in words by language.
    package static let builtIn: [String: PushWords] = ["en": .english, "zh": .simplifiedChinese]

    /// English.
    package static let english = PushWords(
        kinds: [
            "RC:ImgMsg": "[Image]", "RC:GIFMsg": "[Image]", "RC:VcMsg": "[Voice]", "RC:HQVCMsg": "[Voice]",
            "RC:SightMsg": "[Video]", "RC:FileMsg": "[File]", "RC:LBSMsg": "[Location]", "RC:CardMsg": "[Card]",
            "RC:ImgTextMsg": "[Link]",
        ], other: "New message", neutral: "You have a new message", hidden: "You have a new message",
        recalled: "A message was withdrawn", several: "{count} new messages")

    /// Simplified Chinese.
    package static let simplifiedChinese = PushWords(
        kinds: [
            "RC:ImgMsg": "[图片]", "RC:GIFMsg": "[图片]", "RC:VcMsg": "[语音]", "RC:HQVCMsg": "[语音]",
            "RC:SightMsg": "[视频]", "RC:FileMsg": "[文件]", "RC:LBSMsg": "[位置]", "RC:CardMsg": "[名片]",
            "RC:ImgTextMsg": "[链接]",
        ], other: "新消息", neutral: "您收到一条新消息", hidden: "您收到一条新消息", recalled: "一条消息已被撤回",
        several: "{count} 条新消息")
}

/// The words of one message's push.
package enum PushText {
    /// The longest title, in bytes of JSON: a name has at most 256 bytes of UTF-8, but JSON may need six for one.
    package static let titleBytesMax = 512

    /// The longest real text, in bytes of JSON: more than any phone shows, and little enough for a payload of 4,096 bytes
    /// (apns.md §13).
    package static let bytesMax = 1_024

    /// The title of a notification: the name of the group or discussion, or the id of the other person, whose name the server
    /// does not know; the kit puts it in its place.
    ///
    /// - Parameter name: the conversation's name; empty if it has none, then its id stands for it.
    package static func title(of message: Message, seenBy user: UserID, conversationName name: String) -> String {
        guard !name.isEmpty else { return message.conversation(seenBy: user).target }
        return APNsPayload.escapedCount(name.utf8) <= Self.titleBytesMax
            ? name : APNsPayload.shortened(name, bytesMax: Self.titleBytesMax)
    }

    /// The text, shortened at the end of a character if need be.
    package static func shortText(of message: Message, words: PushWords = .english) -> String {
        let text = Self.text(of: message, words: words)
        return APNsPayload.escapedCount(text.utf8) <= Self.bytesMax
            ? text : APNsPayload.shortened(text, bytesMax: Self.bytesMax)
    }

    /// The body of the alert: the sender's own push text, a text message's content, or what stands for its type.
    package static func text(of message: Message, words: PushWords = .english) -> String {
        if let text = message.pushText, !text.isEmpty { return text }
        if message.objectName == .text, let content = try? JSONValue(parsing: message.content),
            let text = content["content"]?.stringValue, !text.isEmpty
        {
            return text
        }
        return words.kinds[message.objectName] ?? words.other
    }
}
