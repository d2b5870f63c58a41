public import TidingsModel

/// The content of a phone's screen.
public struct ScreenState: Hashable, Sendable {
    /// The state of the lock.
    public var lock: LockState
    /// True if it is cut off from the network.
    public var airplaneMode: Bool
    /// The app in the foreground; nil on the home or lock screen.
    public var foregroundApp: BundleID?
    /// The screen that the app in the foreground reports.
    public var foregroundScreen: String?
    /// Banners showing now, newest first.
    public var banners: [ListEntry]
    /// The notification list, newest first.
    public var list: [ListEntry]
    /// The number on each icon that has one, by bundle identifier.
    public var badges: [IconBadge]
    /// The question on the screen, if there is one.
    public var permissionPrompt: BundleID?
    /// The notification whose action waits until the phone is unlocked; nil if none does.
    public var asksToUnlockFor: NotificationKey?
    /// The alert panel on the screen (iOS 3–9).
    public var alertPanel: ListEntry?
    /// How many more panels wait behind it.
    public var waitingPanels: Int = 0
    /// True if the screen is lit: always when unlocked, else while a notification lights it up.
    public var isLit: Bool = true
    /// True if the list groups by thread (iOS 12).
    public var groupsThreads: Bool = false
    /// The Focus that is on.
    public var focus: Focus?
    /// The entries that wait for the scheduled summary, newest first.
    public var heldForSummary: [ListEntry] = []
    /// The Live Activities on the lock screen.
    public var activities: [ShownActivity] = []
    /// The calls that ring or go on, in the order of the apps.
    public var calls: [ShownCall] = []
    /// How the apps' categories want their groups summed up (iOS 12).
    public var summaryFormats: [SummaryFormat] = []

    /// The number on an app's icon, 0 for none.
    public func badge(of app: BundleID) -> Int { self.badges.first { $0.app == app }?.count ?? 0 }
}

/// The state of a phone's lock.
public enum LockState: String, Hashable, Sendable, CaseIterable {
    case unlocked
    case locked
    /// BFU: protected data is out of reach.
    case beforeFirstUnlock
}

/// One entry of the notification list.
public struct ListEntry: Hashable, Sendable {
    /// The app.
    public var app: BundleID
    /// The notification and the time of its delivery.
    public var notification: DeliveredNotification
    /// The preview that is shown instead of the text while previews are hidden; nil shows the text.
    public var hidden: HiddenPreview?

    var identifier: String { self.notification.request.identifier }

    /// The entry's name.
    public var key: NotificationKey { NotificationKey(app: self.app, identifier: self.identifier) }
}

/// A notification whose text is hidden (ios-delivery.md §5.0).
public struct HiddenPreview: Hashable, Sendable {
    /// The placeholder for the body.
    public var body: String
    /// True if the title is shown all the same.
    public var showsTitle: Bool = false
    /// True if the subtitle is shown all the same.
    public var showsSubtitle: Bool = false

    /// The system's own body.
    public static let standardBody = "Notification"
}

/// A Live Activity on the lock screen.
public struct ShownActivity: Hashable, Sendable {
    /// The app.
    public var app: BundleID
    /// Its identifier.
    public var activity: String
    /// `content-state`.
    public var contentState: JSONValue
}

/// The number on an app's icon.
public struct IconBadge: Hashable, Sendable {
    /// The app.
    public var app: BundleID
    /// 1 or more.
    public var count: Int
}
