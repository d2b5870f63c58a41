import APNsModel
import DequeModule
import OrderedCollections
import StoreModel
import TidingsModel

/// What pushes of one credential, environment and topic share.
struct Lane: Sendable {
    var breaker = Breaker()
    /// Pushes with the APNs client.
    var inFlight = 0
    /// Devices whose turn has not come, in the order in which they came; each stands here once.
    var queue: Deque<(slot: Int, device: DeviceID)> = []
}

/// One push with the APNs client.
struct Push: Sendable {
    let slot: Int
    let leg: LegID
    let position: LogPosition
    let lane: PushLane
    let registration: PushRegistration
    let attempt: Int
}

extension ServerCore {
    /// What became of a leg when it was judged.
    private enum Judgement {
        case ended
        case waits
        case sent
        /// It would be sent, but the device has a push under way, or its lane has no room.
        case mustQueue
    }

    /// Judges the legs of a device without a live lease, oldest first, until one is sent or has to queue (DESIGN §5).
    ///
    /// - Parameter hasTurn: the device comes from the front of its lane's queue.
    mutating func pump(
        _ slot: Int, _ index: Int, hasTurn: Bool = false, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        guard self.state == .open, !self.people[slot].devices[index].lease.isLive else { return }
        var leg = 0
        search: while leg < self.people[slot].devices[index].legs.count {
            if case .inFlight = self.people[slot].devices[index].legs[leg].state {
                leg += 1
                continue
            }
            switch self.judge(slot, index, leg, hasTurn: hasTurn, now, &effects) {
            case .ended: break
            case .waits: leg += 1
            case .sent, .mustQueue: break search
            }
        }
        self.writeCursor(slot, index, &effects)
    }

    /// Judges the newest leg alone: the older ones have been judged, and nothing has changed for them.
    mutating func pumpNewest(_ slot: Int, _ index: Int, _ now: Now, _ effects: inout [ServerEffect]) {
        guard self.state == .open else { return }
        let last = self.people[slot].devices[index].legs.count - 1
        if last >= 0, self.people[slot].devices[index].legs[last].position == self.people[slot].head {
            _ = self.judge(slot, index, last, hasTurn: false, now, &effects)
        }
        self.writeCursor(slot, index, &effects)
    }

    private mutating func judge(
        _ slot: Int, _ index: Int, _ leg: Int, hasTurn: Bool, _ now: Now, _ effects: inout [ServerEffect]
    ) -> Judgement {
        switch PushVerdict(self.facts(slot, index, leg, now)) {
        case .end(let end):
            let message = self.people[slot].devices[index].legs[leg].message.message.id
            self.people[slot].devices[index].legs.remove(at: leg)
            self.end(message, slot, index, end, now, &effects)
            return .ended
        case .wait(.live), .wait(.grace), .wait(.inFlight):
            self.people[slot].devices[index].legs[leg].state = .held
            return .waits
        case .wait(let wait):
            self.keep(slot, index, leg, wait, now, &effects)
            // What waits for the lane is called by the lane; what waits for the device alone, by the device's own timer.
            if let lane = self.lane(slot, index), self.lanes[lane]?.breaker.hold ?? .none != .none {
                self.joinLane(slot, index)
            }
            return .waits
        case .send:
            return self.send(slot, index, leg, hasTurn: hasTurn, now, &effects)
        }
    }

    /// Keeps a leg durable before a wait that can outlast the process (DESIGN §3 "Push work").
    private mutating func keep(
        _ slot: Int, _ index: Int, _ leg: Int, _ wait: LegWait, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        guard self.people[slot].devices[index].legs[leg].state != .waiting(wait) else { return }
        self.people[slot].devices[index].legs[leg].state = .waiting(wait)
        self.people[slot].devices[index].legs[leg].isKept = true
        self.tell(.keepLeg(self.openLeg(slot, index, leg, now)), &effects)
    }

    /// A leg as the store keeps it and a trace shows it.
    func openLeg(_ slot: Int, _ index: Int, _ leg: Int, _ now: Now?) -> OpenLeg {
        let device = self.people[slot].devices[index]
        let open = device.legs[leg]
        let id = LegID(message: open.message.message.id, user: self.people[slot].key, device: device.id)
        let wait: LegWait
        switch open.state {
        case .live: wait = .live
        case .held: wait = .grace
        case .queued, .inFlight: wait = .inFlight
        case .waiting(let reason): wait = reason
        }
        var notBefore: Int64?
        if let now, let until = device.retry?.until { notBefore = now.wall + max(0, until - now.monotonic) }
        return OpenLeg(
            leg: id, position: open.position, wait: wait,
            apnsID: open.sentAttempt.map { apnsID(of: id, attempt: $0) }, attempts: open.attempts,
            notBefore: notBefore)
    }

