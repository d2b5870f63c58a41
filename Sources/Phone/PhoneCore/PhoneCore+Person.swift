extension PhoneCore {
    mutating func handle(_ event: PersonEvent, _ turn: inout Turn) {
        switch event {
        case .unlocked: self.unlockForWaitingAction(&turn)
        case .locked: self.lockPhone(&turn)
        case .appOpened(let app): self.openApp(app, &turn)
        case .wentHome: if self.lock == .unlocked { self.leaveForeground(unless: nil, &turn) }
        case .appForceQuit(let app):
            guard let index = self.installed(app, &turn) else { return }
            self.terminate(index, to: .forceQuit, reason: .forceQuit, &turn)
        case .notificationTapped(let key):
            self.performAction(on: key, action: UserResponse.defaultAction, text: nil, &turn)
        case .notificationDismissed(let key):
            self.performAction(on: key, action: UserResponse.dismissAction, text: nil, &turn)
        case .actionPerformed(let key, let action, let text):
            self.performAction(on: key, action: action, text: text, &turn)
        case .permissionAnswered(let allowed): self.answerPrompt(allowed: allowed, &turn)
        case .settingChanged(let app, let setting, let isOn):
            guard let index = self.installed(app, &turn) else { return }
            self.apps[index].settings.turn(setting, isOn: isOn)
            if setting == .backgroundRefresh { self.announceRefreshStatus(&turn) }
            if setting == .scheduledDelivery, !isOn { self.releaseSummary(of: app, &turn) }
        case .airplaneModeChanged(let isOn):
            guard isOn != self.airplaneMode else { return }
            self.airplaneMode = isOn
            turn.add(isOn ? .disconnectCourier : .connectCourier)
            if isOn { self.failOpenRegistrations(&turn) } else { self.requestMissingTokens(&turn) }
        case .lowPowerModeChanged(let isOn): self.lowPowerMode = isOn
        case .backgroundRefreshChanged(let isOn):
            self.isBackgroundRefreshOn = isOn
            self.announceRefreshStatus(&turn)
        case .overlayAppeared: self.appendToFrontApp(.moveToInactive, &turn)
        case .overlayDisappeared: self.appendToFrontApp(.moveToFront, &turn)
        case .alertStyleChanged, .previewsChanged, .focusChanged, .summaryTimesChanged,
            .muteChanged, .notificationSettingsOpened, .appSettingsOpened, .bannerSwipedAway, .provisionalAnswered,
            .alertPanelAnswered:
            self.handleNotices(event, &turn)
        case .activityDismissed(let app, let activity): self.dismissActivity(activity, of: app, &turn)
        case .callAnswered: self.answerCall(&turn)
        case .callDeclined: self.declineCall(&turn)
        }
    }

    /// Records a fault if the app is not installed.
    func installed(_ app: BundleID, _ turn: inout Turn) -> Int? {
        if let index = self.index(of: app) { return index }
        turn.recordFault(app, "app \(app) must be installed")
        return nil
    }

    private mutating func appendToFrontApp(_ step: AppStep, _ turn: inout Turn) {
        guard self.lock == .unlocked, let front = self.foregroundApp, let index = self.index(of: front) else { return }
        self.append(step, to: index, &turn)
    }

    // MARK: Lock

    private mutating func lockPhone(_ turn: inout Turn) {
        // Locking refuses the waiting action: it does not run.
        self.awaitsUnlock = nil
        guard self.lock == .unlocked else { return }
        self.lock = .locked
        // The lock screen is dark: nothing shows any more.
        self.list.clearBanners()
        if let front = self.foregroundApp, let index = self.index(of: front) {
            self.append(.moveToBackground, to: index, &turn)
        }
        self.notifyRunningApps(.protectedDataWillBecomeUnavailable, &turn)
    }

    /// A suspended app is not woken for it, and an app that starts reads the state itself.
    private mutating func notifyRunningApps(_ callback: Callback, _ turn: inout Turn) {
        for index in self.apps.indices where self.apps[index].state != .suspended {
            switch self.apps[index].run?.phase {
            case .launching, .ready: self.append(.call(callback), to: index, &turn)
            case .starting, .loaded, nil: break
            }
        }
    }

    private mutating func unlockForWaitingAction(_ turn: inout Turn) {
        guard let waiting = self.awaitsUnlock, self.list.entry(waiting.notification) != nil else {
            return self.unlock(returning: true, &turn)
        }
        self.performAction(
            on: waiting.notification, action: waiting.action, text: waiting.text, isAuthenticated: true, &turn)
        self.unlock(returning: true, &turn)
    }

    mutating func unlock(returning: Bool, _ turn: inout Turn) {
        // Unlocking the phone for something else gives the waiting action up.
        self.awaitsUnlock = nil
        guard self.lock != .unlocked else { return }
        self.lock = .unlocked
        self.notices.litUntil = nil
        self.notifyRunningApps(.protectedDataDidBecomeAvailable, &turn)
        for app in self.apps where !app.settings.notificationCenter {
            self.list.removeEntries(of: app.installed.bundleID)
        }
        let front = self.foregroundApp
        if !returning { self.foregroundApp = nil }
        if returning, let front, let index = self.index(of: front) {
            self.bringToFront(index, options: LaunchOptions(), step: .moveToFront, &turn)
        }
        for index in self.apps.indices { self.retryHeldWake(index, &turn) }
    }

    // MARK: Opening

    private mutating func openApp(_ app: BundleID, _ turn: inout Turn) {
        guard let index = self.installed(app, &turn) else { return }
        self.unlock(returning: false, &turn)
        self.bringToFront(index, options: LaunchOptions(), step: .moveToFront, &turn)
    }

    /// Tap, dismissal or custom action (`open` of ios-delivery.md §5.6). What needs authentication waits on a locked
    /// phone until it is unlocked (§6.4); `isAuthenticated` says that the person is just unlocking it.
    mutating func performAction(
        on key: NotificationKey, action: String, text: String?, isAuthenticated: Bool = false, _ turn: inout Turn
    ) {
        guard let index = self.installed(key.app, &turn) else { return }
        guard let entry = self.list.entry(key) else {
            return turn.recordFault(key.app, "notification \(key.identifier) must be in the list or a banner")
        }
        self.awaitsUnlock = nil
        let category = self.apps[index].category(of: entry.notification.request.content)
        let isDismissal = action == UserResponse.dismissAction
        var foreground = action == UserResponse.defaultAction
        var needsUnlock = foreground
        if !isDismissal, !foreground {
            guard self.version >= 8, let custom = category?.actions.first(where: { $0.identifier == action }) else {
                return turn.recordFault(key.app, "action \(action) must be in the notification's category")
            }
            foreground = custom.options.contains(.foreground)
            if custom.options.contains(.authenticationRequired), !isAuthenticated, self.lock != .unlocked {
                self.awaitsUnlock = GuardedAction(notification: key, action: action, text: text)
                return
            }
            needsUnlock = foreground || custom.options.contains(.authenticationRequired)
        }
        self.list.remove(key)
        if isDismissal, !self.version.hasUserNotifications || category?.reportsDismissal != true { return }
        if needsUnlock { self.unlock(returning: !foreground, &turn) }
        let response = UserResponse(notification: entry.notification, actionIdentifier: action, userText: text)
        self.startResponse(index, to: response, foreground: foreground, &turn)
    }

    private mutating func startResponse(
        _ index: Int, to response: UserResponse, foreground: Bool, _ turn: inout Turn
    ) {
        let launched = !self.isLaunched(index)
        let options = Dispatch.actionOptions(response.notification.request, facts: self.facts(of: index))
        let step = AppStep.respond(response, foreground: foreground, launched: launched)
        if foreground { return self.bringToFront(index, options: options, step: step, &turn) }
        self.wake(index, for: step, options: options, &turn)
    }

    // MARK: Permission

    /// Also answers the waiting prompts of the same app.
    private mutating func answerPrompt(allowed: Bool, _ turn: inout Turn) {
        guard let first = self.prompts.first else {
            return turn.recordFault(nil, "a permission prompt must be on the screen")
        }
        let app = first.process.app
        let answered = self.prompts.filter { $0.process.app == app }
        self.prompts.removeAll { $0.process.app == app }
        guard let index = self.index(of: app) else { return }
        self.apps[index].settings.decide(first.options, status: allowed ? .authorized : .denied)
        for prompt in answered { self.reportPermission(prompt, allowed: allowed, index, &turn) }
    }
}

