import StoreModel
import TidingsModel

// Aliases and tags.
extension StoreEngine {
    struct AliasKey: Hashable {
        var app: AppID
        var alias: String
    }

    func labels(of key: UserKey) throws -> PersonLabels { try self.find(key)?.labels ?? PersonLabels() }

    func setLabels(_ key: UserKey, _ change: LabelChange) throws -> StoreResult {
        if let fault = StoreRules.fault(in: change) { return .refused(fault) }
        let before = try self.labels(of: key)
        let after = before.applying(change)
        guard after != before else { return .labels(before) }
        // Unreadable rows must be noticed before anything is written.
        var others: [UserKey] = []
        for alias in after.aliases {
            guard let user = try self.user(called: alias, in: key.app), user != key.user else { continue }
            let other = UserKey(app: key.app, user: user)
            _ = try self.labels(of: other)
            if !others.contains(other) { others.append(other) }
        }
        for other in others {
            let theirs = try self.labels(of: other)
            let taken = after.aliases.filter { theirs.aliases.contains($0) }
            let left = taken.reduce(theirs) { $0.withoutAlias($1) }
            _ = try self.write(.labels(other, left, removed: taken))
        }
        let removed = before.aliases.filter { !after.aliases.contains($0) }
        return try self.write(.labels(key, after, removed: removed))
    }

    func user(called alias: String, in app: AppID) throws -> UserID? {
        if let known = self.aliasTail[AliasKey(app: app, alias: alias)] { return known }
        return try self.sql.alias.bind(app.rawValue, alias).first { UserID($0.text(0)) }
    }

    /// Rows may be ahead when it is applied again: in the end each alias is whose the last record says.
    func applyLabels(
        _ labels: PersonLabels, removed: [String], of key: UserKey, at position: JournalPosition
    ) throws -> StoreResult {
        let person = try self.intern(key)
        for alias in removed { self.aliasTail.updateValue(nil, forKey: AliasKey(app: key.app, alias: alias)) }
        for alias in labels.aliases {
            self.aliasTail.updateValue(key.user, forKey: AliasKey(app: key.app, alias: alias))
        }
        guard position > person.applied else { return .labels(labels) }
        person.labels = labels
        person.labelsChanged = true
        self.touch(person)
        return .labels(labels)
    }

    func storeAliases(_ rows: inout Int) throws {
        // tidy: order does not leave: each row is its own
        while rows > 0, let (key, user) = self.aliasTail.popFirst() {
            rows -= 1
            if let user {
                try self.sql.putAlias.bind(key.app.rawValue, key.alias, user.rawValue).run()
            } else {
                try self.sql.deleteAlias.bind(key.app.rawValue, key.alias).run()
            }
        }
    }

    /// For the dump; no empty dictionaries.
    func allAliases() throws -> [AppID: [String: UserID]] {
        var all: [AppID: [String: UserID]] = [:]
        let row = self.sql.allAliases
        while try row.step() { all[AppID(row.text(0)), default: [:]][row.text(1)] = UserID(row.text(2)) }
        // tidy: order does not leave: each is its own
        for (key, user) in self.aliasTail { all[key.app, default: [:]][key.alias] = user }
        return all.filter { !$0.value.isEmpty }
    }
}
