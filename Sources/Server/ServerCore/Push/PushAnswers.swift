import APNsModel
import StoreModel
import TidingsModel

/// How one push ended for the core.
enum PushAnswer: Sendable {
    case answered(APNsOutcome)
    case noCredential
}

extension ServerCore {
    /// What is to become of the leg and the token.
    private enum Reaction {
        /// The leg is over.
        case end(LegEnd)
        /// The leg goes back into the queue; its next try is another one if APNs has answered this one.
        case putBack(isAnswered: Bool)
        /// The same, after a wait.
        case retry(LegWait, isAnswered: Bool, mayBeShown: Bool = false)
        /// 410: the token is dead if this is newer than its registration (apns.md §11).
        case drop(APNsRefusal)
        /// The token is kept aside, if its lane works (DESIGN P8).
        case quarantine(APNsRefusal)

        var isAccepted: Bool {
            if case .end(.accepted) = self { true } else { false }
        }
    }

    /// Takes the answer to one push (DESIGN §5, apns.md §9).
    mutating func endPush(_ id: PushID, _ answer: PushAnswer, _ now: Now, _ effects: inout [ServerEffect]) {
        guard let push = self.pushes.removeValue(forKey: id) else {
            effects.append(.flagBug("\(id) was answered twice or never sent"))
            return
        }
        self.lanes[push.lane]?.end(of: push.slot, at: now.monotonic)
        let (event, reaction) = Self.reaction(to: answer, of: id, push)
        self.tellBreaker(of: push.lane, event, now, &effects)
        self.react(reaction, to: push, id, now, &effects)
        if case .worked = event { self.settleDoubts(of: push.lane, now, &effects) }
        self.pumpLane(push.lane, now, &effects)
        self.watchIdle(push.lane, now)
    }

    private static func reaction(
        to answer: PushAnswer, of id: PushID, _ push: OutgoingPush
    ) -> (Breaker.Event, Reaction) {
        switch answer {
        case .noCredential:
            return (.configRefused(id, reason: "NoCredential"), .putBack(isAnswered: false))
        case .answered(.accepted(let apnsID, _)):
            return (.worked(id), .end(.accepted(apnsID: apnsID)))
        case .answered(.unknownOutcome(let text)):
            return (
                .providerFailed(id, reason: text), .retry(.providerDown, isAnswered: false, mayBeShown: true)
            )
        case .answered(.notSent(let text)):
            return (.providerFailed(id, reason: text), .retry(.providerDown, isAnswered: false))
        // Credential, topic or trust are not right: the client has sent nothing, and says which reason it has met.
        case .answered(.stopped(let cause)):
            return (.configRefused(id, reason: cause), .putBack(isAnswered: false))
        case .answered(.refused(let refusal)):
            let reason = refusal.reason
            switch refusal.reaction {
            case .drop: return (.worked(id), .drop(refusal))
            case .quarantine:
                return (
                    .tokenRefused(id, reason: reason.name, of: push.leg.user, wasAccepted: push.wasAccepted),
                    .quarantine(refusal)
                )
            // The client has tried a fresh provider token before it says that one has expired: then the clock is wrong, and
            // more tries change nothing (apns.md §9).
            case .config, .auth: return (.configRefused(id, reason: reason.name), .putBack(isAnswered: true))
            case .bug: return (.toldNothing(id), .end(.rejected(reason: reason.name)))
            case .connection:
                return (.providerFailed(id, reason: reason.name), .retry(.providerDown, isAnswered: true))
            case .backoff:
                // "Too many requests" is about this token alone (apns.md §12).
                return reason == .tooManyRequests
                    ? (.toldNothing(id), .retry(.throttled, isAnswered: true))
                    : (.providerFailed(id, reason: reason.name), .retry(.providerDown, isAnswered: true))
            }
        }
    }

