import TidingsModel

/// Work in the background (ios-delivery.md §8, §12, §13).
struct BackgroundRecord: Equatable, Sendable {
    /// In milliseconds; nil is never.
    var fetchInterval: Int64?
    /// Monotonic milliseconds.
    var lastFetch: Int64?
    /// Each missed handler makes the next chances rarer (ios-delivery.md §7.2).
    var missedFetches = WakeBudget()
    var refreshTasks: [RefreshTaskRequest] = []
    /// The status that running processes were told last.
    var refreshStatus = BackgroundRefreshStatus.available
    var voip = VoIPRecord()
    var activities: [LiveActivity] = []
    var wantsPushToStart = false
    var pushToStartToken: PushToken?

    mutating func moveStaleDates(by step: Int64) {
        for position in self.activities.indices {
            guard let staleAt = self.activities[position].staleAt else { continue }
            let (moved, overflow) = staleAt.addingReportingOverflow(step)
            self.activities[position].staleAt = overflow ? staleAt : moved
        }
    }

    var deadline: Int64? { self.activities.lazy.map(\.deadline).min() }
}

/// PushKit (ios-delivery.md §12).
struct VoIPRecord: Equatable, Sendable {
    var isRegistered = false
    var token: PushToken?
    var unreportedCalls = 0
    /// Until the app is reinstalled.
    var isBlocked = false
}

/// ios-delivery.md §12.
struct LiveActivity: Equatable, Sendable {
    let identifier: String
    var contentState: JSONValue
    var pushType: ActivityPushType?
    var token: PushToken?
    /// `aps.timestamp` of the newest push, in seconds since 1970.
    var timestamp: Int64 = 0
    /// Monotonic milliseconds; nil never, or it is stale.
    var staleAt: Int64?
    /// `aps.timestamp` of the newest push that alerted: one that comes twice sounds once.
    var alertedAt: Int64?
    var hasEnded = false
    /// Monotonic milliseconds: when the system ends it, and afterwards when it leaves the lock screen.
    var until: Int64

    var deadline: Int64 { min(self.staleAt ?? .max, self.until) }

    mutating func end(until: Int64) {
        self.hasEnded = true
        self.staleAt = nil
        self.until = until
    }
    var wantsToken: Bool { self.pushType == .token }
}

struct BackgroundRun: Equatable, Sendable {
    var activities: [BackgroundTaskNumber] = []
    var refreshHandlers: [String] = []
    var refreshTasks: [RunningRefreshTask] = []
    var locks: [String] = []
    var answeredFetches: [CallbackNumber] = []
    /// The fetch handler was called twice (iOS 10): the crash comes with the next resume.
    var crashesOnResume = false
    /// A call reported to CallKit keeps the process running.
    var calls: [RunningCall] = []
    /// Waits for the person's permission (iOS 8–10).
    var withheldRegistration: Callback?

    static let answeredFetchesMax = 8

    var deadline: Int64? { self.refreshTasks.lazy.map(\.deadline).min() }

    var isBusy: Bool { !self.calls.isEmpty || !self.activities.isEmpty || !self.refreshTasks.isEmpty }
}

struct RunningCall: Equatable, Sendable {
    var call: IncomingCall
    var isAnswered = false
}

struct RunningRefreshTask: Equatable, Sendable {
    let identifier: String
    var isExpired = false
    /// Monotonic milliseconds.
    var deadline: Int64
}
