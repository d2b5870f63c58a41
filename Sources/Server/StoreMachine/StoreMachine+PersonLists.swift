import StoreModel
import TidingsModel

extension StoreMachine {
    /// By the person's rows, and for the conversations whose rows are behind by memory.
    func conversationList(of key: UserKey, before: LogPosition?, limit: Int) throws -> StoreResult {
        guard let person = try self.find(key) else { return .conversationList([], hasMore: false) }
        let end = before ?? person.head + 1
        let behind = Set(person.changedConversations)
        // As many as memory may know better.
        var found = try self.rows.newestConversations(
            of: person.number, before: min(end, person.head + 1), limit: limit + 1 + behind.count)
        found.removeAll { behind.contains($0.number) }
        // tidy: order does not leave: they are sorted
        for number in behind {
            guard let state = person.conversations[number], state.listed > 0, state.listed < end else { continue }
            found.append((number: number, listed: state.listed))
        }
        found.sort { $0.listed > $1.listed }
        var run = LogRun()
        let page = try found.prefix(limit).map { try self.personalConversation($0.number, of: person, &run) }
        return .conversationList(page, hasMore: found.count > limit)
    }

    private func personalConversation(
        _ number: ConversationNumber, of person: PersonState, _ run: inout LogRun
    ) throws -> PersonalConversation {
        let id = try self.conversationID(of: number)
        let state = try self.stateOrNew(number, of: person)
        var told = PersonalConversation(
            id: id, place: state.listed, name: nil, portrait: nil, unread: state.unread, mentions: state.mentions,
            isMuted: person.settings.isMuted(id),
            settings: person.settings.conversations[id]?.withoutDraft ?? ConversationSettings())
        if id.type.targetIsPeer {
            let profile = try self.readablePerson(UserKey(app: person.key.app, user: UserID(id.target)))?.profile
            (told.name, told.portrait) = (profile?.name, profile?.portrait)
        } else {
            let conversation = try self.conversation(number.number)
            (told.name, told.portrait) = (conversation.name.isEmpty ? nil : conversation.name, conversation.portrait)
            told.isDissolved = conversation.isDissolved
        }
        var next = state.listed
        for _ in 0..<StoreRules.newestLooksMax where next > 0 && told.newest == nil {
            let entry = try self.entry(at: next, of: person, &run)
            if let message = try self.presentMessage(at: entry.record, to: person),
                !message.flags.contains(.unlisted)
            {
                told.newest = PersonalConversation.Newest(message)
            }
            next = entry.earlier ?? 0
        }
        return told
    }
}
