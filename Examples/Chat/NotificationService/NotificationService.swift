import Foundation
import TidingsNotificationService
import UserNotifications

/// The service extension of the example: everything is forwarded.
final class NotificationService: UNNotificationServiceExtension {
    private let handler = NotificationServiceHandler(
        appGroupIdentifier: ChatAppGroup.identifier,
        options: .init(
            imageHosts: ChatImages.hosts, isFilteringEntitled: ChatEntitlements.filtering,
            usesCommunicationNotifications: ChatEntitlements.communication))

    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) { self.handler.didReceive(request, contentHandler: contentHandler) }

    override func serviceExtensionTimeWillExpire() { self.handler.serviceExtensionTimeWillExpire() }
}

/// The app group of the example; in an Xcode project this is the constant of the entitlements.
enum ChatAppGroup {
    static let identifier = ProcessInfo.processInfo.environment["CHAT_APP_GROUP"] ?? "group.com.example.chat"
}

/// Where the example's images lie; in an app of your own this is a list of your hosts.
enum ChatImages {
    static let hosts = (ProcessInfo.processInfo.environment["CHAT_IMAGE_HOSTS"] ?? "").split(separator: ",").map(
        String.init)
}

/// Whether the app has `com.apple.developer.usernotifications.filtering`, which Apple grants, and `….communication`; in an app of your own
/// these are constants.
enum ChatEntitlements {
    static let communication = ProcessInfo.processInfo.environment["CHAT_COMMUNICATION"] == "yes"
    static let filtering = ProcessInfo.processInfo.environment["CHAT_FILTERS"] == "yes"
}
