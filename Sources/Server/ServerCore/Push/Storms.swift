import TidingsModel

struct Storm: Hashable, Sendable {
    var start: Int64
    var alerts: Int
}

// After `stormLimit` alerts of a conversation within `stormWindow`, the next ones wait for the end of the window and go as one that counts
// them. It opens the next window, in which all wait. A mention goes at once.
extension Device {
    private static let stormsMax = 64

    mutating func stormEnd(_ leg: Leg, _ turn: inout Turn) -> Int64? {
        // A repeated push was counted already.
        guard !self.storms.isEmpty, leg.sentAttempt == nil, case .message(let shared) = leg.subject else { return nil }
        let user = self.key.user.user
        guard !shared.message.mentions.include(user),
            let storm = self.storms[shared.message.conversation(seenBy: user)],
            storm.alerts >= turn.settings.stormLimit
        else { return nil }
        let end = storm.start + turn.settings.stormWindow
        return turn.now.monotonic < end ? end : nil
    }

    mutating func countAlert(_ leg: Leg, isMerged: Bool, _ turn: inout Turn) {
        guard turn.settings.stormLimit > 0, leg.sentAttempt == nil, case .message(let shared) = leg.subject else {
            return
        }
        let conversation = shared.message.conversation(seenBy: self.key.user.user)
        let now = turn.now.monotonic
        let window = turn.settings.stormWindow
        if let storm = self.storms[conversation], now < storm.start + window {
            self.storms[conversation]?.alerts += 1
            return
        }
        self.storms = self.storms.filter { now < $0.value.start + window }
        guard self.storms.count < Self.stormsMax else { return }
        self.storms[conversation] = Storm(start: now, alerts: isMerged ? turn.settings.stormLimit : 1)
    }

    /// The leg itself and, if it has waited for the end of a storm or of a long outage, all others of its conversation that have.
    /// Ascending.
    mutating func mergedWith(_ leg: Int, _ person: inout PersonState, _ turn: inout Turn) -> [Int] {
        let isLate = self.legs[leg].isLate(turn.now, turn.settings.outageMergeAge)
        guard self.legs[leg].isMerging || isLate else { return [leg] }
        let user = self.key.user.user
        let conversation = self.legs[leg].conversation(seenBy: user)
        return (0..<self.legs.count).filter { index in
            let other = self.legs[index]
            guard index != leg else { return true }
            return (other.isMerging || isLate && other.waitsAsAlert) && !other.isInFlight
                && other.conversation(seenBy: user) == conversation
                && PushVerdict(self.facts(of: other, &person, &turn)) == .send
        }
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

    /// Returns true if it is late. It is the oldest of a conversation that waits for APNs, as it is asked about first.
    fileprivate func isLate(_ now: Now, _ age: Int64) -> Bool {
        guard self.waitsAsAlert, case .message(let shared) = self.subject else { return false }
        return now.wall >= shared.message.sentAt + age
    }
}