    private mutating func react(
        _ reaction: Reaction, to push: OutgoingPush, _ id: PushID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
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
            self.endLegs(legs, push, index, end, now, &effects)
        case .putBack(let isAnswered):
            self.putBack(legs, slot, index, isAnswered: isAnswered, now)
        case .retry(let wait, let isAnswered, let mayBeShown):
            self.waitForRetry(slot, index, wait, now)
            self.putBack(legs, slot, index, isAnswered: isAnswered, mayBeShown: mayBeShown, now)
        case .drop(let refusal):
            if let timestamp = refusal.invalidSince?.milliseconds, let current, isSameToken,
                refusal.drops(registeredAt: current.at)
            {
                self.setPush(.dead(timestamp: timestamp), slot, index, &effects)
                self.endLegs(legs, push, index, .tokenDead(timestamp: timestamp), now, &effects)
            } else {
                let again = legs.filter { self.isPutBackFirst(slot, index, $0) }
                self.putBack(again, slot, index, isAnswered: true, now)
                self.endLegs(
                    legs.filter { !again.contains($0) }, push, index, .rejected(reason: refusal.reason.name), now,
                    &effects)
            }
        case .quarantine(let refusal):
            if isSameToken, self.isTokenAtFault(push, index) {
                let key = DeviceKey(user: push.leg.user, device: device)
                self.lanes[push.lane]?.keep(.init(device: key, before: self.people[slot].devices[index].push))
                self.setPush(
                    .quarantined(push.registration, at: now.wall, reason: refusal.reason.name), slot, index, &effects)
                self.endLegs(
                    legs, push, index, .tokenQuarantined(reason: refusal.reason.name, status: refusal.status), now,
                    &effects)
            } else {
                self.putBack(legs, slot, index, isAnswered: true, now)
                if isSameToken { self.doubt(slot, index, wasAccepted: push.wasAccepted, now) }
            }
        }
        if reaction.isAccepted, isSameToken { self.noteAcceptance(slot, index, &effects) }
        self.updateBadge(push, isAccepted: reaction.isAccepted, slot: slot, index: index, now)
        if self.people[slot].devices[index].lease.isLive {
            self.dirtyCursor(slot, index, now)
        } else {
            self.pump(slot, index, now, &effects)
        }
        self.arm(slot)
    }

    /// Whether a refusal is the token's own fault, and not its lane's: of a token that never worked, when the lane does; of one that
    /// did, when it is refused again after the lane has worked for somebody else.
    private func isTokenAtFault(_ push: OutgoingPush, _ index: Int) -> Bool {
        guard let breaker = self.lanes[push.lane]?.breaker, !breaker.isTripped else { return false }
        guard push.wasAccepted else { return breaker.works }
        return self.people[push.slot].devices[index].doubtedAt.map { $0 < breaker.acceptances } ?? false
    }

    /// APNs has accepted a push with a device's registration.
    private mutating func noteAcceptance(_ slot: Int, _ index: Int, _ effects: inout [ServerEffect]) {
        self.people[slot].devices[index].doubtedAt = nil
        guard case .registered(let registration, let at, false) = self.people[slot].devices[index].push else { return }
        self.setPush(.registered(registration, at: at, wasAccepted: true), slot, index, &effects)
    }

    /// Notes that an old 410 has put a leg back (DESIGN §5).
    ///
    /// - Returns: false if one has done so before.
    private mutating func isPutBackFirst(_ slot: Int, _ index: Int, _ position: LogPosition) -> Bool {
        guard let leg = self.people[slot].devices[index].legs.index(of: position),
            !self.people[slot].devices[index].legs[leg].isPutBack
        else { return false }
        self.people[slot].devices[index].legs[leg].isPutBack = true
        return true
    }

    private mutating func endLegs(
        _ positions: [LogPosition], _ push: OutgoingPush, _ index: Int, _ end: LegEnd, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        for position in positions {
            guard let leg = self.people[push.slot].devices[index].legs.index(of: position) else { continue }
            let id = self.people[push.slot].devices[index].legs[leg].id
            self.people[push.slot].devices[index].legs.remove(at: leg)
            self.people[push.slot].busyAt = now.monotonic
            self.endLeg(id, slot: push.slot, index: index, end, now, &effects)
        }
    }

    private mutating func putBack(
        _ positions: [LogPosition], _ slot: Int, _ index: Int, isAnswered: Bool, mayBeShown: Bool = false, _ now: Now
    ) {
        let state = Self.firstState(of: self.people[slot].devices[index].lease)
        for position in positions {
            guard let leg = self.people[slot].devices[index].legs.index(of: position) else { continue }
            if mayBeShown { self.people[slot].devices[index].legs[leg].mayBeShown = true }
            // Whatever the device may have shown keeps its name: an answer to a later try says nothing about the one that was lost.
            if isAnswered, !self.people[slot].devices[index].legs[leg].mayBeShown {
                self.people[slot].devices[index].legs[leg].attempts += 1
            }
            // Whoever is probed missed its deadline for this one already.
            let isProbed = state == .held && self.people[slot].devices[index].lease.getsFrames
            self.people[slot].devices[index].legs[leg].state = isProbed ? .queued : state
            if state == .live { self.people[slot].devices[index].legs[leg].liveSince = now.monotonic }
        }
    }

    private mutating func waitForRetry(_ slot: Int, _ index: Int, _ wait: LegWait, _ now: Now) {
        let failures = (self.people[slot].devices[index].retry?.failures ?? 0) + 1
        let delay = BackOff(first: self.settings.backOffBase, longest: self.settings.backOffMax)
            .wait(afterFailures: failures, using: &self.chance)
        self.people[slot].devices[index].retry = Device.Retry(
            wait: wait, failures: failures, until: now.monotonic + delay)
    }
}
