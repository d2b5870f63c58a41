import TidingsModel

/// A new version, a reinstallation, a new device (ios-delivery.md §2.1, §13).
extension PhoneCore {
    /// A new version: the process ends without a word and is not started; settings, list, badge and token stay.
    mutating func update(_ app: InstalledApp, _ turn: inout Turn) {
        guard let index = self.installed(app.bundleID, &turn) else { return }
        self.endExtensions(of: app.bundleID, reason: .updated, &turn)
        self.kill(index, to: .notRunning, reason: .updated, &turn)
        self.apps[index].installed = app
        self.apps[index].background.refreshTasks.removeAll { !app.permittedTasks.contains($0.identifier) }
    }

    /// Removed and installed again: nothing of it is left, and its token is another one.
    mutating func reinstall(_ app: InstalledApp, _ turn: inout Turn) {
        if let index = self.index(of: app.bundleID) {
            self.endExtensions(of: app.bundleID, reason: .removed, &turn)
            self.kill(index, to: .notRunning, reason: .removed, &turn)
            self.endActivities(index, &turn)
            self.list.remove(app: app.bundleID, identifiers: nil)
            self.apps[index] = AppRecord(installed: app)
        } else {
            self.apps.append(AppRecord(installed: app))
        }
        turn.add(.invalidateTokens(app.bundleID))
        self.announceRefreshStatus(&turn)
    }

    /// The backup is on a new device: settings, badges and what is scheduled came along; the list, held pushes and every
    /// token did not. No push comes until the app has registered there.
    mutating func restoreFromBackup(_ turn: inout Turn) {
        for index in self.apps.indices {
            self.endExtensions(of: self.apps[index].installed.bundleID, reason: .restored, &turn)
            self.endActivities(index, &turn)
            self.kill(index, to: .notRunning, reason: .restored, &turn)
            let app = self.apps[index].installed.bundleID
            self.list.remove(app: app, identifiers: nil)
            self.apps[index].isRegistered = false
            self.apps[index].budget = WakeBudget()
            let interval = self.apps[index].background.fetchInterval
            let status = self.apps[index].background.refreshStatus
            self.apps[index].background = BackgroundRecord(fetchInterval: interval, refreshStatus: status)
            turn.add(.invalidateTokens(app))
        }
        self.startAnew(&turn)
    }

    /// What a restarted and a new device have in common: locked, nothing in front, no wakes for a while.
    mutating func startAnew(_ turn: inout Turn) {
        self.frontApp = nil
        self.list.clearBanners()
        self.lock = .beforeFirstUnlock
        self.restartedAt = turn.now.monotonic
        guard !self.airplaneMode else { return }
        turn.add(.disconnectCourier)
        turn.add(.connectCourier)
    }
}
