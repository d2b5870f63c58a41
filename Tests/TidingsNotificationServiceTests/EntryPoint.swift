import TidingsNotificationService
import UserNotifications

/// What the documentation of `NotificationServiceHandler` itself shows, compiled: the tidy test holds that it shows these lines.
private enum EntryPoint {
    final class NotificationService: UNNotificationServiceExtension {
        let handler = NotificationServiceHandler(appGroupIdentifier: "group.com.example.chat")
        override func didReceive(
            _ request: UNNotificationRequest,
            withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) { self.handler.didReceive(request, contentHandler: contentHandler) }
        override func serviceExtensionTimeWillExpire() { self.handler.serviceExtensionTimeWillExpire() }
    }
}
