package import TidingsModel

/// Whom a push is for: a set of an app's people, or of their devices, as they are when a step comes to them.
package enum PushAudience: Hashable, Sendable {
    /// Who has a device that is signed in.
    case everybody
    /// With or without a device, known or not.
    case users([UserID])
    /// These devices of the audience's people, as far as they are signed in.
    case devices([Device])
    /// Who is called so, with or without a device.
    case alias(Alias)
    /// Who has the tag, and a device that is signed in.
    case tag(String)
    /// In each of them.
    indirect case all([PushAudience])
    /// In one of them or more.
    indirect case any([PushAudience])
    /// Who has a device that is signed in, and is not in it.
    indirect case not(PushAudience)

    package struct Device: Hashable, Sendable, Comparable {
        package var user: UserID
        package var device: DeviceID

        package init(user: UserID, device: DeviceID) {
            self.user = user
            self.device = device
        }

        package static func < (one: Device, other: Device) -> Bool {
            one.user == other.user ? one.device < other.device : one.user < other.user
        }
    }

    /// A person named by an audience.
    package enum Name: Hashable, Sendable {
        case user(UserID)
        case alias(Alias)
    }

    /// The facts about a person that decide.
    package struct Facts {
        package var user: UserID
        /// How many of the person's devices are.
        package var signedIn: Int
        package var labels: PersonLabels

        package init(user: UserID, signedIn: Int, labels: PersonLabels) {
            self.user = user
            self.signedIn = signedIn
            self.labels = labels
        }

        var isSignedIn: Bool { self.signedIn > 0 }
    }

    /// Who of one person is in an audience.
    package enum Reach: Hashable, Sendable {
        case nobody
        /// The person, and each of their devices if there are any.
        case person
        /// Not all of the person's, sorted.
        case devices([DeviceID])
    }

    /// Returns the reach of an audience that is `sorted`.
    ///
    /// - Parameter signedIn: the person's devices that are signed in, sorted. Asked for only if the audience names devices of theirs.
    package func reach(_ person: Facts, signedIn: () throws -> [DeviceID]) rethrows -> Reach {
        let all = self.namesDevices(of: person.user) ? try signedIn() : []
        guard !all.isEmpty else { return self.includes(person, nil) ? .person : .nobody }
        let some = all.filter { self.includes(person, $0) }
        return some.isEmpty ? .nobody : some.count == all.count ? .person : .devices(some)
    }

    private func namesDevices(of user: UserID) -> Bool {
        switch self {
        case .everybody, .users, .alias, .tag: return false
        case .devices(let devices):
            let place = devices.sortedPlace { $0.user < user }
            return place < devices.count && devices[place].user == user
        case .all(let parts), .any(let parts): return parts.contains { $0.namesDevices(of: user) }
        case .not(let part): return part.namesDevices(of: user)
        }
    }

    /// - Parameter device: nil for the person without a device, and for any that the audience does not name.
    private func includes(_ person: Facts, _ device: DeviceID?) -> Bool {
        switch self {
        case .everybody: return person.isSignedIn
        case .users(let users):
            let place = users.sortedPlace { $0 < person.user }
            return place < users.count && users[place] == person.user
        case .devices(let devices):
            guard let device else { return false }
            let wanted = Device(user: person.user, device: device)
            let place = devices.sortedPlace { $0 < wanted }
            return place < devices.count && devices[place] == wanted
        case .alias(let alias): return person.labels.aliases.contains(alias)
        case .tag(let tag): return person.isSignedIn && person.labels.tags.contains(tag)
        case .all(let parts): return parts.allSatisfy { $0.includes(person, device) }
        case .any(let parts): return parts.contains { $0.includes(person, device) }
        case .not(let part): return person.isSignedIn && !part.includes(person, device)
        }
    }

    /// With the users and devices it names sorted, without repeats.
    package var sorted: PushAudience {
        switch self {
        case .everybody, .alias, .tag: self
        case .users(let users): .users(Set(users).sorted())
        case .devices(let devices): .devices(Set(devices).sorted())
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
        case .devices(let devices): return devices.map { .user($0.user) }
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

/// A name of one person in an app, given by its backend beside the id.
package struct Alias: StringIdentifier, JSONWritable {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// An app's labels for a person: aliases by its backend, each of one person in the app, tags by the app on a phone. All devices of the
/// person share them.
package struct PersonLabels: Hashable, Sendable {
    /// Sorted, without repeats; at most `aliasesMax`.
    package private(set) var aliases: [Alias]
    /// Sorted, without repeats; at most `tagsMax`.
    package private(set) var tags: [String]

    package static let aliasesMax = 16
    package static let tagsMax = ClientRequest.tagsMax

    package init(aliases: [Alias] = [], tags: [String] = []) {
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

    package func withoutAlias(_ alias: Alias) -> PersonLabels {
        PersonLabels(aliases: self.aliases.filter { $0 != alias }, tags: self.tags)
    }
}

/// In place of those before.
package enum LabelChange: Hashable, Sendable {
    /// Who had one of them has it no longer.
    case aliases([Alias])
    /// Sets tags; the core has checked that the app has them.
    case tags([String])
}

/// How many an audience has.
package struct AudienceCount: Hashable, Sendable {
    package var people: Int
    /// The number of these people's signed-in devices that are in the audience.
    package var devices: Int

    package init(people: Int = 0, devices: Int = 0) {
        self.people = people
        self.devices = devices
    }

    /// One more person.
    package mutating func add(devices: Int) {
        self.people += 1
        self.devices += devices
    }

    package static func + (left: Self, right: Self) -> Self {
        Self(people: left.people + right.people, devices: left.devices + right.devices)
    }
}
