import DequeModule
import StoreModel
import TidingsModel

/// What pushes of one credential, environment and topic share.
struct Lane: Sendable {
    /// A registration that was put into quarantine, as it was before.
    struct Quarantine: Sendable {
        let device: DeviceKey
        let before: PushState
    }

    /// How many quarantines since the lane worked last are remembered: the newest.
    static let quarantinesMax = 256

    var breaker = Breaker()
    /// Devices whose turn has not come; each stands here once.
    var queue = LaneQueue()
    /// Pushes with the APNs client.
    private(set) var inFlight = 0
    /// The same by person, whose slot it is.
    private var inFlightOfPeople: [Int: Int] = [:]
    /// Quarantines since the lane worked last: taken back if it turns out that the lane was at fault.
    var quarantined: Deque<Quarantine> = []
    /// When one of the tokens that were refused without showing who is at fault is tried again, in monotonic milliseconds.
    var doubtDueAt: Int64?
    /// How many of them were tried in vain since the lane worked last.
    var doubtTries = 0
    /// When a push began or ended last, in monotonic milliseconds.
    private(set) var usedAt: Int64 = 0
    /// When it is looked at whether anybody uses it.
    var idleDueAt: Int64?

    /// A push was handed over.
    mutating func begin(of slot: Int, at now: Int64) {
        self.inFlight += 1
        self.inFlightOfPeople[slot, default: 0] += 1
        self.usedAt = now
    }

    /// A push has ended.
    mutating func end(of slot: Int, at now: Int64) {
        self.inFlight -= 1
        self.inFlightOfPeople[slot, default: 0] -= 1
        if self.inFlightOfPeople[slot] == 0 { self.inFlightOfPeople[slot] = nil }
        self.usedAt = now
    }

    /// Whether a push may go without its device having waited: while pushes go out, whoever waits has as many under way as one
    /// person may.
    func hasRoom(for slot: Int, _ settings: ServerSettings) -> Bool {
        guard self.inFlight < settings.pushesInFlightMax else { return false }
        if self.breaker.isTripped { return self.queue.count == 0 }
        return self.inFlightOfPeople[slot, default: 0] < settings.personPushesInFlightMax
    }

    /// Takes the device whose turn it is; nil if there is none, or no room.
    mutating func next(_ settings: ServerSettings) -> (slot: Int, device: DeviceID)? {
        guard self.breaker.hold == .none, self.inFlight < settings.pushesInFlightMax else { return nil }
        guard !self.breaker.isTripped else { return self.queue.nextProbe() }
        let underWay = self.inFlightOfPeople
        return self.queue.next { underWay[$0, default: 0] >= settings.personPushesInFlightMax }
    }

    /// Remembers a quarantine.
    mutating func keep(_ quarantine: Quarantine) {
        if self.quarantined.count >= Self.quarantinesMax { self.quarantined.removeFirst() }
        self.quarantined.append(quarantine)
    }

    /// Whether nothing would be lost with it but that it has worked.
    var isIdle: Bool { self.breaker.state == .closed && self.inFlight == 0 && self.queue.count == 0 }
}

extension ServerCore {
    /// How long a lane without work is kept, in milliseconds: what was learnt of it is worth something to the next push.
    static let laneIdleTime: Int64 = 600_000

    /// What holds up all pushes of a device's lane.
    func laneHold(_ slot: Int, _ index: Int) -> PushFacts.LaneHold {
        // Whether token or lane is at fault shows when the lane works.
        if self.people[slot].devices[index].isInDoubt { return .breakerOpen }
        guard let lane = self.lane(slot, index) else { return .none }
        return self.lanes[lane]?.breaker.hold ?? (self.mayMake(lane) ? .none : .configFault)
    }

