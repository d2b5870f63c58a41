package import TidingsModel

/// How a notification that this phone posts itself sounds and is grouped: as the server's push of the same message would be.
package struct NotificationManner: Hashable, Sendable {
    /// Nil is silence.
    package var sound: Sound?
    package var level: PushOptions.InterruptionLevel
    /// In thousandths.
    package var relevance: Int
    package var category: String
    package var thread: String

    package enum Sound: Hashable, Sendable {
        case standard
        case named(String)
        case critical(String?)
    }

    /// A silent one is in the list and no more, whatever is asked for. `category` stands where none is chosen.
    package init(_ options: PushOptions?, of conversation: ConversationID, isSilent: Bool, category: String = "") {
        let name = options?.sound.flatMap { $0 == "default" ? nil : $0 }
        self.level = isSilent ? .passive : options?.interruptionLevel ?? .active
        self.sound =
            switch self.level {
            case .passive: nil
            case .active, .timeSensitive: name.map { .named($0) } ?? .standard
            case .critical: .critical(name)
            }
        self.relevance = isSilent ? 0 : options?.relevance ?? 0
        self.category = options?.category ?? category
        self.thread = options?.threadID ?? conversation.description
    }
}
