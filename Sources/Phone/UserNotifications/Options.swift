public import Foundation

/// The ways in which a notification may appear while its app is in the foreground. Raw values: ios-delivery.md §5.5.
public struct UNNotificationPresentationOptions: OptionSet, Hashable, Sendable {
    /// Apple's number.
    public let rawValue: UInt
    /// Wraps Apple's value.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Apply the badge.
    public static let badge = UNNotificationPresentationOptions(rawValue: 1 << 0)
    /// Play the sound.
    public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
    /// Banner and list; deprecated by Apple from iOS 14.
    public static let alert = UNNotificationPresentationOptions(rawValue: 1 << 2)
    /// Show it in Notification Center.
    public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
    /// Show the banner.
    public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
}

/// The permissions that an app asks the person for. Raw values: ios-delivery.md §9.
public struct UNAuthorizationOptions: OptionSet, Hashable, Sendable {
    /// Apple's number.
    public let rawValue: UInt
    /// Wraps Apple's value.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The number on the icon.
    public static let badge = UNAuthorizationOptions(rawValue: 1 << 0)
    /// Sounds.
    public static let sound = UNAuthorizationOptions(rawValue: 1 << 1)
    /// Banners and the list.
    public static let alert = UNAuthorizationOptions(rawValue: 1 << 2)
    /// Notifications in a car.
    public static let carPlay = UNAuthorizationOptions(rawValue: 1 << 3)
    /// Alerts through mute and Focus.
    public static let criticalAlert = UNAuthorizationOptions(rawValue: 1 << 4)
    /// A button to the app's own settings.
    public static let providesAppNotificationSettings = UNAuthorizationOptions(rawValue: 1 << 5)
    /// Quietly, without a prompt.
    public static let provisional = UNAuthorizationOptions(rawValue: 1 << 6)
    /// Read aloud; deprecated by Apple from iOS 15.
    public static let announcement = UNAuthorizationOptions(rawValue: 1 << 7)
    /// Through Focus; deprecated by Apple for the entitlement.
    public static let timeSensitive = UNAuthorizationOptions(rawValue: 1 << 8)
}

/// The person's permission. Raw values: ios-delivery.md §9.
public enum UNAuthorizationStatus: Int, Hashable, Sendable {
    case notDetermined = 0
    case denied = 1
    case authorized = 2
    case provisional = 3
    case ephemeral = 4
}

/// One switch of an app's notification settings.
public enum UNNotificationSetting: Int, Hashable, Sendable {
    case notSupported = 0
    case disabled = 1
    case enabled = 2
}

/// How alerts look.
public enum UNAlertStyle: Int, Hashable, Sendable {
    case none = 0
    case banner = 1
    case alert = 2
}

/// When previews are shown.
public enum UNShowPreviewsSetting: Int, Hashable, Sendable {
    case always = 0
    case whenAuthenticated = 1
    case never = 2
}

/// How important a notification is (ios-delivery.md §4 gate 5).
public enum UNNotificationInterruptionLevel: UInt, Hashable, Sendable {
    case passive = 0
    case active = 1
    case timeSensitive = 2
    case critical = 3
}

/// Options of an action (ios-delivery.md §6.4).
public struct UNNotificationActionOptions: OptionSet, Hashable, Sendable {
    /// Apple's number.
    public let rawValue: UInt
    /// Wraps Apple's value.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The phone must be unlocked first.
    public static let authenticationRequired = UNNotificationActionOptions(rawValue: 1 << 0)
    /// Looks dangerous.
    public static let destructive = UNNotificationActionOptions(rawValue: 1 << 1)
    /// Brings the app to the foreground.
    public static let foreground = UNNotificationActionOptions(rawValue: 1 << 2)
}

/// Options of a category (ios-delivery.md §9).
public struct UNNotificationCategoryOptions: OptionSet, Hashable, Sendable {
    /// Apple's number.
    public let rawValue: UInt
    /// Wraps Apple's value.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Dismissing is reported.
    public static let customDismissAction = UNNotificationCategoryOptions(rawValue: 1 << 0)
    /// Allowed in a car.
    public static let allowInCarPlay = UNNotificationCategoryOptions(rawValue: 1 << 1)
    /// The title shows although previews are hidden.
    public static let hiddenPreviewsShowTitle = UNNotificationCategoryOptions(rawValue: 1 << 2)
    /// The subtitle shows although previews are hidden.
    public static let hiddenPreviewsShowSubtitle = UNNotificationCategoryOptions(rawValue: 1 << 3)
    /// May be read aloud.
    public static let allowAnnouncement = UNNotificationCategoryOptions(rawValue: 1 << 4)
}

/// The action of a tap (ios-delivery.md §6.1).
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
/// The action of a dismissal (ios-delivery.md §6.3).
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"
/// The domain of `UNError`.
public let UNErrorDomain = "UNErrorDomain"

/// Errors of the notification centre (ios-delivery.md §9).
public struct UNError: Error, Hashable, Sendable, LocalizedError, CustomNSError {
    /// Apple's numbers.
    public enum Code: Int, Hashable, Sendable {
        case notificationsNotAllowed = 1
        case attachmentInvalidURL = 100
        case attachmentUnrecognizedType = 101
        case attachmentInvalidFileSize = 102
        case attachmentNotInDataStore = 103
        case attachmentMoveIntoDataStoreFailed = 104
        case attachmentCorrupt = 105
        case notificationInvalidNoDate = 1400
        case notificationInvalidNoContent = 1401
        case contentProvidingObjectNotAllowed = 1500
        case contentProvidingInvalid = 1501

        /// Lets `catch UNError.notificationsNotAllowed` match.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? UNError)?.code == code }
    }

    /// Which error.
    public let code: Code
    private let detail: String

    init(_ code: Code, detail: String) {
        self.code = code
        self.detail = detail
    }

    /// The error in words.
    public var errorDescription: String? { self.detail }
    /// `UNErrorDomain`.
    public static var errorDomain: String { UNErrorDomain }
    /// Apple's number.
    public var errorCode: Int { self.code.rawValue }
    /// The words, for `NSError`.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: self.detail] }

    /// The person has not allowed notifications.
    public static var notificationsNotAllowed: Code { .notificationsNotAllowed }
    /// The file does not exist.
    public static var attachmentInvalidURL: Code { .attachmentInvalidURL }
    /// The file's kind is not known.
    public static var attachmentUnrecognizedType: Code { .attachmentUnrecognizedType }
    /// The file is too large.
    public static var attachmentInvalidFileSize: Code { .attachmentInvalidFileSize }
    /// The file is not the system's.
    public static var attachmentNotInDataStore: Code { .attachmentNotInDataStore }
    /// The system could not take the file.
    public static var attachmentMoveIntoDataStoreFailed: Code { .attachmentMoveIntoDataStoreFailed }
    /// The file cannot be read.
    public static var attachmentCorrupt: Code { .attachmentCorrupt }
    /// The trigger has no moment in the future.
    public static var notificationInvalidNoDate: Code { .notificationInvalidNoDate }
    /// The content has no text, sound or badge.
    public static var notificationInvalidNoContent: Code { .notificationInvalidNoContent }
}
