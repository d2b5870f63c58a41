import StoreModel
import TidingsModel

extension StoreMachine {
    /// By their rows, and for those whose rows are behind by memory.
    func people(of app: AppID, after: UserID?, limit: Int) throws -> StoreResult {
        var behind: Set<UserID> = []
        var known: [PersonSummary] = []
        let underWay = self.round.map { $0.people.dropFirst($0.nextPerson) } ?? []
        for person in self.dirtyPeople + underWay where person.isDirty && person.key.app == app {
            guard after.map({ person.key.user > $0 }) ?? true else { continue }
            guard behind.insert(person.key.user).inserted, person.isKnown else { continue }
            known.append(person.summary)
        }
        // As many as memory may know better.
        let stored = try self.rows.people(of: app, after: after, limit: limit + 1 + behind.count)
        let people = (stored.filter { !behind.contains($0.id) } + known).sorted { $0.id < $1.id }
        return .people(Array(people.prefix(limit)), hasMore: people.count > limit)
    }
}

extension StoreMachine {
    /// By their rows, and for those whose rows are behind by memory.
    func conversations(of app: AppID, after: ConversationID?, limit: Int) throws -> StoreResult {
        var behind: [ConversationID: ListedConversation] = [:]
        for (conversation, _, _, _) in self.newVersions where conversation.app == app {
            let id = conversation.conversation
            if after.map({ id > $0 }) ?? true { behind[id] = conversation.summary }
        }
        // As many as memory may know better.
        let stored = try self.rows.conversations(of: app, after: after, limit: limit + 1 + behind.count)
        var found = stored.filter { behind[$0.summary.id] == nil }
            .map { ($0.summary, ($0.number, $0.version)) as Found }
        // tidy: order does not leave: they are sorted
        found += behind.values.map { ($0, nil) }
        found.sort { $0.summary.id < $1.summary.id }
        let page = try found.prefix(limit).map { found in
            var summary = found.summary
            // Not remembered: a list goes through conversations that nobody writes in.
            if let row = found.row {
                summary.members =
                    try self.conversationsByNumber[row.number]?.members.count
                    ?? self.rows.members(of: row.number, version: row.version).count
            }
            return summary
        }
        return .conversations(page, hasMore: found.count > limit)
    }

    private typealias Found = (summary: ListedConversation, row: (number: Int64, version: UInt64)?)
}

extension MembersState {
    fileprivate var summary: ListedConversation {
        ListedConversation(
            id: self.conversation, name: self.name, portrait: self.portrait, members: self.members.count,
            isDissolved: self.isDissolved)
    }
}

extension PersonState {
    fileprivate var isKnown: Bool {
        self.head > 0 || self.signedIn > 0 || !self.profile.isEmpty || self.account != AccountState()
            || !self.labels.isEmpty
    }

    fileprivate var summary: PersonSummary {
        PersonSummary(
            id: self.key.user, ban: self.account.ban, devices: self.signedIn, unread: self.counts.unread)
    }
}
