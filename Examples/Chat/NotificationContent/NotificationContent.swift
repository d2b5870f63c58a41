import UIKit
import UserNotifications
import UserNotificationsUI

#if TIDINGS_UIKIT
    import TidingsModel
    import VirtualPhone
#endif

/// The content extension of the example: a conversation's new messages, one under the other, while its notification is
/// expanded.
final class NotificationContent: UIViewController, UNNotificationContentExtension {
    private(set) var lines: [String] = []

    func didReceive(_ notification: UNNotification) {
        let content = notification.request.content
        self.lines.append("\(content.title): \(content.body)")
        #if TIDINGS_UIKIT
            PhoneScreen.report(.array(self.lines.map { .string($0) }))
        #endif
    }

    /// Reply and "mark as read" are the app's.
    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void
    ) { completion(.dismissAndForwardAction) }
}
