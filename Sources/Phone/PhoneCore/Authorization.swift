/// `UNAuthorizationOptions`. Raw values as Apple's (ios-delivery.md §9).
public struct AuthorizationOptions: OptionSet, Hashable, Sendable, Codable {
    /// The bits, as Apple's.
    public let rawValue: UInt
    /// Options of the given bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Numbers on the icon.
    public static let badge = AuthorizationOptions(rawValue: 1 << 0)
    /// Sounds.
    public static let sound = AuthorizationOptions(rawValue: 1 << 1)
    /// Banners, lock screen and list.
    public static let alert = AuthorizationOptions(rawValue: 1 << 2)
    /// In a car.
    public static let carPlay = AuthorizationOptions(rawValue: 1 << 3)
    /// Through mute and Focus (iOS 12).
    public static let criticalAlert = AuthorizationOptions(rawValue: 1 << 4)
    /// A button to the app's own settings (iOS 12).
    public static let providesAppNotificationSettings = AuthorizationOptions(rawValue: 1 << 5)
    /// Granted without a prompt, quiet (iOS 12).
    public static let provisional = AuthorizationOptions(rawValue: 1 << 6)
    /// Read aloud (iOS 13).
    public static let announcement = AuthorizationOptions(rawValue: 1 << 7)
    /// Through Focus (iOS 15).
    public static let timeSensitive = AuthorizationOptions(rawValue: 1 << 8)
}

/// `UNAuthorizationStatus`. Raw values as Apple's (ios-delivery.md §9).
public enum AuthorizationStatus: Int, Hashable, Sendable, Codable {
    case notDetermined = 0
    case denied = 1
    case authorized = 2
    /// List only: no banner, sound, lock screen or badge (ios-delivery.md §4 gate 3).
    case provisional = 3
    /// An app clip's, for a limited time (iOS 14).
    case ephemeral = 4

    /// Whether numbers may be put on the icon (ios-delivery.md §4 gate 3).
    var showsBadges: Bool { self == .authorized || self == .ephemeral }
}

/// `UNAlertStyle`: how an alert appears on an unlocked phone. Raw values as Apple's (ios-delivery.md §9).
public enum AlertStyle: Int, Hashable, Sendable, CaseIterable, Codable {
    /// Nothing pops up.
    case none = 0
    /// A banner that leaves by itself.
    case banner = 1
    /// iOS 5–9: a modal panel; later: a banner that stays until it is dealt with.
    case alert = 2
}

/// `UNShowPreviewsSetting`: when the text of a notification is shown (ios-delivery.md §5.0, §9). Raw values as Apple's.
public enum ShowPreviews: Int, Hashable, Sendable, CaseIterable, Codable {
    case always = 0
    /// Hidden while the phone is locked.
    case whenAuthenticated = 1
    case never = 2
}

/// `UIBackgroundRefreshStatus`. Raw values as Apple's (ios-delivery.md §7.3).
public enum BackgroundRefreshStatus: Int, Hashable, Sendable, CaseIterable, Codable {
    /// Forbidden by a profile or parental controls; the person cannot change it.
    case restricted = 0
    /// Turned off for the phone or the app.
    case denied = 1
    case available = 2
}

/// A Focus that is on (ios-delivery.md §4 gate 5).
public struct Focus: Hashable, Sendable {
    /// Whether time-sensitive notifications break through.
    public var allowsTimeSensitive: Bool
    /// Apps that may notify as if there were no Focus.
    public var allowedApps: [BundleID]

    /// A Focus.
    public init(allowsTimeSensitive: Bool = true, allowedApps: [BundleID] = []) {
        self.allowsTimeSensitive = allowsTimeSensitive
        self.allowedApps = allowedApps
    }
}

/// What a person allows an app to show: the part of `UNNotificationSettings` that decides (ios-delivery.md §9).
public struct NotificationSettings: Hashable, Sendable, Codable {
    /// What the person answered.
    public var authorizationStatus: AuthorizationStatus
    /// Banners and lock screen; without it no extension runs (ios-delivery.md §4 gate 3).
    public var alert: Bool
    /// Whether sounds are on.
    public var sound: Bool
    /// Whether badges are on.
    public var badge: Bool
    /// Whether entries go to Notification Center.
    public var notificationCenter: Bool
    /// Whether entries go to the lock screen.
    public var lockScreen: Bool
    /// Whether Background App Refresh is on for the app.
    public var backgroundRefresh: Bool
    /// How alerts appear while the phone is unlocked.
    public var alertStyle: AlertStyle
    /// When the text is shown (iOS 11).
    public var showPreviews: ShowPreviews
    /// Whether critical alerts are allowed; they need the entitlement too (iOS 12).
    public var criticalAlert: Bool
    /// Whether notifications may be read aloud (iOS 13).
    public var announcement: Bool
    /// Whether time-sensitive notifications are allowed; they need the entitlement too (iOS 15).
    public var timeSensitive: Bool
    /// Whether the app's notifications wait for the scheduled summary (iOS 15).
    public var scheduledDelivery: Bool
    /// Whether messages from people break through (iOS 15).
    public var directMessages: Bool
    /// Whether the app asked for a button to its own settings (iOS 12; ios-delivery.md §6.5).
    public var providesAppNotificationSettings: Bool

    private enum CodingKeys: String, CodingKey {
        case authorizationStatus = "status"
        case alert, sound, badge, notificationCenter, lockScreen, backgroundRefresh, alertStyle, showPreviews
        case criticalAlert, announcement, timeSensitive, scheduledDelivery, directMessages
        case providesAppNotificationSettings = "app_settings"
    }

    /// Settings of the given parts; the defaults are an app that has not asked yet.
    public init(
        authorizationStatus: AuthorizationStatus = .notDetermined, alert: Bool = false, sound: Bool = false,
        badge: Bool = false, notificationCenter: Bool = false, lockScreen: Bool = false, backgroundRefresh: Bool = true,
        alertStyle: AlertStyle = .banner, showPreviews: ShowPreviews = .always, criticalAlert: Bool = false,
        announcement: Bool = false, timeSensitive: Bool = true, scheduledDelivery: Bool = false,
        directMessages: Bool = true, providesAppNotificationSettings: Bool = false
    ) {
        self.authorizationStatus = authorizationStatus
        self.alert = alert
        self.sound = sound
        self.badge = badge
        self.notificationCenter = notificationCenter
        self.lockScreen = lockScreen
        self.backgroundRefresh = backgroundRefresh
        self.alertStyle = alertStyle
        self.showPreviews = showPreviews
        self.criticalAlert = criticalAlert
        self.announcement = announcement
        self.timeSensitive = timeSensitive
        self.scheduledDelivery = scheduledDelivery
        self.directMessages = directMessages
        self.providesAppNotificationSettings = providesAppNotificationSettings
    }

    /// Whether anything may be shown at all.
    public var allowsPresentation: Bool {
        switch self.authorizationStatus {
        case .notDetermined, .denied: false
        case .authorized, .provisional, .ephemeral: true
        }
    }
}

/// One switch a person can turn in Settings.
public enum SettingSwitch: String, Hashable, Sendable, CaseIterable, Codable {
    /// "Allow Notifications".
    case notifications
    case alert
    case sound
    case badge
    case notificationCenter
    case lockScreen
    case backgroundRefresh
    case criticalAlert
    case announcement
    case timeSensitive
    case scheduledDelivery
    case directMessages
}
