import TidingsModel

extension ReferenceStore {
    mutating func setConversationSettings(
        _ key: UserKey, _ conversation: ConversationID, _ settings: ConversationSettings, at: Int64
    ) -> StoreResult {
        let all = self.settings(of: key)
        if let fault = StoreRules.fault(in: settings, of: conversation, among: all, at: at) { return .refused(fault) }
        return self.setLevel(of: settings, for: conversation, of: key)
    }

    private mutating func setLevel(
        of settings: ConversationSettings, for conversation: ConversationID, of key: UserKey
    ) -> StoreResult {
        let before = self.settings(of: key).conversations[conversation] ?? ConversationSettings()
        let after = before.withLevel(of: settings)
        return self.appendIfChanged(key, .conversationSettings(conversation, after)) {
            $0.set(after, for: conversation)
        }
    }

    mutating func setConversationState(
        _ key: UserKey, _ conversation: ConversationID, _ change: ConversationStateChange, at: Int64
    ) -> StoreResult {
        let all = self.settings(of: key)
        let after = StoreRules.settings(of: conversation, after: change, among: all, at: at)
        if let fault = StoreRules.fault(in: change, of: conversation, among: all, after: after) {
            return .refused(fault)
        }
        return self.appendIfChanged(key, .conversationSettings(conversation, after)) {
            $0.set(after, for: conversation)
        }
    }

    mutating func endLevel(_ key: UserKey, _ conversation: ConversationID, at: Int64) -> StoreResult {
        guard let until = self.settings(of: key).conversations[conversation]?.levelUntil, until <= at else {
            return .noted(nil, deliveries: [])
        }
        return self.setLevel(of: ConversationSettings(), for: conversation, of: key)
    }

    mutating func setPersonSettings(_ key: UserKey, _ settings: PersonSettings) -> StoreResult {
        if let fault = StoreRules.fault(in: settings) { return .refused(fault) }
        let settings = settings.replacing(self.settings(of: key).person)
        return self.appendIfChanged(key, .personSettings(settings)) { $0.person = settings }
    }

    mutating func setBlocked(_ key: UserKey, _ user: UserID, isBlocked: Bool) -> StoreResult {
        let all = self.settings(of: key)
        if let fault = StoreRules.fault(inBlocking: user, isBlocked: isBlocked, by: key, among: all) {
            return .refused(fault)
        }
        return self.appendIfChanged(key, .blocked(user, isBlocked)) { $0.setBlocked(user, isBlocked) }
    }

    func settings(of key: UserKey) -> AllSettings { self.people.read(key) { $0.settings } ?? AllSettings() }

    /// Nothing happens if it was set already.
    private mutating func appendIfChanged(
        _ key: UserKey, _ body: LogEntry.Body, _ change: (inout AllSettings) -> Void
    ) -> StoreResult {
        let before = self.settings(of: key)
        var settings = before
        change(&settings)
        guard settings != before else { return .noted(nil, deliveries: []) }
        // Changed in place: a log shared by two values would be copied by the next entry.
        let delivery = self.people[self.people.place(making: key)].append(body, of: key.user) { person in
            person.changeSettings(to: settings)
        }
        return .noted(body, deliveries: [delivery])
    }
}
