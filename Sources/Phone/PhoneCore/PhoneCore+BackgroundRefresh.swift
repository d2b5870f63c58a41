import TidingsModel

/// Background App Refresh, Background Fetch and refresh tasks (ios-delivery.md §7.3, §8).
extension PhoneCore {
    // MARK: Background App Refresh

    func backgroundRefreshStatus(_ app: AppRecord) -> BackgroundRefreshStatus {
        if self.isBackgroundRefreshRestricted { return .restricted }
        return self.isBackgroundRefreshOn && app.settings.backgroundRefresh ? .available : .denied
    }

    func backgroundRefreshStatus(_ index: Int) -> BackgroundRefreshStatus {
        self.backgroundRefreshStatus(self.apps[index])
    }

    func allowsBackgroundRefresh(_ app: AppRecord) -> Bool {
        !self.lowPowerMode && self.backgroundRefreshStatus(app) == .available
    }

    /// A suspended process learns only the newest value when it runs again.
    mutating func announceRefreshStatus(_ turn: inout Turn) {
        for index in self.apps.indices {
            let status = self.backgroundRefreshStatus(index)
            guard self.apps[index].background.refreshStatus != status else { continue }
            self.apps[index].background.refreshStatus = status
            guard self.version.wakesForPushes else { continue }
            self.dropSteps(index) { callback in
                if case .backgroundRefreshStatusChanged = callback { true } else { false }
            }
            self.append(.call(.backgroundRefreshStatusChanged(status)), to: index, &turn)
        }
    }

    mutating func dropSteps(_ index: Int, where isStale: (Callback) -> Bool) {
        self.apps[index].run?.steps.removeAll { step in
            if case .call(let callback) = step { isStale(callback) } else { false }
        }
    }

    // MARK: A good moment

    /// For a refresh task if there is one, else for Background Fetch.
    mutating func grantBackgroundTime(_ app: BundleID, _ turn: inout Turn) {
        guard let index = self.installed(app, &turn) else { return }
        if self.version >= 13, !self.apps[index].installed.permittedTasks.isEmpty {
            if !self.grantRefreshTask(index, &turn), self.apps[index].background.fetchInterval != nil {
                turn.record(app, .backgroundFetch(.disabledByTasks))
            }
            return
        }
        let outcome = self.backgroundFetchOutcome(index, at: turn.now.monotonic)
        turn.record(app, .backgroundFetch(outcome))
        guard outcome == .delivered else { return }
        self.apps[index].background.lastFetch = turn.now.monotonic
        self.wake(index, for: .call(.performFetch), &turn)
    }

    private func backgroundFetchOutcome(_ index: Int, at now: Int64) -> BackgroundFetchOutcome {
        let app = self.apps[index]
        guard self.version.wakesForPushes, app.installed.methods.contains(.performFetch) else {
            return .notImplemented
        }
        guard app.installed.backgroundModes.contains(.fetch) else { return .modeMissing }
        guard let interval = app.background.fetchInterval, !app.state.isInForeground,
            app.background.lastFetch.map({ now - $0 >= interval }) ?? true
        else { return .notDue }
        guard self.allowsBackgroundRefresh(app) else { return .refreshOff }
        if app.state == .forceQuit { return .discardedForceQuit }
        if self.lock == .beforeFirstUnlock { return .heldBeforeFirstUnlock }
        guard let free = app.background.missedFetches.nextFree(settings: self.settings), free <= now else {
            return .heldForBudget
        }
        return .delivered
    }

    // MARK: Refresh tasks

    /// `BGTaskScheduler.submit`: replaces a request with the same identifier.
    mutating func submit(
        _ request: RefreshTaskRequest, of process: ProcessID, _ index: Int, _ turn: inout Turn
    ) -> QueryAnswer {
        let app = self.apps[index].installed
        guard self.version >= 13, process.role == .app, self.backgroundRefreshStatus(index) == .available else {
            return .taskRefused(.unavailable)
        }
        guard app.permittedTasks.contains(request.identifier), app.backgroundModes.contains(.fetch) else {
            return .taskRefused(.notPermitted)
        }
        var tasks = self.apps[index].background.refreshTasks
        let old = tasks.firstIndex { $0.identifier == request.identifier }
        if let old { tasks.remove(at: old) }
        guard tasks.count < self.settings.refreshTasksMax else { return .taskRefused(.tooManyPendingTaskRequests) }
        self.apps[index].background.refreshTasks = tasks + [request]
        turn.record(app.bundleID, .refreshTask(identifier: request.identifier, old == nil ? .submitted : .replaced))
        return .done
    }

