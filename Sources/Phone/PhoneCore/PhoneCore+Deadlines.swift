import TidingsModel

extension AppRecord {
    /// In monotonic milliseconds; `.max` if none.
    @inline(__always) fileprivate var nextDeadline: Int64 {
        var next = self.ephemeralUntil ?? .max
        if let ending = self.ending?.deadline { next = min(next, ending) }
        if let fireAt = self.pending.first?.fireAt { next = min(next, fireAt) }
        if let change = self.background.deadline { next = min(next, change) }
        guard self.state != .suspended,
            let own = self.run?.nextDeadline(isInBackground: self.state == .backgroundRunning)
        else { return next }
        return min(next, own)
    }
}

extension AppRun {
    @inline(__always) fileprivate func nextDeadline(isInBackground: Bool) -> Int64 {
        var next = self.phase == .ready ? .max : self.launchDeadline
        for index in self.openCalls.indices { next = min(next, self.openCalls[index].deadline) }
        if let expiry = self.background.deadline { next = min(next, expiry) }
        guard isInBackground else { return next }
        if let killAt = self.killAt { return min(next, killAt) }
        if self.hasTasks { return min(next, self.tasksUntil) }
        return self.isIdle ? min(next, self.graceUntil) : next
    }

    struct Late {
        var hasLaunch: Bool
        var calls: [OpenCall]
        var hasRefreshTasks: Bool
        /// Expired, and not ended.
        var hasTasks: Bool

        var isAny: Bool { self.hasLaunch || !self.calls.isEmpty || self.hasRefreshTasks || self.hasTasks }
    }

    /// This and the next run after every event; they are `mutating` because a non-mutating call would copy the whole
    /// run.
    fileprivate mutating func late(at now: Int64) -> Late {
        Late(
            hasLaunch: self.phase != .ready && self.launchDeadline <= now,
            calls: self.openCalls.filter { $0.deadline <= now },
            hasRefreshTasks: !self.background.refreshTasks.isEmpty,
            hasTasks: (self.killAt ?? .max) <= now)
    }

    fileprivate mutating func mayRest(at now: Int64) -> Bool {
        self.hasTasks && self.killAt == nil && self.tasksUntil <= now || self.isIdle && self.graceUntil <= now
    }
}

/// Everything that happens because time passes (ios-delivery.md §7, §8).
extension PhoneCore {
    /// The next moment, in monotonic milliseconds, at which `.timerReached` changes something; nil if none.
    package var nextDeadline: Int64? {
        var next = Int64.max
        // By index and inlined, without copies: a record is large, and this runs after every event.
        for index in self.apps.indices {
            next = min(next, self.apps[index].nextDeadline)
            if let retry = self.heldWakeRetry(index) { next = min(next, retry) }
        }
        for run in self.extensions { next = min(next, run.deadline) }
        for banner in self.list.banners { next = min(next, banner.until) }
        if let summaryAt = self.notices.summaryAt { next = min(next, summaryAt) }
        if let litUntil = self.notices.litUntil { next = min(next, litUntil) }
        return next == .max ? nil : next
    }

    mutating func runDeadlines(_ turn: inout Turn) {
        let now = turn.now.monotonic
        self.list.expireBanners(at: now)
        if let litUntil = self.notices.litUntil, litUntil <= now { self.notices.litUntil = nil }
        if let summaryAt = self.notices.summaryAt, summaryAt <= now { self.deliverSummary(&turn) }
        while let position = self.extensions.firstIndex(where: { $0.deadline <= now }) {
            self.handleExtensionDeadline(position, &turn)
        }
        for index in self.apps.indices {
            if let ending = self.apps[index].ending, ending.deadline <= now { self.finishEnding(index, &turn) }
            self.endEphemeral(index, &turn)
            self.firePending(index, &turn)
            self.advanceActivities(index, &turn)
            self.endLateCalls(index, &turn)
            if let retry = self.heldWakeRetry(index), retry <= now { self.retryHeldWake(index, &turn) }
        }
    }

    /// ios-delivery.md §7.2.
    private mutating func endLateCalls(_ index: Int, _ turn: inout Turn) {
        let now = turn.now.monotonic
        guard self.apps[index].state != .suspended, let late = self.apps[index].run?.late(at: now), late.isAny
        else { return }
        if late.hasLaunch { return self.kill(index, reason: .launchTooSlow, &turn) }
        for open in late.calls {
            if let reason = self.expireCall(open, index, &turn) { return self.kill(index, reason: reason, &turn) }
        }
        if let reason = self.expireRefreshTasks(index, &turn) { return self.kill(index, reason: reason, &turn) }
        if late.hasTasks { self.kill(index, reason: .backgroundTaskNotEnded, &turn) }
    }

    /// A returned reason means that the app is killed for it.
    private mutating func expireCall(_ open: OpenCall, _ index: Int, _ turn: inout Turn) -> EndReason? {
        switch open.kind {
        case .launch: return .launchTooSlow
        case .method, .enterBackground: return .methodDidNotReturn
        case .fetch where self.apps[index].state == .backgroundRunning:
            self.apps[index].budget.charge(at: turn.now.monotonic)
            return .fetchHandlerNotCalled
        case .performFetch where self.apps[index].state == .backgroundRunning:
            self.apps[index].background.missedFetches.charge(at: turn.now.monotonic)
            return .performFetchHandlerNotCalled
        case .fetch, .performFetch:
            turn.recordFault(
                self.bundleID(index), "the fetch handler of callback \(open.number) was not called in time")
        case .present(let notification, let wasRemote):
            self.presentNothing(
                notification.request.identifier, index, isRemote: wasRemote, reason: .willPresentLate, &turn)
        case .response:
            turn.recordFault(
                self.bundleID(index), "the response handler of callback \(open.number) was not called in time")
        case .voip(let mustReport):
            if mustReport { return self.recordMissingCall(index, &turn) }
            turn.recordFault(self.bundleID(index), "the handler of VoIP callback \(open.number) was not called in time")
        case .expiration: break
        }
        self.apps[index].run?.openCalls.removeAll { $0.number == open.number }
        return nil
    }

    /// Expires background tasks, and suspends what has no reason to run (ios-delivery.md §2.2, §8).
    mutating func settle(_ turn: inout Turn) {
        let now = turn.now.monotonic
        self.reportWithheldRegistrations(&turn)
        for index in self.apps.indices where self.apps[index].state == .backgroundRunning {
            guard self.apps[index].run?.mayRest(at: now) == true, let run = self.apps[index].run else { continue }
            if run.hasTasks, run.killAt == nil, run.tasksUntil <= now {
                self.apps[index].run?.killAt = now + self.settings.expirationGrace
                for task in run.tasks { self.append(.call(.backgroundTaskExpired(task)), to: index, &turn) }
                for activity in run.background.activities {
                    self.append(.call(.expiringActivityExpired(activity)), to: index, &turn)
                }
            }
            if let run = self.apps[index].run, run.isIdle, run.graceUntil <= now { self.suspend(index, &turn) }
        }
    }
}
