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
