import APNsModel
import StoreModel
import TidingsModel

enum PushAnswer: Sendable {
    case answered(APNsOutcome)
    case noCredential
}

private enum PushReaction {
    case end(LegEnd)
    /// The leg goes back into the queue, for later; its next try is another one if APNs has answered this one.
    case retry(LegWait, isAnswered: Bool, mayBeShown: Bool = false)
    /// Dead if 410's time is newer than the registration (apns.md §11).
    case drop(APNsRefusal)
    /// If its lane works (design.md P8).
    case quarantine(APNsRefusal)

    var isAccepted: Bool {
        if case .end(.accepted) = self { true } else { false }
    }
    var isOver: Bool {
        if case .end = self { true } else { false }
    }
}

extension ServerCore {
    /// design.md §5, apns.md §9.
    mutating func endPush(_ id: PushID, _ answer: PushAnswer) {
        if let push = self.passed.end(id) { return self.endPassing(id, push, answer) }
        guard let push = self.turn.lanes.pushes.removeValue(forKey: id) else {
            self.turn.emit(.flagBug("\(id) was answered twice or never sent"))
            return
        }
        self.report(answer, to: push)
        self.turn.lanes[push.lane]?.end(id, of: push.slot, at: self.turn.now.monotonic)
        if case .noCredential = answer { self.holdForCredential(push.lane) }
        let (event, reaction) = Self.reaction(to: answer, of: id, push)
        let before = self.turn.lanes[push.lane]?.burst ?? TokenBurst()
        self.handleBurstEvent(event, of: push.lane)
        self.people[push.slot].endPush(id, push, answer.step(at: self.turn.now.wall), reaction, &self.turn)
        if case .worked = event { self.settleHeld(of: push.lane, before: before) }
        self.pumpLane(push.lane)
        self.watchIdle(push.lane)
    }

    private static func reaction(
        to answer: PushAnswer, of id: PushID, _ push: OutgoingPush
    ) -> (TokenBurst.Event, PushReaction) {
        switch answer {
        case .noCredential:
            return (.toldNothing(id), .retry(.providerDown, isAnswered: false))
        case .answered(.accepted(let apnsID, _)):
            return (.worked(id), .end(.accepted(apnsID: apnsID)))
        case .answered(.unknownOutcome):
            return (.toldNothing(id), .retry(.providerDown, isAnswered: false, mayBeShown: true))
        case .answered(.notSent), .answered(.stopped):
            return (.toldNothing(id), .retry(.providerDown, isAnswered: false))
        case .answered(.refused(let refusal)):
            let reason = refusal.reason
            switch refusal.reaction {
            case .drop: return (.worked(id), .drop(refusal))
            case .quarantine:
                return (
                    .tokenRefused(id, reason: reason.name, of: push.leg.user, wasAccepted: push.wasAccepted),
                    .quarantine(refusal)
                )
            case .bug: return (.toldNothing(id), .end(.rejected(reason: reason.name)))
            case .config, .auth, .connection, .backoff:
                // "Too many requests" is about this token alone (apns.md §12).
                let wait: LegWait = reason == .tooManyRequests ? .throttled : .providerDown
                return (.toldNothing(id), .retry(wait, isAnswered: true))
            }
        }
    }
}

extension Person {
    /// The person may have been forgotten and the device signed out since.
    fileprivate mutating func endPush(
        _ id: PushID, _ push: OutgoingPush, _ step: LegStep?, _ reaction: PushReaction, _ turn: inout Turn
    ) {
        guard let device = push.leg.device, self.state.key == push.leg.user,
            let index = self.devices.index(of: device)
        else { return }
        self.devices[index].endPush(id, push, step, reaction, &self.state, &turn)
        self.pumpOrDirty(at: index, &turn)
        self.arm(&turn)
    }
}

