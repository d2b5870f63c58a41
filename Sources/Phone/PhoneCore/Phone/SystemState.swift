import TidingsModel

/// The state of the whole phone, but for its notifications.
struct SystemState: Equatable, Sendable {
    var lock = LockState.unlocked
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
    private var wallOffset: Int64?
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

    /// A launch may take longer than the person wants the app.
    func isInFront(_ app: BundleID) -> Bool { self.lock == .unlocked && self.foregroundApp == app }

    func refreshStatus(_ permissions: NotificationSettings) -> BackgroundRefreshStatus {
        if self.isBackgroundRefreshRestricted { return .restricted }
        return self.isBackgroundRefreshOn && permissions.backgroundRefresh ? .available : .denied
    }

    func allowsRefresh(_ permissions: NotificationSettings) -> Bool {
        !self.lowPowerMode && self.refreshStatus(permissions) == .available
    }

    /// iOS 8–10: until the person has decided, unless the app may refresh in the background.
    func withholdsRegistration(_ permissions: NotificationSettings, _ version: OSVersion) -> Bool {
        version.withholdsRegistrations && permissions.authorizationStatus == .notDetermined
            && self.refreshStatus(permissions) != .available
    }

    /// The prompts of the app whose prompt is on the screen: they are answered together.
    mutating func takePrompts() -> [PermissionPrompt] {
        guard let app = self.prompts.first?.process.app else { return [] }
        defer { self.prompts.removeAll { $0.process.app == app } }
        return self.prompts.filter { $0.process.app == app }
    }

    mutating func lockAnew(at now: Int64) {
        self.awaitsUnlock = nil
        self.foregroundApp = nil
        self.lock = .beforeFirstUnlock
        self.restartedAt = now
    }

    /// Returns how far the wall clock was set; smaller steps are the clocks' own drift.
    mutating func followWallClock(_ now: Now) -> Int64? {
        let offset = now.wall - now.monotonic
        let step = self.wallOffset.map { offset - $0 }
        if let step, step.magnitude < CalendarMath.second.magnitude { return nil }
        self.wallOffset = offset
        return step
    }
}

extension OSVersion {
    var withholdsRegistrations: Bool { self >= 8 && self < 11 }
}
