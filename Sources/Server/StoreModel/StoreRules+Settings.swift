package import TidingsModel

extension StoreRules {
    package static let conversationSettingsMax = 1_000
    package static let blockedMax = 1_000
    package static let languageBytesMax = 35

    /// `all` are the settings up to now; `at` is wall milliseconds.
    package static func fault(
        in settings: ConversationSettings, of conversation: ConversationID, among all: AllSettings, at: Int64
    ) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            _ = try UserID.validated(conversation.target, field: "conversation.target")
            if let until = settings.levelUntil {
                guard settings.level != nil else {
                    throw InvalidField(field: "level_until", rule: "must be left out where there is no level")
                }
                guard until > at else {
                    throw InvalidField(field: "level_until", rule: "must be in the future, after \(at), got \(until)")
                }
            }
            let isNew = settings != ConversationSettings() && all.conversations[conversation] == nil
            if isNew, all.conversations.count >= Self.conversationSettingsMax {
                throw InvalidField(
                    field: "conversation",
                    rule: "must be one of at most \(Self.conversationSettingsMax) with settings of their own")
            }
        }
    }

    package static func fault(in settings: PersonSettings) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            if let language = settings.language {
                try Self.check(language, field: "language", bytes: 1...Self.languageBytesMax)
            }
            try settings.quietHours?.validate()
        }
    }

    package static func fault(
        inBlocking user: UserID, isBlocked: Bool, by key: UserKey, among all: AllSettings
    ) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            _ = try UserID.validated(user.rawValue, field: "user")
            guard user != key.user else { throw InvalidField(field: "user", rule: "must be somebody else") }
            if isBlocked, !all.blocked.contains(user), all.blocked.count >= Self.blockedMax {
                throw InvalidField(field: "user", rule: "must be one of at most \(Self.blockedMax) blocked people")
            }
        }
    }
}

extension AllSettings {
    /// A level with an end counts until that end is carried out (`StoreCommand.endLevel`).
    package func isMuted(_ conversation: ConversationID) -> Bool {
        let own = self.conversations[conversation].map { ConversationSettings(level: $0.level) }
        return self.person.level(of: conversation, own, wall: 0).isMuted
    }

    package var mayMute: Bool { !self.conversations.isEmpty || !self.person.levels.isEmpty }

    package mutating func set(_ settings: ConversationSettings, for conversation: ConversationID) {
        self.conversations[conversation] = settings == ConversationSettings() ? nil : settings
    }

    /// `blocked` stays sorted.
    package mutating func setBlocked(_ user: UserID, _ isBlocked: Bool) {
        self.blocked.removeAll { $0 == user }
        guard isBlocked else { return }
        let index = self.blocked.firstIndex { user < $0 } ?? self.blocked.endIndex
        self.blocked.insert(user, at: index)
    }
}
