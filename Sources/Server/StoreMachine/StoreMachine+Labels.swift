import OrderedCollections
import StoreModel
import TidingsModel

// Aliases and tags.
extension StoreMachine {
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

    func user(called alias: Alias, in app: AppID) throws -> UserID? {
        let key = AliasKey(app: app, alias: alias)
        if let known = self.aliasTail[key] { return known }
        return try self.rows.alias(key)
    }

    /// Rows may be ahead when it is applied again: in the end each alias is whose the last record says.
    func applyLabels(
        _ labels: PersonLabels, removed: [Alias], of key: UserKey, at position: JournalPosition
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
        for (key, user) in self.aliasTail.take(&rows) { try self.rows.put(.alias(key, user)) }
    }

    /// For the dump; no empty dictionaries.
    func allAliases() throws -> [AppID: [Alias: UserID]] {
        var all: [AppID: [Alias: UserID]] = [:]
        for (key, user) in try self.rows.allAliases() { all[key.app, default: [:]][key.alias] = user }
        for (key, user) in self.aliasTail { all[key.app, default: [:]][key.alias] = user }
        return all.filter { !$0.value.isEmpty }
    }
}