extension Device {
    /// - Parameter step: of the legs that the push carries. An acceptance has none: it is their end, which says the same.
    fileprivate mutating func endPush(
        _ id: PushID, _ push: OutgoingPush, _ step: LegStep?, _ reaction: PushReaction, _ person: inout PersonState,
        _ turn: inout Turn
    ) {
        if self.inFlight == id { self.inFlight = nil }
        // Legs may have been settled while the push was on its way; what was learnt about the token counts all the same.
        let legs = push.positions.filter { position in
            self.legs.index(of: position).map { self.legs[$0].state == .inFlight(id) } ?? false
        }
        if let step { self.legs.addStep(step) { $0.state == .inFlight(id) } }
        let current = self.registration
        let isSameToken = current?.registration == push.registration
        switch reaction {
        case .end(let end):
            self.retry = nil
            self.endLegs(legs, end, &person, &turn)
        case .retry(let wait, let isAnswered, let mayBeShown):
            self.waitForRetry(wait, on: push.lane, &turn)
            self.putBack(legs, isAnswered: isAnswered, mayBeShown: mayBeShown, turn.now)
        case .drop(let refusal):
            if let timestamp = refusal.invalidSince?.milliseconds, let current, isSameToken,
                refusal.drops(registeredAt: current.at)
            {
                self.setPush(.dead(timestamp: timestamp), &turn)
                self.endLegs(legs, .tokenDead(timestamp: timestamp), &person, &turn)
            } else {
                let again = legs.filter { self.isPutBackFirst($0) }
                self.putBack(again, isAnswered: true, turn.now)
                self.endLegs(
                    legs.filter { !again.contains($0) }, .rejected(reason: refusal.reason.name), &person, &turn)
            }
        case .quarantine(let refusal):
            if isSameToken, turn.lanes.isTokenAtFault(push) {
                self.quarantine(push.registration, refusal.reason.name, &turn)
                self.endLegs(
                    legs, .tokenQuarantined(reason: refusal.reason.name, status: refusal.status), &person, &turn)
            } else {
                self.putBack(legs, isAnswered: true, turn.now)
                guard isSameToken else { break }
                self.leaveLane(&turn)
                turn.lanes.hold(push.registration, of: self.key, wasAccepted: push.wasAccepted, refusal)
            }
        }
        if reaction.isAccepted, isSameToken, case .registered(let registration, let at, false) = self.push {
            self.setPush(.registered(registration, at: at, wasAccepted: true), &turn)
        }
        self.updateBadge(push, isAccepted: reaction.isAccepted, isOver: reaction.isOver, &person, &turn)
    }

    /// An old 410 puts a leg back once (design.md §5).
    private mutating func isPutBackFirst(_ position: LogPosition) -> Bool {
        guard let leg = self.legs.index(of: position), !self.legs[leg].isPutBack else { return false }
        self.legs[leg].isPutBack = true
        return true
    }

    private mutating func endLegs(
        _ positions: [LogPosition], _ end: LegEnd, _ person: inout PersonState, _ turn: inout Turn
    ) {
        for position in positions {
            guard let leg = self.legs.index(of: position) else { continue }
            let ended = self.legs[leg]
            self.legs.remove(at: leg)
            person.busyAt = turn.now.monotonic
            self.endLeg(ended, end, &turn)
        }
    }

    private mutating func putBack(_ positions: [LogPosition], isAnswered: Bool, mayBeShown: Bool = false, _ now: Now) {
        let state = self.lease.firstLegState
        for position in positions {
            guard let leg = self.legs.index(of: position) else { continue }
            if mayBeShown { self.legs[leg].mayBeShown = true }
            // Whatever the device may have shown keeps its name: an answer to a later try says nothing about the one that was lost.
            if isAnswered, !self.legs[leg].mayBeShown { self.legs[leg].attempts += 1 }
            // A device that is probed missed its deadline for this one already.
            self.legs[leg].state = state == .held && self.lease.getsFrames ? .queued : state
            if state == .live { self.legs[leg].liveSince = now.monotonic }
        }
    }

    /// For a push that came to nothing while others go: the APNs client has tried it again already.
    private static let failureWaitMax: Int64 = 60_000

    /// Longer after each failure. What fails while the APNs client has paused the lane waits for that.
    private mutating func waitForRetry(_ wait: LegWait, on lane: PushLane, _ turn: inout Turn) {
        if wait != .throttled, case .paused = turn.lanes[lane]?.client { return }
        let failures = (self.retry?.failures ?? 0) + 1
        let most = turn.settings.backOffMax
        let longest = wait == .throttled ? most : min(most, Self.failureWaitMax)
        let delay = BackOff(first: turn.settings.backOffBase, longest: longest)
            .wait(afterFailures: failures, using: &turn.chance)
        self.retry = Retry(wait: wait, failures: failures, until: turn.now.monotonic + delay)
    }
}

extension PushAnswer {
    fileprivate func step(at wall: Int64) -> LegStep? {
        switch self {
        case .noCredential: .answered(.noCredential, status: 0, reason: "", at: wall)
        case .answered(.accepted): nil
        case .answered(.refused(let refusal)):
            .answered(.refused, status: refusal.status, reason: refusal.reason.name, at: wall)
        case .answered(.unknownOutcome): .answered(.unknown, status: 0, reason: "", at: wall)
        case .answered(.notSent), .answered(.stopped): .answered(.notSent, status: 0, reason: "", at: wall)
        }
    }
}
