import APNsModel
package import StoreModel
package import TidingsModel

/// The numbers an operator may change. Times are milliseconds; the defaults are those of DESIGN §3–§5.
package struct ServerSettings: Hashable, Sendable {
    /// The node's number in message ids, 0 to 63.
    package var node: UInt8 = 0
    /// Salt of the recipient tag (DESIGN §7 "Extension"): keeps tags of two installations apart. The tag is opaque, not secret.
    package var recipientTagSalt: UInt64 = 0
    /// How long an extension token is still good after a newer connect has replaced it.
    package var extensionTokenOverlap: Int64 = 3_600_000

    // Leases (DESIGN §4).
    /// How long a device in the foreground may take to settle an entry.
    package var foregroundAckDeadline: Int64 = 10_000
    /// How long a device in the background may take to settle an entry.
    package var backgroundAckDeadline: Int64 = 5_000
    /// How long a device in the foreground that lost its socket may take to return.
    package var graceTime: Int64 = 5_000
    /// How long a device that missed its deadline in the foreground may take to answer the probe.
    package var probeTime: Int64 = 5_000
    /// The longest time a phone keeps its connection in the background (S0.6).
    package var backgroundTimeMax: Int64 = 120_000
    /// How long devices may take to return after a start, before anything is pushed to them.
    package var restartGraceTime: Int64 = 20_000
    /// How often a client sends a ping; twice this long without a frame ends the session.
    package var heartbeat: Int64 = 30_000

    /// How long before a session's token expires its client is told, at most; and at most a fifth of the time left.
    package var tokenWarningTime: Int64 = 300_000
    /// How long a session lives on after its token has expired.
    package var tokenGraceTime: Int64 = 30_000

    // Limits.
    /// How much may be done in a time, by whom.
    package var limits = RateLimits()
    /// How many store commands of one person may be unanswered before more of theirs are refused with `unavailable`.
    package var personBacklogMax: Int = 1_000
    /// How many pages, histories and lists of receipts one person may have waiting for the store: each takes the time of many messages.
    package var personReadsMax: Int = 8
    /// The same for one app, its backend included.
    package var appBacklogMax: Int = 100_000
    /// The largest frame the gateway accepts, in bytes; told to clients.
    package var frameBytesMax: UInt32 = 262_144
    /// The largest page of a log or a history, in bytes: what a client reads at once and has to have whole in memory. Smaller where
    /// clients' frames are.
    package var pageBytesMax: Int { min(Int(self.frameBytesMax), 262_144) }
    /// The largest frame the server sends, in bytes; told to clients. JSON may write a byte as six: a page, and one message that is
    /// larger than a page, takes less than 1 MiB all the same. A conversation has at most 3,000 members, each an id and a nickname of
    /// 64 bytes with the names of the fields: less than 640 bytes in JSON, so that their list takes less than 2 MiB.
    package static let serverFrameBytesMax: UInt32 = 2_097_152
    /// How many sends of one session may be with the store.
    package var sendsInFlightMax: Int = 64
    /// How many syncs of one session may be with the store.
    package var syncsInFlightMax: Int = 4
    /// How many requests of one session may be with the store.
    package var requestsInFlightMax: Int = 16
    /// How many push registrations, reads and sign-outs of one session may be with the store.
    package var commandsInFlightMax: Int = 16
    /// How many opened notifications that one session tells of may be with the store: as many as an app tells when it connects.
    package var openedInFlightMax: Int = 256
    /// How long after "is typing" the next one of the same person in the same conversation is passed on.
    package var typingInterval: Int64 = 1_000
    /// How many store commands may be unanswered before sends are refused with `unavailable`.
    package var storeBacklogMax: Int = 200_000
    /// With less room than this on the store's disk, in bytes, nothing new is taken; 0 for no such limit.
    package var freeBytesMin: Int64 = 0
    /// How many unsettled entries are written to one device before it is left to sync on its own.
    package var liveWindowMax: Int = 256
    /// The largest page of a sync, in entries.
    package var pageEntriesMax: Int = 200
    /// How many people are loaded at the same time after a start.
    package var recoveryLoadsMax: Int = 256
    /// How long a person without work or session stays in memory.
    package var idleTime: Int64 = 60_000
    /// How long a device's `decided` cursor may wait to be written along with others; it is only moved forward by ends that
    /// would be found again after a crash.
    package var cursorFlushTime: Int64 = 1_000

    // Conversations.
    /// How many of a person's devices may be signed in.
    package var devicePolicy: DevicePolicy = .all
    /// How many of them at most, whatever the policy: 1 to 100, for some of what is done for a person is done for each pair of them.
    package var devicesMax: Int = 20
    /// A device that has not connected for this long is signed out; 0 for never.
    package var deviceExpiry: Int64 = 7_776_000_000
    /// How many chat rooms one connection may hear.
    package var roomsPerSessionMax: Int = 5
    /// How many messages a chat room hands over to who comes in, at most.
    package var roomHistoryMax: Int = 50
    /// How old a message of a chat room may be to be handed over.
    package var roomHistoryAge: Int64 = 86_400_000
    /// How many people one connection may watch.
    package var watchedPerSessionMax: Int = 500
    /// The most members a group, discussion or chat room may have, in apps without a limit of their own.
    package var membersMax: Int = 3_000
    /// The same for apps that have a limit of their own.
    package var membersMaxByApp: [AppID: Int] = [:]
    /// Who makes groups, comes into them by their id, and adds people.
    package var groupPolicy = ConversationPolicy.group
    /// The same for discussions.
    package var discussionPolicy = ConversationPolicy.discussion
    /// The same for chat rooms.
    package var chatRoomPolicy = ConversationPolicy.chatRoom
    /// How long after it was sent a message may be recalled by its sender.
    package var recallWindow: Int64 = 120_000
    /// How long after it was sent a message may be given another content by its sender.
    package var editWindow: Int64 = 120_000
    /// The largest page of a history, in messages: 1 to 100.
    package var historyMax: Int = 100

    // Push (DESIGN §5).
    /// How long a push waits after the person did something on another device in the foreground; 0 for no wait.
    package var activeElsewhereTime: Int64 = 30_000
    /// After how many alerts of one conversation within `stormWindow` the next ones are merged; 0 for never.
    package var stormLimit: Int = 5
    /// How long alerts are counted, and how long those that are merged wait at most.
    package var stormWindow: Int64 = 60_000
    /// How many silent pushes an hour may tell a device that its badge fell (apns.md §14); 0 for none.
    package var badgePushesPerHour: Int = 3
    /// How long such a push waits for others to be merged with it.
    package var badgePushDelay: Int64 = 10_000
    /// The words of pushes of apps that have their own.
    package var words: [AppID: AppWords] = [:]
    /// How long after it was sent a message may still be pushed: 30 days, as long as APNs keeps one (apns.md §15).
    package var pushLifetime: Int64 = 2_592_000_000
    /// The first wait after a failed push; doubled by each further failure.
    package var backOffBase: Int64 = 1_000
    /// The longest wait between two tries.
    package var backOffMax: Int64 = 300_000
    /// Of how many people tokens that APNs had accepted before must be refused in a row, for one quarantine reason and in one lane,
    /// so that its breaker opens (DESIGN P8). So many people's refused tokens in a lane that does not work raise an alarm.
    package var quarantineBurst: Int = 5
    /// Refusals further apart than this are not one burst.
    package var burstWindow: Int64 = 60_000
    /// How many failures of the provider in a row, in one lane, open its breaker.
    package var providerFailureBurst: Int = 10
    /// How many pushes of one lane may be with the APNs client; the others queue, one person after the other.
    package var pushesInFlightMax: Int = 1_000
    /// How many of them may be one person's.
    package var personPushesInFlightMax: Int = 20
    /// The topics of apps that push to these alone, and to those Apple derives from them. An app that is not named pushes to any.
    package var pushTopics: [AppID: [String]] = [:]
    /// How many lanes an app may have whose topics are not known.
    package var lanesMax: Int = 64
    /// The first wait of an open breaker before one push is tried; doubled by each failed try.
    package var breakerBase: Int64 = 5_000
    /// The longest wait of an open breaker.
    package var breakerMax: Int64 = 600_000

    // Drain.
    /// Over how long the reconnects of all clients are spread when the server stops.
    package var drainSpread: Int64 = 5_000
    /// How long a drained server waits for its clients before it closes their connections.
    package var drainTime: Int64 = 10_000

    /// The defaults.
    package init() {}

    /// Who makes a conversation of a kind, comes in by its id, and adds people.
    func policy(of type: ConversationType) -> ConversationPolicy {
        switch type {
        case .discussion: self.discussionPolicy
        case .chatRoom: self.chatRoomPolicy
        case .group, .direct, .customerService, .system, .appPublicService, .publicService, .pushService:
            self.groupPolicy
        }
    }

    /// The most members a group, discussion or chat room of an app may have.
    package func membersMax(in app: AppID) -> Int { self.membersMaxByApp[app] ?? self.membersMax }

    /// Whether an app may push to a topic: it is one of its own, or one of these with what Apple puts behind it for a kind of push
    /// (apns.md §7).
    package func mayPush(to topic: String, in app: AppID) -> Bool {
        guard let topics = self.pushTopics[app] else { return true }
        return topics.contains { own in APNsPushType.allCases.contains { $0.topic(forBundle: own) == topic } }
    }
}
