import Foundation
package import PhoneCore

// Apple's objects from the phone's values and back.

extension UNNotificationRequest {
    /// The request as the app sees it.
    package convenience init(_ request: NotificationRequest) {
        let trigger: UNNotificationTrigger? =
            switch request.trigger {
            case nil: nil
            case .push: UNPushNotificationTrigger()
            case .timeInterval(let milliseconds, let repeats):
                UNTimeIntervalNotificationTrigger(milliseconds: milliseconds, repeats: repeats)
            }
        self.init(
            identifier: request.identifier, content: UNNotificationContent(parts: request.content), trigger: trigger)
    }

    /// The request as the phone sees it.
    package var value: NotificationRequest {
        let trigger: NotificationTrigger? =
            switch self.trigger {
            case is UNPushNotificationTrigger: .push
            case let interval as UNTimeIntervalNotificationTrigger:
                .timeInterval(
                    milliseconds: Int64((interval.timeInterval * 1_000).rounded(.up)), repeats: interval.repeats)
            default: nil
            }
        return NotificationRequest(identifier: self.identifier, content: self.content.parts, trigger: trigger)
    }
}

extension UNNotification {
    /// The notification as the app sees it.
    package convenience init(_ notification: DeliveredNotification) {
        self.init(
            date: Date(timeIntervalSince1970: Double(notification.date) / 1_000),
            request: UNNotificationRequest(notification.request))
    }
}

extension UNNotificationResponse {
    /// The response as the app sees it: with text if some was typed.
    package static func make(_ response: NotificationResponse) -> UNNotificationResponse {
        let notification = UNNotification(response.notification)
        guard let text = response.userText else {
            return UNNotificationResponse(notification: notification, actionIdentifier: response.actionIdentifier)
        }
        return UNTextInputNotificationResponse(
            notification: notification, actionIdentifier: response.actionIdentifier, userText: text)
    }
}

extension UNNotificationCategory {
    /// The category as the phone sees it.
    var value: NotificationCategory {
        NotificationCategory(
            identifier: self.identifier,
            actions: self.actions.map { action in
                NotificationAction(
                    identifier: action.identifier, title: action.title,
                    options: NotificationAction.Options(rawValue: action.options.rawValue),
                    takesText: action is UNTextInputNotificationAction)
            },
            reportsDismissal: self.options.contains(.customDismissAction))
    }
}

extension UNError {
    /// The phone's refusal as the app sees it.
    init(_ error: NotificationError) {
        switch error {
        case .notificationsNotAllowed:
            self.init(.notificationsNotAllowed, detail: "the person has not allowed notifications")
        case .invalidTrigger:
            self.init(.notificationInvalidNoDate, detail: "trigger has no moment in the future")
        case .noContent: self.init(.notificationInvalidNoContent, detail: "content has no text, sound or badge")
        }
    }
}
