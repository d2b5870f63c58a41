// A message in a line, for the server's pushes, the kit's local notifications and the notification service extension.

/// The words of notifications beside the messages' own, in one language.
public struct NotificationWords: Hashable, Sendable {
    /// The words for a message whose content has none, by its type (S0.13).
    public var kinds: [ObjectName: String]
    /// The words for a message of any other type.
    public var other: String
    /// The text of a push until the service extension on the right person's phone writes the real one (design.md §7): it names nobody.
    public var neutral: String
    /// The final text of a notification whose content is hidden.
    public var hidden: String
    /// The text in the place of a message that was recalled.
    public var recalled: String
    /// The text of a push that counts several messages; `{count}` is their number.
    public var several: String
    /// The text that the extension leaves in a push for another person. Without the filtering entitlement an empty content would bring the
    /// push's own text back (ios-delivery.md §10).
    public var stripped: String

    /// Words from their parts. What is left empty is said in the built-in words, of its language or in English.
    public init(
        kinds: [ObjectName: String] = [:], other: String = "", neutral: String = "", hidden: String = "",
        recalled: String = "", several: String = "", stripped: String = ""
    ) {
        self.kinds = kinds
        self.other = other
        self.neutral = neutral
        self.hidden = hidden
        self.recalled = recalled
        self.several = several
        self.stripped = stripped
    }

    package typealias Member = (name: String, path: any WritableKeyPath<NotificationWords, String> & Sendable)

    /// The words of pushes, except `kinds`.
    package static let pushMembers: [Member] = [
        ("other", \.other), ("neutral", \.neutral), ("hidden", \.hidden), ("recalled", \.recalled),
        ("several", \.several),
    ]

    /// Everything except `kinds`.
    package static let members: [Member] = pushMembers + [("stripped", \.stripped)]

    fileprivate func filled(from others: NotificationWords) -> NotificationWords {
        var words = self
        for (_, path) in Self.members where words[keyPath: path].isEmpty {
            words[keyPath: path] = others[keyPath: path]
        }
        return words
    }
}

/// The words of one app in all its languages. The server has an app's from its configuration, the SDK from the app.
public struct AppWords: Hashable, Sendable {
    /// The language of people who have set none, or one there are no words in: a BCP 47 tag.
    public var language: String
    /// By BCP 47 tag in lowercase. What is not here is looked up among the built-in ones.
    public private(set) var byLanguage: [String: NotificationWords]

    /// By default the built-in words, in English. Empty words and missing kinds are taken from the built-in words of
    /// the language; without those, English fills empty words, and `other` stands for a kind.
    public init(language: String = "en", byLanguage: [String: NotificationWords] = [:]) {
        self.language = language
        self.byLanguage = [:]
        for (tag, own) in byLanguage.sorted(by: { $0.key < $1.key }) {
            let builtIn = NotificationWords.builtIn(for: tag)
            var words = own.filled(from: builtIn ?? .english)
            words.kinds.merge(builtIn?.kinds ?? [:]) { own, _ in own }
            self.byLanguage[tag.lowercased()] = words
        }
    }

    /// Unchanged, by lowercase tag: for callers that refuse empty words.
    package init(language: String, complete byLanguage: [String: NotificationWords]) {
        self.language = language
        self.byLanguage = byLanguage
    }

    /// The words of a BCP 47 tag, or of the longest front part of it with words (RFC 4647 §3.4); else those of the
    /// app's language, else English. With the tag they were found under.
    public func words(for language: String?) -> (tag: String, words: NotificationWords) {
        for tag in [language, self.language].compactMap({ $0 }) {
            if let found = self.lookUp(tag) { return found }
        }
        return ("en", .english)
    }

    package var hasLanguage: Bool { self.lookUp(self.language) != nil }

    private func lookUp(_ tag: String) -> (tag: String, words: NotificationWords)? {
        NotificationWords.lookUp(tag) { self.byLanguage[$0] ?? NotificationWords.builtIn[$0] }
    }
}

extension NotificationWords {
    /// By a BCP 47 tag, then by ever shorter front parts of it (RFC 4647 §3.4).
    fileprivate static func lookUp(_ tag: String, _ words: (String) -> Self?) -> (tag: String, words: Self)? {
        var parts = tag.lowercased().split(separator: "-")
        while !parts.isEmpty {
            let tag = parts.joined(separator: "-")
            if let words = words(tag) { return (tag, words) }
            parts.removeLast()
        }
        return nil
    }

    package static func builtIn(for tag: String) -> NotificationWords? { Self.lookUp(tag) { Self.builtIn[$0] }?.words }

    fileprivate static let builtIn: [String: NotificationWords] = ["en": .english, "zh": .simplifiedChinese]

    /// English.
    public static let english = NotificationWords(
        kinds: [
            .image: "[Image]", .gif: "[Image]", .voice: "[Voice]", "RC:VcMsg": "[Voice]", .video: "[Video]",
            .file: "[File]", .location: "[Location]", "RC:CardMsg": "[Card]", .link: "[Link]",
        ], other: "New message", neutral: "You have a new message", hidden: "You have a new message",
        recalled: "A message was recalled", several: "{count} new messages", stripped: "You have a notification")

    /// Simplified Chinese.
    public static let simplifiedChinese = NotificationWords(
        kinds: [
            .image: "[图片]", .gif: "[图片]", .voice: "[语音]", "RC:VcMsg": "[语音]", .video: "[视频]",
            .file: "[文件]", .location: "[位置]", "RC:CardMsg": "[名片]", .link: "[链接]",
        ], other: "新消息", neutral: "您收到一条新消息", hidden: "您收到一条新消息", recalled: "一条消息已被撤回",
        several: "{count} 条新消息", stripped: "您有一条通知")
}

/// Summarizes a message in one line.
public enum MessageSummary {

    /// The sender's own push text, the text of a text message or an answer, or what stands for its type.
    public static func text(of message: Message, in words: NotificationWords) -> String {
        if let text = message.pushText, !text.isEmpty { return text }
        if let text = message.text, !text.isEmpty { return text }
        return words.kinds[message.objectName] ?? words.other
    }
}
