/// Actions of the person: they concern the phone, an app, or both.
extension PhoneCore {
    mutating func handle(_ event: PersonEvent, _ turn: inout Turn) {
        switch event {
        case .unlocked: self.unlockForWaitingAction(&turn)
        case .locked: self.lockPhone(&turn)
        case .appOpened(let app):
            if self.isInstalled(app, &turn) { self.open(app, for: .moveToFront, &turn) }
        case .wentHome: if turn.system.lock == .unlocked { self.leaveForeground(&turn) }
        case .appForceQuit(let app):
            self.hand(&turn, to: app) { $0.terminate(.forceQuit, isQuit: true, &$1) }
        case .notificationTapped(let key): self.performAction(on: key, action: UserResponse.defaultAction, &turn)
        case .notificationDismissed(let key): self.performAction(on: key, action: UserResponse.dismissAction, &turn)
        case .actionPerformed(let key, let action, let text):
            self.performAction(on: key, action: action, text: text, &turn)
        case .permissionAnswered(let allowed): self.answerPrompt(allowed: allowed, &turn)
        case .settingChanged(let app, let setting, let isOn):
            self.hand(&turn, to: app) { $0.change(setting, isOn: isOn, &$1) }
        case .airplaneModeChanged(let isOn): self.changeAirplaneMode(isOn: isOn, &turn)
        case .lowPowerModeChanged(let isOn): turn.system.lowPowerMode = isOn
        case .backgroundRefreshChanged(let isOn):
            turn.system.isBackgroundRefreshOn = isOn
            self.handToEach(&turn) { $0.announceRefreshStatus(&$1) }
        case .overlayAppeared: self.tellFrontApp(.moveToInactive, &turn)
        case .overlayDisappeared: self.tellFrontApp(.moveToFront, &turn)
        case .alertStyleChanged(let app, let style):
            self.hand(&turn, to: app) { app, _ in app.center.permissions.alertStyle = style }
        case .previewsChanged(let app, let previews):
            self.hand(&turn, to: app) { app, _ in app.center.permissions.showPreviews = previews }
        case .focusChanged(let focus): turn.notices.focus = focus
        case .summaryTimesChanged(let times): self.changeSummaryTimes(times, &turn)
        case .muteChanged(let isOn): turn.notices.isMuted = isOn
        case .notificationSettingsOpened(let key):
            if let entry = turn.entry(key) { self.openSettings(of: key.app, from: entry.notification, &turn) }
        case .appSettingsOpened(let app): self.openSettings(of: app, from: nil, &turn)
        case .bannerSwipedAway(let key): turn.notices.list.removeBanner(key)
        case .provisionalAnswered(let app, let keep):
            self.hand(&turn, to: app) { $0.center.answerProvisional(keep: keep, of: app, &$1) }
        case .alertPanelAnswered(let opens): self.answerPanel(opens: opens, &turn)
        case .activityDismissed(let app, let activity):
            self.hand(&turn, to: app) {
                $0.record($0.activities.dismiss(activity, &$1), &$1)
            }
        case .callAnswered: self.answerCall(&turn)
        case .callDeclined: self.declineCall(&turn)
        }
    }

    private mutating func changeAirplaneMode(isOn: Bool, _ turn: inout Turn) {
        guard isOn != turn.system.airplaneMode else { return }
        turn.system.airplaneMode = isOn
        turn.add(isOn ? .disconnectCourier : .connectCourier)
        self.handToEach(&turn) { app, turn in
            if isOn { return app.finishRegistration(.registrationFailedOffline, &turn) }
            app.tokens.requestMissing(&turn)
            app.activities.requestMissingTokens(&turn)
        }
    }

    /// Also answers the waiting prompts of the same app.
    private mutating func answerPrompt(allowed: Bool, _ turn: inout Turn) {
        let prompts = turn.system.takePrompts()
        guard let first = prompts.first else { return turn.recordFault("a permission prompt must be on the screen") }
        self.hand(&turn, toInstalled: first.process.app) { app, turn in
            app.center.permissions.decide(first.options, status: allowed ? .authorized : .denied)
            for prompt in prompts { app.report(prompt, allowed: allowed, &turn) }
        }
    }

    /// The first that rings.
    private mutating func answerCall(_ turn: inout Turn) {
        for index in self.apps.indices {
            guard let call = self.apps[index].process?.answerCall() else { continue }
            return self.hand(&turn, toAppAt: index) { $0.tell(.callAnswered(call.identifier), &$1) }
        }
        turn.recordFault("an incoming call must be on the screen")
    }

    /// The first that rings, or else the first that was answered.
    private mutating func declineCall(_ turn: inout Turn) {
        for isAnswered in [false, true] {
            for index in self.apps.indices {
                guard let call = self.apps[index].process?.declineCall(isAnswered: isAnswered) else { continue }
                return self.hand(&turn, toAppAt: index) { $0.tell(.callDeclined(call.identifier), &$1) }
            }
        }
        turn.recordFault("a call must be on the screen")
    }

    // MARK: Lock

