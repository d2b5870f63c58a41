import TidingsModel

/// Everything that happens to an app because time passes (ios-delivery.md §7, §8).
extension App {
    @inline(__always) func nextDeadline(_ system: SystemState, _ settings: PhoneSettings) -> Int64 {
        var next = min(self.center.nextDeadline, self.activities.nextDeadline, self.serviceExtension.nextDeadline)
        next = min(next, self.wakes.retry(system, settings), self.ending?.deadline ?? .max)
        return min(next, self.process?.nextDeadline ?? .max)
    }

    mutating func runDeadlines(_ turn: inout Turn) {
        let now = turn.now.monotonic
        if let ending = self.ending, ending.deadline <= now { self.finishEnding(&turn) }
        self.center.endEphemeral(at: now)
        while let due = self.center.schedule.takeDue(&turn) { self.presentLocal(due, &turn) }
        self.record(self.activities.advance(&turn), &turn)
        self.endLateCalls(&turn)
        if self.wakes.retry(turn.system, turn.settings) <= now { self.retryHeldWake(&turn) }
    }

    /// ios-delivery.md §7.2.
    private mutating func endLateCalls(_ turn: inout Turn) {
        let now = turn.now.monotonic
        guard self.process?.isLate(at: now) == true, let process = self.process else { return }
        if process.isLaunchLate(at: now) { return self.kill(.launchTooSlow, &turn) }
        for open in process.openCalls where open.deadline <= now {
            if let reason = self.expire(open, &turn) { return self.kill(reason, &turn) }
        }
        if let reason = self.process?.expireRefreshTasks(&turn) { return self.kill(reason, &turn) }
        if let killAt = process.killAt, killAt <= now { self.kill(.backgroundTaskNotEnded, &turn) }
    }

    /// A returned reason means that the app is killed for it.
    private mutating func expire(_ open: OpenCall, _ turn: inout Turn) -> EndReason? {
        switch open.kind {
        case .launch: return .launchTooSlow
        case .method, .enterBackground: return .methodDidNotReturn
        case .fetch where self.state == .backgroundRunning:
            self.wakes.budget.charge(at: turn.now.monotonic)
            return .fetchHandlerNotCalled
        case .performFetch where self.state == .backgroundRunning:
            self.background.missedFetches.charge(at: turn.now.monotonic)
            return .performFetchHandlerNotCalled
        case .voip(mustReport: true): return self.tokens.recordMissingCall(&turn)
        case .fetch, .performFetch:
            turn.recordFault("the fetch handler of callback \(open.number) was not called in time")
        case .present(let notification, let wasRemote):
            turn.recordHidden(notification.request.identifier, isRemote: wasRemote, .willPresentLate)
        case .response:
            turn.recordFault("the response handler of callback \(open.number) was not called in time")
        case .voip:
            turn.recordFault("the handler of VoIP callback \(open.number) was not called in time")
        case .expiration: break
        }
        self.process?.giveUp(open)
        return nil
    }

    /// Expires background tasks, and suspends it if it has no reason to run (ios-delivery.md §2.2, §8).
    mutating func settle(_ turn: inout Turn) {
        for callback in self.process?.expireTasks(&turn) ?? [] { self.tell(callback, &turn) }
        if self.process?.mayRest(at: turn.now.monotonic) == true { self.suspend(&turn) }
    }
}
