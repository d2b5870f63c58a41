import APNsModel
import StoreModel
import TidingsModel

enum PushAnswer: Sendable {
    case answered(APNsOutcome)
    case noCredential
}

extension ServerCore {
    private enum Reaction {
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

    /// design.md §5, apns.md §9.
    mutating func endPush(_ id: PushID, _ answer: PushAnswer) {
        if let push = self.calls.end(id) { return self.endCallPush(id, push, answer) }
        if let push = self.passed.end(id) { return self.endPassing(id, push, answer) }
        guard let push = self.turn.lanes.pushes.removeValue(forKey: id) else {
            self.turn.emit(.flagBug("\(id) was answered twice or never sent"))
            return
        }
        self.report(answer, to: push)
        self.turn.lanes[push.lane]?.end(id, of: push.slot, at: self.turn.now.monotonic)
        if case .noCredential = answer {
            let scope = LaneScope(
                app: push.lane.app, environment: push.lane.environment, topic: push.lane.topic)
            self.handleLaneReport(scope, .paused(LaneOutage(.credential, reason: "NoCredential")))
        }
        let (event, reaction) = Self.reaction(to: answer, of: id, push)
        let before = self.turn.lanes[push.lane]?.burst ?? TokenBurst()
        self.handleBurstEvent(event, of: push.lane)
        self.addAnswer(answer, to: push, id)
        self.applyReaction(reaction, to: push, id)
        if case .worked = event { self.settleHeld(of: push.lane, before: before) }
        self.pumpLane(push.lane)
        self.watchIdle(push.lane)
    }

    /// To the steps of the legs that it carries. An acceptance is their end, which says the same.
    private mutating func addAnswer(_ answer: PushAnswer, to push: OutgoingPush, _ id: PushID) {
        guard let step = answer.step(at: self.turn.now.wall), let device = push.leg.device,
            self.people[push.slot].key == push.leg.user, let index = self.people[push.slot].devices.index(of: device)
        else { return }
        for position in push.positions {
            guard let leg = self.people[push.slot].devices[index].legs.index(of: position),
                self.people[push.slot].devices[index].legs[leg].state == .inFlight(id)
            else { continue }
            self.people[push.slot].devices[index].legs[leg].steps.append(step)
        }
    }

