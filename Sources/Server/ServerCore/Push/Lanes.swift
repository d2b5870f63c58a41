import APNsModel
import DequeModule
import StoreModel
import TidingsModel

/// Pushes of one credential, environment and topic.
struct Lane: Sendable {
    struct Quarantine: Sendable {
        let device: DeviceKey
        let before: PushState
    }

    /// The newest are remembered.
    static let quarantinesMax = 256

    private(set) var client: LaneState
    /// The push that finds out for the client whether an outage is over.
    private var probe: PushID?
    var burst = TokenBurst()
    /// Each device stands here once.
    var queue = LaneQueue()
    private(set) var inFlight = 0
    /// By slot.
    private var inFlightOfPeople: [Int: Int] = [:]
    /// Since the lane worked last: taken back if it turns out that the lane was at fault.
    var quarantined: Deque<Quarantine> = []
    var held = HeldTokens()
    private(set) var usedAt: Int64 = 0
    var idleDueAt: Int64?

    init(client: LaneState = .usable) { self.client = client }

    mutating func setClient(_ state: LaneState) {
        self.client = state
        self.probe = nil
    }

    mutating func begin(_ push: PushID, of slot: Int, at now: Int64) {
        if case .probeDue = self.client { self.probe = push }
        self.inFlight += 1
        self.inFlightOfPeople[slot, default: 0] += 1
        self.usedAt = now
    }

    /// A probe that brought no report was none: the next push is.
    mutating func end(_ push: PushID, of slot: Int, at now: Int64) {
        if self.probe == push { self.probe = nil }
        self.inFlight -= 1
        self.inFlightOfPeople[slot, default: 0] -= 1
        if self.inFlightOfPeople[slot] == 0 { self.inFlightOfPeople[slot] = nil }
        self.usedAt = now
    }

    /// A device that waits goes first unless its person has as many pushes under way as one may.
    func hasRoom(for slot: Int, _ settings: ServerSettings) -> Bool {
        guard self.inFlight < settings.pushesInFlightMax else { return false }
        if self.isTripped { return self.queue.count == 0 }
        return self.inFlightOfPeople[slot, default: 0] < settings.personPushesInFlightMax
    }

    /// Nil if there is none, or no room.
    mutating func next(_ settings: ServerSettings) -> (slot: Int, device: DeviceID)? {
        guard self.hold == .none, self.inFlight < settings.pushesInFlightMax else { return nil }
        guard !self.isTripped else { return self.queue.nextProbe() }
        let underWay = self.inFlightOfPeople
        return self.queue.next { underWay[$0, default: 0] >= settings.personPushesInFlightMax }
    }

    mutating func rememberQuarantine(_ quarantine: Quarantine) {
        if self.quarantined.count >= Self.quarantinesMax { self.quarantined.removeFirst() }
        self.quarantined.append(quarantine)
    }

    var hold: PushFacts.LaneHold {
        let burst: PushFacts.LaneHold = self.burst.isHolding ? .breakerOpen : .none
        return switch self.client {
        case .usable: burst
        case .paused(let outage): outage.hold
        case .probeDue(let outage): self.probe == nil ? burst : outage.hold
        }
    }

    var isTripped: Bool { self.client != .usable || self.burst.isTripped }

    /// Nothing would be lost but that it has worked.
    var isIdle: Bool {
        self.client == .usable && self.burst.state == .closed && self.inFlight == 0 && self.queue.count == 0
            && self.held.isEmpty
    }
}

/// The lanes, what the APNs clients have reported of them, and the pushes of messages and badges whose answers are open.
struct PushLanes: Sendable {
    private(set) var states: [PushLane: Lane] = [:]
    /// The APNs clients' last reports, without those that are usable.
    var outages: [LaneScope: LaneState] = [:]
    var pushes: [PushID: OutgoingPush] = [:]
    private var pushCount: UInt64 = 0

    subscript(lane: PushLane) -> Lane? {
        @inline(__always) get { self.states[lane] }
        @inline(__always) _modify { yield &self.states[lane] }
    }

    mutating func nextPush() -> PushID {
        self.pushCount += 1
        return PushID(self.pushCount)
    }

