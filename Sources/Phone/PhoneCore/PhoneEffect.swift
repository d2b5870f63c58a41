package import TidingsModel

/// An action that the surroundings of a phone must carry out, in this order.
package enum PhoneEffect: Equatable, Sendable {
    /// Report `.started` when it takes calls.
    case startProcess(ProcessID)
    /// SIGSTOP.
    case suspendProcess(ProcessID)
    /// SIGCONT.
    case resumeProcess(ProcessID)
    /// SIGKILL; later events of the process have no effect.
    case killProcess(ProcessID)
    /// Report `.callbackCompleted` with the number. The state is what `applicationState` reads meanwhile.
    case call(ProcessID, CallbackNumber, Callback, ApplicationState)
    case answer(ProcessID, QueryNumber, QueryAnswer)
    case registerTopic(BundleID)
    case unregisterTopic(BundleID)
    /// Answered by `CourierEvent.tokenOfKindIssued`.
    case requestToken(BundleID, TokenKind)
    case dropToken(BundleID, TokenKind)
    /// After every reconnection too (iOS 18).
    case subscribe(BundleID, channel: String)
    case unsubscribe(BundleID, channel: String)
    /// The next tokens differ (ios-delivery.md §13).
    case invalidateTokens(BundleID)
    case acknowledge(delivery: UInt64)
    case connectCourier
    case disconnectCourier
    case record(PhoneRecord)
}

package enum QueryAnswer: Hashable, Sendable, JSONTagged {
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
package enum TaskSchedulerError: Int, Error, Hashable, Sendable, Codable {
    /// Background App Refresh is off, or the process is an extension.
    case unavailable = 1
    case tooManyPendingTaskRequests = 2
    /// Not among the permitted identifiers, or the mode is missing.
    case notPermitted = 3
}

/// `UNError.Code`. Raw values as Apple's (ios-delivery.md §9).
package enum NotificationError: Int, Error, Hashable, Sendable, Codable {
    case notificationsNotAllowed = 1
    case attachmentInvalidURL = 100
    case attachmentUnrecognizedType = 101
    case attachmentInvalidFileSize = 102
    case attachmentNotInDataStore = 103
    case attachmentMoveIntoDataStoreFailed = 104
    case attachmentCorrupt = 105
    case invalidTrigger = 1400
    case noContent = 1401
}
