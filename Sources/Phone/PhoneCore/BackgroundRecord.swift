import TidingsModel

/// What a phone keeps about an app's work in the background (ios-delivery.md §8, §12, §13).
struct BackgroundRecord: Equatable, Sendable {
    /// `setMinimumBackgroundFetchInterval` in milliseconds; nil is never.
    var fetchInterval: Int64?
    /// When `application(_:performFetchWithCompletionHandler:)` was last called, in monotonic milliseconds.
    var lastFetch: Int64?
    /// `performFetch` handlers that were missed: each makes the next chances rarer (ios-delivery.md §7.2).
    var missedFetches = WakeBudget()
    /// Refresh tasks that wait for a good moment, in the order they were submitted.
    var refreshTasks: [RefreshTaskRequest] = []
    /// What running processes were last told.
    var refreshStatus = BackgroundRefreshStatus.available
    var voip = VoIPRecord()
    /// In the order they were started.
    var activities: [LiveActivity] = []
    /// Whether the app reads `pushToStartTokenUpdates`.
    var wantsPushToStart = false
    var pushToStartToken: PushToken?

    /// Moves the activities' stale dates, in milliseconds.
    mutating func moveStaleDates(by step: Int64) {
        for position in self.activities.indices {
            guard let staleAt = self.activities[position].staleAt else { continue }
            let (moved, overflow) = staleAt.addingReportingOverflow(step)
            self.activities[position].staleAt = overflow ? staleAt : moved
        }
    }

    /// When an activity changes by itself, in monotonic milliseconds; nil if none does.
    var deadline: Int64? { self.activities.lazy.map(\.deadline).min() }
}

/// PushKit's side of an app (ios-delivery.md §12).
struct VoIPRecord: Equatable, Sendable {
    var isRegistered = false
    var token: PushToken?
    /// Pushes that brought no call.
    var unreportedCalls = 0
    /// No more pushes until the app is installed anew.
    var isBlocked = false
}

/// A Live Activity (ios-delivery.md §12).
struct LiveActivity: Equatable, Sendable {
    let identifier: String
    var contentState: JSONValue
    /// By which pushes it may still be changed; nil by none.
    var pushType: ActivityPushType?
    var token: PushToken?
    /// `aps.timestamp` of the newest push, in seconds since 1970; older ones are out of date.
    var timestamp: Int64 = 0
    /// When it becomes stale, in monotonic milliseconds; nil never, or it is.
    var staleAt: Int64?
    /// `aps.timestamp` of the newest push that alerted: one that comes twice sounds once.
    var alertedAt: Int64?
    var hasEnded = false
    /// While it runs: when the system ends it; then: when it leaves the lock screen. Monotonic milliseconds.
    var until: Int64

    var deadline: Int64 { min(self.staleAt ?? .max, self.until) }
    var wantsToken: Bool { self.pushType == .token }
}

/// What one process of an app does in the background.
struct BackgroundRun: Equatable, Sendable {
    /// Open `performExpiringActivity` blocks.
    var activities: [BackgroundTaskNumber] = []
    /// Identifiers with a launch handler.
    var refreshHandlers: [String] = []
    /// Refresh tasks at work.
    var refreshTasks: [RunningRefreshTask] = []
    /// Locks it holds in the app group.
    var locks: [String] = []
    /// The last few answered calls of `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
    var answeredFetches: [CallbackNumber] = []
    /// The handler of `didReceiveRemoteNotification:fetchCompletionHandler:` was called twice (iOS 10): the end comes with
    /// the next resume.
    var crashesOnResume = false
    /// A call that was reported to CallKit and is not over keeps it running.
    var hasCall = false
    /// The answer to a registration that waits for the person's permission (iOS 8–10).
    var withheldRegistration: Callback?

    static let answeredFetchesMax = 8

    /// When a refresh task's time is over, in monotonic milliseconds; nil if none runs.
    var deadline: Int64? { self.refreshTasks.lazy.map(\.deadline).min() }

    /// Whether it keeps the process running by itself.
    var isBusy: Bool { self.hasCall || !self.activities.isEmpty || !self.refreshTasks.isEmpty }
}

/// A refresh task whose launch handler was called.
struct RunningRefreshTask: Equatable, Sendable {
    let identifier: String
    /// Its expiration handler was called.
    var isExpired = false
    /// Until that, or until the app is killed for it; monotonic milliseconds.
    var deadline: Int64
}
