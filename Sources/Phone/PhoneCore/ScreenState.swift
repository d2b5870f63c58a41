/// What the person sees on a phone.
public struct ScreenState: Hashable, Sendable {
    /// Whether the phone is locked.
    public var lock: LockState
    /// Whether it is cut off from the network.
    public var airplaneMode: Bool
    /// The app in front; nil on the home or lock screen.
    public var frontApp: BundleID?
    /// What the app in front says it shows.
    public var frontScreen: String?
    /// Banners showing now, newest first.
    public var banners: [ListEntry]
    /// The notification list, newest first.
    public var list: [ListEntry]
    /// The number on each icon that has one, by bundle identifier.
    public var badges: [IconBadge]
    /// The question on the screen, if there is one.
    public var permissionPrompt: BundleID?

    /// A screen of the given parts.
    public init(
        lock: LockState, airplaneMode: Bool, frontApp: BundleID?, frontScreen: String?, banners: [ListEntry],
        list: [ListEntry], badges: [IconBadge], permissionPrompt: BundleID?
    ) {
        self.lock = lock
        self.airplaneMode = airplaneMode
        self.frontApp = frontApp
        self.frontScreen = frontScreen
        self.banners = banners
        self.list = list
        self.badges = badges
        self.permissionPrompt = permissionPrompt
    }

    /// The number on an app's icon, 0 for none.
    public func badge(of app: BundleID) -> Int { self.badges.first { $0.app == app }?.count ?? 0 }
}

/// Whether the phone is locked.
public enum LockState: String, Hashable, Sendable, CaseIterable {
    case unlocked
    case locked
    /// BFU: not unlocked since the restart; protected data is out of reach.
    case beforeFirstUnlock
}

/// One entry of the notification list.
public struct ListEntry: Hashable, Sendable {
    /// The app.
    public var app: BundleID
    /// What was delivered, and when.
    public var notification: DeliveredNotification

    /// An entry.
    public init(app: BundleID, notification: DeliveredNotification) {
        self.app = app
        self.notification = notification
    }

    /// The entry's name.
    public var key: NotificationKey {
        NotificationKey(app: self.app, identifier: self.notification.request.identifier)
    }
}

/// The number on an app's icon.
public struct IconBadge: Hashable, Sendable {
    /// The app.
    public var app: BundleID
    /// 1 or more.
    public var count: Int

    /// A number on an icon.
    public init(app: BundleID, count: Int) {
        self.app = app
        self.count = count
    }
}