    /// Whether there may be such a lane. An app whose topics are known has no more than these make; any other a fixed number.
    private func mayMake(_ lane: PushLane) -> Bool {
        guard self.settings.pushTopics[lane.app] == nil else {
            return self.settings.mayPush(to: lane.topic, in: lane.app)
        }
        // tidy: order does not leave: a count is the same in any order
        return self.lanes.keys.count { $0.app == lane.app } < self.settings.lanesMax
    }

    /// Lets a device wait for its turn.
    mutating func joinLane(_ slot: Int, _ index: Int) {
        let isGood = self.people[slot].devices[index].push.wasAccepted
        self.wait(slot, index, on: isGood && self.people[slot].devices[index].doubtedAt == nil ? .good : .unproven)
    }

    private mutating func wait(_ slot: Int, _ index: Int, on shelf: LaneQueue.Shelf) {
        guard self.people[slot].devices[index].turn == nil, let lane = self.lane(slot, index),
            self.lanes[lane] != nil || self.mayMake(lane)
        else { return }
        self.people[slot].devices[index].turn = LaneTurn(lane: lane, shelf: shelf)
        self.lanes[lane, default: Lane()].queue.append(slot, self.people[slot].devices[index].id, on: shelf)
    }

    /// A device waits for no turn any more.
    mutating func leaveLane(_ slot: Int, _ index: Int) {
        guard let turn = self.people[slot].devices[index].turn.take() else { return }
        self.lanes[turn.lane]?.queue.remove(slot, self.people[slot].devices[index].id, from: turn.shelf)
    }

    /// APNs has refused a device's token, and nothing shows that its lane works: both are at fault as far as anybody knows. The
    /// device waits until the lane works, or until it is tried again.
    mutating func doubt(_ slot: Int, _ index: Int, wasAccepted: Bool, _ now: Now) {
        guard let lane = self.lane(slot, index) else { return }
        self.leaveLane(slot, index)
        self.people[slot].devices[index].doubtedAt = self.lanes[lane]?.breaker.acceptances ?? 0
        self.wait(slot, index, on: wasAccepted ? .doubted : .refused)
        self.armDoubt(of: lane, now)
    }

    /// Sets the time at which one of the doubted tokens is tried, if there are any.
    private mutating func armDoubt(of lane: PushLane, _ now: Now) {
        guard let known = self.lanes[lane], known.doubtDueAt == nil, known.queue.doubted > 0 else { return }
        let wait = BackOff(first: self.settings.breakerBase, longest: self.settings.breakerMax)
            .ceiling(afterFailures: known.doubtTries + 1)
        self.lanes[lane]?.doubtDueAt = now.monotonic + wait
        self.setTimer(at: now.monotonic + wait, .lane(lane))
    }

    /// Tries one of the doubted tokens. A lane that is stopped has its own probes.
    private mutating func tryDoubted(of lane: PushLane, _ now: Now, _ effects: inout [ServerEffect]) {
        self.lanes[lane]?.doubtDueAt = nil
        guard self.state == .open, self.lanes[lane]?.breaker.isTripped == false else { return }
        if self.lanes[lane]?.inFlight ?? 0 < self.settings.pushesInFlightMax {
            self.lanes[lane]?.doubtTries += 1
            while let (slot, id) = self.lanes[lane]?.queue.nextDoubted() {
                if self.call(slot, id, now, &effects) { break }
            }
        }
        self.armDoubt(of: lane, now)
    }

    /// A lane works: who was doubted goes on, and who is refused now is itself at fault. What went into quarantine is there for good.
    mutating func settleDoubts(of lane: PushLane, _ now: Now, _ effects: inout [ServerEffect]) {
        guard self.lanes[lane]?.breaker.isTripped == false else { return }
        self.lanes[lane]?.quarantined.removeAll()
        self.lanes[lane]?.doubtTries = 0
        while let (slot, id) = self.lanes[lane]?.queue.nextDoubted() {
            guard let index = self.people[slot].devices.index(of: id) else { continue }
            self.people[slot].devices[index].turn = nil
            self.joinLane(slot, index)
        }
    }

