import TidingsModel

/// Everything that happens because time passes (ios-delivery.md §7, §8).
extension PhoneCore {
    /// Moves what is set for a time of day after the wall clock was set.
    mutating func followWallClock(_ turn: inout Turn) {
        guard let step = turn.system.followWallClock(turn.now) else { return }
        turn.notices.moveSummary(by: -step)
        self.handToEach(&turn) { app, turn in
            app.activities.moveStaleDates(by: -step)
            app.center.schedule.followWallClock(by: -step, limit: turn.settings.pendingLimit)
        }
    }

    mutating func runDeadlines(_ turn: inout Turn) {
        let now = turn.now.monotonic
        turn.notices.expire(at: now)
        if let summaryAt = turn.notices.summaryAt, summaryAt <= now { self.deliverSummary(&turn) }
        while let index = self.lateExtension(at: now) { self.hand(&turn, toAppAt: index) { $0.expireExtension(&$1) } }
        self.handToEach(&turn) { $0.runDeadlines(&$1) }
    }

    /// Returns the app of the extension that was started first of those that are late.
    private func lateExtension(at now: Int64) -> Int? {
        var first: (index: Int, process: UInt64)?
        for index in self.apps.indices {
            guard let process = self.apps[index].serviceExtension.late(at: now) else { continue }
            if first.map({ process.number < $0.process }) ?? true { first = (index, process.number) }
        }
        return first?.index
    }

    /// Expires background tasks, and suspends what has no reason to run (ios-delivery.md §2.2, §8).
    mutating func settle(_ turn: inout Turn) {
        if turn.version.withholdsRegistrations { self.handToEach(&turn) { $0.reportWithheldRegistration(&$1) } }
        self.handToEach(&turn) { $0.settle(&$1) }
    }
}
