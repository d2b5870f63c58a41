import TidingsModel

struct Storm: Hashable, Sendable {
    var start: Int64
    var alerts: Int
}

// After `stormLimit` alerts of a conversation within `stormWindow`, the next ones wait for the end of the window and go as one that counts
// them. It opens the next window, in which all wait. A mention goes at once.
extension ServerCore {
    static let stormsMax = 64

    func stormEnd(_ leg: Leg, _ slot: Int, _ index: Int) -> Int64? {
        // A repeated push was counted already.
        guard !self.people[slot].devices[index].storms.isEmpty, leg.sentAttempt == nil,
            case .message(let shared) = leg.subject
        else { return nil }
        let user = self.people[slot].key.user
        guard !shared.message.mentions.include(user),
            let storm = self.people[slot].devices[index].storms[shared.message.conversation(seenBy: user)],
            storm.alerts >= self.turn.settings.stormLimit,
            self.turn.now.monotonic < storm.start + self.turn.settings.stormWindow
        else { return nil }
        return storm.start + self.turn.settings.stormWindow
    }

    mutating func countAlert(_ leg: Leg, _ slot: Int, _ index: Int, isMerged: Bool) {
        let now = self.turn.now
        guard self.turn.settings.stormLimit > 0, leg.sentAttempt == nil, case .message(let shared) = leg.subject else {
            return
        }
        let conversation = shared.message.conversation(seenBy: self.people[slot].key.user)
        let window = self.turn.settings.stormWindow
        if let storm = self.people[slot].devices[index].storms[conversation], now.monotonic < storm.start + window {
            self.people[slot].devices[index].storms[conversation]?.alerts += 1
            return
        }
        self.people[slot].devices[index].storms = self.people[slot].devices[index].storms.filter {
            now.monotonic < $0.value.start + window
        }
        guard self.people[slot].devices[index].storms.count < Self.stormsMax else { return }
        self.people[slot].devices[index].storms[conversation] = Storm(
            start: now.monotonic, alerts: isMerged ? self.turn.settings.stormLimit : 1)
    }

    /// The leg itself and, if it has waited for the end of a storm or of a long outage, all others of its conversation that have.
    /// Ascending.
    func mergedWith(_ slot: Int, _ index: Int, _ leg: Int) -> [Int] {
        let legs = self.people[slot].devices[index].legs
        let isLate = self.isLate(legs[leg])
        guard legs[leg].isMerging || isLate else { return [leg] }
        let user = self.people[slot].key.user
        let conversation = legs[leg].conversation(seenBy: user)
        return (0..<legs.count).filter { other in
            guard other != leg else { return true }
            return (legs[other].isMerging || isLate && legs[other].waitsAsAlert) && !legs[other].isInFlight
                && legs[other].conversation(seenBy: user) == conversation
                && PushVerdict(self.facts(slot, index, other)) == .send
        }
    }

    /// Returns true if a leg is late. It is the oldest of a conversation that waits for APNs, as it is asked about first.
    private func isLate(_ leg: Leg) -> Bool {
        guard leg.waitsAsAlert, case .message(let shared) = leg.subject else { return false }
        return self.turn.now.wall >= shared.message.sentAt + self.turn.settings.outageMergeAge
    }
}

extension LegWait {
    /// Not for one token alone.
    var isForAPNs: Bool {
        switch self {
        case .configFault, .breakerOpen, .providerDown: true
        case .live, .grace, .quietHours, .activeElsewhere, .merging, .throttled, .inFlight: false
        }
    }
}

extension Leg {
    /// A push that went unanswered is repeated as it was: the phone may have shown it.
    fileprivate var waitsAsAlert: Bool {
        guard case .message = self.subject else { return false }
        return self.hasWaitedForAPNs && !self.mayBeShown && self.sentAttempt != self.attempts
    }
}
