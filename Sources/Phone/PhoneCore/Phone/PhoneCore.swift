package import DequeModule
package import TidingsModel

/// A simulated iPhone: app states, notification centre, extensions, badges, throttling, deadlines and taps
/// (ios-delivery.md §2–§10). Events in, effects out; it starts no process and reads no clock.
///
/// It finds the app that an event is about and hands it over: an `App` decides by what it owns and by the `Turn`, which has what
/// the whole phone has. Only what concerns several apps is decided here.
///
/// The surroundings start and stop processes, carry calls and answers, and send `.timerReached` when `nextDeadline`
/// has passed. Calls are numbered; each number is answered at most once. A suspended app is never called: what waits
/// for it is kept in order until something resumes it.
package struct PhoneCore: Equatable, Sendable {
    /// Apple's identifier of the model.
    package static let model = "iPhone16,1"

    package let version: OSVersion
    package let settings: PhoneSettings
    /// In the order they were installed.
    var apps: [App]
    /// These two are the turn's while it lasts, so nothing but `handle` and questions from outside may look here.
    private var system: SystemState
    private var notices = Notices()

    package init(
        version: OSVersion, settings: PhoneSettings = PhoneSettings(), apps: [InstalledApp] = [],
        lock: LockState = .unlocked
    ) {
        self.version = version
        self.settings = settings
        var system = SystemState()
        system.lock = lock
        self.system = system
        self.apps = apps.map { App($0, system) }
    }

    /// Appends what must be done. Deadlines that have passed by `now` come first.
    package mutating func handle(_ event: PhoneEvent, at now: Now, into effects: inout [PhoneEffect]) {
        var turn = Turn(now: now, version: self.version, settings: self.settings)
        self.swapWhatIsShared(&turn)
        swap(&turn.effects, &effects)
        self.followWallClock(&turn)
        self.runDeadlines(&turn)
        switch event {
        case .person(let event): self.handle(event, &turn)
        case .system(let event): self.handle(event, &turn)
        case .courier(let event): self.handle(event, &turn)
        case .process(let process, let event):
            self.hand(&turn, toInstalled: process.app) { $0.handle(event, of: process, &$1) }
        case .timerReached: break
        }
        self.settle(&turn)
        self.swapWhatIsShared(&turn)
        swap(&turn.effects, &effects)
    }

    private mutating func swapWhatIsShared(_ turn: inout Turn) {
        swap(&turn.system, &self.system)
        swap(&turn.notices, &self.notices)
    }

    package mutating func handle(_ event: PhoneEvent, at now: Now) -> [PhoneEffect] {
        var effects: [PhoneEffect] = []
        self.handle(event, at: now, into: &effects)
        return effects
    }

    // MARK: Handing over

    /// By index: a closure is handed a copy of each app, which is large.
    func index(of app: BundleID) -> Int? {
        for index in self.apps.indices where self.apps[index].bundleID == app { return index }
        return nil
    }

    @discardableResult
    mutating func hand<Result>(
        _ turn: inout Turn, toAppAt index: Int, _ body: (inout App, inout Turn) -> Result
    ) -> Result {
        turn.app = self.apps[index].bundleID
        defer { turn.app = nil }
        return body(&self.apps[index], &turn)
    }

    @discardableResult
    mutating func hand<Result>(
        _ turn: inout Turn, toInstalled app: BundleID, _ body: (inout App, inout Turn) -> Result
    ) -> Result? {
        self.index(of: app).map { self.hand(&turn, toAppAt: $0, body) }
    }

    /// Records a fault if the app is not installed.
    @discardableResult
    mutating func hand<Result>(
        _ turn: inout Turn, to app: BundleID, _ body: (inout App, inout Turn) -> Result
    ) -> Result? {
        let result = self.hand(&turn, toInstalled: app, body)
        if result == nil { turn.record(.fault("app \(app) must be installed"), of: app) }
        return result
    }

    /// Records a fault if not.
    mutating func isInstalled(_ app: BundleID, _ turn: inout Turn) -> Bool {
        self.hand(&turn, to: app) { _, _ in } != nil
    }

    mutating func handToEach(_ turn: inout Turn, _ body: (inout App, inout Turn) -> Void) {
        for index in self.apps.indices { self.hand(&turn, toAppAt: index, body) }
    }

    // MARK: Questions from outside

    /// In the order they were installed.
    package var installedApps: [InstalledApp] { self.apps.map(\.installed) }

    package func state(of app: BundleID) -> AppState? { self.index(of: app).map { self.apps[$0].state } }

    package func process(of app: BundleID) -> ProcessID? {
        self.index(of: app).flatMap { self.apps[$0].process?.id }
    }

    package func notificationSettings(of app: BundleID) -> NotificationSettings? {
        self.index(of: app).map { self.apps[$0].center.permissions }
    }

    /// Milliseconds until an app's background tasks expire; nil unless it runs in the background
    /// (ios-delivery.md §8: in the foreground it is the largest double).
    package func backgroundTimeRemaining(of app: BundleID, at now: Now) -> Int64? {
        self.index(of: app).flatMap { self.apps[$0].process?.backgroundTimeRemaining(at: now) }
    }

    /// Returns the messages that an app and its extensions have donated to the system, oldest first. They outlive the processes.
    package func donations(of app: BundleID) -> [DonatedMessage] {
        self.index(of: app).map { self.apps[$0].donations.messages } ?? []
    }

    /// From iOS 8 (ios-delivery.md §6.4).
    package func actions(of entry: ListEntry) -> [NotificationAction] {
        guard self.version >= 8, let index = self.index(of: entry.app) else { return [] }
        return self.apps[index].center.category(of: entry.notification.request.content)?.actions ?? []
    }

    /// The next moment, in monotonic milliseconds, at which `.timerReached` changes something; nil if none.
    package var nextDeadline: Int64? {
        var next = self.notices.nextDeadline
        // By index and inlined, so that less is copied: an app is large, and this runs after every event.
        for index in self.apps.indices { next = min(next, self.apps[index].nextDeadline(self.system, self.settings)) }
        return next == .max ? nil : next
    }

    /// The entries of the notification list, newest first, as they were delivered: without the rest of the screen, and whether
    /// or not their text is hidden.
    package var listed: Deque<ListEntry> { self.notices.list.entries }

    package var focus: Focus? { self.notices.focus }

    /// True if the files the phone protects can be read: not between a restart and the first unlock.
    package var isUnlockedOnce: Bool { self.system.lock != .beforeFirstUnlock }

    package var isInLowPowerMode: Bool { self.system.lowPowerMode }

    package var asksForPermission: Bool { !self.system.prompts.isEmpty }

    package var screen: ScreenState {
        let front = self.system.lock == .unlocked ? self.system.foregroundApp : nil
        let list = self.notices.list
        return ScreenState(
            lock: self.system.lock, airplaneMode: self.system.airplaneMode, foregroundApp: front,
            foregroundScreen: front.flatMap(self.index(of:)).flatMap { self.apps[$0].screen },
            banners: list.banners.map { self.withHiddenPreview($0.entry) },
            list: list.entries.map(self.withHiddenPreview),
            badges: self.apps.filter { $0.center.badge > 0 }.map {
                IconBadge(app: $0.bundleID, count: $0.center.badge)
            },
            permissionPrompt: self.system.prompts.first?.process.app,
            asksToUnlockFor: self.system.awaitsUnlock?.notification,
            alertPanel: list.panels.first.map(self.withHiddenPreview), waitingPanels: max(0, list.panels.count - 1),
            isLit: self.system.lock == .unlocked || self.notices.litUntil != nil, groupsThreads: self.version >= 12,
            focus: self.notices.focus,
            heldForSummary: self.notices.heldForSummary.reversed().map(self.withHiddenPreview),
            activities: self.apps.flatMap(\.activities.shown), calls: self.apps.flatMap(\.shownCalls),
            summaryFormats: self.version >= 12 ? self.apps.flatMap(\.summaryFormats) : [])
    }

    private func withHiddenPreview(_ entry: ListEntry) -> ListEntry {
        guard let index = self.index(of: entry.app) else { return entry }
        return self.apps[index].center.withHiddenPreview(entry, self.system.lock, self.version)
    }
}
