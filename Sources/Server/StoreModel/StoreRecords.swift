package import TidingsModel

/// A conversation with members: group, discussion or chat room.
package struct ConversationRecord: Hashable, Sendable {
    /// The app it belongs to.
    package var app: AppID
    /// Its kind (group, discussion or chat room) and its own id.
    package var conversation: ConversationID
    /// Shown as the title of its notifications.
    package var name: String
    /// Its image, a URL; nil for none.
    package var portrait: String?
    /// Sorted by id, each once; at most `membersMax`.
    package var members: [Member]

    /// The default limit of members (DESIGN §3).
    package static let membersMax = 3_000

    /// The longest name, in bytes of UTF-8.
    package static let nameBytesMax = 256
    /// The longest portrait, in bytes of UTF-8.
    package static let portraitBytesMax = 1_024

    /// A conversation of members without rank; they are sorted and repeats dropped.
    package init(app: AppID, conversation: ConversationID, name: String, portrait: String? = nil, members: [UserID]) {
        self.init(
            app: app, conversation: conversation, name: name, portrait: portrait,
            members: Set(members).sorted().map { Member($0) })
    }

    /// A conversation from its parts; members are sorted, and of repeats the first stays.
    package init(app: AppID, conversation: ConversationID, name: String, portrait: String?, members: [Member]) {
        self.app = app
        self.conversation = conversation
        self.name = name
        self.portrait = portrait
        var known: Set<UserID> = []
        self.members = members.filter { known.insert($0.id).inserted }.sorted { $0.id < $1.id }
    }
}

/// What the server knows of a device's push registration.
package enum PushState: Hashable, Sendable {
    /// It has never registered, or signed out.
    case none
    /// Registered at a time (wall milliseconds). `wasAccepted`: APNs has accepted a push with it.
    case registered(PushRegistration, at: Int64, wasAccepted: Bool = false)
    /// APNs refused the token without saying it is dead, and its lane works; kept aside until the device registers again
    /// (DESIGN P8).
    case quarantined(PushRegistration, at: Int64, reason: String)
    /// APNs said 410 at `timestamp` (wall milliseconds), newer than the registration.
    case dead(timestamp: Int64)

    /// Whether APNs has accepted a push with the present registration.
    package var wasAccepted: Bool {
        if case .registered(_, _, let wasAccepted) = self { wasAccepted } else { false }
    }

    /// The registration, valid or quarantined.
    package var registration: PushRegistration? {
        switch self {
        case .none, .dead: nil
        case .registered(let registration, _, _), .quarantined(let registration, _, _): registration
        }
    }
}

/// A device as the store keeps it.
package struct DeviceRecord: Hashable, Sendable {
    /// Whose device it is, and its id.
    package var key: DeviceKey
    /// What it said it runs on, for example `ios`.
    package var platform: String
    /// Its push registration and what became of it.
    package var push: PushState
    /// Everything up to here was settled by the device itself.
    package var settled: LogPosition
    /// Everything up to here was decided by the server: ended, or kept as an open leg.
    package var decided: LogPosition
    /// The head of the person's log when the device signed in for the first time, or for the first time after it had signed out:
    /// earlier entries have no leg for it.
    package var since: LogPosition
    /// Wall milliseconds of the last sign-in.
    package var signedInAt: Int64
    /// Signed out: kept for the trace, gets no legs.
    package var isSignedOut: Bool
    /// What could not be pushed to it, until it has settled its log up to the head.
    package var unpushed: UnpushedMessages

    /// A device from its parts.
    package init(
        key: DeviceKey, platform: String, push: PushState, settled: LogPosition, decided: LogPosition,
        since: LogPosition, signedInAt: Int64, isSignedOut: Bool, unpushed: UnpushedMessages = UnpushedMessages()
    ) {
        self.key = key
        self.platform = platform
        self.push = push
        self.settled = settled
        self.decided = decided
        self.since = since
        self.signedInAt = signedInAt
        self.isSignedOut = isSignedOut
        self.unpushed = unpushed
    }
}

