package import TidingsModel

/// Something the person has set on this device. It is stored and holds here at once, also offline; the server is told at each
/// welcome until it has confirmed it.
package enum PendingSettingsChange: Hashable, Sendable {
    /// How loud a conversation may be, and until when.
    case conversation(ConversationID, ConversationSettings)
    /// How loud the conversations of a kind may be that have no level of their own.
    case level(ConversationType, NotificationLevel)
    /// When nothing is to ring; nil for never.
    case quietHours(QuietHours?)
    /// Whether notifications say only that there is a message.
    case hidesContent(Bool)
    /// The language of the pushes' words; nil for the app's default.
    case language(String?)

    /// Names what it sets: a later pending change of the same key takes the place of an earlier one.
    package var key: String {
        switch self {
        case .conversation(let conversation, _): "conversation:\(conversation)"
        case .level(let type, _): "level:\(type.rawValue)"
        case .quietHours: "quietHours"
        case .hidesContent: "hidesContent"
        case .language: "language"
        }
    }

    /// Writes it into settings.
    package func apply(to settings: inout AllSettings) {
        switch self {
        case .conversation(let conversation, let own):
            settings.conversations[conversation] = own == ConversationSettings() ? nil : own
        case .level(let type, let level): settings.person.levels[type] = level == .all ? nil : level
        case .quietHours(let hours): settings.person.quietHours = hours
        case .hidesContent(let hides): settings.person.hidesContent = hides
        case .language(let language): settings.person.language = language
        }
    }
}
