/// `UNAuthorizationOptions`. Raw values as Apple's (ios-delivery.md §9).
public struct AuthorizationOptions: OptionSet, Hashable, Sendable {
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
public enum AuthorizationStatus: Int, Hashable, Sendable {
    case notDetermined = 0
    case denied = 1
    case authorized = 2
    /// List only: no banner, sound, lock screen or badge (ios-delivery.md §4 gate 3).
    case provisional = 3
}

/// What a person allows an app to show: the part of `UNNotificationSettings` that decides (ios-delivery.md §9).
public struct NotificationSettings: Hashable, Sendable {
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

    /// Settings of the given parts; the defaults are an app that has not asked yet.
    public init(
        authorizationStatus: AuthorizationStatus = .notDetermined, alert: Bool = false, sound: Bool = false,
        badge: Bool = false, notificationCenter: Bool = false, lockScreen: Bool = false, backgroundRefresh: Bool = true
    ) {
        self.authorizationStatus = authorizationStatus
        self.alert = alert
        self.sound = sound
        self.badge = badge
        self.notificationCenter = notificationCenter
        self.lockScreen = lockScreen
        self.backgroundRefresh = backgroundRefresh
    }

    /// Whether anything may be shown at all.
    public var allowsPresentation: Bool {
        switch self.authorizationStatus {
        case .notDetermined, .denied: false
        case .authorized, .provisional: true
        }
    }
}

/// One switch a person can turn in Settings.
public enum SettingSwitch: Hashable, Sendable, CaseIterable {
    /// "Allow Notifications".
    case notifications
    case alert
    case sound
    case badge
    case notificationCenter
    case lockScreen
    case backgroundRefresh
}

/// An action a category offers. Option values as Apple's (ios-delivery.md §6.4).
public struct NotificationAction: Hashable, Sendable {
    /// Names it; chosen by the app.
    public var identifier: String
    /// What the button says.
    public var title: String
    /// How the action behaves.
    public var options: Options
    /// Whether it asks for text.
    public var takesText: Bool

    /// `UNNotificationActionOptions`.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The bits, as Apple's.
        public let rawValue: UInt
        /// Options of the given bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// Unlock first.
        public static let authenticationRequired = Options(rawValue: 1 << 0)
        /// Looks different, nothing more.
        public static let destructive = Options(rawValue: 1 << 1)
        /// Brings the app to the front.
        public static let foreground = Options(rawValue: 1 << 2)
    }

    /// An action.
    public init(identifier: String, title: String, options: Options = [], takesText: Bool = false) {
        self.identifier = identifier
        self.title = title
        self.options = options
        self.takesText = takesText
    }
}

/// A registered kind of notification with its actions.
public struct NotificationCategory: Hashable, Sendable {
    /// Names it; chosen by the app.
    public var identifier: String
    /// What the person can choose, in order.
    public var actions: [NotificationAction]
    /// `customDismissAction`: a dismissal is reported (ios-delivery.md §6.3).
    public var reportsDismissal: Bool

    /// A category.
    public init(identifier: String, actions: [NotificationAction] = [], reportsDismissal: Bool = false) {
        self.identifier = identifier
        self.actions = actions
        self.reportsDismissal = reportsDismissal
    }
}
