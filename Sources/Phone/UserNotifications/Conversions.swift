import Foundation
package import PhoneCore

// Apple's objects from the phone's values and back.

extension UNNotificationRequest {
    package convenience init(_ request: NotificationRequest) {
        self.init(
            identifier: request.identifier, content: UNNotificationContent(parts: request.content),
            trigger: request.trigger.map { UNNotificationTrigger.make($0) })
    }

    package var value: NotificationRequest {
        NotificationRequest(identifier: self.identifier, content: self.content.parts, trigger: self.trigger?.value)
    }
}

extension UNNotification {
    package convenience init(_ notification: DeliveredNotification) {
        self.init(
            date: Date(timeIntervalSince1970: Double(notification.date) / 1_000),
            request: UNNotificationRequest(notification.request))
    }
}

extension UNNotificationResponse {
    package static func make(_ response: UserResponse) -> UNNotificationResponse {
        let notification = UNNotification(response.notification)
        guard let text = response.userText else {
            return UNNotificationResponse(notification: notification, actionIdentifier: response.actionIdentifier)
        }
        return UNTextInputNotificationResponse(
            notification: notification, actionIdentifier: response.actionIdentifier, userText: text)
    }
}

extension UNError {
    init(_ error: NotificationError) {
        switch error {
        case .notificationsNotAllowed:
            self.init(.notificationsNotAllowed, detail: "the person has not allowed notifications")
        case .invalidTrigger:
            self.init(.notificationInvalidNoDate, detail: "trigger has no moment in the future")
        case .attachmentInvalidURL, .attachmentUnrecognizedType, .attachmentInvalidFileSize,
            .attachmentNotInDataStore, .attachmentMoveIntoDataStoreFailed, .attachmentCorrupt:
            self.init(Code(rawValue: error.rawValue) ?? .attachmentCorrupt, detail: "an attachment cannot be taken")
        case .noContent: self.init(.notificationInvalidNoContent, detail: "content has no text, sound or badge")
        }
    }
}
