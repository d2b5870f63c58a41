public import TidingsModel

/// What can happen to a phone.
package enum PhoneEvent: Equatable, Sendable {
    case person(PersonEvent)
    case system(SystemEvent)
    case courier(CourierEvent)
    /// Something a process did. Events of a process that is already gone change nothing.
    case process(ProcessID, ProcessEvent)
    /// `PhoneCore.nextDeadline` has passed. Early or repeated calls are harmless.
    case timerReached
}

/// What the person holding the phone does.
package enum PersonEvent: Equatable, Sendable {
    /// The app that was in front returns to the front.
    case unlocked
    case locked
    /// By its icon. Unlocks a locked phone first.
    case appOpened(BundleID)
    case wentHome
    /// From the app switcher.
    case appForceQuit(BundleID)
    /// The default action. Unlocks a locked phone first. An entry that is not in the list changes nothing.
    case notificationTapped(NotificationKey)
    /// Cleared from the list.
    case notificationDismissed(NotificationKey)
    case actionPerformed(NotificationKey, action: String, text: String?)
    /// The answer to the permission prompt on the screen.
    case permissionAnswered(allowed: Bool)
    case settingChanged(BundleID, SettingSwitch, isOn: Bool)
    case airplaneModeChanged(isOn: Bool)
    case lowPowerModeChanged(isOn: Bool)
    /// A call, the app switcher or Notification Center covers the app in front.
    case overlayAppeared
    case overlayDisappeared
}

/// What the system does by itself.
package enum SystemEvent: Equatable, Sendable {
    /// Replaces an app of the same bundle; its data stays.
    case appInstalled(InstalledApp)
    case appRemoved(BundleID)
    /// Killed without a word.
    case appKilled(BundleID)
    /// Suspended at once, without any callback and without waiting for tasks.
    case appFrozen(BundleID)
    /// Ended for memory: told if it runs, not if it is suspended (ios-delivery.md §2.2).
    case appEvicted(BundleID)
    /// Running apps are warned, suspended ones killed.
    case memoryRanLow
    /// Everything stops; the phone is locked and before its first unlock.
    case restarted
}

/// A push as the courier brings it.
public struct Push: Hashable, Sendable {
    /// The courier's number of this delivery, acknowledged once the phone has it.
    public var delivery: UInt64
    /// The topic; the bundle identifier for notifications.
    public var topic: String
    /// The payload; an object.
    public var payload: JSONObject
    /// `apns-push-type`; nil if the sender named none.
    public var pushType: String?
    /// `apns-priority`: 1, 5 or 10.
    public var priority: Int
    /// `apns-collapse-id`; becomes the request identifier.
    public var collapseID: String?

    /// A push.
    public init(
        delivery: UInt64, topic: String, payload: JSONObject, pushType: String? = "alert", priority: Int = 10,
        collapseID: String? = nil
    ) {
        self.delivery = delivery
        self.topic = topic
        self.payload = payload
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
    }
}

/// What comes from APNs.
package enum CourierEvent: Equatable, Sendable {
    case pushArrived(Push)
    /// The answer to `registerTopic`.
    case tokenIssued(BundleID, PushToken)
    /// The other answer to `registerTopic`.
    case registrationFailed(BundleID, reason: String)
}

/// What a process reports or asks.
package enum ProcessEvent: Equatable, Sendable {
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
    /// `applicationIconBadgeNumber = n`; not from an extension.
    case iconBadgeNumberSet(Int)
    /// Replaces the whole set.
    case categoriesSet([NotificationCategory])
    /// nil removes all.
    case pendingRemoved(identifiers: [String]?)
    /// nil removes all.
    case deliveredRemoved(identifiers: [String]?)
    /// What the app shows now, in words, for the screen and traces.
    case screenChanged(String)
    /// A question, answered by `PhoneEffect.answer` with the same number.
    case query(QueryNumber, Query)
}

/// A question of a process.
package enum Query: Equatable, Sendable {
    /// Answered `.granted`; the first one shows the prompt and waits for the person.
    case requestAuthorization(AuthorizationOptions)
    case settings
    /// Answered `.added` or `.refused`.
    case add(NotificationRequest)
    case pendingRequests
    case deliveredNotifications
    case categories
    /// Answered `.done` or `.refused`.
    case setBadgeCount(Int)
    case badgeCount
    /// Answered `.backgroundTime`.
    case backgroundTimeRemaining
}
