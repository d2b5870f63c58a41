import APNsModel
import OrderedCollections
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
        case retry(LegWait, isAnswered: Bool)
        /// 410: the token is dead if this is newer than its registration (apns.md §11).
        case drop(timestamp: Int64?, reason: String)
        /// The token is kept aside, unless its lane is in doubt (DESIGN P8).
        case quarantine(reason: String)
    }

    /// Takes the answer to one push (DESIGN §5, apns.md §9).
    mutating func endPush(_ id: PushID, _ answer: PushAnswer, _ now: Now, _ effects: inout [ServerEffect]) {
        guard let push = self.pushes.removeValue(forKey: id) else {
            effects.append(.flagBug("\(id) was answered twice or never sent"))
            return
        }
        self.lanes[push.lane]?.inFlight -= 1
        let (event, reaction) = Self.reaction(to: answer, of: id)
        self.tellBreaker(of: push.lane, event, now, &effects)
        self.react(reaction, to: push, id, now, &effects)
        if let lane = self.lanes.index(forKey: push.lane) { self.pumpLane(lane, now, &effects) }
    }

    private static func reaction(to answer: PushAnswer, of id: PushID) -> (Breaker.Event, Reaction) {
        switch answer {
        case .noCredential:
            return (.configRefused(id, reason: "NoCredential"), .putBack(isAnswered: false))
        case .answered(.accepted(let apnsID, _)):
            return (.worked(id), .end(.accepted(apnsID: apnsID)))
        case .answered(.unknownOutcome(let text)), .answered(.notSent(let text)):
            return (.providerFailed(id, reason: text), .retry(.providerDown, isAnswered: false))
        case .answered(.refused(let reason, let status, let timestamp)):
            switch reason.reaction(status: status) {
            case .drop: return (.worked(id), .drop(timestamp: timestamp, reason: reason.name))
            case .quarantine: return (.tokenRefused(id, reason: reason.name), .quarantine(reason: reason.name))
            case .config: return (.configRefused(id, reason: reason.name), .putBack(isAnswered: true))
            case .bug: return (.toldNothing(id), .end(.rejected(reason: reason.name)))
            case .auth, .connection:
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
        _ reaction: Reaction, to push: Push, _ id: PushID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        // The person may have been forgotten and the device signed out since.
        guard let device = push.leg.device, self.people[push.slot].key == push.leg.user,
            let index = self.people[push.slot].index(of: device)
        else { return }
        let slot = push.slot
        if self.people[slot].devices[index].inFlight == id { self.people[slot].devices[index].inFlight = nil }
        // The leg may have been settled while the push was on its way; what was learnt about the token counts all the same.
        let leg = self.people[slot].devices[index].legs.index(of: push.position).flatMap { position in
            self.people[slot].devices[index].legs[position].state == .inFlight(id) ? position : nil
        }
        let current = self.people[slot].devices[index].registration
        let isSameToken = current?.registration == push.registration
        switch reaction {
        case .end(let end):
            self.people[slot].devices[index].retry = nil
            self.endLeg(leg, push, index, end, now, &effects)
        case .putBack(let isAnswered):
            self.putBack(leg, slot, index, isAnswered: isAnswered, now)
        case .retry(let wait, let isAnswered):
            self.waitForRetry(slot, index, wait, now)
            self.putBack(leg, slot, index, isAnswered: isAnswered, now)
        case .drop(let timestamp, let reason):
            if let timestamp, let current, isSameToken, timestamp > current.at {
                self.setPush(.dead(timestamp: timestamp), slot, index, &effects)
                self.endLeg(leg, push, index, .tokenDead(timestamp: timestamp), now, &effects)
            } else if let leg, !self.people[slot].devices[index].legs[leg].isPutBack {
                self.people[slot].devices[index].legs[leg].isPutBack = true
                self.putBack(leg, slot, index, isAnswered: true, now)
            } else {
                self.endLeg(leg, push, index, .rejected(reason: reason), now, &effects)
            }
        case .quarantine(let reason):
            if isSameToken, self.lanes[push.lane]?.breaker.isTripped == false {
                self.setPush(
                    .quarantined(push.registration, at: now.wall, reason: reason), slot, index, &effects)
                self.endLeg(leg, push, index, .tokenQuarantined, now, &effects)
            } else {
                self.putBack(leg, slot, index, isAnswered: true, now)
            }
        }
        if self.people[slot].devices[index].lease.isLive {
            self.dirtyCursor(slot, index, now)
        } else {
            self.pump(slot, index, now, &effects)
        }
        self.arm(slot)
    }

    private mutating func endLeg(
        _ leg: Int?, _ push: Push, _ index: Int, _ end: LegEnd, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        guard let leg else { return }
        self.people[push.slot].devices[index].legs.remove(at: leg)
        self.people[push.slot].busyAt = now.monotonic
        self.end(push.leg.message, push.slot, index, end, now, &effects)
    }

    private mutating func putBack(_ leg: Int?, _ slot: Int, _ index: Int, isAnswered: Bool, _ now: Now) {
        guard let leg else { return }
        if isAnswered { self.people[slot].devices[index].legs[leg].attempts += 1 }
        switch self.people[slot].devices[index].lease {
        case .foreground, .background:
            self.people[slot].devices[index].legs[leg].state = .live
            self.people[slot].devices[index].legs[leg].liveSince = now.monotonic
        case .grace, .returning:
            self.people[slot].devices[index].legs[leg].state = .held
        case .probing, .gone:
            self.people[slot].devices[index].legs[leg].state = .queued
        }
    }

    private mutating func waitForRetry(_ slot: Int, _ index: Int, _ wait: LegWait, _ now: Now) {
        let failures = (self.people[slot].devices[index].retry?.failures ?? 0) + 1
        let delay = BackOff.delay(
            afterFailures: failures, base: self.settings.backOffBase, max: self.settings.backOffMax,
            using: &self.chance)
        self.people[slot].devices[index].retry = Device.Retry(
            wait: wait, failures: failures, until: now.monotonic + delay)
    }
}
