package import TidingsModel

/// It holds here at once, also offline; the server is told at each welcome until it has confirmed it.
package enum PendingSettingsChange: Hashable, Sendable {
    case conversation(ConversationID, ConversationSettings)
    case level(ConversationType, NotificationLevel)
    case quietHours(QuietHours?)
    case hidesContent(Bool)
    case language(String?)
    case mayBeAddedBy(AddingConsent)

    package var key: String {
        switch self {
        case .conversation(let conversation, _): "conversation:\(conversation)"
        case .level(let type, _): "level:\(type.rawValue)"
        case .quietHours: "quietHours"
        case .hidesContent: "hidesContent"
        case .language: "language"
        case .mayBeAddedBy: "mayBeAddedBy"
        }
    }

    package func apply(to settings: inout AllSettings) {
        switch self {
        case .conversation(let conversation, let own): settings.set(own, for: conversation)
        case .level(let type, let level): settings.person.levels[type] = level == .all ? nil : level
        case .quietHours(let hours): settings.person.quietHours = hours
        case .hidesContent(let hides): settings.person.hidesContent = hides
        case .language(let language): settings.person.language = language
        case .mayBeAddedBy(let consent): settings.person.mayBeAddedBy = consent
        }
    }
}