    /// The lane was at fault: what it has put into quarantine since it worked last is as before (DESIGN P8).
    private mutating func takeBackQuarantines(of lane: PushLane, _ now: Now, _ effects: inout [ServerEffect]) {
        while let quarantine = self.lanes[lane]?.quarantined.popFirst() {
            self.takeBack(quarantine.device, quarantine.before, now, &effects)
        }
    }

    /// Takes a quarantine back, unless something else has become of the token since.
    mutating func takeBack(_ key: DeviceKey, _ before: PushState, _ now: Now, _ effects: inout [ServerEffect]) {
        let slot = self.slot(of: key.user, now, &effects)
        guard self.people[slot].isReady else {
            self.loadings[slot]?.queue.append(.takeBack(key, before))
            return
        }
        guard let index = self.people[slot].devices.index(of: key.device),
            case .quarantined(let registration, _, _) = self.people[slot].devices[index].push,
            registration == before.registration
        else { return }
        self.setPush(before, slot, index, &effects)
        self.people[slot].busyAt = now.monotonic
        self.arm(slot)
    }

    /// Tells a lane's breaker what happened, and does what it wants.
    mutating func tellBreaker(
        of lane: PushLane, _ event: Breaker.Event, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        guard self.lanes[lane] != nil else { return }
        let before = self.lanes[lane]?.breaker.until
        var wishes: [Breaker.Effect] = []
        self.lanes[lane]?.breaker.handle(event, at: now, settings: self.settings, into: &wishes)
        if let until = self.lanes[lane]?.breaker.until, until != before { self.setTimer(at: until, .lane(lane)) }
        for wish in wishes {
            switch wish {
            case .raiseAlarm(let alarm): effects.append(.raiseAlarm(lane, alarm))
            case .clearAlarm: effects.append(.clearAlarm(lane))
            case .release: self.pumpLane(lane, now, &effects)
            case .takeBackQuarantines: self.takeBackQuarantines(of: lane, now, &effects)
            }
        }
    }

    /// Lets those whose turn it is push, as far as the lane has room.
    mutating func pumpLane(_ lane: PushLane, _ now: Now, _ effects: inout [ServerEffect]) {
        guard self.state == .open else { return }
        while let (slot, id) = self.lanes[lane]?.next(self.settings) { _ = self.call(slot, id, now, &effects) }
    }

    /// It is a device's turn.
    ///
    /// - Returns: whether it has a push under way now.
    private mutating func call(
        _ slot: Int, _ id: DeviceID, _ now: Now, _ effects: inout [ServerEffect]
    ) -> Bool {
        guard let index = self.people[slot].devices.index(of: id) else { return false }
        self.people[slot].devices[index].turn = nil
        self.pump(slot, index, hasTurn: true, now, &effects)
        self.arm(slot)
        return self.people[slot].devices[index].inFlight != nil
    }

    /// Looks at a lane whose time has come.
    mutating func lookAt(_ lane: PushLane, _ now: Now, _ effects: inout [ServerEffect]) {
        self.tellBreaker(of: lane, .timeReached, now, &effects)
        if let due = self.lanes[lane]?.doubtDueAt, now.monotonic >= due { self.tryDoubted(of: lane, now, &effects) }
        guard let known = self.lanes[lane], let due = known.idleDueAt, now.monotonic >= due else { return }
        self.lanes[lane]?.idleDueAt = nil
        if known.isIdle, now.monotonic >= known.usedAt + Self.laneIdleTime {
            self.lanes.removeValue(forKey: lane)
        } else {
            self.watchIdle(lane, now)
        }
    }

    /// Sees to it that a lane nobody uses is forgotten.
    mutating func watchIdle(_ lane: PushLane, _ now: Now) {
        guard let known = self.lanes[lane], known.idleDueAt == nil else { return }
        self.lanes[lane]?.idleDueAt = now.monotonic + Self.laneIdleTime
        self.setTimer(at: now.monotonic + Self.laneIdleTime, .lane(lane))
    }
}