extension NotificationSettings {
    mutating func decide(_ options: AuthorizationOptions, status: AuthorizationStatus) {
        self.authorizationStatus = status
        let allows = self.allowsPresentation
        let alert = allows && options.contains(.alert)
        self.alert = alert
        self.notificationCenter = alert
        self.lockScreen = alert
        self.sound = allows && options.contains(.sound)
        self.badge = allows && options.contains(.badge)
        self.criticalAlert = allows && options.contains(.criticalAlert)
        self.announcement = allows && options.contains(.announcement)
        self.providesAppNotificationSettings = options.contains(.providesAppNotificationSettings)
    }

    /// Turning notifications on allows every kind; off denies.
    mutating func turn(_ setting: SettingSwitch, isOn: Bool) {
        switch setting {
        case .notifications:
            let old = self
            self.decide([.alert, .sound, .badge], status: isOn ? .authorized : .denied)
            self.criticalAlert = old.criticalAlert
            self.announcement = old.announcement
            self.providesAppNotificationSettings = old.providesAppNotificationSettings
        case .alert: self.alert = isOn
        case .sound: self.sound = isOn
        case .badge: self.badge = isOn
        case .notificationCenter: self.notificationCenter = isOn
        case .lockScreen: self.lockScreen = isOn
        case .backgroundRefresh: self.backgroundRefresh = isOn
        case .criticalAlert: self.criticalAlert = isOn
        case .announcement: self.announcement = isOn
        case .timeSensitive: self.timeSensitive = isOn
        case .scheduledDelivery: self.scheduledDelivery = isOn
        case .directMessages: self.directMessages = isOn
        }
    }
}