    /// Hands over a push of messages or of a badge. The burst is told that it has begun, which asks nothing of the caller.
    mutating func begin(_ push: OutgoingPush, _ now: Now, _ settings: ServerSettings) -> PushID {
        let id = self.nextPush()
        self.pushes[id] = push
        self.states[push.lane]?.begin(id, of: push.slot, at: now.monotonic)
        var none: [TokenBurst.Effect] = []
        self.states[push.lane]?.burst.handle(.started(id), at: now, settings: settings, into: &none)
        return id
    }

    func reportedState(of lane: PushLane, _ settings: ServerSettings) -> LaneState {
        guard !settings.suspendedApps.contains(lane.app) else { return .paused(.ofSuspension) }
        guard !self.outages.isEmpty else { return .usable }
        return .worst(
            of: [nil, lane.topic].compactMap {
                self.outages[LaneScope(app: lane.app, environment: lane.environment, topic: $0)]
            })
    }

    mutating func make(_ lane: PushLane, _ settings: ServerSettings) {
        guard self.states[lane] == nil else { return }
        self.states[lane] = Lane(client: self.reportedState(of: lane, settings))
    }

    /// An app whose topics are known has no more lanes than these make; any other a fixed number.
    func mayMake(_ lane: PushLane, _ settings: ServerSettings) -> Bool {
        guard settings.pushTopics[lane.app] == nil else { return settings.mayPush(to: lane.topic, in: lane.app) }
        // tidy: order does not leave: a count is the same in any order
        return self.states.keys.count { $0.app == lane.app } < settings.lanesMax
    }

    /// Returns the lane, made if it may be.
    mutating func makeIfAllowed(_ lane: PushLane, _ settings: ServerSettings) -> PushLane {
        if self.states[lane] == nil, self.mayMake(lane, settings) { self.make(lane, settings) }
        return lane
    }

    func isHeld(_ registration: PushRegistration, of device: DeviceKey) -> Bool {
        let held = self.states[PushLane(registration, in: device.user.app)]?.held
        // Most lanes hold none, and every push asks.
        return held?.isEmpty == false && held?[device]?.registration == registration
    }

    /// Says what holds the pushes of a device.
    func hold(for registration: PushRegistration, of device: DeviceKey, _ settings: ServerSettings)
        -> PushFacts.LaneHold
    {
        if self.isHeld(registration, of: device) { return .breakerOpen }
        let lane = PushLane(registration, in: device.user.app)
        if let hold = self.states[lane]?.hold { return hold }
        guard self.mayMake(lane, settings) else { return .configFault }
        guard case .paused(let outage) = self.reportedState(of: lane, settings) else { return .none }
        return outage.hold
    }

    mutating func hold(
        _ registration: PushRegistration, of device: DeviceKey, wasAccepted: Bool, _ refusal: APNsRefusal
    ) {
        self.states[PushLane(registration, in: device.user.app)]?.held.hold(
            .init(registration: registration, wasAccepted: wasAccepted, reason: refusal.reason.name), of: device)
    }

    /// A token that never worked is, when its lane works; of one that did the next push that APNs accepts shows it.
    func isTokenAtFault(_ push: OutgoingPush) -> Bool {
        guard let lane = self.states[push.lane], !lane.isTripped else { return false }
        return !push.wasAccepted && lane.burst.works
    }

    /// Calls and what passes by the log do not wait until an outage is over.
    func reasonNotToPass(_ lane: PushLane, isTest: Bool = false) -> String? {
        guard let hold = self.states[lane]?.hold else { return LegWait.configFault.rawValue }
        return switch hold {
        case .none: nil
        case .configFault: LegWait.configFault.rawValue
        // The brake is the server's own, and a test shows whether it is still needed.
        case .breakerOpen: isTest ? nil : LegWait.breakerOpen.rawValue
        case .providerDown: LegWait.providerDown.rawValue
        }
    }
}

extension ServerCore {
    /// The time that an idle lane stays: its state is worth something to the next push.
    static let laneIdleTime: Int64 = 600_000

