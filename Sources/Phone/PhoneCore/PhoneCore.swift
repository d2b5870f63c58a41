package import TidingsModel

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

/// A simulated iPhone: app states, notification centre, extensions, badges, throttling, deadlines and taps
/// (ios-delivery.md §2–§10). Events in, effects out; it starts no process and reads no clock.
///
/// The surroundings start and stop processes, carry calls and answers, and send `.timerReached` when `nextDeadline`
/// has passed. Calls are numbered; each number is answered at most once. A suspended app is never called: what waits
/// for it is kept in order until something resumes it.
package struct PhoneCore: Equatable, Sendable {
    /// Apple's identifier of the model.
    package static let model = "iPhone16,1"

    package let version: OSVersion
    package let settings: PhoneSettings
    var apps: [AppRecord]
    var extensions: [ExtensionProcess] = []
    var list = NotificationList()
    var notices = NoticeState()
    var lock: LockState
    var airplaneMode = false
    var lowPowerMode = false
    var isBackgroundRefreshOn = true
    /// By a profile or parental controls.
    var isBackgroundRefreshRestricted = false
    /// Kept while the phone is locked, so that unlocking brings the app back.
    var foregroundApp: BundleID?
    /// nil if nothing asks to unlock the phone.
    var awaitsUnlock: GuardedAction?
    /// The one on the screen first.
    var prompts: [PermissionPrompt] = []
    var restartedAt: Int64?
    /// Wall clock minus monotonic clock when calendar moments were last converted; nil before the first event.
    var wallOffset: Int64?
    var processCount: UInt64 = 0
    var callbackCount: CallbackNumber = 0
    var identifierCount: UInt64 = 0

    /// With `authenticationRequired`, chosen while the phone was locked.
    struct GuardedAction: Equatable, Sendable {
        var notification: NotificationKey
        var action: String
        var text: String?
    }

    struct PermissionPrompt: Equatable, Sendable {
        var process: ProcessID
        var origin: Origin
        var options: AuthorizationOptions

        enum Origin: Equatable, Sendable {
            case query(QueryNumber)
            /// `registerForRemoteNotificationTypes` (iOS 3–7): leads to a token.
            case remoteTypes
            /// `registerUserNotificationSettings` (iOS 8–9): reported to the app delegate.
            case userSettings
        }
    }

    package init(
        version: OSVersion, settings: PhoneSettings = PhoneSettings(), apps: [InstalledApp] = [],
        lock: LockState = .unlocked
    ) {
        self.version = version
        self.settings = settings
        self.apps = apps.map { AppRecord(installed: $0) }
        self.lock = lock
    }

    struct Turn {
        let now: Now
        var effects: [PhoneEffect]

        mutating func add(_ effect: PhoneEffect) { self.effects.append(effect) }

        mutating func record(_ app: BundleID?, _ entry: PhoneRecord.Entry) {
            self.effects.append(.record(PhoneRecord(at: self.now, app: app, entry: entry)))
        }

        mutating func recordFault(_ app: BundleID?, _ rule: String) { self.record(app, .fault(rule)) }
    }

    /// Appends what must be done. Deadlines that have passed by `now` come first.
    package mutating func handle(_ event: PhoneEvent, at now: Now, into effects: inout [PhoneEffect]) {
        var turn = Turn(now: now, effects: [])
        swap(&turn.effects, &effects)
        self.followWallClock(now)
        self.runDeadlines(&turn)
        switch event {
        case .person(let event): self.handle(event, &turn)
        case .system(let event): self.handle(event, &turn)
        case .courier(let event): self.handle(event, &turn)
        case .process(let process, let event): self.handle(event, of: process, &turn)
        case .timerReached: break
        }
        self.settle(&turn)
        swap(&turn.effects, &effects)
    }

    package mutating func handle(_ event: PhoneEvent, at now: Now) -> [PhoneEffect] {
        var effects: [PhoneEffect] = []
        self.handle(event, at: now, into: &effects)
        return effects
    }

    // MARK: Queries

    /// In the order they were installed.
    package var installedApps: [InstalledApp] { self.apps.map(\.installed) }

    package func state(of app: BundleID) -> AppState? { self.index(of: app).map { self.apps[$0].state } }

    package func process(of app: BundleID) -> ProcessID? {
        self.index(of: app).flatMap { self.apps[$0].run?.process }
    }

    package func notificationSettings(of app: BundleID) -> NotificationSettings? {
        self.index(of: app).map { self.apps[$0].settings }
    }

    /// Milliseconds until an app's background tasks expire; nil unless it runs in the background
    /// (ios-delivery.md §8: in the foreground it is the largest double).
    package func backgroundTimeRemaining(of app: BundleID, at now: Now) -> Int64? {
        guard let index = self.index(of: app), self.apps[index].state == .backgroundRunning,
            let run = self.apps[index].run
        else { return nil }
        return max(0, run.tasksUntil - now.monotonic)
    }

    // MARK: Look-ups

    /// By index: a closure is handed a copy of each record, which is large.
    func index(of app: BundleID) -> Int? {
        for index in self.apps.indices where self.apps[index].installed.bundleID == app { return index }
        return nil
    }
    func bundleID(_ index: Int) -> BundleID { self.apps[index].installed.bundleID }

    func facts(of index: Int) -> DispatchFacts {
        let app = self.apps[index]
        return DispatchFacts(
            version: self.version, methods: app.installed.methods, delegateSet: app.run?.delegateSet ?? false,
            delegateWasSet: app.run?.delegateWasSet ?? false,
            scenes: app.installed.hasScenes(on: self.version), quirks: self.settings.quirks)
    }
}
