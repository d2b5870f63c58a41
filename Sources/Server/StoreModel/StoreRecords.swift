package import TidingsModel

package struct ConversationRecord: Hashable, Sendable {
    package var app: AppID
    package var conversation: ConversationID
    /// The title of its notifications.
    package var name: String
    /// A URL; nil for none.
    package var portrait: String?
    /// Sorted by id, each once; at most `membersMax`.
    package var members: [Member]
    /// The options of all its messages, where these have no others.
    package var push: PushOptions?

    /// The default (design.md §3).
    package static let membersMax = 3_000

    /// Bytes of UTF-8.
    package static let portraitBytesMax = 1_024

    /// Members without rank; sorted, repeats dropped.
    package init(app: AppID, conversation: ConversationID, name: String, portrait: String? = nil, members: [UserID]) {
        self.init(
            app: app, conversation: conversation, name: name, portrait: portrait,
            members: Set(members).sorted().map { Member($0) })
    }

    /// Members are sorted; of repeats the first stays.
    package init(
        app: AppID, conversation: ConversationID, name: String, portrait: String?, members: [Member],
        push: PushOptions? = nil
    ) {
        self.push = push
        self.app = app
        self.conversation = conversation
        self.name = name
        self.portrait = portrait
        var known: Set<UserID> = []
        self.members = members.filter { known.insert($0.id).inserted }.sorted { $0.id < $1.id }
    }
}

package enum PushState: Hashable, Sendable {
    /// It has never registered, or signed out.
    case none
    /// `at` is wall milliseconds. `wasAccepted`: APNs has accepted a push with it.
    case registered(PushRegistration, at: Int64, wasAccepted: Bool = false)
    /// APNs refused the token without saying it is dead, and its lane works; not used until the device registers
    /// again (design.md P8).
    case quarantined(PushRegistration, at: Int64, reason: String)
    /// APNs said 410 at `timestamp` (wall milliseconds), later than the registration.
    case dead(timestamp: Int64)

    package var wasAccepted: Bool {
        if case .registered(_, _, let wasAccepted) = self { wasAccepted } else { false }
    }

    /// Valid or quarantined.
    package var registration: PushRegistration? {
        switch self {
        case .none, .dead: nil
        case .registered(let registration, _, _), .quarantined(let registration, _, _): registration
        }
    }
}

/// The token by which a device is rung, as the device has registered it. It is there, or it is not: a call that APNs refuses waits
/// for nothing.
package struct VoIPToken: Hashable, Sendable {
    package var registration: PushRegistration
    /// Wall milliseconds.
    package var at: Int64

    package init(_ registration: PushRegistration, at: Int64) {
        self.registration = registration
        self.at = at
    }
}

package struct DeviceRecord: Hashable, Sendable {
    package var key: DeviceKey
    package var platform: String
    package var push: PushState
    package var voIP: VoIPToken?
    /// Everything up to here was settled by the device itself.
    package var settled: LogPosition
    /// Everything up to here was decided by the server: ended, or kept as an open leg.
    package var decided: LogPosition
    /// The head of the log at the first sign-in, or the first after a sign-out: earlier entries have no leg for this
    /// device.
    package var since: LogPosition
    /// Wall milliseconds of the last sign-in.
    package var signedInAt: Int64
    /// Kept for the trace; gets no legs.
    package var isSignedOut: Bool
    package var unpushed: UnpushedMessages
    /// The kit's last report; nil for none since the device signed in.
    package var status: ReportedStatus?

    package init(
        key: DeviceKey, platform: String, push: PushState, settled: LogPosition, decided: LogPosition,
        since: LogPosition, signedInAt: Int64, isSignedOut: Bool, unpushed: UnpushedMessages = UnpushedMessages(),
        voIP: VoIPToken? = nil, status: ReportedStatus? = nil
    ) {
        self.voIP = voIP
        self.key = key
        self.platform = platform
        self.push = push
        self.settled = settled
        self.decided = decided
        self.since = since
        self.signedInAt = signedInAt
        self.isSignedOut = isSignedOut
        self.unpushed = unpushed
        self.status = status
    }
}