/// The messages whose legs for a device ended because no push could be sent: without a token APNs takes, or refused. Nothing has rung
/// for them there; when the device catches up it may ring itself.
package struct UnpushedMessages: Hashable, Sendable {
    /// How many are kept: the newest. What is older rings no more.
    package static let countMax = 200

    /// Ascending, each once.
    package private(set) var ids: [MessageID] = []

    /// None.
    package init() {}

    /// Whether there are none.
    package var isEmpty: Bool { self.ids.isEmpty }

    /// Adds a message, if it is among the newest.
    package mutating func insert(_ id: MessageID) {
        let place = self.place(of: id)
        guard place == self.ids.count || self.ids[place] != id else { return }
        self.ids.insert(id, at: place)
        if self.ids.count > Self.countMax { self.ids.removeFirst() }
    }

    /// Whether a message is among them.
    package func contains(_ id: MessageID) -> Bool {
        let place = self.place(of: id)
        return place < self.ids.count && self.ids[place] == id
    }

    private func place(of id: MessageID) -> Int {
        var (low, high) = (0, self.ids.count)
        while low < high {
            let middle = (low + high) / 2
            if self.ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension LegEnd {
    /// Whether the leg ended because no push could be sent: nothing has rung, and the message is still of interest.
    package var couldNotBePushed: Bool {
        switch self {
        case .noToken, .tokenQuarantined, .tokenDead, .rejected: true
        case .ownDevice, .noDevice, .signedOut, .disabled, .notNotifiable, .settled, .readElsewhere, .recalled,
            .expired, .muted, .quietHours, .accepted:
            false
        }
    }
}

extension DeviceRecord {
    /// Moves the cursors forward, never back. Of a log that it settles up to its head nothing is left to tell.
    package mutating func advance(settled: LogPosition?, decided: LogPosition?, head: LogPosition) {
        if let settled, settled > self.settled {
            self.settled = settled
            if settled >= head { self.unpushed = UnpushedMessages() }
        }
        self.decided = max(self.decided, decided ?? 0)
    }
}

extension DeviceRecord {
    /// How many devices that are signed out are kept of a person.
    package static let signedOutMax = 20

    /// Those of a person's devices that are forgotten: of those that are signed out all but the ones that signed in last.
    package static func forgotten(of devices: some Collection<DeviceRecord>) -> [DeviceID] {
        guard devices.count > Self.signedOutMax else { return [] }
        let signedOut = devices.filter(\.isSignedOut)
        guard signedOut.count > Self.signedOutMax else { return [] }
        return signedOut.sorted { ($0.signedInAt, $0.key.device) < ($1.signedInAt, $1.key.device) }
            .prefix(signedOut.count - Self.signedOutMax).map(\.key.device)
    }
}

/// A person as the server core needs them.
package struct UserRecord: Hashable, Sendable {
    /// The app and the person.
    package var key: UserKey
    /// The position of the newest entry of the log; 0 when there is none.
    package var head: LogPosition
    /// Unread messages without muted conversations.
    package var unread: Int
    /// Sorted by device id, signed-out ones included.
    package var devices: [DeviceRecord]
    /// Sorted by leg.
    package var openLegs: [OpenLeg]
    /// What the person has set.
    package var settings: AllSettings
    /// What the app's backend has decided about the person.
    package var account: AccountState

    /// A person from their parts.
    package init(
        key: UserKey, head: LogPosition, unread: Int, devices: [DeviceRecord], openLegs: [OpenLeg],
        settings: AllSettings = AllSettings(), account: AccountState = AccountState()
    ) {
        self.account = account
        self.key = key
        self.head = head
        self.unread = unread
        self.devices = devices
        self.openLegs = openLegs
        self.settings = settings
    }
}

/// A leg that is not decided for good: it survives a crash and is taken up again.
package struct OpenLeg: Hashable, Sendable {
    /// The message, the person and the device.
    package var leg: LegID
    /// The message's position in the person's log.
    package var position: LogPosition
    /// Why it waits.
    package var wait: LegWait
    /// The `apns-id` of the attempt in flight, or of the last one.
    package var apnsID: String?
    /// How many attempts were made.
    package var attempts: Int
    /// Not before this time (wall milliseconds); nil for "as soon as the wait is over".
    package var notBefore: Int64?

    /// An open leg from its parts.
    package init(
        leg: LegID, position: LogPosition, wait: LegWait, apnsID: String? = nil, attempts: Int = 0,
        notBefore: Int64? = nil
    ) {
        self.leg = leg
        self.position = position
        self.wait = wait
        self.apnsID = apnsID
        self.attempts = attempts
        self.notBefore = notBefore
    }
}

/// The end of a leg.
package struct EndedLeg: Hashable, Sendable {
    /// The message, the person and the device.
    package var leg: LegID
    /// How it ended.
    package var end: LegEnd
    /// Wall milliseconds.
    package var at: Int64

    /// An end from its parts.
    package init(leg: LegID, end: LegEnd, at: Int64) {
        self.leg = leg
        self.end = end
        self.at = at
    }
}

/// What the phone said later about a pushed message (DESIGN §5 "receipts").
package enum LegReceipt: String, Hashable, Sendable {
    case shown
    case opened
}
