public import TidingsModel

/// An event on a phone.
package enum PhoneEvent: Equatable, Sendable {
    case person(PersonEvent)
    case system(SystemEvent)
    case courier(CourierEvent)
    /// Events of a process that is already gone have no effect.
    case process(ProcessID, ProcessEvent)
    /// Early or repeated ones are harmless.
    case timerReached
}

/// An action of the person holding the phone.
package enum PersonEvent: Equatable, Sendable {
    /// An action that waits runs; otherwise the app that was in the foreground returns.
    case unlocked
    /// Also refuses an action that asks to unlock the phone.
    case locked
    /// Unlocks a locked phone first.
    case appOpened(BundleID)
    case wentHome
    case appForceQuit(BundleID)
    /// Unlocks a locked phone first. An entry that is not in the list changes nothing.
    case notificationTapped(NotificationKey)
    case notificationDismissed(NotificationKey)
    /// One that needs authentication runs on a locked phone only after `unlocked`; the notification stays until then.
    case actionPerformed(NotificationKey, action: String, text: String?)
    case permissionAnswered(allowed: Bool)
    case settingChanged(BundleID, SettingSwitch, isOn: Bool)
    case airplaneModeChanged(isOn: Bool)
    case lowPowerModeChanged(isOn: Bool)
    /// By a call, the app switcher or Notification Center.
    case overlayAppeared
    case overlayDisappeared
    case alertStyleChanged(BundleID, AlertStyle)
    case previewsChanged(BundleID, ShowPreviews)
    case focusChanged(Focus?)
    /// Minutes after midnight, 0 to 1439; none turns the summary off (iOS 15).
    case summaryTimesChanged([Int])
    case backgroundRefreshChanged(isOn: Bool)
    case muteChanged(isOn: Bool)
    /// ios-delivery.md §6.5. Unlocks a locked phone first.
    case notificationSettingsOpened(NotificationKey)
    /// Unlocks a locked phone first.
    case appSettingsOpened(BundleID)
    /// It stays in the list, and nothing is reported (ios-delivery.md §6.3).
    case bannerSwipedAway(NotificationKey)
    /// ios-delivery.md §9.
    case provisionalAnswered(BundleID, keep: Bool)
    /// "View" is a tap (iOS 3–9).
    case alertPanelAnswered(opens: Bool)
    case activityDismissed(BundleID, activity: String)
    /// The first call that rings.
    case callAnswered
    /// The first call that rings, or else the first that was answered.
    case callDeclined
}

/// An action of the system by itself.
package enum SystemEvent: Equatable, Sendable {
    /// Replaces an app of the same bundle; its data stays.
    case appInstalled(InstalledApp)
    case appRemoved(BundleID)
    case appKilled(BundleID)
    /// Without any callback and without waiting for tasks.
    case appFrozen(BundleID)
    /// Told if it runs, not if it is suspended (ios-delivery.md §2.2).
    case appEvicted(BundleID)
    case memoryRanLow
    /// The phone is locked and before its first unlock.
    case restarted
    /// The scene is released while the process lives (iOS 13; ios-delivery.md §6.1).
    case sceneDisconnected(BundleID)
    /// Up to but not including the launch (iOS 15; ios-delivery.md §2.2).
    case prewarmed(BundleID)
    /// The process ends and is not started; data and settings stay.
    case appUpdated(InstalledApp)
    /// Settings, list and registrations are gone, and the token is a new one.
    case appReinstalled(InstalledApp)
    /// On a new device: every token is a new one, all processes are gone.
    case restoredFromBackup
    /// A good moment for Background Fetch or a refresh task (ios-delivery.md §8).
    case backgroundChance(BundleID)
    case backgroundRefreshRestricted(Bool)
    case regionCrossed(String, entered: Bool)
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
    /// `apns-expiration` in seconds since 1970; nil if the sender named none.
    public var expiration: Int64?
    /// For a Live Activity's push: the activity its token belongs to; nil is the push-to-start token's.
    public var activity: String?
    /// For a broadcast to Live Activities: the id of the channel it came on (iOS 18); nil for a push to a token.
    public var channel: String?

    /// A push.
    public init(
        delivery: UInt64, topic: String, payload: JSONObject, pushType: String? = "alert", priority: Int = 10,
        collapseID: String? = nil, expiration: Int64? = nil, activity: String? = nil, channel: String? = nil
    ) {
        self.delivery = delivery
        self.topic = topic
        self.payload = payload
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.expiration = expiration
        self.activity = activity
        self.channel = channel
    }
}

/// A message from APNs.
package enum CourierEvent: Equatable, Sendable {
    case pushArrived(Push)
    case tokenIssued(BundleID, PushToken)
    case registrationFailed(BundleID, reason: String)
    /// Answers `requestToken`, or replaces a token that changed.
    case tokenOfKindIssued(BundleID, TokenKind, PushToken)
}