/// Shown to an operator and never a reason to send a message or not; it only says how a phone can be told its badge.
package struct ReportedStatus: Hashable, Sendable {
    package var status: DeviceStatus
    /// Wall milliseconds of the report.
    package var at: Int64
    /// The first of the reports in a row that notifications are not allowed, in wall milliseconds; nil if they are.
    package var offSince: Int64?

    package init(_ status: DeviceStatus, at: Int64, offSince: Int64? = nil) {
        self.status = status
        self.at = at
        self.offSince = offSince
    }

    /// The next report of a device.
    package init(_ status: DeviceStatus, at: Int64, after before: ReportedStatus?) {
        self.init(status, at: at, offSince: status.allowsNotifications ? nil : before?.offSince ?? at)
    }
}

/// Messages whose legs ended because no push could be sent. The device may ring for them itself when it catches up.
package struct UnpushedMessages: Hashable, Sendable {
    /// The newest are kept; older ones ring no more.
    package static let countMax = 200

    /// Ascending, each once.
    package private(set) var ids: [MessageID] = []

    package init() {}

    package var isEmpty: Bool { self.ids.isEmpty }

    /// Adds a message if it is among the newest.
    package mutating func insert(_ id: MessageID) {
        let place = self.place(of: id)
        guard place == self.ids.count || self.ids[place] != id else { return }
        self.ids.insert(id, at: place)
        if self.ids.count > Self.countMax { self.ids.removeFirst() }
    }

    package func contains(_ id: MessageID) -> Bool {
        let place = self.place(of: id)
        return place < self.ids.count && self.ids[place] == id
    }

    private func place(of id: MessageID) -> Int { self.ids.sortedPlace { $0 < id } }
}

extension LegEnd {
    /// Nothing has rung, and the message is still of interest.
    package var couldNotBePushed: Bool {
        switch self {
        case .noToken, .tokenQuarantined, .tokenDead, .rejected: true
        case .ownDevice, .noDevice, .signedOut, .disabled, .notNotifiable, .blocked, .settled, .readElsewhere,
            .recalled, .expired, .muted, .quietHours, .accepted:
            false
        }
    }
}

extension DeviceRecord {
    package mutating func advance(settled: LogPosition?, decided: LogPosition?, head: LogPosition) {
        if let settled, settled > self.settled {
            self.settled = settled
            if settled >= head { self.unpushed = UnpushedMessages() }
        }
        self.decided = max(self.decided, decided ?? 0)
    }

    package static let signedOutMax = 20

    /// Returns the signed-out devices to forget: all but the ones that signed in last.
    package static func forgotten(of devices: some Collection<DeviceRecord>) -> [DeviceID] {
        guard devices.count > Self.signedOutMax else { return [] }
        let signedOut = devices.filter(\.isSignedOut)
        guard signedOut.count > Self.signedOutMax else { return [] }
        return signedOut.sorted { ($0.signedInAt, $0.key.device) < ($1.signedInAt, $1.key.device) }
            .prefix(signedOut.count - Self.signedOutMax).map(\.key.device)
    }
}

/// A line of the list of an app's people.
package struct PersonSummary: Hashable, Sendable {
    package var id: UserID
    /// It may be over.
    package var ban: AccountBan?
    /// How many are signed in.
    package var devices: Int
    package var unread: Int

    package init(id: UserID, ban: AccountBan?, devices: Int, unread: Int) {
        self.id = id
        self.ban = ban
        self.devices = devices
        self.unread = unread
    }
}

/// A group, discussion or chat room in a list.
package struct ListedConversation: Hashable, Sendable {
    package var id: ConversationID
    /// Empty for none.
    package var name: String
    package var portrait: String?
    package var members: Int
    package var isDissolved: Bool

    package init(id: ConversationID, name: String, portrait: String?, members: Int, isDissolved: Bool) {
        self.id = id
        self.name = name
        self.portrait = portrait
        self.members = members
        self.isDissolved = isDissolved
    }
}

