import APNsModel
package import StoreModel
package import TidingsModel

// What differs from app to app is set from the apps' records, while the server runs, too. The maps name apps that are not as the others are,
// so that looking something up stays one look into a dictionary.
extension ServerSettings {
    package mutating func apply(_ record: ManagedApp) {
        self.credentialTopics[record.id] = record.pushTopics
        self.activeCredentials[record.id] = record.pushCredentials.filter { $0.state == .active }.map(\.id)
        self.apply(record.settings, to: record.id)
        if record.isSuspended { self.suspendedApps.insert(record.id) } else { self.suspendedApps.remove(record.id) }
    }

    package mutating func apply(_ settings: AppSettings, to app: AppID) {
        self.words[app] = settings.words
        self.membersMaxByApp[app] = settings.membersMax
        self.devicesMaxByApp[app] = settings.devicesMax
        self.limitsByApp[app] =
            settings.limits.isEmpty || self.isRateFree ? nil : settings.limits.over(self.limits)
        let topics = Set(settings.pushTopics + (self.credentialTopics[app] ?? [])).sorted()
        self.pushTopics[app] = topics.isEmpty ? nil : topics
        self.pushTextModes[app] = settings.pushText == .serviceExtension ? nil : settings.pushText
        self.pushRules[app] = settings.push == PushRules() ? nil : settings.push
        self.tags[app] = settings.tags.isEmpty ? nil : Set(settings.tags)
        Self.set(settings.isOnlyPushSender, app, in: &self.onlyPushSenders)
        Self.set(settings.hasOwnProfiles, app, in: &self.appsWithOwnProfiles)
        self.offeredAccounts = self.offeredAccounts.filter { $0.value.app != app }
        // tidy: order does not leave: it is a list, and each id is its own
        for id in settings.offeredAccounts {
            let account = UserKey(app: app, user: UserID(id))
            self.offeredAccounts[UserID(account.description)] = account
        }
    }

    private static func set(_ isMember: Bool, _ app: AppID, in apps: inout Set<AppID>) {
        if isMember { apps.insert(app) } else { apps.remove(app) }
    }
}

extension ManagedApp {
    /// The bundle identifiers of its active credentials; nil if it has none, or one for each topic of a team.
    fileprivate var pushTopics: [String]? {
        let active = self.pushCredentials.filter { $0.state == .active }
        guard !active.isEmpty, active.allSatisfy({ !$0.topics.isEmpty }) else { return nil }
        return Set(active.flatMap(\.topics).map { APNsPushType.bundleID(ofTopic: $0) }).sorted()
    }
}
