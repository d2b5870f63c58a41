import APNsModel
import StoreModel
import TidingsModel

/// One person whose legs, cursors and presence are in memory.
struct Person: Sendable {
    let key: UserKey
    /// False while the store is being asked; `ServerCore.loadings` holds what happens meanwhile.
    var isReady = false
    /// Nothing is pushed yet: what came in while the store was asked is being taken up, and may end what would be.
    var isTakingUp = false
    /// The newest position of the log.
    var head: LogPosition = 0
    /// Unread messages, as of `head`.
    var unread = 0
    /// What the person has set.
    var settings = AllSettings()
    /// What the app's backend has decided about the person.
    var account = AccountState()
    /// The devices that are signed in, sorted by id.
    var devices: [Device] = []
    /// Up to where conversations were read, while a device has unfinished legs or lacks pushes.
    var readUpTo: [ConversationID: LogPosition] = [:]
    /// What the person has taken of what is limited.
    var buckets = RateBuckets()
    /// The devices of this person's sessions that wait for the store.
    var signingIn: [DeviceID] = []
    /// When a wait of one of the legs ends that no other event ends, in monotonic milliseconds.
    var judgeAt: Int64?
    /// When a level that holds until a time is over, in monotonic milliseconds.
    var levelDueAt: Int64?
    /// When the timer in the heap that counts is due.
    var armedAt: Int64?
    /// When the app was in the foreground last on one of the devices, in wall milliseconds; nil while it is, and if that is not known.
    var lastSeenAt: Int64?
    /// When the person last had work.
    var busyAt: Int64

    init(key: UserKey, at now: Int64) {
        self.key = key
        self.busyAt = now
    }

    /// Nothing would be lost if the person were forgotten.
    var isIdle: Bool {
        self.isReady && self.signingIn.isEmpty
            && self.devices.allSatisfy {
                $0.session == nil && $0.legs.isEmpty && $0.flushAt == nil && $0.lease == .gone
                    && $0.badge == ServerCore.BadgeState(shown: $0.badge.shown)
            }
    }
}

extension [Device] {
    /// Where a device stands among others that are sorted by id. It looks at ids where they lie: a device is big, and this runs at
    /// every frame.
    func index(of device: DeviceID) -> Int? {
        let index = self.place(of: device)
        return index < self.count && self[index].id == device ? index : nil
    }

    /// Where a device stands, or would.
    func place(of device: DeviceID) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].id < device { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// One signed-in device.
struct Device: Sendable {
    /// Why and until when nothing is pushed to this device.
    struct Retry: Hashable, Sendable {
        var wait: LegWait
        var failures: Int
        /// Monotonic milliseconds; nil once the wait is over and the next try has not failed yet.
        var until: Int64?
    }

    let id: DeviceID
    /// What it runs on, for example `ios`.
    var platform: String
    var push: PushState
    /// Earlier entries have no leg for this device.
    let since: LogPosition
    /// Wall milliseconds of the last connect: it brought the newest extension token.
    var signedInAt: Int64
    /// Up to where the device has settled the log.
    var settled: LogPosition
    /// What could not be pushed to it, until it has settled its log up to the head.
    var unpushed: UnpushedMessages
    /// It has settled its log, and the store does not know: it keeps what could not be pushed until it does.
    var owesSettled = false
    /// Up to where the store was told that the device has settled or the server decided.
    var written: LogPosition
    /// Up to where the device holds the log, as its current session says.
    var stored: LogPosition = 0
    var lease: Lease = .gone
    /// The one session whose acks count.
    var session: SessionID?
    /// The token the session lives on; of no interest without a session.
    var userToken: SessionToken?
    /// When the session was last heard, in monotonic milliseconds.
    var heardAt: Int64 = 0
    /// When the person last did something on this device in the foreground, in monotonic milliseconds.
    var activeAt: Int64?
    /// When the device last settled something or changed its run state: its ack deadline starts again then.
    var progressAt: Int64 = 0
    var legs = DeviceLegs()
    /// Recalls in the log, in its order, of which the store is asked whether this device has to hear. Until it has answered
    /// nothing is told of what comes from there on: after a crash it would not be asked again.
    var unsure: [LogPosition] = []
    /// The store is signing it out, and how its legs end with that: it gets no more, and none of its legs is ended here.
    var leaving: LegEnd?
    /// The store is signing it out.
    var isLeaving: Bool { self.leaving != nil }
    /// The one push on its way to this device: one at a time keeps the order and the badge.
    var inFlight: PushID?
    var retry: Retry?
    /// The number on its icon.
    var badge = ServerCore.BadgeState()
    /// Conversations whose alerts come fast.
    var storms: [ConversationID: Storm] = [:]
    /// Where it waits for its turn; nil if it does not.
    var turn: LaneTurn?
    /// How many pushes its lane had accepted when APNs refused its token and nothing showed whether token or lane was at fault; nil
    /// if nothing speaks against the token.
    var doubtedAt: UInt64?
    /// The newest entry that was not written because the live window was full; 0 for none.
    var skippedUpTo: LogPosition = 0
    /// When the `decided` cursor is to be written, if it is ahead of what the store knows.
    var flushAt: Int64?

    init(record: DeviceRecord) {
        self.id = record.key.device
        self.platform = record.platform
        self.push = record.push
        self.since = record.since
        self.signedInAt = record.signedInAt
        self.settled = record.settled
        self.unpushed = record.unpushed
        self.written = max(record.settled, record.decided)
    }

    /// How the verdict sees the token.
    var token: PushFacts.Token {
        switch self.push {
        case .none: .missing
        case .registered: .usable
        case .quarantined(_, _, let reason):
            .quarantined(reason: reason, status: APNsReason(name: reason).status ?? 0)
        case .dead(let timestamp): .dead(timestamp: timestamp)
        }
    }

    /// The current registration and its time.
    var registration: (registration: PushRegistration, at: Int64)? {
        guard case .registered(let registration, let at, _) = self.push else { return nil }
        return (registration, at)
    }

    /// It waits until it shows whether its token or its lane is at fault.
    var isInDoubt: Bool { self.turn?.isInDoubt == true }

    /// When something is due for this device without another event; nil for never.
    func due(_ settings: ServerSettings) -> Int64? {
        var due = Int64.max
        if let until = self.lease.until { due = min(due, until) }
        if self.session != nil { due = min(due, self.heardAt + 2 * settings.heartbeat, self.userToken?.lookAt ?? .max) }
        if let deadline = self.ackDeadline(settings) { due = min(due, deadline) }
        if let until = self.retry?.until { due = min(due, until) }
        if let flushAt = self.flushAt { due = min(due, flushAt) }
        if let badge = self.badge.dueAt ?? self.badge.sent.first.map({ $0 + 3_600_000 }) { due = min(due, badge) }
        return due == .max ? nil : due
    }

    /// When the oldest live entry must be settled; each settling gives the next ones their full time.
    func ackDeadline(_ settings: ServerSettings) -> Int64? {
        let allowed: Int64
        switch self.lease {
        case .foreground: allowed = settings.foregroundAckDeadline
        case .background: allowed = settings.backgroundAckDeadline
        case .probing, .grace, .returning, .gone: return nil
        }
        guard let since = self.legs.liveSince else { return nil }
        return max(since, self.progressAt) + allowed
    }
}