/// A conversation in the list of one person, as their devices see it; without the draft and without what messages say.
package struct PersonalConversation: Hashable, Sendable {
    /// A message without its text.
    package struct Newest: Hashable, Sendable {
        package var id: MessageID
        package var sender: UserID
        package var objectName: ObjectName
        /// Wall milliseconds.
        package var sentAt: Int64

        package init(_ message: Message) {
            self.id = message.id
            self.sender = message.sender
            self.objectName = message.objectName
            self.sentAt = message.sentAt
        }
    }

    package var id: ConversationID
    /// The position of its newest message in the person's log: its place in the list.
    package var place: LogPosition
    /// The name of the other person or account, or of the group; nil if none is known.
    package var name: String?
    package var portrait: String?
    package var isDissolved: Bool
    package var unread: Int
    package var mentions: Int
    package var isMuted: Bool
    package var settings: ConversationSettings
    /// Nil if none of the newest `StoreRules.newestLooksMax` is left to read.
    package var newest: Newest?

    package init(
        id: ConversationID, place: LogPosition, name: String?, portrait: String?, isDissolved: Bool = false,
        unread: Int = 0, mentions: Int = 0, isMuted: Bool = false, settings: ConversationSettings = .init(),
        newest: Newest? = nil
    ) {
        self.id = id
        self.place = place
        self.name = name
        self.portrait = portrait
        self.isDissolved = isDissolved
        self.unread = unread
        self.mentions = mentions
        self.isMuted = isMuted
        self.settings = settings
        self.newest = newest
    }

    /// The person has hidden it, and nothing came after that.
    package var isHidden: Bool {
        guard let upTo = self.settings.hiddenUpTo else { return false }
        return self.newest.map { $0.id <= upTo } ?? true
    }
}

package struct UserRecord: Hashable, Sendable {
    package var key: UserKey
    package var head: LogPosition
    package var unread: Int
    /// Sorted by id, signed-out ones included.
    package var devices: [DeviceRecord]
    package var openLegs: [OpenLeg]
    package var settings: AllSettings
    package var account: AccountState
    package var profile: Profile
    package var labels: PersonLabels

    package init(
        key: UserKey, head: LogPosition, unread: Int, devices: [DeviceRecord], openLegs: [OpenLeg],
        settings: AllSettings = AllSettings(), account: AccountState = AccountState(), profile: Profile = Profile(),
        labels: PersonLabels = PersonLabels()
    ) {
        self.labels = labels
        self.account = account
        self.profile = profile
        self.key = key
        self.head = head
        self.unread = unread
        self.devices = devices
        self.openLegs = openLegs
        self.settings = settings
    }
}

/// A leg that survives a crash and is continued.
package struct OpenLeg: Hashable, Sendable {
    package var leg: LegID
    package var position: LogPosition
    package var wait: LegWait
    /// The apns-id of the attempt in flight, or of the last one.
    package var apnsID: String?
    package var attempts: Int
    /// Wall milliseconds; nil for "as soon as the wait is over".
    package var notBefore: Int64?
    /// The job of its message, so that the store need not look for it where it ends the leg.
    package var pushJob: PushJobID?
    package var steps: LegSteps

    package init(
        leg: LegID, position: LogPosition, wait: LegWait, apnsID: String? = nil, attempts: Int = 0,
        notBefore: Int64? = nil, pushJob: PushJobID? = nil, steps: LegSteps = LegSteps()
    ) {
        self.steps = steps
        self.pushJob = pushJob
        self.leg = leg
        self.position = position
        self.wait = wait
        self.apnsID = apnsID
        self.attempts = attempts
        self.notBefore = notBefore
    }
}

package struct EndedLeg: Hashable, Sendable {
    package var leg: LegID
    package var end: LegEnd
    package var at: Int64
    /// The job of its message, if it has one: its counts grow. In no trace.
    package var pushJob: PushJobID?
    /// True for a job's leg whose push was in flight at a restart, and was sent once more. In no trace.
    package var isRepeated: Bool
    package var steps: LegSteps

    package init(
        leg: LegID, end: LegEnd, at: Int64, pushJob: PushJobID? = nil, isRepeated: Bool = false,
        steps: LegSteps = LegSteps()
    ) {
        self.steps = steps
        self.leg = leg
        self.end = end
        self.at = at
        self.pushJob = pushJob
        self.isRepeated = isRepeated
    }

    /// The leg as traces tell it.
    package var inTrace: EndedLeg { EndedLeg(leg: self.leg, end: self.end, at: self.at, steps: self.steps) }
}

/// A phone's later receipt for a pushed message (design.md §5 "receipts").
package enum LegReceipt: String, Hashable, Sendable, JSONWritable {
    case shown
    case opened
}
