public import PhoneCore

// What the system does by itself. A call without an app means the first one installed.

extension VirtualPhone {
    // MARK: Processes

    /// Suspends an app at once, without any callback.
    public func suspend(_ app: BundleID? = nil) async {
        await self.postAndSettle(.system(.appFrozen(self.target(app))))
    }
    /// Kills an app without any callback.
    public func terminate(_ app: BundleID? = nil) async {
        await self.postAndSettle(.system(.appKilled(self.target(app))))
    }
    /// Ends an app for memory: told if it runs, not if it is suspended.
    public func evict(_ app: BundleID? = nil) async { await self.postAndSettle(.system(.appEvicted(self.target(app)))) }
    /// Memory is low: running apps are warned, suspended ones killed.
    public func runLowOnMemory() async { await self.postAndSettle(.system(.memoryRanLow)) }
    /// Releases an app's scene while its process lives (iOS 13).
    public func disconnectScene(of app: BundleID? = nil) async {
        await self.postAndSettle(.system(.sceneDisconnected(self.target(app))))
    }
    /// Starts an app's process in advance, up to but not including its launch (iOS 15).
    public func prewarm(_ app: BundleID? = nil) async {
        await self.postAndSettle(.system(.prewarmed(self.target(app))))
    }
    /// Restarts the phone, which is then locked and before its first unlock.
    public func restart() async { await self.postAndSettle(.system(.restarted)) }

    // MARK: Background work

    /// Sees a good moment for an app's Background Fetch or refresh task.
    public func giveBackgroundChance(to app: BundleID? = nil) async {
        await self.postAndSettle(.system(.backgroundChance(self.target(app))))
    }
    /// Forbids Background App Refresh, as a profile does, or allows it again.
    public func restrictBackgroundRefresh(_ isRestricted: Bool) async {
        await self.postAndSettle(.system(.backgroundRefreshRestricted(isRestricted)))
    }
    /// Crosses the border of a region.
    public func cross(region identifier: String, entering: Bool) async {
        await self.postAndSettle(.system(.regionCrossed(identifier, entered: entering)))
    }

    // MARK: Installing

    /// Installs a new version of an app: its process ends, its data and settings stay, and it is not started.
    public func update(_ app: InstalledApp, code: ProcessCode? = nil, serviceExtension: ProcessCode? = nil) async {
        self.replaceCode(of: app.bundleID, code: code, serviceExtension: serviceExtension)
        await self.postAndSettle(.system(.appUpdated(app)))
    }
    /// Removes an app and installs it again: settings, list and registrations are gone, its folders are emptied, and its
    /// token is a new one.
    public func reinstall(_ app: InstalledApp) async {
        await self.postAndSettle(.system(.appReinstalled(app)))
        self.emptyFolders(of: app)
    }
    /// Removes an app; its folders are emptied.
    public func remove(_ app: BundleID? = nil) async {
        let target = self.target(app)
        let installed = self.engine.phone.installedApps.first { $0.bundleID == target }
        await self.postAndSettle(.system(.appRemoved(target)))
        if let installed { self.emptyFolders(of: installed) }
    }
    /// Restores the phone's backup on a new device: every token is a new one, all processes are gone.
    public func restoreFromBackup() async {
        self.restoreKeychain()
        await self.postAndSettle(.system(.restoredFromBackup))
    }
}
