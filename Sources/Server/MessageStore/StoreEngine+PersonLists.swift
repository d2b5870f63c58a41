import StoreModel
import TidingsModel

extension StoreEngine {
    /// By the person's rows, and for the conversations whose rows are behind by memory.
    func conversationList(of key: UserKey, before: LogPosition?, limit: Int) throws -> StoreResult {
        guard let person = try self.find(key) else { return .conversationList([], hasMore: false) }
        let end = before ?? person.head + 1
        let behind = Set(person.changedConversations)
        // As many as memory may know better.
        self.sql.newestConversations.bind(person.number, min(end, person.head + 1), Int64(limit + 1 + behind.count))
        var found = try self.sql.newestConversations.all { row in
            (number: ConversationNumber(rawValue: row.position(0)), place: LogPosition(try row.count(1)))
        }
        found.removeAll { behind.contains($0.number) }
        // tidy: order does not leave: they are sorted
        for number in behind {
            guard let state = person.conversations[number], state.last > 0, state.last < end else { continue }
            found.append((number, state.last))
        }
        found.sort { $0.place > $1.place }
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
            id: id, place: state.last, name: nil, portrait: nil, unread: state.unread, mentions: state.mentions,
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
        var next = state.last
        for _ in 0..<StoreRules.newestLooksMax where next > 0 && told.newest == nil {
            let entry = try self.entry(at: next, of: person, &run)
            told.newest = try self.presentMessage(at: entry.record, to: person).map { .init($0) }
            next = entry.earlier ?? 0
        }
        return told
    }
}
