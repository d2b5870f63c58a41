/// What the person allows the app on one device, as the kit reports it when the app is in the foreground (ios-delivery.md §4, §7.3, §9).
public struct DeviceStatus: Hashable, Sendable {
    /// Whether notifications are allowed.
    public var authorization: Authorization
    /// Whether banners and alerts are on.
    public var alert: Bool
    /// Whether sounds are on.
    public var sound: Bool
    /// Whether the number on the icon is on.
    public var badge: Bool
    /// Whether notifications stand on the lock screen.
    public var lockScreen: Bool
    /// Whether notifications stand in Notification Center.
    public var notificationCenter: Bool
    /// Whether the app may be woken in the background.
    public var backgroundRefresh: BackgroundRefresh

    /// The person's answer (ios-delivery.md §9 "Statuses").
    public enum Authorization: String, Hashable, Sendable, CaseIterable {
        case notDetermined = "not_determined"
        case denied
        case authorized
        /// Quietly, in Notification Center.
        case provisional
        /// An app clip's, for a time.
        case ephemeral
    }

    /// Background App Refresh (ios-delivery.md §7.3).
    public enum BackgroundRefresh: String, Hashable, Sendable, CaseIterable {
        case available
        case denied
        /// The person cannot turn it on.
        case restricted
    }

    /// A status from its parts.
    public init(
        authorization: Authorization, alert: Bool, sound: Bool, badge: Bool, lockScreen: Bool,
        notificationCenter: Bool, backgroundRefresh: BackgroundRefresh
    ) {
        self.authorization = authorization
        self.alert = alert
        self.sound = sound
        self.badge = badge
        self.lockScreen = lockScreen
        self.notificationCenter = notificationCenter
        self.backgroundRefresh = backgroundRefresh
    }
}
