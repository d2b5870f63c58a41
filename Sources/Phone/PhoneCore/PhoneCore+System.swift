import DequeModule

extension PhoneCore {
    mutating func handle(_ event: SystemEvent, _ turn: inout Turn) {
        switch event {
        case .appInstalled(let app):
            guard self.index(of: app.bundleID) == nil else { return self.updateApp(app, &turn) }
            self.apps.append(self.newRecord(app))
        case .appRemoved(let app): self.removeApp(app, &turn)
        case .appKilled(let app):
            guard let index = self.installed(app, &turn), self.apps[index].state.hasProcess else { return }
            self.kill(index, reason: .killedBySystem, &turn)
        case .appFrozen(let app):
            guard let index = self.installed(app, &turn) else { return }
            self.freeze(index, &turn)
        case .appEvicted(let app):
            guard let index = self.installed(app, &turn), self.apps[index].state.hasProcess else { return }
            self.terminate(index, to: .notRunning, reason: .evicted, &turn)
        case .memoryRanLow: self.warnOfMemory(&turn)
        case .restarted: self.restart(&turn)
        case .sceneDisconnected(let app): self.disconnectScene(of: app, &turn)
        case .prewarmed(let app): self.prewarm(app, &turn)
        case .regionCrossed(let region, let entered): self.crossRegion(region, entered: entered, &turn)
        case .appUpdated(let app): self.updateApp(app, &turn)
        case .appReinstalled(let app): self.reinstallApp(app, &turn)
        case .restoredFromBackup: self.restoreFromBackup(&turn)
        case .backgroundChance(let app): self.grantBackgroundTime(app, &turn)
        case .backgroundRefreshRestricted(let isRestricted):
            self.isBackgroundRefreshRestricted = isRestricted
            self.announceRefreshStatus(&turn)
        }
    }

    private mutating func removeApp(_ app: BundleID, _ turn: inout Turn) {
        guard let index = self.installed(app, &turn) else { return }
        self.kill(index, reason: .removed, &turn)
        self.discardExtensions(of: app, reason: .removed, &turn)
        self.endActivities(index, &turn)
        if self.apps[index].background.voip.isRegistered { turn.add(.dropToken(app, .voip)) }
        if self.apps[index].background.wantsPushToStart { turn.add(.dropToken(app, .pushToStart)) }
        if self.apps[index].isRegistered { turn.add(.unregisterTopic(app)) }
        self.removeNotices(of: app)
        self.apps.remove(at: index)
    }

    /// No callback and no time for tasks; what was meant for the foreground is shown instead.
    private mutating func freeze(_ index: Int, _ turn: inout Turn) {
        let state = self.apps[index].state
        guard let run = self.apps[index].run, state != .suspended else { return }
        if self.foregroundApp == run.process.app { self.foregroundApp = nil }
        self.apps[index].run?.steps.removeAll()
        self.suspend(index, &turn)
        for step in run.steps {
            switch step {
            case .call, .refreshTask: self.apps[index].run?.steps.append(step)
            case .deliver(let arrival):
                self.showElsewhere(arrival, index, &turn)
                guard arrival.pushClass.wakes else { continue }
                guard self.apps[index].run != nil else {
                    // Killed for a lock that it held.
                    let identifier = arrival.request.identifier
                    turn.record(run.process.app, .wake(identifier: identifier, .discardedByKill))
                    continue
                }
                guard self.mayWake(arrival, index, &turn) else { continue }
                self.apps[index].run?.steps.append(.call(.receiveRemoteFetch(arrival.payload)))
            case .moveToFront, .moveToBackground, .moveToInactive, .respond, .openSettings: break
            }
        }
    }

    private mutating func warnOfMemory(_ turn: inout Turn) {
        for index in self.apps.indices {
            switch self.apps[index].state {
            case .suspended: self.kill(index, reason: .evicted, &turn)
            case .foregroundActive, .foregroundInactive, .backgroundRunning:
                self.append(.call(.applicationDidReceiveMemoryWarning), to: index, &turn)
            case .notRunning, .forceQuit: break
            }
        }
    }

    /// The list, badges, settings and held wakes stay. A restart clears NQ (ios-delivery.md §2.1).
    private mutating func restart(_ turn: inout Turn) {
        for index in self.apps.indices {
            let held = self.apps[index].heldWake
            self.apps[index].heldWake = nil
            self.apps[index].isQuit = false
            self.kill(index, reason: .restarted, &turn)
            self.apps[index].heldWake = held
            self.endActivities(index, &turn)
        }
        self.lockAnew(&turn)
        // The extensions' pushes are shown as they came, and their wakes are held.
        for app in self.installedApps { self.endExtensions(of: app.bundleID, reason: .restarted, &turn) }
        self.startAnew(&turn)
    }
}
