import DequeModule
import StoreModel
import TidingsModel

extension ServerCore {
    /// Loads people with unfinished work, a limited number at a time. Devices whose lease was live or unknown have
    /// time to return before anything is pushed to them (design.md §3 "Push work").
    mutating func recover(_ opening: StoreOpening, _ now: Now, _ effects: inout [ServerEffect]) {
        self.startedAt = now
        self.restartGraceUntil = now.monotonic + self.settings.restartGraceTime
        self.recovery = Deque(opening.pending)
        self.loadRecovering(now, &effects)
    }

    mutating func loadRecovering(_ now: Now, _ effects: inout [ServerEffect]) {
        while self.recoveryLoads < self.settings.recoveryLoadsMax, let user = self.recovery.popFirst() {
            guard self.slots[user] == nil else { continue }
            self.recoveryLoads += 1
            _ = self.slot(of: user, isRecovery: true, now, &effects)
        }
    }
}
