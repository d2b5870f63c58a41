import TidingsModel

/// A new version, a reinstallation, a new device (ios-delivery.md §2.1, §13).
extension PhoneCore {
    /// The process is not started again; settings, list, badge and token stay.
    mutating func updateApp(_ app: InstalledApp, _ turn: inout Turn) {
        guard let index = self.installed(app.bundleID, &turn) else { return }
        self.kill(index, reason: .updated, &turn)
        self.apps[index].installed = app
        self.apps[index].background.refreshTasks.removeAll { !app.permittedTasks.contains($0.identifier) }
        if self.apps[index].background.voip.isRegistered, !app.backgroundModes.contains(.voip) {
            self.apps[index].background.voip.isRegistered = false
            self.apps[index].background.voip.token = nil
            turn.add(.dropToken(app.bundleID, .voip))
        }
        self.endExtensions(of: app.bundleID, reason: .updated, &turn)
    }

    func newRecord(_ app: InstalledApp) -> AppRecord {
        var record = AppRecord(installed: app)
        record.background.refreshStatus = self.backgroundRefreshStatus(record)
        return record
    }

    mutating func reinstallApp(_ app: InstalledApp, _ turn: inout Turn) {
        if let index = self.index(of: app.bundleID) {
            self.kill(index, reason: .removed, &turn)
            self.discardExtensions(of: app.bundleID, reason: .removed, &turn)
            self.endActivities(index, &turn)
            self.removeNotices(of: app.bundleID)
            self.apps[index] = self.newRecord(app)
        } else {
            self.apps.append(self.newRecord(app))
        }
        turn.add(.invalidateTokens(app.bundleID))
    }

    /// Settings, badges and scheduled requests come along; the list, held pushes and every token do not. No push
    /// arrives until the app has registered again.
    mutating func restoreFromBackup(_ turn: inout Turn) {
        for index in self.apps.indices {
            let app = self.bundleID(index)
            self.endActivities(index, &turn)
            self.apps[index].isQuit = false
            self.kill(index, reason: .restored, &turn)
            self.discardExtensions(of: app, reason: .restored, &turn)
            self.removeNotices(of: app)
            self.apps[index].isRegistered = false
            self.apps[index].budget = WakeBudget()
            let interval = self.apps[index].background.fetchInterval
            let status = self.apps[index].background.refreshStatus
            self.apps[index].background = BackgroundRecord(fetchInterval: interval, refreshStatus: status)
            turn.add(.invalidateTokens(app))
        }
        self.lockAnew(&turn)
        self.startAnew(&turn)
    }

    mutating func lockAnew(_ turn: inout Turn) {
        self.awaitsUnlock = nil
        self.foregroundApp = nil
        self.lock = .beforeFirstUnlock
        self.restartedAt = turn.now.monotonic
    }

    mutating func startAnew(_ turn: inout Turn) {
        self.list.clearScreen()
        self.notices.litUntil = nil
        guard !self.airplaneMode else { return }
        turn.add(.disconnectCourier)
        turn.add(.connectCourier)
    }
}
