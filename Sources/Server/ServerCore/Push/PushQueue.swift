import APNsModel
import StoreModel
import TidingsModel

/// One push with the APNs client.
struct OutgoingPush: Sendable {
    let slot: Int
    let leg: LegID
    /// The positions of the legs it is for, ascending: several if it merges them.
    let positions: [LogPosition]
    let lane: PushLane
    let registration: PushRegistration
    /// APNs had accepted a push with the registration when this one was handed over.
    let wasAccepted: Bool
    let attempt: Int
    /// The number it puts on the icon.
    let badge: Int
    /// It tells that number and nothing else.
    var isSilent = false
}

extension ServerCore {
    /// What became of a leg when it was judged.
    enum Judgement {
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
        guard self.state == .open, !self.people[slot].isTakingUp, !self.people[slot].devices[index].lease.isLive
        else { return }
        var leg = 0
        search: while leg < self.people[slot].devices[index].legs.count {
            if self.people[slot].devices[index].legs[leg].isInFlight {
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

    /// Judges the legs of all devices of a person that have no live lease.
    mutating func pumpAll(_ slot: Int, _ now: Now, _ effects: inout [ServerEffect]) {
        for index in self.people[slot].devices.indices { self.pump(slot, index, now, &effects) }
    }

    /// Judges the legs of a person's other devices, once one of them is not in the foreground any more.
    mutating func pumpOthers(_ slot: Int, than device: Int, _ now: Now, _ effects: inout [ServerEffect]) {
        for index in self.people[slot].devices.indices where index != device {
            guard !self.people[slot].devices[index].legs.isEmpty else { continue }
            self.pump(slot, index, now, &effects)
        }
    }

    /// Judges the newest leg alone: the older ones have been judged, and nothing has changed for them.
    mutating func pumpNewest(_ slot: Int, _ index: Int, _ now: Now, _ effects: inout [ServerEffect]) {
        guard self.state == .open, !self.people[slot].isTakingUp else { return }
        let last = self.people[slot].devices[index].legs.count - 1
        if last >= 0, self.people[slot].devices[index].legs[last].position == self.people[slot].head {
            _ = self.judge(slot, index, last, hasTurn: false, now, &effects)
        }
        self.writeCursor(slot, index, &effects)
    }

    func lane(_ slot: Int, _ index: Int) -> PushLane? {
        guard let (registration, _) = self.people[slot].devices[index].registration else { return nil }
        return PushLane(
            app: self.people[slot].key.app, environment: registration.environment, topic: registration.topic)
    }

    /// Sends a leg, with all that wait to be merged with it, or lets it queue.
    mutating func send(
        _ slot: Int, _ index: Int, _ leg: Int, hasTurn: Bool, _ now: Now, _ effects: inout [ServerEffect]
    ) -> Judgement {
        guard let lane = self.lane(slot, index),
            case .registered(let registration, _, let wasAccepted) = self.people[slot].devices[index].push
        else { return .waits }
        self.people[slot].devices[index].legs[leg].state = .queued
        guard self.people[slot].devices[index].inFlight == nil else { return .mustQueue }
        if self.lanes[lane] == nil { self.lanes[lane] = Lane() }
        guard hasTurn || self.lanes[lane]?.hasRoom(for: slot, self.settings) == true else {
            self.joinLane(slot, index)
            return .mustQueue
        }
        let merged = self.mergedWith(slot, index, leg, now)
        let newest = merged.last ?? leg
        let open = self.people[slot].devices[index].legs[newest]
        let id = LegID(message: open.id, user: self.people[slot].key, device: self.people[slot].devices[index].id)
        do throws(InvalidField) {
            let request = try self.request(
                for: id, open, with: merged.dropLast().map { self.people[slot].devices[index].legs[$0].position },
                of: slot, to: registration)
            self.pushCount += 1
            let push = PushID(self.pushCount)
            self.pushes[push] = OutgoingPush(
                slot: slot, leg: id, positions: merged.map { self.people[slot].devices[index].legs[$0].position },
                lane: lane, registration: registration, wasAccepted: wasAccepted, attempt: open.attempts,
                badge: self.people[slot].unread)
            self.people[slot].devices[index].badge.dueAt = nil
            self.countAlert(open, slot, index, isMerged: merged.count > 1, now)
            for leg in merged {
                self.people[slot].devices[index].legs[leg].state = .inFlight(push)
                self.people[slot].devices[index].legs[leg].sentAttempt =
                    self.people[slot].devices[index].legs[leg].attempts
            }
            self.people[slot].devices[index].inFlight = push
            self.lanes[lane]?.begin(of: slot, at: now.monotonic)
            effects.append(.push(push, id.user.app, request))
            self.tellBreaker(of: lane, .started(push), now, &effects)
            return .sent
        } catch {
            self.people[slot].devices[index].legs.remove(at: newest)
            self.end(id.message, slot, index, .rejected(reason: "\(error)"), now, &effects)
            return .ended
        }
    }

    /// What waits for a push of a conversation that was read meanwhile ends.
    mutating func endRead(
        _ slot: Int, _ index: Int, _ conversation: ConversationID, upTo: LogPosition, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        let user = self.people[slot].key.user
        let read = self.people[slot].devices[index].legs.removeAll { leg in
            // What was shown stands there until its recall comes, read or not.
            guard case .message = leg.subject, !leg.isInFlight else { return false }
            return leg.position <= upTo && leg.conversation(seenBy: user) == conversation
        }
        for leg in read { self.end(leg.id, slot, index, .readElsewhere, now, &effects) }
    }
}
