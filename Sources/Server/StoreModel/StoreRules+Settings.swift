package import TidingsModel

extension StoreRules {
    package static let conversationSettingsMax = 1_000
    /// The most drafts of one person, so that all of them fit an answer.
    package static let draftsMax = 64
    package static let blockedMax = 1_000
    /// The most profiles of one command.
    package static let profilesMax = 1_000
    package static let languageBytesMax = 35

    /// `all` are the settings up to now; `at` is wall milliseconds.
    package static func fault(
        in settings: ConversationSettings, of conversation: ConversationID, among all: AllSettings, at: Int64
    ) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            _ = try UserID.validated(conversation.target, field: "conversation.target")
            if let until = settings.levelUntil {
                try InvalidField.check(settings.level != nil, "level_until", "must be left out where there is no level")
                try InvalidField.check(until > at, "level_until", "must be in the future, after \(at), got \(until)")
            }
            if settings != ConversationSettings() { try Self.checkRoom(for: conversation, in: all) }
        }
    }

    private static func checkRoom(for conversation: ConversationID, in all: AllSettings) throws(InvalidField) {
        guard all.conversations[conversation] == nil, all.conversations.count >= Self.conversationSettingsMax else {
            return
        }
        throw InvalidField(
            field: "conversation",
            rule: "must be one of at most \(Self.conversationSettingsMax) with settings of their own")
    }

    /// Returns the changed settings. A later pin has a later time, whatever the clock has done since.
    package static func settings(
        of conversation: ConversationID, after change: ConversationStateChange, among all: AllSettings, at: Int64
    ) -> ConversationSettings {
        var at = at
        if change == .pinned(true) {
            // tidy: order does not leave: the newest is taken
            let newest = all.conversations.values.map { $0.pinnedAt ?? 0 }.max() ?? 0
            at = max(at, newest + 1)
        }
        return all.settings(of: conversation, after: change, at: at)
    }

    /// `all` are the settings up to now, `after` the conversation's with the change.
    package static func fault(
        in change: ConversationStateChange, of conversation: ConversationID, among all: AllSettings,
        after: ConversationSettings
    ) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            _ = try UserID.validated(conversation.target, field: "conversation.target")
            try change.validate()
            if after != ConversationSettings() { try Self.checkRoom(for: conversation, in: all) }
            guard after.draft != nil, all.conversations[conversation]?.draft == nil else { return }
            // tidy: order does not leave: they are counted
            let drafts = all.conversations.values.count { $0.draft != nil }
            guard drafts >= Self.draftsMax else { return }
            throw InvalidField(
                field: "draft", rule: "must be one of at most \(Self.draftsMax) at a time: send or remove others")
        }
    }

    package static func fault(in settings: PersonSettings) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            if let language = settings.language {
                try InvalidField.check(language.utf8.count, in: 1...Self.languageBytesMax, "language", unit: " bytes")
            }
            try settings.quietHours?.validate()
        }
    }

    /// - Parameters:
    ///   - accountNames: what the app's accounts are called: nobody may give themselves such a name.
    ///   - isOwn: the person has asked; the backend may choose any.
    package static func fault(
        in profiles: [UserProfile], isOwn: Bool, accountNames: @autoclosure () throws -> [String]
    ) rethrows -> ServerFrame.Problem? {
        let fault = Self.problem { () throws(InvalidField) in
            try InvalidField.check(profiles.count, in: 1...Self.profilesMax, "profiles")
            for profile in profiles {
                _ = try UserID.validated(profile.id.rawValue, field: "user")
                try profile.profile.validate()
            }
        }
        guard fault == nil, isOwn else { return fault }
        let names = try accountNames()
        return profiles.lazy.compactMap(\.profile.name).compactMap {
            Self.fault(inOwnName: $0, field: "name", accountNames: names)
        }.first
    }

    /// Refuses a name like an account's: a person with it could speak in the account's name.
    package static func fault(inOwnName name: String, field: String, accountNames: [String]) -> ServerFrame.Problem? {
        let folded = DisplayName.folded(name)
        guard accountNames.contains(where: { DisplayName.folded($0) == folded }) else { return nil }
        return .init(
            code: .notAllowed, field: field, rule: "must be another one: an account of the app has it")
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
}
