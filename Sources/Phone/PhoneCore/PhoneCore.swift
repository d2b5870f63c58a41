package import TidingsModel

/// A simulated iPhone: app states, notification centre, extensions, badges, throttling, deadlines and taps
/// (ios-delivery.md §2–§10). Events in, effects out; it starts no process and reads no clock.
///
/// The surroundings start and stop processes, carry calls and answers, and send `.timerReached` when `nextDeadline`
/// has passed. Calls are numbered; each number is answered at most once. A suspended app is never called: what waits
/// for it is kept in order until something resumes it.
package struct PhoneCore: Equatable, Sendable {
    /// The system the phone runs.
    package let version: OSVersion
    /// Times, limits and quirks.
    package let settings: PhoneSettings
    var apps: [AppRecord]
    var extensions: [ExtensionProcess] = []
    var list = NotificationList()
    var notices = NoticeState()
    var lock: LockState
    var airplaneMode = false
    var lowPowerMode = false
    /// Background App Refresh of the whole phone.
    var isBackgroundRefreshOn = true
    /// By a profile or parental controls.
    var isBackgroundRefreshRestricted = false
    /// Kept while the phone is locked, so that unlocking brings the app back.
    var foregroundApp: BundleID?
    /// What was chosen on the locked phone and may not run before it is unlocked; nil if nothing asks for that.
    var awaitsUnlock: GuardedAction?
    /// Permission prompts, the one on the screen first.
    var prompts: [PermissionPrompt] = []
    /// When the phone was restarted; nil if it never was.
    var restartedAt: Int64?
    /// The wall clock minus the monotonic one, by which moments of the calendar were put on the monotonic clock; nil before
    /// the first event.
    var wallOffset: Int64?
    var processCount: UInt64 = 0
    var callbackCount: CallbackNumber = 0
    var identifierCount: UInt64 = 0

    /// An action with `authenticationRequired` that was chosen while the phone was locked.
    struct GuardedAction: Equatable, Sendable {
        var notification: NotificationKey
        var action: String
        var text: String?
    }

    /// A question a person has not answered.
    struct PermissionPrompt: Equatable, Sendable {
        var process: ProcessID
        var purpose: Purpose
        var options: AuthorizationOptions

        enum Purpose: Equatable, Sendable {
            /// `requestAuthorization`: answered.
            case query(QueryNumber)
            /// `registerForRemoteNotificationTypes` (iOS 3–7): leads to a token.
            case remoteTypes
            /// `registerUserNotificationSettings` (iOS 8–9): reported to the app delegate.
            case userSettings
        }
    }

    /// A phone with apps, all of them not running.
    package init(
        version: OSVersion, settings: PhoneSettings = PhoneSettings(), apps: [InstalledApp] = [],
        lock: LockState = .unlocked
    ) {
        self.version = version
        self.settings = settings
        self.apps = apps.map(AppRecord.init(installed:))
        self.lock = lock
    }

    /// One event being handled: its time and what came of it.
    struct Turn {
        let now: Now
        var effects: [PhoneEffect]

        mutating func add(_ effect: PhoneEffect) { self.effects.append(effect) }

        mutating func record(_ app: BundleID?, _ entry: PhoneRecord.Entry) {
            self.effects.append(.record(PhoneRecord(at: self.now, app: app, entry: entry)))
        }
    }

    /// Takes an event in and appends what must be done. Deadlines that have passed by `now` come first.
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

    /// Takes an event in and returns what must be done.
    package mutating func handle(_ event: PhoneEvent, at now: Now) -> [PhoneEffect] {
        var effects: [PhoneEffect] = []
        self.handle(event, at: now, into: &effects)
        return effects
    }

    // MARK: What can be seen

    /// The installed apps in the order they were installed.
    package var installedApps: [InstalledApp] { self.apps.map(\.installed) }

    /// An app's state; nil if it is not installed.
    package func state(of app: BundleID) -> AppState? { self.index(of: app).map { self.apps[$0].state } }

    /// An app's process while it has one.
    package func process(of app: BundleID) -> ProcessID? {
        self.index(of: app).flatMap { self.apps[$0].run?.process }
    }

    /// What the person allows an app; nil if it is not installed.
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

    func index(of app: BundleID) -> Int? { self.apps.firstIndex { $0.installed.bundleID == app } }

    func facts(of index: Int) -> DispatchFacts {
        let app = self.apps[index]
        return DispatchFacts(
            version: self.version, methods: app.installed.methods, delegateSet: app.run?.delegateSet ?? false,
            delegateWasSet: app.run?.delegateWasSet ?? false,
            scenes: app.installed.hasScenes(on: self.version), quirks: self.settings.quirks)
    }
}