    /// The lane was at fault (design.md P8).
    mutating func takeBackQuarantines(of lane: PushLane) {
        while let quarantine = self.turn.lanes[lane]?.quarantined.popFirst() {
            self.tell(
                .takeBack(quarantine.device.device, quarantine.before), slot: self.slot(of: quarantine.device.user))
        }
    }

    mutating func handleBurstEvent(_ event: TokenBurst.Event, of lane: PushLane) {
        guard self.turn.lanes[lane] != nil else { return }
        let before = self.turn.lanes[lane]?.burst.until
        var changes: [TokenBurst.Effect] = []
        self.turn.lanes[lane]?.burst.handle(event, at: self.turn.now, settings: self.turn.settings, into: &changes)
        if let until = self.turn.lanes[lane]?.burst.until, until != before {
            self.turn.timers.set(at: until, .lane(lane))
        }
        for change in changes {
            switch change {
            case .raiseAlarm(let alarm): self.turn.emit(.raiseAlarm(lane, alarm))
            case .clearAlarm: self.turn.emit(.clearAlarm(lane))
            case .release: self.pumpLane(lane)
            case .takeBackQuarantines: self.takeBackQuarantines(of: lane)
            }
        }
    }

    mutating func pumpLane(_ lane: PushLane) {
        guard self.turn.state == .open else { return }
        while let (slot, device) = self.turn.lanes[lane]?.next(self.turn.settings) {
            self.people[slot].pump(device, hasTurn: true, &self.turn)
        }
    }

    mutating func handleLaneTimer(_ lane: PushLane) {
        self.handleBurstEvent(.timeReached, of: lane)
        guard let known = self.turn.lanes[lane], let due = known.idleDueAt, self.turn.now.monotonic >= due else {
            return
        }
        self.turn.lanes[lane]?.idleDueAt = nil
        if known.isIdle, self.turn.now.monotonic >= known.usedAt + Self.laneIdleTime {
            self.turn.lanes[lane] = nil
        } else {
            self.watchIdle(lane)
        }
    }

    mutating func watchIdle(_ lane: PushLane) {
        guard let known = self.turn.lanes[lane], known.idleDueAt == nil else { return }
        self.turn.lanes[lane]?.idleDueAt = self.turn.now.monotonic + Self.laneIdleTime
        self.turn.timers.set(at: self.turn.now.monotonic + Self.laneIdleTime, .lane(lane))
    }
}

extension Person {
    /// Unless something else has become of the token since.
    mutating func takeBack(_ device: DeviceID, _ before: PushState, _ turn: inout Turn) {
        guard let index = self.devices.index(of: device),
            case .quarantined(let registration, _, _) = self.devices[index].push,
            registration == before.registration
        else { return }
        self.devices[index].setPush(before, &turn)
        self.state.busyAt = turn.now.monotonic
        self.arm(&turn)
    }
}

extension Device {
    var lane: PushLane? { self.registration.map { PushLane($0.registration, in: self.key.user.app) } }

    mutating func laneHold(_ turn: inout Turn) -> PushFacts.LaneHold {
        guard let (registration, _) = self.registration else { return .none }
        return turn.lanes.hold(for: registration, of: self.key, turn.settings)
    }

    mutating func isHeld(_ turn: inout Turn) -> Bool {
        guard let (registration, _) = self.registration else { return false }
        return turn.lanes.isHeld(registration, of: self.key)
    }

    mutating func joinLane(_ person: inout PersonState, _ turn: inout Turn) {
        guard self.laneTurn == nil, let lane = self.lane,
            turn.lanes[lane] != nil || turn.lanes.mayMake(lane, turn.settings)
        else { return }
        guard !self.isHeld(&turn) else {
            turn.lanes[lane]?.held.judgeLater(self.key)
            return
        }
        let shelf: LaneQueue.Shelf = self.push.wasAccepted ? .good : .unproven
        self.laneTurn = LaneTurn(lane: lane, shelf: shelf, slot: person.slot)
        turn.lanes.make(lane, turn.settings)
        turn.lanes[lane]?.queue.append(person.slot, self.id, on: shelf)
    }

    mutating func leaveLane(_ turn: inout Turn) {
        guard let own = self.laneTurn.take() else { return }
        turn.lanes[own.lane]?.queue.remove(own.slot, self.id, from: own.shelf)
    }
}
