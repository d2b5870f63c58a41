/// The kit's report on one device when the app is in the foreground: what the person allows the app there, and what an operator needs who
/// looks for a notification that nobody has seen (ios-delivery.md §4, §7.3, §9).
public struct DeviceStatus: Hashable, Sendable {
    /// The app's permission for notifications.
    public var authorization: Authorization
    /// True if banners and alerts are on.
    public var alert: Bool
    /// True if sounds are on.
    public var sound: Bool
    /// True if the number on the icon is on.
    public var badge: Bool
    /// True if notifications stand on the lock screen.
    public var lockScreen: Bool
    /// True if notifications stand in Notification Center.
    public var notificationCenter: Bool
    /// Says if the app may be woken in the background.
    public var backgroundRefresh: BackgroundRefresh
    /// Who sets the number on the icon.
    public var iconNumber: IconNumber
    /// True if Low Power Mode is on.
    public var isLowPowerModeOn: Bool
    /// The phone's time zone by its name in the IANA database; empty if it is not told.
    public var timeZone: String
    /// The phone's languages in the person's order, as BCP 47 tags; at most `languagesMax`.
    public var languages: [String]
    /// The app's version; empty if it is not told.
    public var appVersion: String
    /// The system's version, for example `17.4`; empty if it is not told.
    public var systemVersion: String
    /// Apple's identifier of the model, for example `iPhone16,1`; empty if it is not told.
    public var model: String

    /// The person's answer (ios-delivery.md §9 "Statuses").
    public enum Authorization: String, Hashable, Sendable, CaseIterable, JSONWritable {
        case notDetermined = "not_determined"
        case denied
        case authorized
        /// Quietly, in Notification Center.
        case provisional
        /// An app clip's, for a time.
        case ephemeral
    }

    /// Background App Refresh (ios-delivery.md §7.3).
    public enum BackgroundRefresh: String, Hashable, Sendable, CaseIterable, JSONWritable {
        case available
        case denied
        /// The person cannot turn it on.
        case restricted
    }

    /// Who sets the number on the icon when the app does not run: it decides how the phone can be told of a lower one (docs/server/push-policy.md).
    public enum IconNumber: String, Hashable, Sendable, CaseIterable, JSONWritable {
        /// The app, or nobody: the SDK's kit does not manage the number.
        case app
        /// The kit: the system may set it from a push.
        case kit
        /// The kit, and a service extension of Tidings that may discard alerts (`com.apple.developer.usernotifications.filtering`)
        /// has run on this phone, which has iOS 15 or later.
        case serviceExtension = "service_extension"
    }

    /// How many languages are told.
    public static let languagesMax = 5
    /// The longest text among them, in bytes of UTF-8.
    public static let textBytesMax = 64
    /// The longest model, in bytes of UTF-8.
    public static let modelBytesMax = 32

    /// True if notifications of the app can be seen at all.
    public var allowsNotifications: Bool {
        switch self.authorization {
        case .notDetermined, .denied: false
        case .authorized, .provisional, .ephemeral: true
        }
    }

    /// The first number of the system's version; 0 if it is not told.
    package var systemMajor: Int { self.systemVersion.split(separator: ".").first.flatMap { Int($0) } ?? 0 }

    /// A status from its parts.
    public init(
        authorization: Authorization, alert: Bool, sound: Bool, badge: Bool, lockScreen: Bool,
        notificationCenter: Bool, backgroundRefresh: BackgroundRefresh, iconNumber: IconNumber = .app,
        isLowPowerModeOn: Bool = false, timeZone: String = "", languages: [String] = [], appVersion: String = "",
        systemVersion: String = "", model: String = ""
    ) {
        self.authorization = authorization
        self.alert = alert
        self.sound = sound
        self.badge = badge
        self.lockScreen = lockScreen
        self.notificationCenter = notificationCenter
        self.backgroundRefresh = backgroundRefresh
        self.iconNumber = iconNumber
        self.isLowPowerModeOn = isLowPowerModeOn
        self.timeZone = timeZone
        self.languages = languages
        self.appVersion = appVersion
        self.systemVersion = systemVersion
        self.model = model
    }
}
