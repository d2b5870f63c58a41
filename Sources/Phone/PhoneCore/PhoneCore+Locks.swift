/// Handles an app process's reports of itself, and the effects of a suspension on it (ios-delivery.md §8, Q13).
extension PhoneCore {
    mutating func handleProcessReport(_ event: ProcessEvent, _ index: Int, _ turn: inout Turn) {
        switch event {
        case .appGroupLockTaken(let lock):
            guard self.apps[index].run?.background.locks.contains(lock) == false else {
                return turn.recordFault(self.bundleID(index), "lock \(lock) must be taken once")
            }
            self.apps[index].run?.background.locks.append(lock)
        case .appGroupLockReleased(let lock): self.apps[index].run?.background.locks.removeAll { $0 == lock }
        case .expiringActivityBegan(let number):
            guard self.apps[index].run?.background.activities.contains(number) == false else {
                return turn.recordFault(self.bundleID(index), "expiring activity \(number) must begin once")
            }
            self.apps[index].run?.background.activities.append(number)
        case .expiringActivityEnded(let number):
            self.apps[index].run?.background.activities.removeAll { $0 == number }
            self.clearKillWithoutTasks(index)
        default: break
        }
    }

    /// Without tasks it is no longer killed for them.
    mutating func clearKillWithoutTasks(_ index: Int) {
        guard let run = self.apps[index].run, run.tasks.isEmpty, run.background.activities.isEmpty else { return }
        self.apps[index].run?.killAt = nil
    }

    /// 0xDEAD10CC. Returns whether the process was ended.
    mutating func killForLock(_ index: Int, _ turn: inout Turn) -> Bool {
        guard self.settings.quirks.lockHeldWhileSuspendedKills,
            self.apps[index].run?.background.locks.isEmpty == false
        else { return false }
        self.kill(index, reason: .heldLockWhileSuspended, &turn)
        return true
    }

    /// The fetch handler was called twice: harmless before iOS 10, later the app crashes at the next resume
    /// (ios-delivery.md §7.1).
    mutating func handleSecondAnswer(_ number: CallbackNumber, _ index: Int) {
        guard self.version >= 10, self.apps[index].run?.background.answeredFetches.contains(number) == true else {
            return
        }
        self.apps[index].run?.background.crashesOnResume = true
    }

    mutating func recordAnsweredFetch(_ number: CallbackNumber, _ index: Int) {
        guard var fetches = self.apps[index].run?.background.answeredFetches else { return }
        fetches.append(number)
        if fetches.count > BackgroundRun.answeredFetchesMax { fetches.removeFirst() }
        self.apps[index].run?.background.answeredFetches = fetches
    }

    /// Returns whether the process is gone.
    mutating func crashOnResume(_ index: Int, _ turn: inout Turn) -> Bool {
        guard self.apps[index].run?.background.crashesOnResume == true else { return false }
        self.kill(index, reason: .completionHandlerCalledTwice, &turn)
        return true
    }
}
