public import Foundation

/// A request to show a notification.
public final class UNNotificationRequest: Sendable, Hashable {
    /// Names the notification; adding another one with this name replaces it.
    public let identifier: String
    /// The content to show.
    public let content: UNNotificationContent
    /// The trigger that makes it fire; nil is now.
    public let trigger: UNNotificationTrigger?

    /// A request. Copies the content.
    public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.identifier = identifier
        self.content = UNNotificationContent(parts: content.parts)
        self.trigger = trigger
    }

    /// Equal in all that was asked for.
    public static func == (left: UNNotificationRequest, right: UNNotificationRequest) -> Bool {
        left.value == right.value
    }
    /// Hashes alike what is equal.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.identifier) }
}

/// A notification that was delivered.
public final class UNNotification: Sendable, Hashable {
    /// When it was delivered, by the phone's clock.
    public let date: Date
    /// The request that it came from.
    public let request: UNNotificationRequest

    package init(date: Date, request: UNNotificationRequest) {
        self.date = date
        self.request = request
    }

    /// Equal in date and request.
    public static func == (left: UNNotification, right: UNNotification) -> Bool {
        left.date == right.date && left.request == right.request
    }
    /// Hashes alike what is equal.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.request) }
}

/// A person's response to a notification.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public class UNNotificationResponse: @unchecked Sendable, Hashable {
    // Immutable, also in the subclass.

    /// The notification.
    public let notification: UNNotification
    /// The action.
    public let actionIdentifier: String

    package init(notification: UNNotification, actionIdentifier: String) {
        self.notification = notification
        self.actionIdentifier = actionIdentifier
    }

    var typedText: String? { nil }

    /// Equal in notification, action and typed text.
    public static func == (left: UNNotificationResponse, right: UNNotificationResponse) -> Bool {
        left.notification == right.notification && left.actionIdentifier == right.actionIdentifier
            && left.typedText == right.typedText
    }
    /// Hashes alike what is equal.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.notification)
        hasher.combine(self.actionIdentifier)
    }
}

/// A response with typed text.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public final class UNTextInputNotificationResponse: UNNotificationResponse, @unchecked Sendable {
    /// The text.
    public let userText: String

    package init(notification: UNNotification, actionIdentifier: String, userText: String) {
        self.userText = userText
        super.init(notification: notification, actionIdentifier: actionIdentifier)
    }

    override var typedText: String? { self.userText }
}
