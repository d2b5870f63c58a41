import Foundation
import TidingsKit
import TidingsModel
import UIKit
import UserNotifications

// What the pages on moving from other products show, compiled: the tidy test holds that the pages show these lines.

/// Another product's SDK, while both are in the app.
@MainActor protocol OtherPushSDK {
    func register(_ deviceToken: Data)
    func take(_ userInfo: [AnyHashable: Any])
}

@MainActor
private final class DelegateOfTwo: UIResponder, UIApplicationDelegate,
    @preconcurrency UNUserNotificationCenterDelegate
{
    let kit: NotificationIntegration
    let other: any OtherPushSDK

    init(kit: NotificationIntegration, other: any OtherPushSDK) {
        self.kit = kit
        self.other = other
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        self.kit.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken)
        self.other.register(deviceToken)
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    ) {
        let isOurs = self.kit.userNotificationCenter(
            center, didReceive: response, withCompletionHandler: completionHandler)
        guard !isOurs else { return }
        self.other.take(response.notification.request.content.userInfo)
        completionHandler()
    }
}

/// Theirs has the same dictionary as ours.
@MainActor private func tapsOfTwo(
    _ kit: NotificationIntegration, show: @escaping (Route) -> Void, showOld: @escaping (Route) -> Void
) {
    kit.responseHandler = { response in
        let isOurs =
            response.userInfo["tidings"] != nil
            || response.payload?.messageUID.flatMap { MessageID($0) } != nil
        if isOurs { show(response.route) } else { showOld(response.route) }
    }
}
