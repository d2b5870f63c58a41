import TidingsModel

// The states of an app (ios-delivery.md §2.1, §2.2):
//
//                open, tap, foreground action                      activation
//   notRunning ───────────────────────────────▶ foregroundInactive ──────────▶ foregroundActive
//   forceQuit                                      ▲      │      ◀──────────    │
//     │    ▲                                       │      │        overlay      │ home, lock,
//     │    │ exit, crash, kill, missed deadline    │      │ home, lock,         │ another app
//     │    │ (by the app switcher: forceQuit)   to the    │ another app         │
//     │    │                                  foreground  │                     │
//     │    └────── every state with a process      │      ▼                     │
//     │                                            │      │                     │
//     └──────────────────────────────────────▶ backgroundRunning ◀──────────────┘
//       wake by a push, Background Fetch, a          │      ▲
//       task, VoIP or a background action; prewarm   │      │ wake, to the foreground
//                            nothing left to do      ▼      │
//                                                 suspended
//
// Freezing suspends a foreground app at once. Only a VoIP push, an action or the person launch a force-quit app; it stays
// force-quit when that process ends, until the person opens it or the phone restarts. A prewarmed process is suspended
// before its launch, and goes from there to foregroundInactive or backgroundRunning.

/// An installed app and all that the phone keeps of it. It decides by that and by the turn; of other apps it knows nothing.
struct App: Equatable, Sendable {
    var installed: InstalledApp
    /// The person quit it and has not opened it since: without a process it is NQ (ios-delivery.md §2.1).
    var isQuit = false
    var process: AppProcess?
    var ending: EndingProcess?
    var serviceExtension = ServiceExtension()
    var center = NotificationCenter()
    var tokens = PushTokens()
    var wakes = Wakes()
    var background: BackgroundRefresh
    var activities: LiveActivities
    var donations = Donations()
    /// In the words of its process.
    var screen: String?

    init(_ installed: InstalledApp, _ system: SystemState) {
        self.installed = installed
        self.background = BackgroundRefresh(status: system.refreshStatus(self.center.permissions))
        self.activities = LiveActivities(app: installed.bundleID)
    }

    var bundleID: BundleID { self.installed.bundleID }

    var state: AppState { self.process?.state ?? (self.isQuit ? .forceQuit : .notRunning) }

    /// Records a fault if it has no settings of its own.
    func offersSettings(_ turn: inout Turn) -> Bool {
        if turn.version >= 12, self.center.permissions.providesAppNotificationSettings,
            self.installed.methods.contains(.openSettings)
        {
            return true
        }
        turn.recordFault("app \(self.bundleID) must offer its own notification settings")
        return false
    }

    var shownCalls: [ShownCall] {
        (self.process?.calls ?? []).map {
            ShownCall(app: self.bundleID, call: $0.call, isAnswered: $0.isAnswered)
        }
    }

    var summaryFormats: [SummaryFormat] {
        self.center.categories.filter { !$0.categorySummaryFormat.isEmpty }.map {
            SummaryFormat(app: self.bundleID, category: $0.identifier, format: $0.categorySummaryFormat)
        }
    }

    // MARK: By the person

    mutating func change(_ setting: SettingSwitch, isOn: Bool, _ turn: inout Turn) {
        self.center.permissions.turn(setting, isOn: isOn)
        switch setting {
        case .backgroundRefresh: self.announceRefreshStatus(&turn)
        case .scheduledDelivery where !isOn:
            for entry in turn.notices.takeHeld(where: { $0.app == self.bundleID }) {
                self.center.release(entry, of: self.installed, &turn)
            }
        default: break
        }
    }

    /// A suspended process learns only the newest value when it runs again.
    mutating func announceRefreshStatus(_ turn: inout Turn) {
        let status = turn.system.refreshStatus(self.center.permissions)
        guard self.background.status != status else { return }
        self.background.status = status
        if turn.version.wakesForPushes { self.tell(.backgroundRefreshStatusChanged(status), newestOnly: true, &turn) }
    }

    // MARK: By the system

    mutating func restart(_ turn: inout Turn) {
        let held = self.wakes.held.take()
        self.kill(.restarted, isQuit: false, &turn)
        self.wakes.held = held
        self.record(self.activities.endAll(), &turn)
    }

    /// The process is not started again; settings, list, badge and token stay.
    mutating func update(to app: InstalledApp, _ turn: inout Turn) {
        self.kill(.updated, &turn)
        self.installed = app
        self.background.keepPermitted(by: app)
        if !app.backgroundModes.contains(.voip) { self.tokens.dropVoIP(&turn) }
        self.endExtensions(reason: .updated, &turn)
    }

    /// Settings, badges and scheduled requests come along; the list, held pushes and every token do not.
    mutating func restore(_ turn: inout Turn) {
        self.record(self.activities.endAll(), &turn)
        self.kill(.restored, isQuit: false, &turn)
        self.endExtensions(reason: .restored, dropsPushes: true, &turn)
        turn.notices.remove(app: self.bundleID)
        self.tokens = PushTokens()
        self.wakes = Wakes()
        self.background = BackgroundRefresh(
            fetchInterval: self.background.fetchInterval, status: self.background.status)
        turn.add { .invalidateTokens($0) }
    }

    mutating func leaveNothing(_ turn: inout Turn) {
        self.kill(.removed, &turn)
        self.endExtensions(reason: .removed, dropsPushes: true, &turn)
        self.record(self.activities.endAll(), &turn)
        turn.notices.remove(app: self.bundleID)
    }

    mutating func warnOfMemory(_ turn: inout Turn) {
        switch self.state {
        case .suspended: self.kill(.evicted, &turn)
        case .foregroundActive, .foregroundInactive, .backgroundRunning:
            self.tell(.applicationDidReceiveMemoryWarning, &turn)
        case .notRunning, .forceQuit: break
        }
    }

    /// A good moment for Background Fetch or a refresh task (ios-delivery.md §8).
    mutating func grantBackgroundTime(_ turn: inout Turn) {
        let step = self.background.grant(to: self.installed, in: self.state, self.center.permissions, &turn)
        if let step { self.wake(for: step, &turn) }
    }
}

/// The messages that an app and its extensions have donated to the system; they outlive the processes.
struct Donations: Equatable, Sendable {
    /// Oldest first.
    private(set) var messages: [DonatedMessage] = []

    /// Beyond that the oldest are forgotten.
    private static let messagesMax = 1_000

    /// One of the same identifier is replaced.
    mutating func add(_ message: DonatedMessage) {
        if !message.identifier.isEmpty { self.messages.removeAll { $0.identifier == message.identifier } }
        self.messages.append(message)
        let excess = self.messages.count - Self.messagesMax
        if excess > 0 { self.messages.removeFirst(excess) }
    }

    /// All, where neither is given.
    mutating func delete(identifiers: [String]?, group: String?) {
        self.messages.removeAll { donated in
            if let identifiers { return identifiers.contains(donated.identifier) }
            return group.map { $0 == donated.group } ?? true
        }
    }
}
