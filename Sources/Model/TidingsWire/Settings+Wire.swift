import SwiftProtobuf
import TidingsModel

extension WireConversationSettings {
    init(_ conversation: ConversationID, _ settings: ConversationSettings) {
        self.init()
        self.conversation = WireConversation(conversation)
        if let level = settings.level { self.level = level.rawValue }
        if let until = settings.levelUntil { self.levelUntil = until }
        if let at = settings.pinnedAt { self.pinnedAt = at }
        self.isArchived = settings.isArchived
        if let message = settings.hiddenUpTo { self.hiddenUpTo = message.description }
        if let draft = settings.draft {
            self.draft = .with {
                $0.text = draft.text
                $0.writtenAt = draft.writtenAt
            }
        }
    }

    func model() throws(FrameError) -> (ConversationID, ConversationSettings) {
        let level: NotificationLevel? = self.hasLevel ? try known(self.level, field: "level") : nil
        var settings = ConversationSettings(level: level, levelUntil: self.hasLevelUntil ? self.levelUntil : nil)
        settings.pinnedAt = self.hasPinnedAt ? self.pinnedAt : nil
        settings.isArchived = self.isArchived
        settings.hiddenUpTo = self.hasHiddenUpTo ? try messageID(self.hiddenUpTo, field: "hidden_up_to") : nil
        if self.hasDraft {
            settings.draft = ConversationDraft(text: self.draft.text, writtenAt: self.draft.writtenAt)
        }
        return (try self.conversation.model(field: "conversation"), settings)
    }
}

extension WireConversationState {
    init(_ conversation: ConversationID, _ change: ConversationStateChange) {
        self.init()
        self.conversation = WireConversation(conversation)
        switch change {
        case .pinned(let isPinned): self.isPinned = isPinned
        case .archived(let isArchived): self.isArchived = isArchived
        case .hidden(let upTo): self.hiddenUpTo = upTo?.description ?? ""
        case .draft(let text): self.draft = text ?? ""
        }
    }

    func model() throws(FrameError) -> (ConversationID, ConversationStateChange) {
        let change: ConversationStateChange
        switch self.change {
        case nil: throw .broken("change", "must be one that protocol version 1 of this server knows")
        case .isPinned(let isPinned): change = .pinned(isPinned)
        case .isArchived(let isArchived): change = .archived(isArchived)
        case .hiddenUpTo(let message):
            change = .hidden(upTo: message.isEmpty ? nil : try messageID(message, field: "hidden_up_to"))
        case .draft(let text): change = .draft(text.isEmpty ? nil : text)
        }
        return (try self.conversation.model(field: "conversation"), change)
    }
}

extension WirePersonSettings {
    init(_ settings: PersonSettings) {
        self.init()
        self.levels = settings.levels.sorted { $0.key < $1.key }.map { type, level in
            .with {
                $0.type = type.rawValue
                $0.level = level.rawValue
            }
        }
        if let hours = settings.quietHours { self.quietHours = WireQuietHours(hours) }
        self.hidesContent = settings.hidesContent
        if let language = settings.language { self.language = language }
        if let consent = settings.mayBeAddedBy { self.mayBeAddedBy = consent.rawValue }
    }

    func model() throws(FrameError) -> PersonSettings {
        var byType: [ConversationType: NotificationLevel] = [:]
        for level in self.levels {
            let type: ConversationType = try known(level.type, field: "levels.type")
            guard byType[type] == nil else {
                throw .broken("levels.type", "must name each kind once, got \(type.rawValue) twice")
            }
            byType[type] = try known(level.level, field: "levels.level")
        }
        return PersonSettings(
            levels: byType, quietHours: self.hasQuietHours ? try self.quietHours.model() : nil,
            hidesContent: self.hidesContent, language: self.hasLanguage ? self.language : nil,
            mayBeAddedBy: self.hasMayBeAddedBy ? try known(self.mayBeAddedBy, field: "may_be_added_by") : nil)
    }
}

extension WireQuietHours {
    init(_ hours: QuietHours) {
        self.init()
        self.start = Int32(clamping: hours.start)
        self.end = Int32(clamping: hours.end)
        self.weekdays = hours.weekdays.map { Int32(clamping: $0) }
        self.timeZone = hours.timeZone
        self.manner = hours.manner.rawValue
    }

    func model() throws(FrameError) -> QuietHours {
        let days = Set(self.weekdays.map { Int($0) })
        return QuietHours(
            start: Int(self.start), end: Int(self.end), weekdays: days.sorted(), timeZone: self.timeZone,
            manner: try known(self.manner, field: "quiet_hours.manner"))
    }
}

extension WireSettings {
    init(_ settings: AllSettings) {
        self.init()
        self.person = WirePersonSettings(settings.person)
        self.conversations = settings.conversations.sorted { $0.key < $1.key }.map {
            WireConversationSettings($0.key, $0.value)
        }
        self.blocked = settings.blocked.map(\.rawValue)
    }

    func model() throws(FrameError) -> AllSettings {
        var byConversation: [ConversationID: ConversationSettings] = [:]
        for settings in self.conversations {
            let (conversation, own) = try settings.model()
            byConversation[conversation] = own
        }
        return AllSettings(
            person: try self.person.model(), conversations: byConversation, blocked: sortedUsers(self.blocked))
    }
}