    private static func reaction(
        to answer: PushAnswer, of id: PushID, _ push: OutgoingPush
    ) -> (TokenBurst.Event, Reaction) {
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

    private mutating func applyReaction(_ reaction: Reaction, to push: OutgoingPush, _ id: PushID) {
        // The person may have been forgotten and the device signed out since.
        guard let device = push.leg.device, self.people[push.slot].key == push.leg.user,
            let index = self.people[push.slot].devices.index(of: device)
        else { return }
        let slot = push.slot
        if self.people[slot].devices[index].inFlight == id { self.people[slot].devices[index].inFlight = nil }
        // Legs may have been settled while the push was on its way; what was learnt about the token counts all the same.
        let legs = push.positions.filter { position in
            self.people[slot].devices[index].legs.index(of: position).map {
                self.people[slot].devices[index].legs[$0].state == .inFlight(id)
            } ?? false
        }
        let current = self.people[slot].devices[index].registration
        let isSameToken = current?.registration == push.registration
        switch reaction {
        case .end(let end):
            self.people[slot].devices[index].retry = nil
            self.endLegs(legs, push, index, end)
        case .retry(let wait, let isAnswered, let mayBeShown):
            self.waitForRetry(slot, index, wait, on: push.lane)
            self.putBack(legs, slot, index, isAnswered: isAnswered, mayBeShown: mayBeShown)
        case .drop(let refusal):
            if let timestamp = refusal.invalidSince?.milliseconds, let current, isSameToken,
                refusal.drops(registeredAt: current.at)
            {
                self.setPush(.dead(timestamp: timestamp), slot, index)
                self.endLegs(legs, push, index, .tokenDead(timestamp: timestamp))
            } else {
                let again = legs.filter { self.isPutBackFirst(slot, index, $0) }
                self.putBack(again, slot, index, isAnswered: true)
                self.endLegs(
                    legs.filter { !again.contains($0) }, push, index, .rejected(reason: refusal.reason.name))
            }
        case .quarantine(let refusal):
            if isSameToken, self.isTokenAtFault(push) {
                self.quarantine(push.registration, slot, index, refusal.reason.name)
                self.endLegs(legs, push, index, .tokenQuarantined(reason: refusal.reason.name, status: refusal.status))
            } else {
                self.putBack(legs, slot, index, isAnswered: true)
                guard isSameToken else { break }
                self.leaveLane(slot, index)
                let key = DeviceKey(user: push.leg.user, device: device)
                self.turn.lanes.hold(push.registration, of: key, wasAccepted: push.wasAccepted, refusal)
            }
        }
        if reaction.isAccepted, isSameToken { self.recordAcceptance(slot, index) }
        self.updateBadge(push, isAccepted: reaction.isAccepted, isOver: reaction.isOver, slot: slot, index: index)
        if self.people[slot].devices[index].lease.isLive {
            self.dirtyCursor(slot, index)
        } else {
            self.pump(slot, index)
        }
        self.arm(slot)
    }

    /// A token that never worked is, when its lane works; of one that did the next push that APNs accepts shows it.
    private func isTokenAtFault(_ push: OutgoingPush) -> Bool {
        guard let lane = self.turn.lanes[push.lane], !lane.isTripped else { return false }
        guard push.wasAccepted else { return lane.burst.works }
        return false
    }

    private mutating func recordAcceptance(_ slot: Int, _ index: Int) {
        guard case .registered(let registration, let at, false) = self.people[slot].devices[index].push else { return }
        self.setPush(.registered(registration, at: at, wasAccepted: true), slot, index)
    }

    /// An old 410 puts a leg back once (design.md §5).
    private mutating func isPutBackFirst(_ slot: Int, _ index: Int, _ position: LogPosition) -> Bool {
        guard let leg = self.people[slot].devices[index].legs.index(of: position),
            !self.people[slot].devices[index].legs[leg].isPutBack
        else { return false }
        self.people[slot].devices[index].legs[leg].isPutBack = true
        return true
    }

    private mutating func endLegs(_ positions: [LogPosition], _ push: OutgoingPush, _ index: Int, _ end: LegEnd) {
        for position in positions {
            guard let leg = self.people[push.slot].devices[index].legs.index(of: position) else { continue }
            let ended = self.people[push.slot].devices[index].legs[leg]
            self.people[push.slot].devices[index].legs.remove(at: leg)
            self.people[push.slot].busyAt = self.turn.now.monotonic
            self.endLeg(ended, slot: push.slot, index: index, end)
        }
    }

    private mutating func putBack(
        _ positions: [LogPosition], _ slot: Int, _ index: Int, isAnswered: Bool, mayBeShown: Bool = false
    ) {
        let now = self.turn.now
        let state = Self.firstState(of: self.people[slot].devices[index].lease)
        for position in positions {
            guard let leg = self.people[slot].devices[index].legs.index(of: position) else { continue }
            if mayBeShown { self.people[slot].devices[index].legs[leg].mayBeShown = true }
            // Whatever the device may have shown keeps its name: an answer to a later try says nothing about the one that was lost.
            if isAnswered, !self.people[slot].devices[index].legs[leg].mayBeShown {
                self.people[slot].devices[index].legs[leg].attempts += 1
            }
            // A device that is probed missed its deadline for this one already.
            let isProbed = state == .held && self.people[slot].devices[index].lease.getsFrames
            self.people[slot].devices[index].legs[leg].state = isProbed ? .queued : state
            if state == .live { self.people[slot].devices[index].legs[leg].liveSince = now.monotonic }
        }
    }

    /// Longer after each failure. What fails while the APNs client has paused the lane waits for that.
    private mutating func waitForRetry(_ slot: Int, _ index: Int, _ wait: LegWait, on lane: PushLane) {
        if wait != .throttled, case .paused = self.turn.lanes[lane]?.client { return }
        let failures = (self.people[slot].devices[index].retry?.failures ?? 0) + 1
        let longest =
            wait == .throttled ? self.turn.settings.backOffMax : min(self.turn.settings.backOffMax, Self.failureWaitMax)
        let delay = BackOff(first: self.turn.settings.backOffBase, longest: longest)
            .wait(afterFailures: failures, using: &self.turn.chance)
        self.people[slot].devices[index].retry = Device.Retry(
            wait: wait, failures: failures, until: self.turn.now.monotonic + delay)
    }

    /// For a push that came to nothing while others go: the APNs client has tried it again already.
    private static let failureWaitMax: Int64 = 60_000
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