    private func facts(_ slot: Int, _ index: Int, _ leg: Int, _ now: Now) -> PushFacts {
        let user = self.people[slot].key.user
        let open = self.people[slot].devices[index].legs[leg]
        let message = open.message.message
        var facts = PushFacts()
        facts.isNotifiable =
            message.flags.contains(.notified) && message.conversation.type != .chatRoom && message.sender != user
        if open.position <= self.people[slot].devices[index].settled { facts.settled = .shown }
        if !self.people[slot].readUpTo.isEmpty {
            let readUpTo = self.people[slot].readUpTo[message.conversation(seenBy: user)] ?? 0
            facts.isReadElsewhere = readUpTo >= open.position
        }
        facts.isExpired = now.wall >= message.sentAt + self.settings.pushLifetime
        facts.token = self.people[slot].devices[index].token
        switch self.people[slot].devices[index].lease {
        case .foreground, .background: facts.presence = .live
        case .grace, .returning: facts.presence = .grace
        case .probing: facts.presence = open.state == .held ? .grace : .gone
        case .gone: facts.presence = .gone
        }
        if let lane = self.lane(slot, index) { facts.lane = self.lanes[lane]?.breaker.hold ?? .none }
        if let retry = self.people[slot].devices[index].retry, retry.until != nil {
            facts.retry = retry.wait == .throttled ? .throttled : .providerDown
        }
        return facts
    }

    private func lane(_ slot: Int, _ index: Int) -> PushLane? {
        guard let (registration, _) = self.people[slot].devices[index].registration else { return nil }
        return PushLane(
            app: self.people[slot].key.app, environment: registration.environment, topic: registration.topic)
    }

    private mutating func joinLane(_ slot: Int, _ index: Int) {
        guard !self.people[slot].devices[index].isInLane, let lane = self.lane(slot, index) else { return }
        self.people[slot].devices[index].isInLane = true
        self.lanes[lane, default: Lane()].queue.append((slot, self.people[slot].devices[index].id))
    }

    private mutating func send(
        _ slot: Int, _ index: Int, _ leg: Int, hasTurn: Bool, _ now: Now, _ effects: inout [ServerEffect]
    ) -> Judgement {
        guard let lane = self.lane(slot, index), let (registration, _) = self.people[slot].devices[index].registration
        else { return .waits }
        self.people[slot].devices[index].legs[leg].state = .queued
        guard self.people[slot].devices[index].inFlight == nil else { return .mustQueue }
        if self.lanes[lane] == nil { self.lanes[lane] = Lane() }
        let hasRoom = self.lanes[lane].map { lane in
            lane.inFlight < self.settings.pushesInFlightMax && (hasTurn || lane.queue.isEmpty)
        }
        guard hasRoom == true else {
            self.joinLane(slot, index)
            return .mustQueue
        }
        let open = self.people[slot].devices[index].legs[leg]
        let id = LegID(
            message: open.message.message.id, user: self.people[slot].key,
            device: self.people[slot].devices[index].id)
        do throws(InvalidField) {
            let request = try self.request(for: id, open, of: slot, to: registration)
            self.pushCount += 1
            let push = PushID(self.pushCount)
            self.pushes[push] = Push(
                slot: slot, leg: id, position: open.position, lane: lane, registration: registration,
                attempt: open.attempts)
            self.people[slot].devices[index].inFlight = push
            self.people[slot].devices[index].legs[leg].state = .inFlight(push)
            self.people[slot].devices[index].legs[leg].sentAttempt = open.attempts
            self.lanes[lane]?.inFlight += 1
            effects.append(.push(push, id.user.app, request))
            self.tellBreaker(of: lane, .started(push), now, &effects)
            return .sent
        } catch {
            self.people[slot].devices[index].legs.remove(at: leg)
            self.end(id.message, slot, index, .rejected(reason: "\(error)"), now, &effects)
            return .ended
        }
    }

    /// Tells a lane's breaker what happened, and does what it wants.
    mutating func tellBreaker(
        of lane: PushLane, _ event: Breaker.Event, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        guard let index = self.lanes.index(forKey: lane) else { return }
        var wishes: [Breaker.Effect] = []
        let before = self.lanes.values[index].breaker.until
        self.lanes.values[index].breaker.handle(event, at: now, settings: self.settings, into: &wishes)
        if let until = self.lanes.values[index].breaker.until, until != before {
            self.setTimer(at: until, .lane(index: index))
        }
        for wish in wishes {
            switch wish {
            case .raiseAlarm(let alarm): effects.append(.raiseAlarm(lane, alarm))
            case .clearAlarm: effects.append(.clearAlarm(lane))
            case .release: self.pumpLane(index, now, &effects)
            }
        }
    }

    /// Lets those whose turn it is push, as far as the lane has room.
    mutating func pumpLane(_ lane: Int, _ now: Now, _ effects: inout [ServerEffect]) {
        guard self.state == .open else { return }
        while self.lanes.values[lane].breaker.hold == .none,
            self.lanes.values[lane].inFlight < self.settings.pushesInFlightMax,
            let (slot, id) = self.lanes.values[lane].queue.popFirst()
        {
            guard let index = self.people[slot].index(of: id) else { continue }
            self.people[slot].devices[index].isInLane = false
            self.pump(slot, index, hasTurn: true, now, &effects)
            self.arm(slot)
        }
    }

    /// What waits for a push of a conversation that was read meanwhile ends.
    mutating func endRead(
        _ slot: Int, _ index: Int, _ conversation: ConversationID, upTo: LogPosition, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        let user = self.people[slot].key.user
        let read = self.people[slot].devices[index].legs.removeAll { leg in
            if case .inFlight = leg.state { return false }
            return leg.position <= upTo && leg.message.message.conversation(seenBy: user) == conversation
        }
        for leg in read { self.end(leg.message.message.id, slot, index, .readElsewhere, now, &effects) }
    }
}
