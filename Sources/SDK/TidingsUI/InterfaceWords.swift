import Foundation

/// The words of the SDK's own views beside names and messages, in one language.
///
/// ```swift
/// interface.words.chat.send = "Senden"
/// ```
public struct InterfaceWords: Hashable, Sendable {
    /// The BCP 47 tag by which days and times are written, such as `zh-Hans`.
    public var language: String
    /// Says what a tap on an in-app banner does.
    public var opensConversation: String
    /// The action that takes an in-app banner away.
    public var dismiss: String
    /// The words of the screen of a conversation.
    public var chat: ChatWords
    /// The words of the list of conversations and of settings.
    public var lists: ListWords

    /// Words from their parts. What is left empty or out is said in English.
    public init(
        opensConversation: String = "", dismiss: String = "", chat: ChatWords = .english, lists: ListWords = .english,
        language: String = "en"
    ) {
        self.language = language
        self.opensConversation = opensConversation.isEmpty ? "Opens the conversation" : opensConversation
        self.dismiss = dismiss.isEmpty ? "Dismiss" : dismiss
        self.chat = chat
        self.lists = lists
    }

    /// English.
    public static let english = InterfaceWords(
        opensConversation: "Opens the conversation", dismiss: "Dismiss", chat: .english, lists: .english, language: "en"
    )

    /// Simplified Chinese.
    public static let simplifiedChinese = InterfaceWords(
        opensConversation: "打开会话", dismiss: "关闭", chat: .simplifiedChinese, lists: .simplifiedChinese,
        language: "zh-Hans")

    /// The built-in words of a BCP 47 tag, such as `zh-Hans-CN`: Chinese for every tag of Chinese, otherwise English.
    public static func words(for language: String) -> InterfaceWords {
        language.lowercased().split(separator: "-").first == "zh" ? .simplifiedChinese : .english
    }
}

extension String {
    /// With numbers and names in the places that are named in braces.
    func filled(_ values: [(String, String)]) -> String {
        values.reduce(self) { $0.replacingOccurrences(of: "{\($1.0)}", with: $1.1) }
    }
}
