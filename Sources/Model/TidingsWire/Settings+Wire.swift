import SwiftProtobuf
import TidingsModel

extension WireConversationSettings {
    init(_ conversation: ConversationID, _ settings: ConversationSettings) {
        self.init()
        self.conversation = WireConversation(conversation)
        if let level = settings.level { self.level = level.rawValue }
        if let until = settings.levelUntil { self.levelUntil = until }
    }

    func model() throws(FrameError) -> (ConversationID, ConversationSettings) {
        let level: NotificationLevel? = self.hasLevel ? try known(self.level, field: "level") : nil
        return (
            try self.conversation.model(field: "conversation"),
            ConversationSettings(level: level, levelUntil: self.hasLevelUntil ? self.levelUntil : nil)
        )
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
