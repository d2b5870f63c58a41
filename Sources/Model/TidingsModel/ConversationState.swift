/// A text that a person has typed in a conversation and not sent.
public struct ConversationDraft: Hashable, Sendable, Codable {
    /// The text, 1 to `ConversationStateChange.draftBytesMax` bytes of UTF-8.
    public var text: String
    /// When the server took it, in wall milliseconds since 1970; until it has, when it was written on this device, by the server's clock.
    public var writtenAt: Int64

    /// A draft from its parts.
    public init(text: String, writtenAt: Int64) {
        self.text = text
        self.writtenAt = writtenAt
    }
}

/// A change of a conversation's place in the person's list. Its other settings stay, so that changes from two devices at a time do not undo
/// each other; of the same setting the change that the server takes last holds.
public enum ConversationStateChange: Hashable, Sendable, Codable {
    /// Before all others; the one pinned last comes first.
    case pinned(Bool)
    /// In a list of its own, until it is taken out of it.
    case archived(Bool)
    /// In no list while it has no message newer than this one; nil shows it. A repeat never shows what is hidden already.
    case hidden(upTo: MessageID?)
    /// Sets the text that is typed and not sent; nil removes it.
    case draft(String?)

    /// The longest draft, in bytes of UTF-8.
    public static let draftBytesMax = 4_096

    /// Throws `InvalidField` for a draft that is empty or too long.
    public func validate() throws(InvalidField) {
        guard case .draft(let text?) = self else { return }
        try InvalidField.check(text.utf8.count, in: 1...Self.draftBytesMax, "draft", unit: " bytes")
    }
}

extension ConversationSettings {
    /// Without what is said of the list.
    package var levelAlone: ConversationSettings {
        ConversationSettings(level: self.level, levelUntil: self.levelUntil)
    }

    /// With the level of others.
    package func withLevel(of others: ConversationSettings) -> ConversationSettings {
        var settings = self
        (settings.level, settings.levelUntil) = (others.level, others.levelUntil)
        return settings
    }

    /// Returns true if it stands in no list. `newest` is the newest message that stays in the history; nil for none.
    package func isHidden(newest: MessageID?) -> Bool {
        guard let upTo = self.hiddenUpTo else { return false }
        return newest.map { $0 <= upTo } ?? true
    }

    package var withoutDraft: ConversationSettings {
        var settings = self
        settings.draft = nil
        return settings
    }
}

extension AllSettings {
    /// Returns a conversation's settings after a change at `wall` milliseconds since 1970, on the server and on the device. A setting that
    /// does not change keeps its time.
    package func settings(
        of conversation: ConversationID, after change: ConversationStateChange, at wall: Int64
    ) -> ConversationSettings {
        var settings = self.conversations[conversation] ?? ConversationSettings()
        switch change {
        case .pinned(false): settings.pinnedAt = nil
        case .pinned(true): settings.pinnedAt = settings.pinnedAt ?? wall
        case .archived(let isArchived): settings.isArchived = isArchived
        case .hidden(let upTo): settings.hiddenUpTo = upTo.map { max($0, settings.hiddenUpTo ?? $0) }
        case .draft(let text):
            guard settings.draft?.text != text else { break }
            settings.draft = text.map { ConversationDraft(text: $0, writtenAt: wall) }
        }
        return settings
    }

    /// The settings that decide how loud conversations are.
    package var levelsAlone: AllSettings {
        var settings = self
        settings.conversations = self.conversations.compactMapValues { $0.level == nil ? nil : $0.levelAlone }
        return settings
    }

    package var withoutDrafts: AllSettings {
        var settings = self
        settings.conversations = self.conversations.compactMapValues {
            let settings = $0.withoutDraft
            return settings == ConversationSettings() ? nil : settings
        }
        return settings
    }

    package mutating func apply(
        _ change: ConversationStateChange, to conversation: ConversationID, at wall: Int64
    ) {
        self.set(self.settings(of: conversation, after: change, at: wall), for: conversation)
    }

    /// Sets the level, and leaves where the conversation stands in the list.
    package mutating func setLevel(of settings: ConversationSettings, for conversation: ConversationID) {
        let before = self.conversations[conversation] ?? ConversationSettings()
        self.set(before.withLevel(of: settings), for: conversation)
    }
}
