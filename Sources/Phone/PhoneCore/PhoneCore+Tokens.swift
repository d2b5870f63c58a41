import TidingsModel

/// Tokens (ios-delivery.md §12, §13): asked for at each launch, changed by a reinstallation, a restore and a new device.
extension PhoneCore {
    // MARK: The device token

    /// Fails at once without a network; the app asks again.
    mutating func registerForPushes(_ index: Int, _ turn: inout Turn) {
        guard self.apps[index].run != nil else { return }
        self.apps[index].isRegistered = true
        self.apps[index].run?.awaitsToken = true
        guard !self.airplaneMode else {
            return self.finishRegistration(
                self.bundleID(index), .failedToRegisterForRemoteNotifications(reason: Self.offline), &turn)
        }
        turn.add(.registerTopic(self.bundleID(index)))
    }

    private static let offline = "the phone is offline"

    mutating func failOpenRegistrations(_ turn: inout Turn) {
        for app in self.installedApps {
            self.finishRegistration(
                app.bundleID, .failedToRegisterForRemoteNotifications(reason: Self.offline), &turn)
        }
    }

    /// A registration on its way is not reported any more.
    mutating func unregisterForPushes(_ index: Int, _ turn: inout Turn) {
        self.apps[index].isRegistered = false
        self.apps[index].run?.awaitsToken = false
        self.apps[index].run?.background.withheldRegistration = nil
        turn.add(.unregisterTopic(self.bundleID(index)))
    }

    /// A suspended process is told when it runs again, a later process not at all.
    mutating func finishRegistration(_ app: BundleID, _ callback: Callback, _ turn: inout Turn) {
        guard let index = self.index(of: app), self.apps[index].run?.awaitsToken == true else { return }
        self.apps[index].run?.awaitsToken = false
        guard self.reportsRegistration(index) else {
            self.apps[index].run?.background.withheldRegistration = callback
            return
        }
        self.apps[index].run?.background.withheldRegistration = nil
        self.append(.call(callback), to: index, &turn)
    }

    private func reportsRegistration(_ index: Int) -> Bool {
        guard self.version >= 8, self.version < 11 else { return true }
        return self.apps[index].settings.authorizationStatus != .notDetermined
            || self.backgroundRefreshStatus(index) == .available
    }

    mutating func reportWithheldRegistrations(_ turn: inout Turn) {
        // Only these versions withhold any.
        guard self.version >= 8, self.version < 11 else { return }
        for index in self.apps.indices {
            guard let callback = self.apps[index].run?.background.withheldRegistration,
                self.reportsRegistration(index)
            else { continue }
            self.apps[index].run?.background.withheldRegistration = nil
            self.append(.call(callback), to: index, &turn)
        }
    }

    // MARK: Tokens of other kinds

    mutating func requestPushToStart(_ index: Int, _ turn: inout Turn) {
        let app = self.bundleID(index)
        guard self.version >= OSVersion(17, 2) else {
            return turn.recordFault(app, "starting a Live Activity by push needs iOS 17.2")
        }
        self.apps[index].background.wantsPushToStart = true
        if let token = self.apps[index].background.pushToStartToken {
            return self.append(.call(.pushToStartTokenUpdated(token)), to: index, &turn)
        }
        if !self.airplaneMode { turn.add(.requestToken(app, .pushToStart)) }
    }

    mutating func issue(_ token: PushToken, of kind: TokenKind, to app: BundleID, _ turn: inout Turn) {
        guard let index = self.index(of: app) else { return }
        let callback: Callback
        switch kind {
        case .voip:
            guard self.apps[index].background.voip.isRegistered,
                self.apps[index].background.voip.token != token
            else { return }
            self.apps[index].background.voip.token = token
            callback = .voipTokenUpdated(token)
        case .pushToStart:
            guard self.apps[index].background.wantsPushToStart, self.apps[index].background.pushToStartToken != token
            else { return }
            self.apps[index].background.pushToStartToken = token
            callback = .pushToStartTokenUpdated(token)
        case .activity(let activity):
            let activities = self.apps[index].background.activities
            guard let position = activities.firstIndex(where: { $0.identifier == activity }),
                activities[position].wantsToken, activities[position].token != token
            else { return }
            self.apps[index].background.activities[position].token = token
            callback = .activityTokenUpdated(activity: activity, token)
        }
        self.dropSteps(index) { Self.isToken($0, of: kind) }
        self.append(.call(callback), to: index, &turn)
    }

    private static func isToken(_ callback: Callback, of kind: TokenKind) -> Bool {
        switch (callback, kind) {
        case (.voipTokenUpdated, .voip), (.pushToStartTokenUpdated, .pushToStart): true
        case (.activityTokenUpdated(let told, _), .activity(let activity)): told == activity
        default: false
        }
    }

    mutating func requestMissingTokens(_ turn: inout Turn) {
        for app in self.apps {
            let name = app.installed.bundleID
            if app.background.voip.isRegistered, app.background.voip.token == nil {
                turn.add(.requestToken(name, .voip))
            }
            if app.background.wantsPushToStart, app.background.pushToStartToken == nil {
                turn.add(.requestToken(name, .pushToStart))
            }
            for activity in app.background.activities where activity.wantsToken && activity.token == nil {
                turn.add(.requestToken(name, .activity(activity.identifier)))
            }
        }
    }
}
