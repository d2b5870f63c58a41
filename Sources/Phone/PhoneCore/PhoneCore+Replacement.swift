import TidingsModel

/// A new version, a reinstallation, a new device (ios-delivery.md §2.1, §13).
extension PhoneCore {
    /// A new version: the process ends without a word and is not started; settings, list, badge and token stay.
    mutating func update(_ app: InstalledApp, _ turn: inout Turn) {
        guard let index = self.installed(app.bundleID, &turn) else { return }
        self.kill(index, to: .notRunning, reason: .updated, &turn)
        self.apps[index].installed = app
        self.apps[index].background.refreshTasks.removeAll { !app.permittedTasks.contains($0.identifier) }
        if self.apps[index].background.voip.isRegistered, !app.backgroundModes.contains(.voip) {
            self.apps[index].background.voip.isRegistered = false
            self.apps[index].background.voip.token = nil
            turn.add(.dropToken(app.bundleID, .voip))
        }
        self.endExtensions(of: app.bundleID, reason: .updated, &turn)
    }

    /// What a phone keeps about an app that has just been installed.
    func newRecord(_ app: InstalledApp) -> AppRecord {
        var record = AppRecord(installed: app)
        record.background.refreshStatus = self.backgroundRefreshStatus(record)
        return record
    }

    /// Removed and installed again: nothing of it is left, and its token is another one.
    mutating func reinstall(_ app: InstalledApp, _ turn: inout Turn) {
        if let index = self.index(of: app.bundleID) {
            self.kill(index, to: .notRunning, reason: .removed, &turn)
            self.discardExtensions(of: app.bundleID, reason: .removed, &turn)
            self.endActivities(index, &turn)
            self.removeNotices(of: app.bundleID)
            self.apps[index] = self.newRecord(app)
        } else {
            self.apps.append(self.newRecord(app))
        }
        turn.add(.invalidateTokens(app.bundleID))
    }

    /// The backup is on a new device: settings, badges and what is scheduled came along; the list, held pushes and every
    /// token did not. No push comes until the app has registered there.
    mutating func restoreFromBackup(_ turn: inout Turn) {
        for index in self.apps.indices {
            let app = self.apps[index].installed.bundleID
            self.endActivities(index, &turn)
            self.apps[index].isQuit = false
            self.kill(index, to: .notRunning, reason: .restored, &turn)
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

    /// What a restarted and a new device have in common: locked, nothing in the foreground, no wakes for a while.
    mutating func lockAnew(_ turn: inout Turn) {
        self.awaitsUnlock = nil
        self.foregroundApp = nil
        self.lock = .beforeFirstUnlock
        self.restartedAt = turn.now.monotonic
    }

    /// And then: an empty screen, and a new connection.
    mutating func startAnew(_ turn: inout Turn) {
        self.list.clearScreen()
        self.notices.litUntil = nil
        guard !self.airplaneMode else { return }
        turn.add(.disconnectCourier)
        turn.add(.connectCourier)
    }
}
