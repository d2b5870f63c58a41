import StoreModel
import TidingsModel

/// What people set for themselves.
extension StoreEngine {
    func set(
        _ key: UserKey, _ conversation: ConversationID, _ settings: ConversationSettings, at: Int64
    ) throws -> StoreResult {
        let all = try self.settings(of: key)
        if let fault = StoreRules.fault(in: settings, of: conversation, among: all, at: at) { return .refused(fault) }
        if all.conversations[conversation] ?? ConversationSettings() == settings { return .noted(nil, deliveries: []) }
        return try self.write(.conversationSettings(key, conversation, settings, at: at))
    }

    func endLevel(_ key: UserKey, _ conversation: ConversationID, at: Int64) throws -> StoreResult {
        let settings = try self.settings(of: key).conversations[conversation]
        guard let until = settings?.levelUntil, until <= at else { return .noted(nil, deliveries: []) }
        return try self.write(.conversationSettings(key, conversation, ConversationSettings(), at: at))
    }

    func set(_ key: UserKey, _ settings: PersonSettings, at: Int64) throws -> StoreResult {
        if let fault = StoreRules.fault(in: settings) { return .refused(fault) }
        if try self.settings(of: key).person == settings { return .noted(nil, deliveries: []) }
        return try self.write(.personSettings(key, settings, at: at))
    }

    func set(_ key: UserKey, _ user: UserID, isBlocked: Bool, at: Int64) throws -> StoreResult {
        let all = try self.settings(of: key)
        if let fault = StoreRules.fault(inBlocking: user, isBlocked: isBlocked, by: key, among: all) {
            return .refused(fault)
        }
        if all.blocked.contains(user) == isBlocked { return .noted(nil, deliveries: []) }
        return try self.write(.blocked(key, user, isBlocked, at: at))
    }

    func settings(of key: UserKey) throws -> AllSettings { try self.find(key)?.settings ?? AllSettings() }

    // MARK: Applying

    func apply(
        _ settings: ConversationSettings, of conversation: ConversationID, for key: UserKey,
        at position: JournalPosition
    ) throws -> StoreResult {
        let number = try self.number(of: conversation, in: key.app)
        return try self.keep(key, .conversationSettings(conversation, settings), at: position) { person in
            var changed = person.settings
            changed.set(settings, for: conversation)
            try self.change(person, to: changed, muting: [number].compactMap { $0 })
        }
    }

    func apply(_ settings: PersonSettings, for key: UserKey, at position: JournalPosition) throws -> StoreResult {
        try self.keep(key, .personSettings(settings), at: position) { person in
            var changed = person.settings
            changed.person = settings
            // The one case in which totals are counted anew.
            let isMutedOtherwise = settings.levels != person.settings.person.levels
            try self.change(person, to: changed, muting: isMutedOtherwise ? try self.conversations(of: person) : [])
        }
    }

    func apply(
        _ user: UserID, isBlocked: Bool, for key: UserKey, at position: JournalPosition
    ) throws -> StoreResult {
        try self.keep(key, .blocked(user, isBlocked), at: position) { $0.settings.setBlocked(user, isBlocked) }
    }

    private func keep(
        _ key: UserKey, _ body: LogEntry.Body, at position: JournalPosition, _ change: (PersonState) throws -> Void
    ) throws -> StoreResult {
        let person = try self.intern(key)
        guard position > person.applied else { return .done }
        try change(person)
        person.settingsChanged = true
        return .noted(body, deliveries: [self.append(position, to: person, in: .none)])
    }

    /// Takes over settings that may mute some conversations, or no longer.
    private func change(
        _ person: PersonState, to settings: AllSettings, muting numbers: [ConversationNumber]
    ) throws {
        // Whoever is not in memory yet is loaded as muted as before.
        let known = try numbers.filter { try self.conversationState($0, of: person) != nil }
        person.settings = settings
        for number in known {
            guard var state = person.conversations[number] else { continue }
            let isMuted = try self.isMuted(number, for: person)
            guard isMuted != state.isMuted else { continue }
            state.isMuted = isMuted
            person.counts.unread += isMuted ? -state.unread : state.unread
            person.conversations[number] = state
        }
    }

    /// The conversations a person has entries of.
    func conversations(of person: PersonState) throws -> [ConversationNumber] {
        var numbers = Set(person.changedConversations)
        self.sql.allConversationStates.bind(1, person.number)
        while try self.sql.allConversationStates.step() {
            numbers.insert(ConversationNumber(rawValue: self.sql.allConversationStates.position(0)))
        }
        return Array(numbers)
    }
}

// MARK: - Custom messages

extension StoreEngine {
    struct CustomKey: Hashable {
        var app: AppID
        var id: ClientMessageID
    }

    func accept(_ operation: CustomOperation) throws -> StoreResult {
        if let fault = StoreRules.fault(in: operation) { return .refused(fault) }
        if let earlier = try self.customMessage(operation.clientMessageID, in: operation.app) {
            return .duplicate(earlier.id, sentAt: earlier.at)
        }
        if try self.isUsed(operation.message.id) { return .refused(StoreRules.usedMessageID(operation.message.id)) }
        var operation = operation
        operation.recipients = Set(operation.recipients).sorted()
        return try self.write(.custom(operation))
    }

    private func customMessage(_ id: ClientMessageID, in app: AppID) throws -> PersonState.SentMessage? {
        if let sent = self.customTail[CustomKey(app: app, id: id)] { return sent }
        self.sql.customMessage.bind(1, app.rawValue)
        self.sql.customMessage.bind(2, id.rawValue)
        guard try self.sql.customMessage.step() else { return nil }
        defer { self.sql.customMessage.reset() }
        return PersonState.SentMessage(
            id: MessageID(rawValue: self.sql.customMessage.position(0)), at: self.sql.customMessage.int(1))
    }

    func apply(_ operation: CustomOperation, at position: JournalPosition) throws -> StoreResult {
        let key = CustomKey(app: operation.app, id: operation.clientMessageID)
        self.customTail[key] = PersonState.SentMessage(id: operation.message.id, at: operation.message.sentAt)
        self.noteID(operation.message.id, position)
        var deliveries: [Delivery] = []
        for user in operation.recipients {
            let person = try self.intern(UserKey(app: operation.app, user: user))
            guard position > person.applied else { continue }
            deliveries.append(self.append(position, to: person, in: .none))
        }
        return .accepted(deliveries: deliveries)
    }
}