    private mutating func lockPhone(_ turn: inout Turn) {
        // Locking refuses the waiting action: it does not run.
        turn.system.awaitsUnlock = nil
        guard turn.system.lock == .unlocked else { return }
        turn.system.lock = .locked
        // The lock screen is dark: nothing shows any more.
        turn.notices.list.clearBanners()
        if let front = turn.system.foregroundApp {
            self.hand(&turn, toInstalled: front) { $0.append(.moveToBackground, &$1) }
        }
        self.handToEach(&turn) { $0.notifyIfRunning(.protectedDataWillBecomeUnavailable, &$1) }
    }

    private mutating func unlockForWaitingAction(_ turn: inout Turn) {
        if let waiting = turn.system.awaitsUnlock, turn.notices.list.entry(waiting.notification) != nil {
            self.performAction(
                on: waiting.notification, action: waiting.action, text: waiting.text, isAuthenticated: true, &turn)
        }
        self.unlock(returning: true, &turn)
    }

    private mutating func unlock(returning: Bool, _ turn: inout Turn) {
        // Unlocking the phone for something else gives the waiting action up.
        turn.system.awaitsUnlock = nil
        guard turn.system.lock != .unlocked else { return }
        turn.system.lock = .unlocked
        turn.notices.litUntil = nil
        self.handToEach(&turn) { app, turn in
            app.notifyIfRunning(.protectedDataDidBecomeAvailable, &turn)
            if !app.center.permissions.notificationCenter { turn.notices.list.removeEntries(of: app.bundleID) }
        }
        if !returning {
            turn.system.foregroundApp = nil
        } else if let front = turn.system.foregroundApp {
            self.hand(&turn, toInstalled: front) { $0.bringToFront(for: .moveToFront, &$1) }
        }
        self.handToEach(&turn) { $0.retryHeldWake(&$1) }
    }

    // MARK: The foreground

    /// The person asked for the app, on a phone that may be locked.
    private mutating func open(_ app: BundleID, for step: AppStep, _ turn: inout Turn) {
        self.unlock(returning: false, &turn)
        self.leaveForeground(unless: app, &turn)
        self.hand(&turn, to: app) { $0.bringToFront(for: step, &$1) }
    }

    private mutating func leaveForeground(unless app: BundleID? = nil, _ turn: inout Turn) {
        guard let front = turn.system.foregroundApp, front != app else { return }
        turn.system.foregroundApp = nil
        self.hand(&turn, toInstalled: front) { $0.append(.moveToBackground, &$1) }
    }

    private mutating func tellFrontApp(_ step: AppStep, _ turn: inout Turn) {
        guard turn.system.lock == .unlocked, let front = turn.system.foregroundApp else { return }
        self.hand(&turn, toInstalled: front) { $0.append(step, &$1) }
    }

    /// `userNotificationCenter(_:openSettingsFor:)` (ios-delivery.md §6.5).
    private mutating func openSettings(of app: BundleID, from notification: DeliveredNotification?, _ turn: inout Turn)
    {
        guard self.hand(&turn, to: app, { $0.offersSettings(&$1) }) == true else { return }
        self.open(app, for: .openSettings(notification), &turn)
    }

    // MARK: Notifications

    /// Tap, dismissal or custom action (`open` of ios-delivery.md §5.6). What needs authentication waits on a locked
    /// phone until it is unlocked (§6.4); `isAuthenticated` says that the person is just unlocking it.
    private mutating func performAction(
        on key: NotificationKey, action: String, text: String? = nil, isAuthenticated: Bool = false, _ turn: inout Turn
    ) {
        guard let choice = self.hand(&turn, to: key.app, { $0.center.choose(action, on: key, &$1) }) ?? nil else {
            return
        }
        if choice.options.contains(.authenticationRequired), !isAuthenticated, turn.system.lock != .unlocked {
            turn.system.awaitsUnlock = SystemState.GuardedAction(notification: key, action: action, text: text)
            return
        }
        turn.notices.list.remove(key)
        guard choice.isReported else { return }
        let foreground = choice.options.contains(.foreground)
        if foreground || choice.options.contains(.authenticationRequired) { self.unlock(returning: !foreground, &turn) }
        if foreground { self.leaveForeground(unless: key.app, &turn) }
        let response = UserResponse(notification: choice.notification, actionIdentifier: action, userText: text)
        self.hand(&turn, to: key.app) { $0.respond(to: response, foreground: foreground, &$1) }
    }

    private mutating func answerPanel(opens: Bool, _ turn: inout Turn) {
        guard let panel = turn.notices.list.panels.first else {
            return turn.recordFault("an alert panel must be on the screen")
        }
        guard opens else { return turn.notices.list.closePanel() }
        self.performAction(on: panel.key, action: UserResponse.defaultAction, &turn)
    }

    private mutating func changeSummaryTimes(_ times: [Int], _ turn: inout Turn) {
        guard times.allSatisfy({ (0..<1_440).contains($0) }) else {
            return turn.recordFault("summary times must be 0 to 1439 minutes after midnight")
        }
        turn.notices.changeSummaryTimes(times, turn.now, utcOffset: turn.settings.utcOffsetMinutes)
        if times.isEmpty { self.deliverSummary(&turn) }
    }

    mutating func deliverSummary(_ turn: inout Turn) {
        for entry in turn.notices.takeHeld(where: { _ in true }) {
            self.hand(&turn, toInstalled: entry.app) { $0.center.release(entry, of: $0.installed, &$1) }
        }
    }
}
