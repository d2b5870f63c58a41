package import TidingsModel

/// Whom a push is for: a set of an app's people, as they are when a step comes to them.
package enum PushAudience: Hashable, Sendable {
    /// Who has a device that is signed in.
    case everybody
    /// With or without a device, known or not.
    case users([UserID])
    /// Who is called so, with or without a device.
    case alias(String)
    /// Who has the tag, and a device that is signed in.
    case tag(String)
    /// In each of them.
    indirect case all([PushAudience])
    /// In one of them or more.
    indirect case any([PushAudience])
    /// Who has a device that is signed in, and is not in it.
    indirect case not(PushAudience)

    /// Somebody an audience names.
    package enum Name: Hashable, Sendable {
        case user(UserID)
        case alias(String)
    }

    /// What of a person decides.
    package struct Facts {
        package var user: UserID
        package var isSignedIn: Bool
        package var labels: PersonLabels

        package init(user: UserID, isSignedIn: Bool, labels: PersonLabels) {
            self.user = user
            self.isSignedIn = isSignedIn
            self.labels = labels
        }
    }

    /// Of an audience that is `sorted`.
    package func includes(_ person: Facts) -> Bool {
        switch self {
        case .everybody: return person.isSignedIn
        case .users(let users):
            let place = users.sortedPlace { $0 < person.user }
            return place < users.count && users[place] == person.user
        case .alias(let alias): return person.labels.aliases.contains(alias)
        case .tag(let tag): return person.isSignedIn && person.labels.tags.contains(tag)
        case .all(let parts): return parts.allSatisfy { $0.includes(person) }
        case .any(let parts): return parts.contains { $0.includes(person) }
        case .not(let part): return person.isSignedIn && !part.includes(person)
        }
    }

    /// With the users it names sorted, without repeats.
    package var sorted: PushAudience {
        switch self {
        case .everybody, .alias, .tag: self
        case .users(let users): .users(Set(users).sorted())
        case .all(let parts): .all(parts.map(\.sorted))
        case .any(let parts): .any(parts.map(\.sorted))
        case .not(let part): .not(part.sorted)
        }
    }

    /// If it names everybody who can be in it: these names, in a fixed order, with repeats. nil where all of an app's people must be
    /// looked at.
    package var names: [Name]? {
        switch self {
        case .users(let users): return users.map { .user($0) }
        case .alias(let alias): return [.alias(alias)]
        case .everybody, .tag, .not: return nil
        case .all(let parts): return parts.lazy.compactMap(\.names).first
        case .any(let parts):
            var all: [Name] = []
            for part in parts {
                guard let names = part.names else { return nil }
                all += names
            }
            return all
        }
    }
}

/// What an app calls a person: aliases by its backend, each of one person in the app, tags by the app on a phone. All devices of the
/// person share them.
package struct PersonLabels: Hashable, Sendable {
    /// Sorted, without repeats; at most `aliasesMax`.
    package private(set) var aliases: [String]
    /// Sorted, without repeats; at most `tagsMax`.
    package private(set) var tags: [String]

    package static let aliasesMax = 16
    package static let tagsMax = ClientRequest.tagsMax

    package init(aliases: [String] = [], tags: [String] = []) {
        self.aliases = Set(aliases).sorted()
        self.tags = Set(tags).sorted()
    }

    package var isEmpty: Bool { self.aliases.isEmpty && self.tags.isEmpty }

    package func applying(_ change: LabelChange) -> PersonLabels {
        switch change {
        case .aliases(let aliases): PersonLabels(aliases: aliases, tags: self.tags)
        case .tags(let tags): PersonLabels(aliases: self.aliases, tags: tags)
        }
    }

    package func withoutAlias(_ alias: String) -> PersonLabels {
        PersonLabels(aliases: self.aliases.filter { $0 != alias }, tags: self.tags)
    }
}

/// In place of those before.
package enum LabelChange: Hashable, Sendable {
    /// Who had one of them has it no longer.
    case aliases([String])
    /// Whether they are tags of the app, the core has asked.
    case tags([String])
}
