import TidingsModel

/// What an app's process reports of itself, and what a suspension does to it (ios-delivery.md §8, Q13).
extension PhoneCore {
    mutating func processReported(_ event: ProcessEvent, _ index: Int, _ turn: inout Turn) {
        let app = self.apps[index].installed.bundleID
        switch event {
        case .appGroupLockTaken(let lock):
            guard self.apps[index].run?.background.locks.contains(lock) == false else {
                return turn.record(app, .fault("lock \(lock) must be taken once"))
            }
            self.apps[index].run?.background.locks.append(lock)
        case .appGroupLockReleased(let lock): self.apps[index].run?.background.locks.removeAll { $0 == lock }
        case .expiringActivityBegan(let number):
            guard self.apps[index].run?.background.activities.contains(number) == false else {
                return turn.record(app, .fault("expiring activity \(number) must begin once"))
            }
            self.apps[index].run?.background.activities.append(number)
        case .expiringActivityEnded(let number):
            self.apps[index].run?.background.activities.removeAll { $0 == number }
            self.taskEnded(index)
        default: break
        }
    }

    /// With the last background task the threat to be killed is over.
    mutating func taskEnded(_ index: Int) {
        guard let run = self.apps[index].run, run.tasks.isEmpty, run.background.activities.isEmpty else { return }
        self.apps[index].run?.killAt = nil
    }

    /// Ends a process that must not be suspended as it is: 0xDEAD10CC.
    ///
    /// - Returns: whether it was ended.
    mutating func killForLock(_ index: Int, _ turn: inout Turn) -> Bool {
        guard self.settings.quirks.lockHeldWhileSuspendedKills,
            self.apps[index].run?.background.locks.isEmpty == false
        else { return false }
        self.kill(index, to: .notRunning, reason: .heldLockWhileSuspended, &turn)
        return true
    }

    /// The handler of `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)` was called twice: before iOS 10
    /// nothing, later the end at the next resume (ios-delivery.md §7.1).
    mutating func answeredTwice(_ number: CallbackNumber, _ index: Int) {
        guard self.version >= 10, self.apps[index].run?.background.answeredFetches.contains(number) == true else {
            return
        }
        self.apps[index].run?.background.crashesOnResume = true
    }

    /// Remembers an answered call of `didReceiveRemoteNotification:fetchCompletionHandler:`.
    mutating func rememberFetch(_ number: CallbackNumber, _ index: Int) {
        guard var fetches = self.apps[index].run?.background.answeredFetches else { return }
        fetches.append(number)
        if fetches.count > BackgroundRun.answeredFetchesMax { fetches.removeFirst() }
        self.apps[index].run?.background.answeredFetches = fetches
    }

    /// The crash that a doubled answer left behind.
    ///
    /// - Returns: whether the process is gone.
    mutating func crashOnResume(_ index: Int, _ turn: inout Turn) -> Bool {
        guard self.apps[index].run?.background.crashesOnResume == true else { return false }
        self.kill(index, to: .notRunning, reason: .completionHandlerCalledTwice, &turn)
        return true
    }
}
