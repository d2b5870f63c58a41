import APNsModel
import StoreModel
import TidingsModel

struct OutgoingPush: Sendable {
    let slot: Int
    let leg: LegID
    /// Ascending; several if it merges legs.
    let positions: [LogPosition]
    let lane: PushLane
    let registration: PushRegistration
    /// When the push was handed over.
    let wasAccepted: Bool
    let attempt: Int
    let badge: Int
    /// Nil for a push of messages; otherwise it tells the badge and nothing else.
    var badgeRoute: BadgeRoute?
}

extension ServerCore {
    enum Judgement {
        case ended
        case waits
        case sent
        /// The device has a push under way, or its lane has no room.
        case mustQueue
    }

    /// Pushes for a device without a live lease, oldest first, until one is sent or has to queue (design.md §5). With `hasTurn` the device
    /// comes from the front of its lane's queue.
    mutating func pump(_ slot: Int, _ index: Int, hasTurn: Bool = false) {
        guard self.mayPush(to: index, of: slot), !self.people[slot].devices[index].lease.isLive else { return }
        var leg = 0
        search: while leg < self.people[slot].devices[index].legs.count {
            if self.people[slot].devices[index].legs[leg].isInFlight {
                leg += 1
                continue
            }
            switch self.decidePush(slot: slot, index: index, leg: leg, hasTurn: hasTurn) {
            case .ended: break
            case .waits: leg += 1
            case .sent, .mustQueue: break search
            }
        }
        self.writeCursor(slot, index)
    }

    private func mayPush(to index: Int, of slot: Int) -> Bool {
        self.turn.state == .open && !self.people[slot].isRestoringLegs && !self.people[slot].devices[index].isLeaving
    }

    mutating func pumpAll(_ slot: Int) {
        for index in self.people[slot].devices.indices { self.pump(slot, index) }
    }

    mutating func pumpOthers(_ slot: Int, than device: Int) {
        for index in self.people[slot].devices.indices where index != device {
            guard !self.people[slot].devices[index].legs.isEmpty else { continue }
            self.pump(slot, index)
        }
    }

    /// The older ones have been judged, and nothing has changed for them.
    mutating func pumpNewest(_ slot: Int, _ index: Int) {
        guard self.mayPush(to: index, of: slot) else { return }
        let last = self.people[slot].devices[index].legs.count - 1
        if last >= 0, self.people[slot].devices[index].legs[last].position == self.people[slot].head {
            _ = self.decidePush(slot: slot, index: index, leg: last, hasTurn: false)
        }
        self.writeCursor(slot, index)
    }

    func lane(_ slot: Int, _ index: Int) -> PushLane? {
        guard let (registration, _) = self.people[slot].devices[index].registration else { return nil }
        return PushLane(registration, in: self.people[slot].key.app)
    }

    /// With all that wait to be merged with it.
    mutating func send(_ slot: Int, _ index: Int, _ leg: Int, hasTurn: Bool) -> Judgement {
        guard let lane = self.lane(slot, index),
            case .registered(let registration, _, let wasAccepted) = self.people[slot].devices[index].push
        else { return .waits }
        self.people[slot].devices[index].legs[leg].state = .queued
        guard self.people[slot].devices[index].inFlight == nil else { return .mustQueue }
        self.turn.lanes.make(lane, self.turn.settings)
        guard hasTurn || self.turn.lanes[lane]?.hasRoom(for: slot, self.turn.settings) == true else {
            self.joinLane(slot, index)
            return .mustQueue
        }
        let merged = self.mergedWith(slot, index, leg)
        let newest = merged.last ?? leg
        let open = self.people[slot].devices[index].legs[newest]
        let id = LegID(message: open.id, user: self.people[slot].key, device: self.people[slot].devices[index].id)
        do throws(InvalidField) {
            let request = try self.pushRequest(
                for: id, open, with: merged.dropLast().map { self.people[slot].devices[index].legs[$0].position },
                of: slot, to: registration)
            let push = self.turn.lanes.nextPush()
            self.turn.lanes.pushes[push] = OutgoingPush(
                slot: slot, leg: id, positions: merged.map { self.people[slot].devices[index].legs[$0].position },
                lane: lane, registration: registration, wasAccepted: wasAccepted, attempt: open.attempts,
                badge: self.people[slot].unread)
            self.people[slot].devices[index].badge.dueAt = nil
            self.countAlert(open, slot, index, isMerged: merged.count > 1)
            for leg in merged {
                self.people[slot].devices[index].legs[leg].state = .inFlight(push)
                self.people[slot].devices[index].legs[leg].sentAttempt =
                    self.people[slot].devices[index].legs[leg].attempts
                let carrier = leg == newest ? nil : id.message
                self.people[slot].devices[index].legs[leg].steps.append(
                    .pushed(LegPush(request, carrier: carrier, attempt: open.attempts), at: self.turn.now.wall))
            }
            self.people[slot].devices[index].inFlight = push
            self.turn.lanes[lane]?.begin(push, of: slot, at: self.turn.now.monotonic)
            let device = DeviceKey(user: id.user, device: self.people[slot].devices[index].id)
            self.turn.emit(.push(push, to: device, request))
            self.reportSent(merged, of: slot, index, in: request)
            self.handleBurstEvent(.started(push), of: lane)
            return .sent
        } catch {
            self.people[slot].devices[index].legs.remove(at: newest)
            self.endLeg(open, slot: slot, index: index, .rejected(reason: "\(error)"))
            return .ended
        }
    }

    /// To the steps of another device's legs than the one that has told of it.
    mutating func addReading(_ slot: Int, _ index: Int, _ conversation: ConversationID, upTo: LogPosition) {
        let reader = self.turn.reader
        guard self.people[slot].devices[index].id != reader else { return }
        let user = self.people[slot].key.user
        self.people[slot].devices[index].legs.addStep(.read(on: reader, at: self.turn.now.wall)) { leg in
            guard case .message = leg.subject, !leg.isInFlight else { return false }
            return leg.position <= upTo && leg.conversation(seenBy: user) == conversation
        }
    }

    mutating func endRead(_ slot: Int, _ index: Int, _ conversation: ConversationID, upTo: LogPosition) {
        let user = self.people[slot].key.user
        let read = self.people[slot].devices[index].legs.removeAll { leg in
            // What was shown stands there until its recall comes, read or not.
            guard case .message = leg.subject, !leg.isInFlight else { return false }
            return leg.position <= upTo && leg.conversation(seenBy: user) == conversation
        }
        for leg in read { self.endLeg(leg, slot: slot, index: index, .readElsewhere) }
    }
}

extension LegPush {
    fileprivate init(_ request: APNsRequest, carrier: MessageID?, attempt: Int) {
        self.init(
            carrier: carrier, attempt: attempt, topic: request.topic, environment: request.environment,
            expiration: request.expiration ?? 0)
    }
}
