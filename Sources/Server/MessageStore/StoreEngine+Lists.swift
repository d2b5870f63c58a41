import StoreModel
import TidingsModel

extension StoreEngine {
    /// By their rows, and for those whose rows are behind by memory.
    func people(of app: AppID, after: UserID?, limit: Int) throws -> StoreResult {
        var behind: Set<UserID> = []
        var known: [PersonSummary] = []
        let underWay = self.round.map { $0.people.dropFirst($0.nextPerson) } ?? []
        for person in self.dirtyPeople + underWay
        where person.isDirty && !person.isSetAside && person.key.app == app {
            guard after.map({ person.key.user > $0 }) ?? true else { continue }
            guard behind.insert(person.key.user).inserted, person.isKnown else { continue }
            known.append(person.summary)
        }
        // As many as memory may know better.
        self.sql.peopleAfter.bind(app.rawValue, after?.rawValue ?? "", Int64(limit + 1 + behind.count))
        let stored = try self.sql.peopleAfter.all { row in
            PersonSummary(
                id: UserID(row.text(0)), isBanned: row.int(1) != 0, devices: Int(try row.count(2)),
                unread: Int(try row.count(3)))
        }
        let people = (stored.filter { !behind.contains($0.id) } + known).sorted { $0.id < $1.id }
        return .people(Array(people.prefix(limit)), hasMore: people.count > limit)
    }
}

extension StoreEngine {
    /// By their rows, and for those whose rows are behind by memory.
    func conversations(of app: AppID, after: ConversationID?, limit: Int) throws -> StoreResult {
        var behind: [ConversationID: ListedConversation] = [:]
        for (conversation, _, _, _) in self.newVersions where conversation.app == app {
            let id = conversation.conversation
            if after.map({ id > $0 }) ?? true { behind[id] = conversation.summary }
        }
        // As many as memory may know better.
        self.sql.conversationsAfter.bind(
            app.rawValue, after?.type.rawValue ?? "", after?.target ?? "", Int64(limit + 1 + behind.count))
        let stored = try self.sql.conversationsAfter.all { row in
            let id = ConversationID(type: try row.conversationType(0), target: row.text(1))
            let summary = ListedConversation(
                id: id, name: row.text(2), portrait: row.optionalText(3), members: 0, isDissolved: row.int(4) != 0)
            return (summary, number: Int64(try row.count(5)), version: try row.count(6))
        }
        var found = stored.filter { behind[$0.0.id] == nil }.map { ($0.0, ($0.number, $0.version)) as Found }
        // tidy: order does not leave: they are sorted
        found += behind.values.map { ($0, nil) }
        found.sort { $0.summary.id < $1.summary.id }
        let page = try found.prefix(limit).map { found in
            var summary = found.summary
            // Not remembered: a list goes through conversations that nobody writes in.
            if let row = found.row {
                summary.members =
                    try self.conversationsByNumber[row.number]?.members.count
                    ?? self.loadMembers(of: row.number, version: row.version).count
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
            id: self.key.user, isBanned: self.account.isBanned, devices: self.signedIn, unread: self.counts.unread)
    }
}
