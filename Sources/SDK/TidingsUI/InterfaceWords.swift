/// What VoiceOver says of the SDK's own views beside names and messages, in one language.
public struct InterfaceWords: Hashable, Sendable {
    /// What a tap on an in-app banner does.
    public var opensConversation: String
    /// The action that takes an in-app banner away.
    public var dismiss: String

    /// Words from their parts. What is left empty is said in English.
    public init(opensConversation: String = "", dismiss: String = "") {
        self.opensConversation = opensConversation.isEmpty ? Self.english.opensConversation : opensConversation
        self.dismiss = dismiss.isEmpty ? Self.english.dismiss : dismiss
    }

    private init(_ opensConversation: String, _ dismiss: String) {
        self.opensConversation = opensConversation
        self.dismiss = dismiss
    }

    /// English.
    public static let english = InterfaceWords("Opens the conversation", "Dismiss")

    /// Simplified Chinese.
    public static let simplifiedChinese = InterfaceWords("打开会话", "关闭")

    /// The built-in words of a BCP 47 tag, such as `zh-Hans-CN`: Chinese for every tag of Chinese, otherwise English.
    public static func words(for language: String) -> InterfaceWords {
        language.lowercased().split(separator: "-").first == "zh" ? .simplifiedChinese : .english
    }
}
