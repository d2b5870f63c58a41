public import TidingsModel

/// What the surroundings of a phone must do, in this order.
package enum PhoneEffect: Equatable, Sendable {
    /// Start it; report `.started` when it takes calls.
    case startProcess(ProcessID)
    /// Stop it from running (SIGSTOP).
    case suspendProcess(ProcessID)
    /// Let it run again (SIGCONT).
    case resumeProcess(ProcessID)
    /// End it at once (SIGKILL); no event of it counts any more.
    case killProcess(ProcessID)
    /// Call into it; report `.callbackCompleted` with the number. The state is what `applicationState` reads meanwhile.
    case call(ProcessID, CallbackNumber, Callback, ApplicationState)
    case answer(ProcessID, QueryNumber, QueryAnswer)
    /// Ask the courier for a token of the topic.
    case registerTopic(BundleID)
    case unregisterTopic(BundleID)
    /// Ask for a token of another kind; answered by `CourierEvent.tokenOfKindIssued`.
    case requestToken(BundleID, TokenKind)
    /// The token of that kind is no longer used.
    case dropToken(BundleID, TokenKind)
    /// Listen to a broadcast channel of the app from now on, after every reconnection too (iOS 18).
    case subscribe(BundleID, channel: String)
    /// Nothing on the phone listens to the channel any more.
    case unsubscribe(BundleID, channel: String)
    /// All tokens of the app are void; the next ones it asks for are different (ios-delivery.md §13).
    case invalidateTokens(BundleID)
    /// Tell the courier that the phone has the push.
    case acknowledge(delivery: UInt64)
    case connectCourier
    case disconnectCourier
    /// For the trace; nothing needs to be done.
    case record(PhoneRecord)
}

/// The answer to a `Query`.
public enum QueryAnswer: Hashable, Sendable, JSONTagged {
    case granted(Bool)
    case settings(NotificationSettings)
    case added
    case done
    case refused(NotificationError)
    case pending([NotificationRequest])
    case delivered([DeliveredNotification])
    case categories([NotificationCategory])
    case badge(Int)
    /// Milliseconds until the expiration handlers are called; nil in the foreground (ios-delivery.md §8).
    case backgroundTime(Int64?)
    case registered(Bool)
    case backgroundRefreshStatus(BackgroundRefreshStatus)
    case taskRefused(TaskSchedulerError)
    case refreshTasks([RefreshTaskRequest])
    case lowPowerMode(Bool)
    case protectedData(isAvailable: Bool)

    /// How the cases are written as JSON.
    package static let tag = JSONTag(
        "answer", meaning: "an answer of a phone",
        names: [
            "refused": ["_0": "code"], "taskRefused": ["_0": "code"], "pending": ["_0": "requests"],
            "refreshTasks": ["_0": "requests"], "delivered": ["_0": "notifications"], "badge": ["_0": "count"],
            "backgroundTime": ["_0": "milliseconds"], "backgroundRefreshStatus": ["_0": "status"],
            "lowPowerMode": ["_0": "on"], "protectedData": ["isAvailable": "available"],
        ])
}

/// `BGTaskScheduler.Error.Code`. Raw values as Apple's.
public enum TaskSchedulerError: Int, Error, Hashable, Sendable, Codable {
    /// Background App Refresh is off, or the process is an extension.
    case unavailable = 1
    case tooManyPendingTaskRequests = 2
    /// The identifier is not among the app's permitted ones, or the mode is missing.
    case notPermitted = 3
}

/// `UNError.Code`. Raw values as Apple's (ios-delivery.md §9).
public enum NotificationError: Int, Error, Hashable, Sendable, Codable {
    case notificationsNotAllowed = 1
    case attachmentInvalidURL = 100
    case attachmentUnrecognizedType = 101
    case attachmentInvalidFileSize = 102
    case attachmentNotInDataStore = 103
    case attachmentMoveIntoDataStoreFailed = 104
    case attachmentCorrupt = 105
    /// A trigger without a moment in the future, or one that repeats in under a minute.
    case invalidTrigger = 1400
    case noContent = 1401
}
