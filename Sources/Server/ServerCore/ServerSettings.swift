import APNsModel
package import StoreModel
package import TidingsModel

/// An operator's settings: `apply` changes those by app while it runs, the rest come before. Milliseconds; defaults of design.md §3–§5.
package struct ServerSettings: Hashable, Sendable {
    /// 0 to 63.
    package var node: UInt8 = 0
    package var recipientTagSalt: UInt64 = 0
    /// How long an extension token stays good after a newer connect has replaced it.
    package var extensionTokenOverlap: Int64 = 3_600_000

    // Leases (design.md §4).
    package var foregroundAckDeadline: Int64 = 10_000
    package var backgroundAckDeadline: Int64 = 5_000
    package var graceTime: Int64 = 5_000
    package var probeTime: Int64 = 5_000
    /// The longest time a phone keeps its connection in the background (S0.6).
    package var backgroundTimeMax: Int64 = 120_000
    /// For devices to return after a start before anything is pushed to them.
    package var restartGraceTime: Int64 = 20_000
    /// A session without a frame for twice this long ends.
    package var heartbeat: Int64 = 30_000

    /// How long before its token expires a client is told, at most; and at most a fifth of the time left.
    package var tokenWarningTime: Int64 = 300_000
    /// How long a session lives on after its token has expired.
    package var tokenGraceTime: Int64 = 30_000

    // Limits.
    package var limits = RateLimits()
    /// Nobody is held back by a rate, whatever an app says of its own.
    package var isRateFree = false
    /// The limits of apps that have their own, in place of `limits`.
    package var limitsByApp: [AppID: RateLimits] = [:]
    /// Unanswered store commands of one person, above which more are refused with `unavailable`.
    package var personBacklogMax: Int = 1_000
    /// Pages, histories and receipt lists one person may have waiting: each takes the time of many messages.
    package var personReadsMax: Int = 8
    package var appBacklogMax: Int = 100_000
    package var frameBytesMax: UInt32 = 262_144
    /// The largest page of a log or a history: a client reads it at once and holds it in memory.
    package var pageBytesMax: Int { min(Int(self.frameBytesMax), 262_144) }
    /// Told to clients. JSON may write a byte as six: a page, and one message that is larger than a page, takes less
    /// than 1 MiB all the same. A conversation has at most 3,000 members, each less than 640 bytes in JSON, so their
    /// list takes less than 2 MiB.
    package static let serverFrameBytesMax: UInt32 = 2_097_152
    package var sendsInFlightMax: Int = 64
    package var syncsInFlightMax: Int = 4
    package var requestsInFlightMax: Int = 16
    /// Push registrations, reads and sign-outs of one session.
    package var commandsInFlightMax: Int = 16
    /// The most openings under way: as many as an app tells of when it connects.
    package var openedInFlightMax: Int = 256
    /// Between two "is typing" of one person in one conversation that are passed on.
    package var typingInterval: Int64 = 1_000
    package var storeBacklogMax: Int = 200_000
    /// With less room on the store's disk nothing new is stored; 0 for no limit.
    package var freeBytesMin: Int64 = 0
    /// Unsettled entries written to one device before it is left to sync on its own.
    package var liveWindowMax: Int = 256
    package var pageEntriesMax: Int = 200
    /// Answers the HTTP API keeps of one app for 24 hours, with some 200 bytes each on the disk.
    package var idempotencyKeysMax: Int = 1_000_000
    package var recoveryLoadsMax: Int = 256
    package var idleTime: Int64 = 60_000
    /// `idleTime` of people who are in memory for a push job alone.
    package var pushIdleTime: Int64 = 200
    /// How long a `decided` cursor may wait to be written along with others; only ends that a crash would repeat move
    /// it.
    package var cursorFlushTime: Int64 = 1_000

    // Conversations.
    package var devicePolicy: DevicePolicy = .all
    /// Whatever the policy: 1 to 100, because some work is done for each pair of devices.
    package var devicesMax: Int = 20
    package var devicesMaxByApp: [AppID: Int] = [:]
    /// A device that has not connected for this long is signed out; 0 for never.
    package var deviceExpiry: Int64 = 7_776_000_000
    package var roomsPerSessionMax: Int = 5
    package var roomHistoryMax: Int = 50
    package var roomHistoryAge: Int64 = 86_400_000
    package var watchedPerSessionMax: Int = 500
    package var membersMax: Int = 3_000
    package var membersMaxByApp: [AppID: Int] = [:]
    /// Apps whose people may choose their own profile and nicknames; in others the backend alone does.
    package var appsWithOwnProfiles: Set<AppID> = []
    /// Accounts (`MP`) whose card people of all other apps may see, by what these call them: app, slash and id.
    package var offeredAccounts: [UserID: UserKey] = [:]
    package var groupPolicy = ConversationPolicy.group
    package var discussionPolicy = ConversationPolicy.discussion
    package var chatRoomPolicy = ConversationPolicy.chatRoom
    package var recallWindow: Int64 = 120_000
    package var editWindow: Int64 = 120_000
    /// 1 to 100.
    package var historyMax: Int = 100

    // Push (design.md §5).
    /// How long a push waits after the person did something on another device in the foreground; 0 for no wait.
    package var activeElsewhereTime: Int64 = 30_000
    /// Alerts of one conversation within `stormWindow` after which the next ones are merged; 0 for never.
    package var stormLimit: Int = 5
    /// How long alerts are counted, and merged ones wait at most.
    package var stormWindow: Int64 = 60_000
    /// Silent pushes that tell a device its badge fell (apns.md §14); with 0 none of any kind does.
    package var badgePushesPerHour: Int = 3
    /// The hourly budget of silent pushes, which the app's backend shares; it is there also where no badge is pushed.
    package var silentPushesPerHour: Int { self.badgePushesPerHour > 0 ? self.badgePushesPerHour : 3 }
    /// Apps to whose phones nobody else pushes.
    package var onlyPushSenders: Set<AppID> = []
    package var badgePushDelay: Int64 = 10_000
    /// A number that is an alert does not follow another alert within this time: of two APNs may keep one (apns.md §15).
    package var badgeAlertGap: Int64 = 60_000
    /// Numbers that nobody on the phone looks at before they are shown.
    package var directBadgesPerHour: Int = 6
    package var words: [AppID: AppWords] = [:]
    /// How the text of a message reaches its notification, for apps that do not leave it to the service extension.
    package var pushTextModes: [AppID: PushTextMode] = [:]
    /// The apps' rules for the options of notifications, where they differ from `PushRules()`.
    package var pushRules: [AppID: PushRules] = [:]
    /// A message older than this is not pushed. APNs keeps one for 30 days at most (apns.md §15).
    package var pushLifetime: Int64 = 86_400_000
    /// After an outage of APNs the alerts that waited for its end go as one for each conversation, with their number, if the oldest
    /// is older than this.
    package var outageMergeAge: Int64 = 3_600_000
    package var backOffBase: Int64 = 1_000
    package var backOffMax: Int64 = 300_000
    /// The number of people whose tokens, accepted by APNs before, must be refused in a row, for one quarantine reason and in one lane, so
    /// that it is stopped (design.md P8). So many people's refused tokens in a lane that does not work raise an alarm.
    package var quarantineBurst: Int = 5
    package var burstWindow: Int64 = 60_000
    /// Pushes of one lane with the APNs client; the others queue, one person after the other.
    package var pushesInFlightMax: Int = 1_000
    package var personPushesInFlightMax: Int = 20
    /// Apps that push only to these topics and those Apple derives from them; other apps push to any.
    package var pushTopics: [AppID: [String]] = [:]
    /// Topics that push credentials name, beside those set of the app.
    package var credentialTopics: [AppID: [String]] = [:]
    /// Ids of the push credentials that an app sends with.
    package var activeCredentials: [AppID: [String]] = [:]
    /// Nobody connects to them, and their pushes wait.
    package var suspendedApps: Set<AppID> = []
    package var lanesMax: Int = 64
    /// The first wait of a lane that refused tokens have stopped, before one push is tried; doubled by each failed try.
    package var breakerBase: Int64 = 5_000
    /// The longest wait of such a lane.
    package var breakerMax: Int64 = 600_000

    // Push jobs.
    /// With so many legs of jobs under way no step begins: memory is bounded, however slow APNs is.
    package var pushLegsMax: Int = 2_000
    /// The number of commands waiting for the store at which no step begins: people who chat go first.
    package var pushBacklogMax: Int = 5_000
    /// The apps' tags for people.
    package var tags: [AppID: Set<String>] = [:]

    // Drain.
    /// The reconnects of all clients are spread over this time when the server stops.
    package var drainSpread: Int64 = 5_000
    /// How long a draining server waits for its clients before it closes their connections.
    package var drainTime: Int64 = 10_000

    package init() {}

    func policy(of type: ConversationType) -> ConversationPolicy {
        switch type {
        case .discussion: self.discussionPolicy
        case .chatRoom: self.chatRoomPolicy
        case .group, .direct, .customerService, .system, .appPublicService, .publicService, .pushService:
            self.groupPolicy
        }
    }

    package func membersMax(in app: AppID) -> Int { self.membersMaxByApp[app] ?? self.membersMax }

    package func devicesMax(in app: AppID) -> Int { self.devicesMaxByApp[app] ?? self.devicesMax }

    /// Returns the limits of the app and its people; the others are the server's.
    package func limits(of app: AppID) -> RateLimits { self.limitsByApp[app] ?? self.limits }

    /// Returns true if the topic is one of the app's, or one of these with a suffix of Apple's for a kind of push (apns.md §7).
    package func mayPush(to topic: String, in app: AppID) -> Bool {
        guard let topics = self.pushTopics[app] else { return true }
        return topics.contains { own in APNsPushType.allCases.contains { $0.topic(forBundle: own) == topic } }
    }
}

extension ServerSettings {
    /// Returns the offered accounts of other apps among the users asked for.
    func offered(to app: AppID, among users: [UserID]) -> [UserID: UserKey] {
        guard !self.offeredAccounts.isEmpty else { return [:] }
        var offered: [UserID: UserKey] = [:]
        for user in users {
            guard let account = self.offeredAccounts[user], account.app != app else { continue }
            offered[user] = account
        }
        return offered
    }
}
