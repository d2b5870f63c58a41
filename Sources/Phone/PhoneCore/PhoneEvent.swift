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
    /// An action that waits for it runs; otherwise the app that was in the foreground returns to the foreground.
    case unlocked
    /// On a locked phone that asks to be unlocked for an action: refuses, and the action does not run.
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
    /// One that needs authentication runs on a locked phone only after `unlocked`; the notification stays until then.
    case actionPerformed(NotificationKey, action: String, text: String?)
    /// The answer to the permission prompt on the screen.
    case permissionAnswered(allowed: Bool)
    case settingChanged(BundleID, SettingSwitch, isOn: Bool)
    case airplaneModeChanged(isOn: Bool)
    case lowPowerModeChanged(isOn: Bool)
    /// A call, the app switcher or Notification Center covers the app in the foreground.
    case overlayAppeared
    case overlayDisappeared
    /// How an app's alerts appear on the unlocked phone.
    case alertStyleChanged(BundleID, AlertStyle)
    /// When an app's texts are shown.
    case previewsChanged(BundleID, ShowPreviews)
    /// A Focus is on, or none (iOS 15).
    case focusChanged(Focus?)
    /// The delivery times of the scheduled summary in minutes after midnight, 0 to 1439; none turns it off (iOS 15).
    case summaryTimesChanged([Int])
    /// Background App Refresh of the whole phone.
    case backgroundRefreshChanged(isOn: Bool)
    /// The ring/silent switch.
    case muteChanged(isOn: Bool)
    /// The settings button of a notification (ios-delivery.md §6.5). Unlocks a locked phone first.
    case notificationSettingsOpened(NotificationKey)
    /// The button to the app's own settings in Settings. Unlocks a locked phone first.
    case appSettingsOpened(BundleID)
    /// Swiped off the screen, not cleared: it stays in the list and nothing is reported (ios-delivery.md §6.3).
    case bannerSwipedAway(NotificationKey)
    /// "Keep" or "Turn Off" on an app's provisional notification (ios-delivery.md §9).
    case provisionalAnswered(BundleID, keep: Bool)
    /// The answer to the alert panel on the screen (iOS 3–9): its "View" button is a tap.
    case alertPanelAnswered(opens: Bool)
    /// A Live Activity was taken off the lock screen.
    case activityDismissed(BundleID, activity: String)
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
    /// An app's scene is released to save memory while its process lives (iOS 13; ios-delivery.md §6.1).
    case sceneDisconnected(BundleID)
    /// A process is started in advance, up to but not including its launch (iOS 15; ios-delivery.md §2.2).
    case prewarmed(BundleID)
    /// A new version of an app: its process ends, its data and settings stay, and it is not started.
    case appUpdated(InstalledApp)
    /// Removed and installed again: settings, list and registrations are gone, and its token is a new one.
    case appReinstalled(InstalledApp)
    /// This phone's backup is now on a new device: every token is a new one, all processes are gone.
    case restoredFromBackup
    /// The system sees a good moment for an app's Background Fetch or refresh task (ios-delivery.md §8).
    case backgroundChance(BundleID)
    /// Background App Refresh is forbidden, or no longer.
    case backgroundRefreshRestricted(Bool)
    /// The phone crossed the border of a region.
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

/// What comes from APNs.
package enum CourierEvent: Equatable, Sendable {
    case pushArrived(Push)
    /// The answer to `registerTopic`.
    case tokenIssued(BundleID, PushToken)
    /// The other answer to `registerTopic`.
    case registrationFailed(BundleID, reason: String)
    /// The answer to `requestToken`, or a new value of a token that changed.
    case tokenOfKindIssued(BundleID, TokenKind, PushToken)
}
