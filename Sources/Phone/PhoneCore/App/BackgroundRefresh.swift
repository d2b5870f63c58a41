import TidingsModel

/// An app's Background Fetch and refresh tasks (ios-delivery.md §8).
struct BackgroundRefresh: Equatable, Sendable {
    /// In milliseconds; nil is never.
    var fetchInterval: Int64?
    /// Monotonic milliseconds.
    private(set) var lastFetch: Int64?
    /// Each missed handler makes the next chances rarer (ios-delivery.md §7.2).
    var missedFetches = WakeBudget()
    private(set) var tasks: [RefreshTaskRequest] = []
    /// The status that running processes were told last.
    var status: BackgroundRefreshStatus

    /// Returns what the app is woken for: a refresh task if there is one, else Background Fetch; nil if it may not be.
    mutating func grant(
        to app: InstalledApp, in state: AppState, _ permissions: NotificationSettings, _ turn: inout Turn
    ) -> AppStep? {
        if turn.version >= 13, !app.permittedTasks.isEmpty {
            if let due = self.tasks.firstIndex(where: { $0.earliestBegin ?? .min <= turn.now.wall }),
                !state.isInForeground
            {
                return self.grantTask(due, in: state, permissions, &turn)
            }
            if self.fetchInterval != nil { turn.record(.backgroundFetch(.disabledByTasks)) }
            return nil
        }
        let outcome = self.fetchOutcome(of: app, in: state, permissions, &turn)
        turn.record(.backgroundFetch(outcome))
        guard outcome == .delivered else { return nil }
        self.lastFetch = turn.now.monotonic
        return .call(.performFetch)
    }

    private func fetchOutcome(
        of app: InstalledApp, in state: AppState, _ permissions: NotificationSettings, _ turn: inout Turn
    ) -> BackgroundFetchOutcome {
        let now = turn.now.monotonic
        guard turn.version.wakesForPushes, app.methods.contains(.performFetch) else { return .notImplemented }
        guard app.backgroundModes.contains(.fetch) else { return .modeMissing }
        guard let interval = self.fetchInterval, !state.isInForeground,
            self.lastFetch.map({ now - $0 >= interval }) ?? true
        else { return .notDue }
        guard turn.system.allowsRefresh(permissions) else { return .refreshOff }
        if state == .forceQuit { return .discardedForceQuit }
        if turn.system.lock == .beforeFirstUnlock { return .heldBeforeFirstUnlock }
        guard let free = self.missedFetches.nextFree(settings: turn.settings), free <= now else {
            return .heldForBudget
        }
        return .delivered
    }

    private mutating func grantTask(
        _ due: Int, in state: AppState, _ permissions: NotificationSettings, _ turn: inout Turn
    ) -> AppStep? {
        let identifier = self.tasks[due].identifier
        let outcome: RefreshTaskOutcome =
            if !turn.system.allowsRefresh(permissions) {
                .refreshOff
            } else if state == .forceQuit {
                .discardedForceQuit
            } else if turn.system.lock == .beforeFirstUnlock {
                .heldBeforeFirstUnlock
            } else {
                .launched
            }
        turn.record(.refreshTask(identifier: identifier, outcome))
        guard outcome == .launched else { return nil }
        self.tasks.remove(at: due)
        return .refreshTask(identifier)
    }

    /// `BGTaskScheduler.submit`: replaces a request with the same identifier.
    mutating func submit(_ request: RefreshTaskRequest, of app: InstalledApp, _ turn: inout Turn) -> QueryAnswer {
        guard app.permittedTasks.contains(request.identifier), app.backgroundModes.contains(.fetch) else {
            return .taskRefused(.notPermitted)
        }
        let others = self.tasks.filter { $0.identifier != request.identifier }
        guard others.count < turn.settings.refreshTasksMax else { return .taskRefused(.tooManyPendingTaskRequests) }
        let isNew = others.count == self.tasks.count
        self.tasks = others + [request]
        turn.record(.refreshTask(identifier: request.identifier, isNew ? .submitted : .replaced))
        return .done
    }

    /// nil cancels all.
    mutating func cancel(_ identifier: String?, _ turn: inout Turn) {
        for task in self.tasks where identifier ?? task.identifier == task.identifier {
            turn.record(.refreshTask(identifier: task.identifier, .cancelled))
        }
        self.tasks.removeAll { identifier ?? $0.identifier == $0.identifier }
    }

    mutating func keepPermitted(by app: InstalledApp) {
        self.tasks.removeAll { !app.permittedTasks.contains($0.identifier) }
    }
}
