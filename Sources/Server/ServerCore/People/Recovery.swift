import DequeModule
import StoreModel
import TidingsModel

extension ServerCore {
    /// Loads people with unfinished work, a limited number at a time. Devices whose lease was live or unknown have
    /// time to return before anything is pushed to them (design.md §3 "Push work").
    mutating func recover(_ opening: StoreOpening) {
        self.turn.startedAt = self.turn.now
        self.recovery = Deque(opening.pending)
        self.loadRecovering()
    }

    mutating func loadRecovering() {
        while self.recoveryLoads < self.turn.settings.recoveryLoadsMax, let user = self.recovery.popFirst() {
            guard self.slots[user] == nil else { continue }
            self.recoveryLoads += 1
            _ = self.slot(of: user, isRecovery: true)
        }
    }
}
