/// The times and limits of a phone, all in milliseconds (ios-delivery.md §7, §8). The defaults are iOS's.
public struct PhoneSettings: Hashable, Sendable {
    /// From the start of a process until `application(_:didFinishLaunchingWithOptions:)` has returned.
    public var launchLimit: Int64 = 20_000
    /// For `didEnterBackground` to return (ios-delivery.md §7.1).
    public var enterBackgroundLimit: Int64 = 5_000
    /// For every other method without a handler to return.
    public var methodLimit: Int64 = 10_000
    /// The handler of `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
    public var fetchLimit: Int64 = 30_000
    /// The handler of `userNotificationCenter(_:willPresent:withCompletionHandler:)`.
    public var presentLimit: Int64 = 5_000
    /// The handler of `userNotificationCenter(_:didReceive:withCompletionHandler:)`.
    public var responseLimit: Int64 = 30_000
    /// How long an app runs after `didEnterBackground` without a background task.
    public var backgroundGrace: Int64 = 5_000
    /// Background tasks in all after `didEnterBackground`; nil is the version's own (`OSVersion.backgroundTaskTime`).
    public var backgroundTaskTime: Int64?
    /// Background tasks in all after a wake in the background.
    public var wakeTaskTime: Int64 = 30_000
    /// From the expiration handler until the app is killed.
    public var expirationGrace: Int64 = 5_000
    /// From the start of an extension's process until it takes calls.
    public var extensionStartLimit: Int64 = 10_000
    /// The content handler of `didReceive(_:withContentHandler:)`; then `serviceExtensionTimeWillExpire()` is called.
    public var extensionLimit: Int64 = 30_000
    /// From `serviceExtensionTimeWillExpire` until the original content is shown.
    public var extensionExpiryGrace: Int64 = 1_000
    /// True if a push goes to the extension's process that is there; else each gets a new one (ios-delivery.md §10).
    public var sharesExtensionProcess: Bool = true
    /// How long an extension's process may go on after it delivered.
    public var extensionLinger: Int64 = 2_000
    /// How long a banner stays.
    public var bannerTime: Int64 = 5_000
    /// No wakes for so long after a restart.
    public var wakeHoldAfterRestart: Int64 = 300_000
    /// Wakes per app in any hour.
    public var wakesPerHour: Int = 3
    /// Wakes per app and day.
    public var wakesPerDay: Int = 40
    /// "Run from Xcode": no throttling (Q11).
    public var unlimitedWakes: Bool = false
    /// Scheduled local notifications per app.
    public var pendingLimit: Int = 64
    /// Entries of the list per app; the oldest leave first.
    public var listLimit: Int = 64
    /// The handler of `application(_:performFetchWithCompletionHandler:)`.
    public var performFetchLimit: Int64 = 30_000
    /// From the launch handler of a refresh task to its expiration handler.
    public var refreshTaskLimit: Int64 = 30_000
    /// From that expiration handler until the app is killed.
    public var refreshTaskExpiryGrace: Int64 = 5_000
    /// Refresh tasks an app may have waiting.
    public var refreshTasksMax: Int = 1
    /// For a VoIP push's method to return, with a call reported (ios-delivery.md §12).
    public var voipLimit: Int64 = 5_000
    /// VoIP pushes without a reported call after which no more come.
    public var unreportedCallsMax: Int = 3
    /// Live Activities an app may have on the lock screen.
    public var activitiesMax: Int = 5
    /// How long a Live Activity runs before the system ends it.
    public var activityTime: Int64 = 28_800_000
    /// How long one that is over stays on the lock screen at most.
    public var activityLinger: Int64 = 14_400_000
    /// The memory an extension may use, in bytes (ios-delivery.md §7.1).
    public var extensionMemoryLimit: Int = 24_000_000
    /// How long an app clip may notify after it was opened.
    public var ephemeralTime: Int64 = 28_800_000
    /// The largest payload in bytes; nil is the era's own (ios-delivery.md §3.1).
    public var payloadLimit: Int?
    /// The phone's time zone, in minutes east of UTC, −1,440 to 1,440.
    public var utcOffsetMinutes: Int = 0
    /// The measured oddities.
    public var quirks = Quirks()

    /// The defaults.
    public init() {}
}

/// The quirk flags of ios-delivery.md §14, each with its default; Q11 is `PhoneSettings.unlimitedWakes`.
public struct Quirks: Hashable, Sendable {
    /// Q1: on iOS 10 without a UN delegate a tap prefers `application(_:didReceiveRemoteNotification:)` to
    /// `didReceiveRemoteNotification:fetchCompletionHandler:`, unless the app was in the foreground.
    public var ios10BothCallbacksTap = true
    /// Q2: in the foreground `didReceiveRemoteNotification:fetchCompletionHandler:` comes before `willPresent`.
    public var foregroundFetchBeforeWillPresent = true
    /// Q3: a UN delegate without `didReceive(response)` leaves taps to the old callbacks.
    public var missingDidReceiveFallsBack = false
    /// Q4: in the foreground without a UN delegate the notification's own options count.
    public var noDelegatePresentsInForeground = false
    /// Q5: launch option `remoteNotification` also for apps with scenes, on a tap.
    public var sceneLaunchOptionsOnTap = false
    /// Q5: launch option `remoteNotification` also for apps with scenes, on a background launch before iOS 26.
    public var sceneLaunchOptionsOnWake = true
    /// Q6: `application(_:didReceive: UILocalNotification)` follows `didFinishLaunching` after a cold tap on a local
    /// notification.
    public var localLaunchAlsoCallsL0 = false
    /// Q7: a cold tap on a local request fills `localNotification`, iOS 10–25 without scenes.
    public var unLocalLaunchKey = true
    /// Q8: `applicationIconBadgeNumber = 0` clears the app's list.
    public var badgeZeroClearsDelivered = true
    /// Q9: `didReceiveRemoteNotification:fetchCompletionHandler:` again on a tap on AC although `didReceive(response)`
    /// exists.
    public var fetchTwiceOnTap = false
    /// Q10: the extension runs before the first unlock.
    public var extensionRunsBeforeFirstUnlock = true
    /// A local request with nothing but badge 0 is never posted (ios-delivery.md §9, an iOS 10.2 radar).
    public var badgeZeroRequestIsLost = true
    /// Q12: a push that meets the app inactive (FI) reports `.inactive`; off: `.active`.
    public var inactiveOnArrival = true
    /// Q13: a process suspended while it holds a lock in the app group is killed.
    public var lockHeldWhileSuspendedKills = true
    /// Q14: an extension that dies with the filtering entitlement discards its notification.
    public var killedExtensionWithFilteringDiscards = false
    /// A push that starts a Live Activity launches its app in the background, unless it was force-quit.
    public var pushToStartWakes = true
    /// A delegate that is set only after `didFinishLaunching` has returned leaves a cold tap to the old callbacks, as if
    /// there were none (ios-delivery.md §6.1, "set too late").
    public var lateDelegateFallsBack = false
    /// Q15: push type `background` hides alert keys; type `alert` without alert keys does nothing.
    public var pushTypeMismatchHides = false

    /// The defaults.
    public init() {}
}
