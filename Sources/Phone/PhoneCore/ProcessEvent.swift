package import TidingsModel

/// A process's report or question.
package enum ProcessEvent: Equatable, Sendable, JSONTagged {
    case started
    /// Not killed by the phone.
    case exited(crashed: Bool)
    case callbackCompleted(CallbackNumber, CallbackResult)
    case delegateChanged(isSet: Bool)
    case remoteRegistrationRequested
    case remoteRegistrationEnded
    case backgroundTaskBegan(BackgroundTaskNumber)
    case backgroundTaskEnded(BackgroundTaskNumber)
    /// `ProcessInfo.performExpiringActivity` (ios-delivery.md §8).
    case expiringActivityBegan(BackgroundTaskNumber)
    case expiringActivityEnded(BackgroundTaskNumber)
    /// Not from an extension.
    case iconBadgeNumberSet(Int)
    case categoriesSet([NotificationCategory])
    case pendingRemoved(identifiers: [String]?)
    case deliveredRemoved(identifiers: [String]?)
    /// iOS 3–7: asks for permission and for a token.
    case remoteTypesRequested(AuthorizationOptions)
    /// iOS 8–9: asks for permission and sets the categories.
    case userNotificationSettingsRegistered(AuthorizationOptions, [NotificationCategory])
    /// Also `presentLocalNotificationNow`; not answered.
    indirect case localNotificationScheduled(NotificationRequest)
    /// nil cancels all. Removes it from the list too.
    case localNotificationCancelled(identifier: String?)
    /// Milliseconds; nil is never, the default (ios-delivery.md §8).
    case minimumFetchIntervalSet(Int64?)
    /// Before `application(_:didFinishLaunchingWithOptions:)` returns.
    case refreshTaskRegistered(identifier: String)
    case refreshTaskCompleted(identifier: String, success: Bool)
    /// nil cancels all.
    case refreshTaskCancelled(identifier: String?)
    case voipRegistrationChanged(isOn: Bool)
    /// CallKit's `reportNewIncomingCall` (ios-delivery.md §12).
    case incomingCallReported(IncomingCall)
    case callEnded(identifier: String)
    /// Without a push type only the app changes it.
    indirect case activityStarted(activity: String, pushType: ActivityPushType?, contentState: JSONValue)
    case activityContentChanged(activity: String, contentState: JSONValue)
    case activityEnded(activity: String)
    case pushToStartRequested
    /// The process took the lock of a file or SQLite in the app group (Q13).
    case appGroupLockTaken(String)
    case appGroupLockReleased(String)
    /// An extension beyond its limit is killed (ios-delivery.md §7.1).
    case memoryUseChanged(bytes: Int)
    case systemSoundPlayed(SystemSound)
    /// `INInteraction.donate` of a message (ios-delivery.md §11), also by an extension.
    indirect case messageDonated(DonatedMessage)
    /// Both nil: all of them.
    case donationsDeleted(identifiers: [String]?, group: String?)
    /// In words, for the screen and traces.
    case screenChanged(String)
    /// Answered by `PhoneEffect.answer` with the same number.
    case query(QueryNumber, Query)

    package static let tag = JSONTag(
        "event", meaning: "an event of a process",
        names: [
            "callbackCompleted": ["_0": "number", "_1": "value"], "query": ["_0": "number", "_1": "value"],
            "backgroundTaskBegan": ["_0": "task"], "backgroundTaskEnded": ["_0": "task"],
            "expiringActivityBegan": ["_0": "activity"], "expiringActivityEnded": ["_0": "activity"],
            "iconBadgeNumberSet": ["_0": "count"], "categoriesSet": ["_0": "categories"],
            "remoteTypesRequested": ["_0": "types"],
            "userNotificationSettingsRegistered": ["_0": "types", "_1": "categories"],
            "localNotificationScheduled": ["_0": "request"], "minimumFetchIntervalSet": ["_0": "milliseconds"],
            "voipRegistrationChanged": ["isOn": "on"], "incomingCallReported": ["_0": "call"],
            "appGroupLockTaken": ["_0": "lock"],
            "appGroupLockReleased": ["_0": "lock"], "systemSoundPlayed": ["_0": ""],
            "messageDonated": ["_0": "message"],
            "screenChanged": ["_0": "screen"],
        ])
}

/// A question of a process.
package enum Query: Equatable, Sendable, JSONTagged {
    /// The first one shows the prompt and waits for the person.
    case requestAuthorization(AuthorizationOptions)
    case settings
    /// Answered `.added` or `.refused`.
    indirect case add(NotificationRequest)
    case pendingRequests
    case deliveredNotifications
    case categories
    /// Answered `.done` or `.refused`.
    case setBadgeCount(Int)
    case badgeCount
    case backgroundTimeRemaining
    /// Asks if the app has asked for a device token, in this process or an earlier one.
    case remoteRegistration
    case backgroundRefreshStatus
    /// Answered `.done` or `.taskRefused`.
    case submitRefreshTask(RefreshTaskRequest)
    case pendingRefreshTasks
    case lowPowerMode
    /// Files with complete protection can be read while the phone is unlocked.
    case protectedDataAvailable

    package static let tag = JSONTag(
        "query", meaning: "a question of a process",
        names: [
            "requestAuthorization": ["_0": "options"], "add": ["_0": "request"], "setBadgeCount": ["_0": "count"],
            "submitRefreshTask": ["_0": ""], "protectedDataAvailable": ["": "protected_data"],
        ])
}

/// `BGAppRefreshTaskRequest`.
package struct RefreshTaskRequest: Hashable, Sendable, Codable {
    /// One of the app's permitted identifiers.
    package var identifier: String
    /// In wall milliseconds since 1970; nil is as soon as possible.
    package var earliestBegin: Int64?

    package init(identifier: String, earliestBegin: Int64? = nil) {
        self.identifier = identifier
        self.earliestBegin = earliestBegin
    }
}
