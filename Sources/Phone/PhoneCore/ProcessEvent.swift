package import TidingsModel

/// What a process reports or asks.
package enum ProcessEvent: Equatable, Sendable, JSONTagged {
    /// It runs and takes calls.
    case started
    /// It is gone without having been killed by the phone.
    case exited(crashed: Bool)
    case callbackCompleted(CallbackNumber, CallbackResult)
    /// `UNUserNotificationCenter.delegate` was set to an object, or to nil.
    case delegateChanged(isSet: Bool)
    case remoteRegistrationRequested
    case remoteRegistrationEnded
    /// `beginBackgroundTask`.
    case backgroundTaskBegan(BackgroundTaskNumber)
    case backgroundTaskEnded(BackgroundTaskNumber)
    /// `ProcessInfo.performExpiringActivity`: the block began; the app or extension goes on for it (ios-delivery.md §8).
    case expiringActivityBegan(BackgroundTaskNumber)
    /// The block returned.
    case expiringActivityEnded(BackgroundTaskNumber)
    /// `applicationIconBadgeNumber = n`; not from an extension.
    case iconBadgeNumberSet(Int)
    /// Replaces the whole set.
    case categoriesSet([NotificationCategory])
    /// nil removes all.
    case pendingRemoved(identifiers: [String]?)
    /// nil removes all.
    case deliveredRemoved(identifiers: [String]?)
    /// `registerForRemoteNotificationTypes` (iOS 3–7): asks for permission and for a token.
    case remoteTypesRequested(AuthorizationOptions)
    /// `registerUserNotificationSettings` (iOS 8–9): asks for permission and sets the categories.
    case userNotificationSettingsRegistered(AuthorizationOptions, [NotificationCategory])
    /// `scheduleLocalNotification` and `presentLocalNotificationNow`; not answered.
    indirect case localNotificationScheduled(NotificationRequest)
    /// `cancelLocalNotification`; nil is `cancelAllLocalNotifications`. Takes it out of the list too.
    case localNotificationCancelled(identifier: String?)
    /// `setMinimumBackgroundFetchInterval` in milliseconds; nil is never, the default (ios-delivery.md §8).
    case minimumFetchIntervalSet(Int64?)
    /// `BGTaskScheduler.register`; to be done before `application(_:didFinishLaunchingWithOptions:)` returns.
    case refreshTaskRegistered(identifier: String)
    /// `setTaskCompleted(success:)` of a refresh task.
    case refreshTaskCompleted(identifier: String, success: Bool)
    /// `cancel(taskRequestWithIdentifier:)`; nil is `cancelAllTaskRequests()`.
    case refreshTaskCancelled(identifier: String?)
    /// `PKPushRegistry.desiredPushTypes` with VoIP, or without.
    case voipRegistrationChanged(isOn: Bool)
    /// CallKit's `reportNewIncomingCall` (ios-delivery.md §12).
    case incomingCallReported
    /// That call is over.
    case callEnded
    /// `Activity.request`; without a push type only the app changes it.
    indirect case activityStarted(activity: String, pushType: ActivityPushType?, contentState: JSONValue)
    /// `Activity.update`, by the app itself.
    case activityContentChanged(activity: String, contentState: JSONValue)
    /// `Activity.end`.
    case activityEnded(activity: String)
    /// The app reads `pushToStartTokenUpdates` (iOS 17.2).
    case pushToStartRequested
    /// A file or SQLite lock in the app group was taken (quirk Q13).
    case appGroupLockTaken(String)
    /// It was released.
    case appGroupLockReleased(String)
    /// How much memory it uses now, in bytes; an extension beyond its limit is killed (ios-delivery.md §7.1).
    case memoryUseChanged(bytes: Int)
    /// `AudioServicesPlaySystemSound` or `AudioServicesPlayAlertSound` (S4.2, S4.6).
    case systemSoundPlayed(SystemSound)
    /// What the app shows now, in words, for the screen and traces.
    case screenChanged(String)
    /// A question, answered by `PhoneEffect.answer` with the same number.
    case query(QueryNumber, Query)

    /// How the cases are written as JSON.
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
            "voipRegistrationChanged": ["isOn": "on"], "appGroupLockTaken": ["_0": "lock"],
            "appGroupLockReleased": ["_0": "lock"], "systemSoundPlayed": ["_0": ""], "screenChanged": ["_0": "screen"],
        ])
}

/// A question of a process.
package enum Query: Equatable, Sendable, JSONTagged {
    /// Answered `.granted`; the first one shows the prompt and waits for the person.
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
    /// Answered `.backgroundTime`.
    case backgroundTimeRemaining
    /// `isRegisteredForRemoteNotifications`: whether the app has asked for a device token, in this process or an earlier one;
    /// answered `.registered`.
    case remoteRegistration
    /// Answered `.backgroundRefreshStatus`.
    case backgroundRefreshStatus
    /// `BGTaskScheduler.submit`; answered `.done` or `.taskRefused`.
    case submitRefreshTask(RefreshTaskRequest)
    /// Answered `.refreshTasks`.
    case pendingRefreshTasks
    /// Answered `.lowPowerMode`.
    case lowPowerMode
    /// `isProtectedDataAvailable`: whether files with complete protection can be read, which is while the phone is
    /// unlocked; answered `.protectedData`.
    case protectedDataAvailable

    /// How the cases are written as JSON.
    package static let tag = JSONTag(
        "query", meaning: "a question of a process",
        names: [
            "requestAuthorization": ["_0": "options"], "add": ["_0": "request"], "setBadgeCount": ["_0": "count"],
            "submitRefreshTask": ["_0": ""], "protectedDataAvailable": ["": "protected_data"],
        ])
}

/// `BGAppRefreshTaskRequest`.
public struct RefreshTaskRequest: Hashable, Sendable, Codable {
    /// One of the app's permitted identifiers.
    public var identifier: String
    /// Not before this moment, in wall milliseconds since 1970; nil is as soon as possible.
    public var earliestBegin: Int64?

    /// A request.
    public init(identifier: String, earliestBegin: Int64? = nil) {
        self.identifier = identifier
        self.earliestBegin = earliestBegin
    }
}
