import APNsModel
import StoreModel
import TidingsModel

/// One person in memory: what is their own, and their devices. `ServerCore` hands it what happens, and it hands a device what concerns one.
struct Person: Sendable {
    var state: PersonState
    /// Signed in, sorted by id.
    var devices: [Device] = []

    /// Nothing would be lost if the person were forgotten.
    var isIdle: Bool {
        self.state.isReady && self.state.signingIn.isEmpty
            && self.devices.allSatisfy {
                $0.session == nil && !$0.isLeaving && $0.legs.isEmpty && $0.unsure.isEmpty && $0.flushAt == nil
                    && $0.lease == .gone
                    && $0.badge == BadgeState(shown: $0.badge.shown, alertAt: $0.badge.alertAt)
            }
    }
}

/// What is a person's own, but for the devices: each of them is handed it with what happens.
struct PersonState: Sendable {
    let key: UserKey
    /// Where the person lies in memory. Timers and pushes name people by it.
    let slot: Int
    /// False while the store is being asked; `ServerCore.loadings` holds what happens meanwhile.
    var isReady = false
    /// Nothing is pushed while entries that came in during loading are applied: they may end legs.
    var isRestoringLegs = false
    /// The newest position of the log.
    var head: LogPosition = 0
    /// Unread messages, as of `head`.
    var unread = 0
    var settings = AllSettings()
    var account = AccountState()
    /// Up to where conversations were read, while a device has unfinished legs or lacks pushes.
    var readUpTo: [ConversationID: LogPosition] = [:]
    var buckets = RateBuckets()
    var signingIn: [DeviceID] = []
    /// While a device's legs are judged: until when they wait because the person is active on another one, in monotonic milliseconds.
    var activeElsewhereUntil: Int64?
    /// Monotonic milliseconds at which a leg's wait ends that no other event ends.
    var judgeAt: Int64?
    /// Monotonic milliseconds at which a level with an end is over.
    var levelDueAt: Int64?
    var armedAt: Int64?
    /// Wall milliseconds at which the app was last in the foreground on a device; nil while it is, and if unknown.
    var lastSeenAt: Int64?
    var busyAt: Int64
    /// A push job alone has brought the person into memory: there they stay no longer than it takes.
    var leavesSoon = false
    /// Monotonic milliseconds: not after that has a device had an alert of which the person's last stay in memory has left nothing.
    var forgottenAlertAt: Int64?

    init(key: UserKey, slot: Int, at now: Int64, forgottenAlertAt: Int64?) {
        self.key = key
        self.slot = slot
        self.busyAt = now
        self.forgottenAlertAt = forgottenAlertAt
    }
}

extension [Device] {
    /// Compares ids in place: a device is large, and this runs for every frame.
    func index(of device: DeviceID) -> Int? {
        let index = self.place(of: device)
        return index < self.count && self[index].id == device ? index : nil
    }

    func place(of device: DeviceID) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].id < device { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

struct Device: Sendable {
    struct Retry: Hashable, Sendable {
        var wait: LegWait
        var failures: Int
        /// Monotonic milliseconds; nil once the wait is over and the next try has not failed yet.
        var until: Int64?
    }

    /// The store has been asked to sign it out, and has not answered.
    struct Leaving: Sendable {
        /// How its legs end there.
        let end: LegEnd
        /// How often it was asked.
        var signOuts = 0
        /// Legs that have ended since: the store is told if it does not sign the device out, which ends them otherwise.
        var ended: [EndedLeg] = []

        func mayHaveShown(_ message: MessageID) -> Bool {
            self.ended.contains { $0.leg.message == message && $0.end.mayBeShown }
        }
    }

    let key: DeviceKey
    var id: DeviceID { self.key.device }
    var platform: String
    var push: PushState
    var voIP: VoIPToken?
    /// Earlier entries have no leg for this device.
    let since: LogPosition
    /// Wall milliseconds of the last connect, which brought the newest extension token.
    var signedInAt: Int64
    var settled: LogPosition
    /// The messages that could not be pushed to it, until it has settled its log up to the head.
    var unpushed: UnpushedMessages
    /// The device has settled its log and the store does not know; until it does it keeps what could not be pushed.
    var owesSettled = false
    /// The settled or decided position that the store was told.
    var written: LogPosition
    /// Up to where the device holds the log, as its current session says.
    var stored: LogPosition = 0
    var lease: Lease = .gone
    /// The one session whose acks count.
    var session: SessionID?
    var userToken: SessionToken?
    var heardAt: Int64 = 0
    /// When the person last did something on this device in the foreground, in monotonic milliseconds.
    var activeAt: Int64?
    /// Monotonic milliseconds of the last settlement or run state: the ack deadline starts again then.
    var progressAt: Int64 = 0
    var legs = DeviceLegs()
    /// Recalls in the log, in its order, for which the store is asked whether this device must be told. Until it has
    /// answered, no cursor passes them: after a crash it would not be asked again.
    var unsure: [LogPosition] = []
    /// Set while the store signs the device out: nothing is pushed to it, and the store is told nothing of it.
    var leaving: Leaving?
    var isLeaving: Bool { self.leaving != nil }
    /// One push at a time keeps the order and the badge.
    var inFlight: PushID?
    var retry: Retry?
    var badge = BadgeState()
    /// The last of its reports, and the last that the store was told.
    var reported: ReportedStatus?
    var storedReport: ReportedStatus?
    var storms: [ConversationID: Storm] = [:]
    /// Where it waits for its turn.
    var laneTurn: LaneTurn?
    /// The newest entry not written because the live window was full; 0 for none.
    var skippedUpTo: LogPosition = 0
    /// When a `decided` cursor ahead of the store's is to be written.
    var flushAt: Int64?

    init(record: DeviceRecord) {
        self.key = record.key
        self.platform = record.platform
        self.push = record.push
        self.voIP = record.voIP
        self.since = record.since
        self.signedInAt = record.signedInAt
        self.settled = record.settled
        self.unpushed = record.unpushed
        self.reported = record.status
        self.storedReport = record.status
        self.written = max(record.settled, record.decided)
    }

    var token: PushFacts.Token {
        mutating get {
            switch self.push {
            case .none: .missing
            case .registered: .usable
            case .quarantined(_, _, let reason):
                .quarantined(reason: reason, status: APNsReason(name: reason).status ?? 0)
            case .dead(let timestamp): .dead(timestamp: timestamp)
            }
        }
    }

    var registration: (registration: PushRegistration, at: Int64)? {
        guard case .registered(let registration, let at, _) = self.push else { return nil }
        return (registration, at)
    }

    /// Mutating, though it changes nothing, so that the device is asked where it lies: it is large, and would be copied.
    mutating func due(_ settings: ServerSettings) -> Int64? {
        var due = Int64.max
        if let until = self.lease.until { due = min(due, until) }
        if self.session != nil {
            due = min(due, self.heardAt + 2 * settings.heartbeat, self.userToken?.checkAt ?? .max)
        }
        if let deadline = self.ackDeadline(settings) { due = min(due, deadline) }
        if let until = self.retry?.until { due = min(due, until) }
        if let flushAt = self.flushAt { due = min(due, flushAt) }
        if let dueAt = self.badge.dueAt {
            due = min(due, dueAt)
        } else {
            if let first = self.badge.sent.first { due = min(due, first + BadgeState.hour) }
            if let first = self.badge.silent.first { due = min(due, first + BadgeState.hour) }
        }
        return due == .max ? nil : due
    }

    /// Each settlement gives the next entries their full time.
    mutating func ackDeadline(_ settings: ServerSettings) -> Int64? {
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
