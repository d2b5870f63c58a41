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
package enum AuthorizationStatus: Int, Hashable, Sendable, Codable {
    case notDetermined = 0
    case denied = 1
    case authorized = 2
    /// List only: no banner, sound, lock screen or badge (ios-delivery.md §4 gate 3).
    case provisional = 3
    /// An app clip's, for a limited time (iOS 14).
    case ephemeral = 4

    /// ios-delivery.md §4 gate 3.
    var showsBadges: Bool { self == .authorized || self == .ephemeral }
}

/// `UNAlertStyle`: how an alert appears on an unlocked phone. Raw values as Apple's (ios-delivery.md §9).
public enum AlertStyle: Int, Hashable, Sendable, CaseIterable, Codable {
    case none = 0
    case banner = 1
    /// iOS 5–9: a modal panel; later: a banner that stays until it is dealt with.
    case alert = 2
}

/// `UNShowPreviewsSetting`: when the text of a notification is shown (ios-delivery.md §5.0, §9). Raw values as Apple's.
public enum ShowPreviews: Int, Hashable, Sendable, CaseIterable, Codable {
    case always = 0
    case whenAuthenticated = 1
    case never = 2
}

/// `UIBackgroundRefreshStatus`. Raw values as Apple's (ios-delivery.md §7.3).
public enum BackgroundRefreshStatus: Int, Hashable, Sendable, CaseIterable, Codable {
    case restricted = 0
    case denied = 1
    case available = 2
}

/// A Focus that is on (ios-delivery.md §4 gate 5).
public struct Focus: Hashable, Sendable {
    /// True if time-sensitive notifications break through.
    public var allowsTimeSensitive: Bool
    /// Apps that may notify as if there were no Focus.
    public var allowedApps: [BundleID]

    /// A Focus.
    public init(allowsTimeSensitive: Bool = true, allowedApps: [BundleID] = []) {
        self.allowsTimeSensitive = allowsTimeSensitive
        self.allowedApps = allowedApps
    }
}

/// A person's permissions for an app: the part of `UNNotificationSettings` that decides (ios-delivery.md §9).
package struct NotificationSettings: Hashable, Sendable, Codable {
    package var authorizationStatus: AuthorizationStatus = .notDetermined
    /// Without it no extension runs (ios-delivery.md §4 gate 3).
    package var alert = false
    package var sound = false
    package var badge = false
    package var notificationCenter = false
    package var lockScreen = false
    package var backgroundRefresh = true
    package var alertStyle: AlertStyle = .banner
    package var showPreviews: ShowPreviews = .always
    /// Needs the entitlement too (iOS 12).
    package var criticalAlert = false
    package var announcement = false
    /// Needs the entitlement too (iOS 15).
    package var timeSensitive = true
    package var scheduledDelivery = false
    package var directMessages = true
    /// iOS 12 (ios-delivery.md §6.5).
    package var providesAppNotificationSettings = false

    private enum CodingKeys: String, CodingKey {
        case authorizationStatus = "status"
        case alert, sound, badge, notificationCenter, lockScreen, backgroundRefresh, alertStyle, showPreviews
        case criticalAlert, announcement, timeSensitive, scheduledDelivery, directMessages
        case providesAppNotificationSettings = "app_settings"
    }

    package var allowsPresentation: Bool {
        self.authorizationStatus != .notDetermined && self.authorizationStatus != .denied
    }

    package static let notAsked = NotificationSettings()
}

/// One switch a person can turn in Settings.
public enum SettingSwitch: String, Hashable, Sendable, CaseIterable, Codable {
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

extension NotificationSettings {
    mutating func decide(_ options: AuthorizationOptions, status: AuthorizationStatus) {
        self.authorizationStatus = status
        let allows = self.allowsPresentation
        let alert = allows && options.contains(.alert)
        self.alert = alert
        self.notificationCenter = alert
        self.lockScreen = alert
        self.sound = allows && options.contains(.sound)
        self.badge = allows && options.contains(.badge)
        self.criticalAlert = allows && options.contains(.criticalAlert)
        self.announcement = allows && options.contains(.announcement)
        self.providesAppNotificationSettings = options.contains(.providesAppNotificationSettings)
    }

    /// Turning notifications on allows every kind; off denies.
    mutating func turn(_ setting: SettingSwitch, isOn: Bool) {
        switch setting {
        case .notifications:
            let old = self
            self.decide([.alert, .sound, .badge], status: isOn ? .authorized : .denied)
            self.criticalAlert = old.criticalAlert
            self.announcement = old.announcement
            self.providesAppNotificationSettings = old.providesAppNotificationSettings
        case .alert: self.alert = isOn
        case .sound: self.sound = isOn
        case .badge: self.badge = isOn
        case .notificationCenter: self.notificationCenter = isOn
        case .lockScreen: self.lockScreen = isOn
        case .backgroundRefresh: self.backgroundRefresh = isOn
        case .criticalAlert: self.criticalAlert = isOn
        case .announcement: self.announcement = isOn
        case .timeSensitive: self.timeSensitive = isOn
        case .scheduledDelivery: self.scheduledDelivery = isOn
        case .directMessages: self.directMessages = isOn
        }
    }

    var allowedKinds: AuthorizationOptions {
        guard self.allowsPresentation else { return [] }
        var kinds: AuthorizationOptions = []
        if self.alert { kinds.insert(.alert) }
        if self.sound { kinds.insert(.sound) }
        if self.badge { kinds.insert(.badge) }
        return kinds
    }
}
