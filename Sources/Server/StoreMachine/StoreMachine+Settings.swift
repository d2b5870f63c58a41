import OrderedCollections
import StoreModel
import TidingsModel

extension StoreMachine {
    func setConversationSettings(
        _ key: UserKey, _ conversation: ConversationID, _ settings: ConversationSettings, at: Int64
    ) throws -> StoreResult {
        let all = try self.settings(of: key)
        if let fault = StoreRules.fault(in: settings, of: conversation, among: all, at: at) { return .refused(fault) }
        return try self.setLevel(of: settings, for: conversation, of: key, at: at)
    }

    private func setLevel(
        of settings: ConversationSettings, for conversation: ConversationID, of key: UserKey, at: Int64
    ) throws -> StoreResult {
        let before = try self.settings(of: key).conversations[conversation] ?? ConversationSettings()
        let after = before.withLevel(of: settings)
        if after == before { return .noted(nil, deliveries: []) }
        return try self.write(.conversationSettings(key, conversation, after.withoutDraft, at: at))
    }

    func setConversationState(
        _ key: UserKey, _ conversation: ConversationID, _ change: ConversationStateChange, at: Int64
    ) throws -> StoreResult {
        let all = try self.settings(of: key)
        let after = StoreRules.settings(of: conversation, after: change, among: all, at: at)
        if let fault = StoreRules.fault(in: change, of: conversation, among: all, after: after) {
            return .refused(fault)
        }
        let before = all.conversations[conversation] ?? ConversationSettings()
        if after == before { return .noted(nil, deliveries: []) }
        var draft: JournalRecord.Draft?
        if after.draft != before.draft {
            draft = .init(text: after.draft?.text, earlier: try self.find(key)?.draftRecords[conversation])
        }
        return try self.write(.conversationSettings(key, conversation, after.withoutDraft, draft: draft, at: at))
    }

    func endLevel(_ key: UserKey, _ conversation: ConversationID, at: Int64) throws -> StoreResult {
        let settings = try self.settings(of: key).conversations[conversation]
        guard let until = settings?.levelUntil, until <= at else { return .noted(nil, deliveries: []) }
        return try self.setLevel(of: ConversationSettings(), for: conversation, of: key, at: at)
    }

    func setPersonSettings(_ key: UserKey, _ settings: PersonSettings, at: Int64) throws -> StoreResult {
        if let fault = StoreRules.fault(in: settings) { return .refused(fault) }
        let earlier = try self.settings(of: key).person
        let settings = settings.replacing(earlier)
        if earlier == settings { return .noted(nil, deliveries: []) }
        return try self.write(.personSettings(key, settings, at: at))
    }

    func setBlocked(_ key: UserKey, _ user: UserID, isBlocked: Bool, at: Int64) throws -> StoreResult {
        let all = try self.settings(of: key)
        if let fault = StoreRules.fault(inBlocking: user, isBlocked: isBlocked, by: key, among: all) {
            return .refused(fault)
        }
        if all.blocked.contains(user) == isBlocked { return .noted(nil, deliveries: []) }
        return try self.write(.blocked(key, user, isBlocked, at: at))
    }

    func settings(of key: UserKey) throws -> AllSettings { try self.find(key)?.settings ?? AllSettings() }

    // MARK: Applying

    func applyConversationSettings(
        _ settings: ConversationSettings, draft: JournalRecord.Draft?, of conversation: ConversationID,
        for key: UserKey, wall: Int64, at position: JournalPosition
    ) throws -> StoreResult {
        // The text before is in no answer any more. Also when the record is applied again: it may not have been overwritten yet.
        if let earlier = draft?.earlier { self.erasureTail.insert(earlier) }
        let number = try self.number(of: conversation, in: key.app)
        var settings = settings
        if let draft {
            settings.draft = draft.text.map { ConversationDraft(text: $0, writtenAt: wall) }
        } else {
            settings.draft = try self.settings(of: key).conversations[conversation]?.draft
        }
        return try self.applySettings(key, .conversationSettings(conversation, settings), at: position) { person in
            if let draft {
                person.draftRecords[conversation] = draft.text == nil ? nil : position
                if draft.earlier != nil { person.hasReplacedDraft = true }
            }
            var changed = person.settings
            changed.set(settings, for: conversation)
            let bytes = changed.draftBytes(of: conversation) - person.settings.draftBytes(of: conversation)
            try self.replaceSettings(of: person, with: changed, muting: [number].compactMap { $0 })
            person.draftBytes += bytes
            self.draftBytes += bytes
        }
    }

    func applyPersonSettings(
        _ settings: PersonSettings, for key: UserKey, at position: JournalPosition
    ) throws -> StoreResult {
        try self.applySettings(key, .personSettings(settings), at: position) { person in
            var changed = person.settings
            changed.person = settings
            // The one case in which totals are counted anew.
            let isMutedOtherwise = settings.levels != person.settings.person.levels
            try self.replaceSettings(
                of: person, with: changed, muting: isMutedOtherwise ? try self.conversations(of: person) : [])
        }
    }

    func applyBlocked(
        _ user: UserID, isBlocked: Bool, for key: UserKey, at position: JournalPosition
    ) throws -> StoreResult {
        try self.applySettings(key, .blocked(user, isBlocked), at: position) {
            $0.settings.setBlocked(user, isBlocked)
        }
    }

    private func applySettings(
        _ key: UserKey, _ body: LogEntry.Body, at position: JournalPosition, _ change: (PersonState) throws -> Void
    ) throws -> StoreResult {
        let person = try self.intern(key)
        guard position > person.applied else { return .done }
        try change(person)
        person.settingsChanged = true
        return .noted(body, deliveries: [self.append(.init(record: position, conversation: .none), to: person)])
    }

    private func replaceSettings(
        of person: PersonState, with settings: AllSettings, muting numbers: [ConversationNumber]
    ) throws {
        // Conversations that are not in memory are loaded here, with the settings of before.
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

    func conversations(of person: PersonState) throws -> [ConversationNumber] {
        Array(Set(person.changedConversations).union(try self.rows.conversations(of: person.number)))
    }
}

// MARK: - Custom messages

extension StoreMachine {
    func acceptCustom(_ operation: CustomOperation) throws -> StoreResult {
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
        let key = CustomKey(app: app, id: id)
        return try self.customTail[key] ?? self.rows.customMessage(key)
    }

    func applyCustom(_ operation: CustomOperation, at position: JournalPosition) throws -> StoreResult {
        let key = CustomKey(app: operation.app, id: operation.clientMessageID)
        self.customTail[key] = PersonState.SentMessage(id: operation.message.id, at: operation.message.sentAt)
        self.rememberID(operation.message.id, position)
        self.count(in: operation.app) { $0.customMessages.add(1, bytes: operation.message.content.utf8.count) }
        var deliveries: [Delivery] = []
        for user in operation.recipients {
            let person = try self.intern(UserKey(app: operation.app, user: user))
            guard position > person.applied else { continue }
            deliveries.append(self.append(.init(record: position, conversation: .none), to: person))
        }
        return .accepted(deliveries: deliveries)
    }
}
