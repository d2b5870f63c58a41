package import TidingsModel

/// It holds here at once, also offline. The server is told once the whole log is here, until it has confirmed it or the log says something
/// newer.
package enum PendingSettingsChange: Hashable, Sendable, JSONTagged {
    package static let tag = JSONTag("setting", meaning: "a setting")

    /// The level.
    case conversation(ConversationID, ConversationSettings)
    /// At a moment of this device's clock, which counts here until the server has taken it.
    case state(ConversationID, ConversationStateChange, at: Int64)
    case level(ConversationType, NotificationLevel)
    case quietHours(QuietHours?)
    case hidesContent(Bool)
    case language(String?)
    case mayBeAddedBy(AddingConsent)

    package var key: String {
        switch self {
        case .conversation(let conversation, _): "conversation:\(conversation)"
        case .state(let conversation, let change, _): "\(change.name):\(conversation)"
        case .level(let type, _): "level:\(type.rawValue)"
        case .quietHours: "quietHours"
        case .hidesContent: "hidesContent"
        case .language: "language"
        case .mayBeAddedBy: "mayBeAddedBy"
        }
    }

    /// Holds in all conversations.
    var isOfPerson: Bool {
        switch self {
        case .conversation, .state: false
        case .level, .quietHours, .hidesContent, .language, .mayBeAddedBy: true
        }
    }

    /// The text is nowhere but here while the server has not taken it.
    var isWritten: Bool { if case .state(_, .draft(_?), _) = self { true } else { false } }

    /// Returns true if another setting has replaced this change since `old`. A level that has ended by itself was set by nobody: a change
    /// that is to hold for longer is newer.
    func isReplaced(_ old: AllSettings, by new: AllSettings, wall: Int64) -> Bool {
        guard self.isChanged(from: old, to: new) else { return false }
        guard case .conversation(let conversation, let own) = self,
            let end = old.conversations[conversation]?.levelUntil, end <= wall + Self.clockTolerance,
            new.conversations[conversation]?.level == nil
        else { return true }
        return own.levelUntil.map { $0 <= max(end, wall) } ?? false
    }

    /// The server's clock is known as it was when its welcome was written, and a level that is ended by hand so shortly
    /// before its end might as well have ended by itself; in milliseconds.
    private static let clockTolerance: Int64 = 30_000

    /// Returns true if `new` has another value than `old` for what the change sets.
    private func isChanged(from old: AllSettings, to new: AllSettings) -> Bool {
        switch self {
        case .conversation(let conversation, _):
            let (old, new) = (old.conversations[conversation], new.conversations[conversation])
            return old?.level != new?.level || old?.levelUntil != new?.levelUntil
        case .state(let conversation, let change, _):
            let (old, new) = (old.conversations[conversation], new.conversations[conversation])
            return switch change {
            case .pinned: old?.pinnedAt != new?.pinnedAt
            case .archived: old?.isArchived ?? false != new?.isArchived ?? false
            case .hidden: old?.hiddenUpTo != new?.hiddenUpTo
            case .draft: old?.draft != new?.draft
            }
        case .level(let type, _): return old.person.levels[type] != new.person.levels[type]
        case .quietHours: return old.person.quietHours != new.person.quietHours
        case .hidesContent: return old.person.hidesContent != new.person.hidesContent
        case .language: return old.person.language != new.person.language
        case .mayBeAddedBy: return old.person.mayBeAddedBy != new.person.mayBeAddedBy
        }
    }

    /// An entry changes one thing, and in a page its draft is that of now: one that changes nothing was of a draft that is
    /// no longer there.
    func isDraft(ofNothingElseIn body: LogEntry.Body, before: AllSettings) -> Bool {
        guard case .state(let conversation, .draft, _) = self,
            case .conversationSettings(conversation, let settings) = body
        else { return false }
        return settings == before.conversations[conversation] ?? ConversationSettings()
    }

    package func apply(to settings: inout AllSettings) {
        switch self {
        case .conversation(let conversation, let own): settings.setLevel(of: own, for: conversation)
        case .state(let conversation, let change, let at): settings.apply(change, to: conversation, at: at)
        case .level(let type, let level): settings.person.levels[type] = level == .all ? nil : level
        case .quietHours(let hours): settings.person.quietHours = hours
        case .hidesContent(let hides): settings.person.hidesContent = hides
        case .language(let language): settings.person.language = language
        case .mayBeAddedBy(let consent): settings.person.mayBeAddedBy = consent
        }
    }
}

extension ConversationStateChange {
    /// The name of the setting that changes: of each the last change is told.
    package var name: String {
        switch self {
        case .pinned: "pinned"
        case .archived: "archived"
        case .hidden: "hidden"
        case .draft: "draft"
        }
    }
}
