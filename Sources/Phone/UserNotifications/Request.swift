public import Foundation
package import PhoneCore

/// What makes a request fire.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public class UNNotificationTrigger: @unchecked Sendable {
    // Immutable, also in the subclasses.

    /// Whether it fires again and again.
    public let repeats: Bool
    init(repeats: Bool) { self.repeats = repeats }
}

/// The trigger of a notification that APNs delivered.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public final class UNPushNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// The trigger of every push.
    package init() { super.init(repeats: false) }
}

/// Fires after some time.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public final class UNTimeIntervalNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// Seconds.
    public let timeInterval: TimeInterval
    /// A trigger.
    ///
    /// - Precondition: the interval is above 0, and at least 60 s if it repeats (Apple throws an exception).
    public init(timeInterval: TimeInterval, repeats: Bool) {
        precondition(timeInterval > 0, "timeInterval must be above 0")
        precondition(!repeats || timeInterval >= 60, "timeInterval must be at least 60 if repeating")
        self.timeInterval = timeInterval
        super.init(repeats: repeats)
    }
    init(milliseconds: Int64, repeats: Bool) {
        self.timeInterval = Double(milliseconds) / 1_000
        super.init(repeats: repeats)
    }
    /// When it fires next if it were added now.
    public func nextTriggerDate() -> Date? { Date(timeIntervalSinceNow: self.timeInterval) }
}

/// A request to show a notification.
public final class UNNotificationRequest: Sendable {
    /// Names the notification; adding another one with this name replaces it.
    public let identifier: String
    /// What it says.
    public let content: UNNotificationContent
    /// What makes it fire; nil is now.
    public let trigger: UNNotificationTrigger?

    /// A request. Copies the content.
    public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.identifier = identifier
        self.content = UNNotificationContent(parts: content.parts)
        self.trigger = trigger
    }
}

/// A notification that was delivered.
public final class UNNotification: Sendable {
    /// When it was delivered, by the phone's clock.
    public let date: Date
    /// What asked for it.
    public let request: UNNotificationRequest

    /// A notification delivered at a date.
    package init(date: Date, request: UNNotificationRequest) {
        self.date = date
        self.request = request
    }
}

/// What a person did with a notification.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public class UNNotificationResponse: @unchecked Sendable {
    // Immutable, also in the subclass.

    /// The notification.
    public let notification: UNNotification
    /// The action.
    public let actionIdentifier: String

    /// A response to a notification.
    package init(notification: UNNotification, actionIdentifier: String) {
        self.notification = notification
        self.actionIdentifier = actionIdentifier
    }
}

/// A response with typed text.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public final class UNTextInputNotificationResponse: UNNotificationResponse, @unchecked Sendable {
    /// The text.
    public let userText: String

    /// A response to a notification.
    package init(notification: UNNotification, actionIdentifier: String, userText: String) {
        self.userText = userText
        super.init(notification: notification, actionIdentifier: actionIdentifier)
    }
}

/// A button under a notification.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public class UNNotificationAction: @unchecked Sendable, Hashable {
    // Immutable, also in the subclass.

    /// Names the action.
    public let identifier: String
    /// What the button says.
    public let title: String
    /// How it behaves.
    public let options: UNNotificationActionOptions

    /// An action.
    public init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        self.identifier = identifier
        self.title = title
        self.options = options
    }

    public static func == (left: UNNotificationAction, right: UNNotificationAction) -> Bool {
        left.identifier == right.identifier && left.title == right.title && left.options == right.options
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(self.identifier) }
}

/// A button that takes text.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public final class UNTextInputNotificationAction: UNNotificationAction, @unchecked Sendable {
    /// What the button beside the text says.
    public let textInputButtonTitle: String
    /// What stands in the empty field.
    public let textInputPlaceholder: String

    /// An action with text.
    public init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], textInputButtonTitle: String,
        textInputPlaceholder: String
    ) {
        self.textInputButtonTitle = textInputButtonTitle
        self.textInputPlaceholder = textInputPlaceholder
        super.init(identifier: identifier, title: title, options: options)
    }
}

/// A kind of notification with its actions.
public final class UNNotificationCategory: Sendable, Hashable {
    /// Names the category; the payload's `category`.
    public let identifier: String
    /// The buttons, in order.
    public let actions: [UNNotificationAction]
    /// Intents; kept, not used by a virtual phone.
    public let intentIdentifiers: [String]
    /// What stands for the text while previews are hidden.
    public let hiddenPreviewsBodyPlaceholder: String
    /// How it behaves.
    public let options: UNNotificationCategoryOptions

    /// A category.
    public init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String = "", options: UNNotificationCategoryOptions = []
    ) {
        self.identifier = identifier
        self.actions = actions
        self.intentIdentifiers = intentIdentifiers
        self.hiddenPreviewsBodyPlaceholder = hiddenPreviewsBodyPlaceholder
        self.options = options
    }

    public static func == (left: UNNotificationCategory, right: UNNotificationCategory) -> Bool {
        left.identifier == right.identifier && left.actions == right.actions && left.options == right.options
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(self.identifier) }
}

/// What the person allows the app to do.
public final class UNNotificationSettings: Sendable {
    private let settings: NotificationSettings

    /// The settings as the app sees them.
    package init(_ settings: NotificationSettings) { self.settings = settings }

    private func setting(_ isOn: Bool) -> UNNotificationSetting {
        self.settings.authorizationStatus == .notDetermined ? .notSupported : (isOn ? .enabled : .disabled)
    }

    /// The answer to the prompt.
    public var authorizationStatus: UNAuthorizationStatus {
        UNAuthorizationStatus(rawValue: self.settings.authorizationStatus.rawValue) ?? .notDetermined
    }
    /// Whether sounds play.
    public var soundSetting: UNNotificationSetting { self.setting(self.settings.sound) }
    /// Whether the icon shows a number.
    public var badgeSetting: UNNotificationSetting { self.setting(self.settings.badge) }
    /// Whether alerts appear.
    public var alertSetting: UNNotificationSetting { self.setting(self.settings.alert) }
    /// Whether they are kept in Notification Center.
    public var notificationCenterSetting: UNNotificationSetting { self.setting(self.settings.notificationCenter) }
    /// Whether they appear on the lock screen.
    public var lockScreenSetting: UNNotificationSetting { self.setting(self.settings.lockScreen) }
    /// Whether they appear in a car: never on a virtual phone.
    public var carPlaySetting: UNNotificationSetting { .notSupported }
    /// Whether critical alerts are allowed: they need an entitlement of Apple's.
    public var criticalAlertSetting: UNNotificationSetting { .notSupported }
    /// Whether time-sensitive ones are allowed.
    public var timeSensitiveSetting: UNNotificationSetting { .notSupported }
    /// Whether they are held for a summary.
    public var scheduledDeliverySetting: UNNotificationSetting { .disabled }
    /// Whether direct messages may break through.
    public var directMessagesSetting: UNNotificationSetting { .notSupported }
    /// Whether they may be read aloud.
    public var announcementSetting: UNNotificationSetting { .notSupported }
    /// How alerts look.
    public var alertStyle: UNAlertStyle { self.settings.alert ? .banner : .none }
    /// When previews are shown.
    public var showPreviewsSetting: UNShowPreviewsSetting { .always }
    /// Whether the system shows a button to the app's own settings.
    public var providesAppNotificationSettings: Bool { false }
}