    /// Returns whether a refresh task was due.
    private mutating func grantRefreshTask(_ index: Int, _ turn: inout Turn) -> Bool {
        let app = self.apps[index]
        let due = app.background.refreshTasks.firstIndex { $0.earliestBegin ?? .min <= turn.now.wall }
        guard let due, !app.state.isInForeground else { return false }
        let identifier = app.background.refreshTasks[due].identifier
        let outcome: RefreshTaskOutcome =
            if !self.allowsBackgroundRefresh(app) {
                .refreshOff
            } else if app.state == .forceQuit {
                .discardedForceQuit
            } else if self.lock == .beforeFirstUnlock {
                .heldBeforeFirstUnlock
            } else {
                .launched
            }
        turn.record(app.installed.bundleID, .refreshTask(identifier: identifier, outcome))
        guard outcome == .launched else { return true }
        self.apps[index].background.refreshTasks.remove(at: due)
        self.wake(index, for: .refreshTask(identifier), &turn)
        return true
    }

    /// The launch is over: only a handler registered by then is called.
    mutating func launchRefreshTask(_ identifier: String, _ index: Int, _ turn: inout Turn) {
        guard self.apps[index].run?.background.refreshHandlers.contains(identifier) == true else {
            return turn.record(self.bundleID(index), .refreshTask(identifier: identifier, .notRegistered))
        }
        self.apps[index].run?.background.refreshTasks.append(
            RunningRefreshTask(identifier: identifier, deadline: turn.now.monotonic + self.settings.refreshTaskLimit))
        self.call(index, .refreshTaskLaunched(identifier: identifier), &turn)
    }

    mutating func registerRefreshHandler(_ identifier: String, _ index: Int, _ turn: inout Turn) {
        let app = self.apps[index].installed
        guard let run = self.apps[index].run, self.version >= 13 else { return }
        guard run.phase != .ready else {
            return turn.recordFault(
                app.bundleID, "the handler of task \(identifier) must be registered before didFinishLaunching returns")
        }
        guard app.permittedTasks.contains(identifier), !run.background.refreshHandlers.contains(identifier) else {
            return turn.recordFault(app.bundleID, "task \(identifier) must be permitted and registered once")
        }
        self.apps[index].run?.background.refreshHandlers.append(identifier)
    }

    mutating func completeRefreshTask(_ identifier: String, success: Bool, _ index: Int, _ turn: inout Turn) {
        let tasks = self.apps[index].run?.background.refreshTasks ?? []
        guard let position = tasks.firstIndex(where: { $0.identifier == identifier }) else {
            return turn.recordFault(self.bundleID(index), "task \(identifier) must run and be completed once")
        }
        self.apps[index].run?.background.refreshTasks.remove(at: position)
        turn.record(self.bundleID(index), .refreshTask(identifier: identifier, success ? .completed : .failed))
    }

    mutating func cancelRefreshTask(_ identifier: String?, _ index: Int, _ turn: inout Turn) {
        for task in self.apps[index].background.refreshTasks where identifier ?? task.identifier == task.identifier {
            turn.record(self.bundleID(index), .refreshTask(identifier: task.identifier, .cancelled))
        }
        self.apps[index].background.refreshTasks.removeAll { identifier ?? $0.identifier == $0.identifier }
    }

    /// Returns why the app is killed, if a task outlived its handler in the background.
    mutating func expireRefreshTasks(_ index: Int, _ turn: inout Turn) -> EndReason? {
        let now = turn.now.monotonic
        guard let tasks = self.apps[index].run?.background.refreshTasks, !tasks.isEmpty else { return nil }
        for task in tasks where task.deadline <= now {
            if task.isExpired, self.apps[index].state == .backgroundRunning { return .refreshTaskNotCompleted }
            self.apps[index].run?.background.refreshTasks.removeAll { $0.identifier == task.identifier }
            guard !task.isExpired else {
                turn.recordFault(self.bundleID(index), "task \(task.identifier) was not completed in time")
                continue
            }
            self.apps[index].run?.background.refreshTasks.append(
                RunningRefreshTask(
                    identifier: task.identifier, isExpired: true,
                    deadline: now + self.settings.refreshTaskExpiryGrace))
            turn.record(self.bundleID(index), .refreshTask(identifier: task.identifier, .expired))
            self.call(index, .refreshTaskExpired(identifier: task.identifier), &turn)
        }
        return nil
    }
}
