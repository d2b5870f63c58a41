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

extension Person {
    /// Pushes for one of the devices. With `hasTurn` it comes from the front of its lane's queue.
    mutating func pump(at index: Int, hasTurn: Bool = false, _ turn: inout Turn) {
        self.state.activeElsewhereUntil =
            self.devices[index].legs.isEmpty ? nil : self.activeElsewhere(than: index, &turn)
        self.devices[index].pump(hasTurn: hasTurn, &self.state, &turn)
    }

    mutating func pumpNewest(at index: Int, _ turn: inout Turn) {
        self.state.activeElsewhereUntil =
            self.devices[index].legs.isEmpty ? nil : self.activeElsewhere(than: index, &turn)
        self.devices[index].pumpNewest(&self.state, &turn)
    }

    mutating func pumpAll(_ turn: inout Turn) {
        for index in self.devices.indices { self.pump(at: index, &turn) }
    }

    mutating func pumpOthers(than device: Int, _ turn: inout Turn) {
        for index in self.devices.indices where index != device && !self.devices[index].legs.isEmpty {
            self.pump(at: index, &turn)
        }
    }

    /// Pushes for a device whose wait something else has ended.
    mutating func pump(_ device: DeviceID, hasTurn: Bool = false, _ turn: inout Turn) {
        guard let index = self.devices.index(of: device) else { return }
        if hasTurn { self.devices[index].laneTurn = nil }
        self.pump(at: index, hasTurn: hasTurn, &turn)
        self.arm(&turn)
    }

    mutating func activeElsewhere(than device: Int, _ turn: inout Turn) -> Int64? {
        guard turn.settings.activeElsewhereTime > 0 else { return nil }
        var until: Int64?
        for index in self.devices.indices where index != device && self.devices[index].lease == .foreground {
            guard let activeAt = self.devices[index].activeAt else { continue }
            let end = activeAt + turn.settings.activeElsewhereTime
            if turn.now.monotonic < end { until = max(until ?? end, end) }
        }
        return until
    }
}

extension Device {
    /// Pushes what no live lease carries, oldest first, until one is sent or has to queue (design.md §5).
    fileprivate mutating func pump(hasTurn: Bool, _ person: inout PersonState, _ turn: inout Turn) {
        guard self.mayBePushedTo(&person, &turn), !self.lease.isLive else { return }
        var leg = 0
        search: while leg < self.legs.count {
            if self.legs[leg].isInFlight {
                leg += 1
                continue
            }
            switch self.judge(leg, hasTurn: hasTurn, &person, &turn) {
            case .ended: break
            case .waits: leg += 1
            case .sent, .mustQueue: break search
            }
        }
        self.writeCursor(&person, &turn)
    }

    private mutating func mayBePushedTo(_ person: inout PersonState, _ turn: inout Turn) -> Bool {
        turn.state == .open && !person.isRestoringLegs && !self.isLeaving
    }

    /// The older ones have been judged, and nothing has changed for them.
    fileprivate mutating func pumpNewest(_ person: inout PersonState, _ turn: inout Turn) {
        guard self.mayBePushedTo(&person, &turn) else { return }
        let last = self.legs.count - 1
        if last >= 0, self.legs[last].position == person.head {
            _ = self.judge(last, hasTurn: false, &person, &turn)
        }
        self.writeCursor(&person, &turn)
    }

    /// With all that wait to be merged with it.
    mutating func send(_ leg: Int, hasTurn: Bool, _ person: inout PersonState, _ turn: inout Turn) -> Judgement {
        guard let lane = self.lane, case .registered(let registration, _, let wasAccepted) = self.push else {
            return .waits
        }
        self.legs[leg].state = .queued
        guard self.inFlight == nil else { return .mustQueue }
        turn.lanes.make(lane, turn.settings)
        guard hasTurn || turn.lanes[lane]?.hasRoom(for: person.slot, turn.settings) == true else {
            self.joinLane(&person, &turn)
            return .mustQueue
        }
        let merged = self.mergedWith(leg, &person, &turn)
        let newest = merged.last ?? leg
        let open = self.legs[newest]
        let id = LegID(message: open.id, user: self.key.user, device: self.id)
        let positions = merged.map { self.legs[$0].position }
        do throws(InvalidField) {
            let request = try turn.pushRequest(
                for: id, open, with: Array(positions.dropLast()), for: person.reader(on: self.id), to: registration)
            let push = turn.lanes.begin(
                OutgoingPush(
                    slot: person.slot, leg: id, positions: positions, lane: lane, registration: registration,
                    wasAccepted: wasAccepted, attempt: open.attempts, badge: person.unread), turn.now, turn.settings)
            self.badge.dueAt = nil
            self.countAlert(open, isMerged: merged.count > 1, &turn)
            for leg in merged {
                self.legs[leg].state = .inFlight(push)
                self.legs[leg].sentAttempt = self.legs[leg].attempts
                let carrier = leg == newest ? nil : id.message
                self.legs[leg].steps.append(
                    .pushed(LegPush(request, carrier: carrier, attempt: open.attempts), at: turn.now.wall))
            }
            self.inFlight = push
            turn.emit(.push(push, to: self.key, request))
            for leg in merged {
                let sent = LegID(message: self.legs[leg].id, user: self.key.user, device: self.id)
                turn.emit(.report(.sentLeg(sent, apnsID: request.apnsID)))
            }
            return .sent
        } catch {
            self.legs.remove(at: newest)
            self.endLeg(open, .rejected(reason: "\(error)"), &turn)
            return .ended
        }
    }

    /// To the steps of another device's legs than the one that has told of it.
    mutating func addReading(_ conversation: ConversationID, upTo: LogPosition, _ turn: inout Turn) {
        guard self.id != turn.reader else { return }
        let user = self.key.user.user
        self.legs.addStep(.read(on: turn.reader, at: turn.now.wall)) {
            $0.isUnsent(in: conversation, upTo: upTo, seenBy: user)
        }
    }

    mutating func endRead(_ conversation: ConversationID, upTo: LogPosition, _ turn: inout Turn) {
        let user = self.key.user.user
        let read = self.legs.removeAll { $0.isUnsent(in: conversation, upTo: upTo, seenBy: user) }
        for leg in read { self.endLeg(leg, .readElsewhere, &turn) }
    }
}

extension Leg {
    /// Returns true for a message that is not with APNs. What was shown stands there until its recall comes, read or not.
    fileprivate func isUnsent(in conversation: ConversationID, upTo: LogPosition, seenBy user: UserID) -> Bool {
        guard case .message = self.subject, !self.isInFlight else { return false }
        return self.position <= upTo && self.conversation(seenBy: user) == conversation
    }
}

extension LegPush {
    fileprivate init(_ request: APNsRequest, carrier: MessageID?, attempt: Int) {
        self.init(
            carrier: carrier, attempt: attempt, topic: request.topic, environment: request.environment,
            expiration: request.expiration ?? 0)
    }
}
