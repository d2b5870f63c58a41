import PhoneCore
import PhoneTerminal
import ScenarioCore
import VirtualPhone

extension StepAction {
    /// The steps of a script that do the same; nil for what waits for the screen, looks at it, or is the simulated app's alone.
    func scriptActions(app: BundleID) -> [Script.Action]? {
        switch self {
        case .phone(let event): event.scriptAction(app: app).map { [$0] }
        case .phones(let events): events.compactMap { $0.scriptAction(app: app) }
        case .push(let push, let label, _): [.perform(.push(push.named(label, topic: app)))]
        case .reinstall(let keepsData): [.perform(.change(keepsData ? .update(app) : .reinstall(app)))]
        case .switches(let changes): changes.map { .perform(.setting(app, $0.which, isOn: $0.isOn)) }
        case .wait(let milliseconds): [.wait(milliseconds: Int(milliseconds))]
        case .act, .app, .local, .activity, .activityPush, .refreshTask, .clear, .expect, .sdk, .screen: nil
        }
    }
}

extension Push {
    /// Its notification is known by its name in the file unless the push itself names it.
    fileprivate func named(_ label: String, topic app: BundleID) -> Push {
        var push = self
        push.topic = self.topic.hasSuffix(".voip") ? "\(app).voip" : app.rawValue
        push.collapseID = self.collapseID ?? label
        return push
    }
}

extension PersonAct {
    /// Returns the command for a notification in the list; nil for a button of it.
    func command(on notification: String, app: BundleID) -> Script.Action? {
        switch self {
        case .tap: .command(.tap(.identifier(notification)))
        case .dismiss: .command(.dismiss(.identifier(notification)))
        case .swipeBanner: .perform(.change(.swipeAway(notification)))
        case .openSettings: .perform(.change(.notificationSettings(notification)))
        case .provisional(let keep): .perform(.change(.provisional(app, keep: keep)))
        case .action: nil
        }
    }
}

extension PhoneEvent {
    func scriptAction(app: BundleID) -> Script.Action? {
        switch self {
        case .person(let event): event.scriptAction(app: app)
        case .system(let event): event.scriptAction(app: app)
        case .courier, .process, .timerReached: nil
        }
    }
}

extension PersonEvent {
    fileprivate func scriptAction(app: BundleID) -> Script.Action? {
        switch self {
        case .unlocked: .command(.unlock)
        case .locked: .command(.lock)
        case .appOpened: .command(.open(app.rawValue))
        case .wentHome: .command(.home)
        case .appForceQuit: .command(.forceQuit(app.rawValue))
        case .notificationTapped(let key): .command(.tap(.identifier(key.identifier)))
        case .notificationDismissed(let key): .command(.dismiss(.identifier(key.identifier)))
        case .actionPerformed(let key, let action, let text):
            .perform(.action(notification: key.identifier, action: action, text: text))
        case .permissionAnswered(let isAllowed): .command(isAllowed ? .allow : .deny)
        case .settingChanged(_, let which, let isOn): .perform(.setting(app, which, isOn: isOn))
        case .airplaneModeChanged(let isOn): .command(.airplane(isOn ? .on : .off))
        case .lowPowerModeChanged(let isOn): .command(.lowPower(isOn ? .on : .off))
        case .overlayAppeared: .command(.cover(.on))
        case .overlayDisappeared: .command(.cover(.off))
        case .alertStyleChanged(_, let style): .command(.alertStyle(style, app: app.rawValue))
        case .previewsChanged(_, let previews): .perform(.change(.previews(app, previews)))
        case .focusChanged(let focus): .command(.focus(focus == nil ? .off : .on))
        case .summaryTimesChanged(let minutes): .perform(.change(.summaryTimes(minutes)))
        case .backgroundRefreshChanged(let isOn): .perform(.change(.backgroundRefresh(isOn: isOn)))
        case .muteChanged(let isOn): .perform(.change(.mute(isOn: isOn)))
        case .notificationSettingsOpened(let key): .perform(.change(.notificationSettings(key.identifier)))
        case .appSettingsOpened: .perform(.change(.appSettings(app)))
        case .bannerSwipedAway(let key): .perform(.change(.swipeAway(key.identifier)))
        case .provisionalAnswered(_, let keep): .perform(.change(.provisional(app, keep: keep)))
        case .alertPanelAnswered(let opens): .command(.panel(opens: opens))
        case .activityDismissed(_, let activity): .perform(.change(.dismissActivity(app, activity)))
        case .callAnswered: .command(.answerCall)
        case .callDeclined: .command(.declineCall)
        }
    }
}

extension SystemEvent {
    fileprivate func scriptAction(app: BundleID) -> Script.Action? {
        switch self {
        case .appKilled: .command(.kill(app.rawValue))
        case .appFrozen: .command(.freeze(app.rawValue))
        case .appEvicted: .perform(.evict(app))
        case .memoryRanLow: .command(.memory)
        case .restarted: .command(.restart)
        case .sceneDisconnected: .perform(.change(.disconnectScene(app)))
        case .prewarmed: .perform(.change(.prewarm(app)))
        case .appUpdated: .perform(.change(.update(app)))
        case .appReinstalled: .perform(.change(.reinstall(app)))
        case .restoredFromBackup: .perform(.change(.restoreFromBackup))
        case .backgroundChance: .perform(.change(.backgroundChance(app)))
        case .backgroundRefreshRestricted(let isOn): .perform(.change(.restrictedRefresh(isOn: isOn)))
        case .regionCrossed(let region, let entered): .perform(.change(.crossRegion(region, entering: entered)))
        case .appInstalled, .appRemoved: nil
        }
    }
}
