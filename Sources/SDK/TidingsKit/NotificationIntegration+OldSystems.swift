import ClientCore
import Foundation
import TidingsAppGroup
import TidingsModel
package import UIKit

// The callbacks of iOS 4–9 (S0.9, S1.3, S3.11). No system the package is built for makes them, so they are no part of the public
// interface: they are for apps in this package, on a virtual phone of that age.
extension NotificationIntegration {
    @available(iOS, deprecated: 10.0, message: "From iOS 10 on, the notification centre's delegate is called.")
    @discardableResult
    package func application(_ application: UIApplication, didReceive notification: UILocalNotification) -> Bool {
        let arrival = KitMachine.Arrival(
            userInfo: JSONValue(userInfo: notification.userInfo ?? [:]), text: Self.text(of: notification),
            hasSound: notification.soundName != nil)
        return self.handle(.localArrived(arrival, KitMachine.AppState(application.applicationState)))
    }

    @available(iOS, deprecated: 10.0, message: "From iOS 10 on, the notification centre's delegate is called.")
    package func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], completionHandler: @escaping () -> Void
    ) -> Bool {
        self.application(
            application, handleActionWithIdentifier: identifier, forRemoteNotification: userInfo,
            withResponseInfo: [:], completionHandler: completionHandler)
    }

    @available(iOS, deprecated: 10.0, message: "From iOS 10 on, the notification centre's delegate is called.")
    package func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], withResponseInfo responseInfo: [AnyHashable: Any],
        completionHandler: @escaping () -> Void
    ) -> Bool {
        let json = JSONValue(userInfo: userInfo)
        return self.handleAction(identifier, json, AlertText(userInfo: json), responseInfo, completionHandler)
    }

    @available(iOS, deprecated: 10.0, message: "From iOS 10 on, the notification centre's delegate is called.")
    package func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, completionHandler: @escaping () -> Void
    ) -> Bool {
        self.application(
            application, handleActionWithIdentifier: identifier, for: notification, withResponseInfo: [:],
            completionHandler: completionHandler)
    }

    @available(iOS, deprecated: 10.0, message: "From iOS 10 on, the notification centre's delegate is called.")
    package func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, withResponseInfo responseInfo: [AnyHashable: Any],
        completionHandler: @escaping () -> Void
    ) -> Bool {
        self.handleAction(
            identifier, JSONValue(userInfo: notification.userInfo ?? [:]), Self.text(of: notification), responseInfo,
            completionHandler)
    }

    /// A nil identifier means the default action (ios-delivery.md §6.4).
    private func handleAction(
        _ identifier: String?, _ userInfo: JSONValue, _ text: AlertText, _ responseInfo: [AnyHashable: Any],
        _ completionHandler: @escaping () -> Void
    ) -> Bool {
        let typed = responseInfo["UIUserNotificationActionResponseTypedTextKey"] as? String
        let tap = KitMachine.Tap(
            userInfo: userInfo, text: text, action: identifier ?? MessageCategory.defaultAction, userText: typed,
            origin: .callback)
        return self.handle(tap, completionHandler: completionHandler)
    }

    @available(iOS, deprecated: 10.0)
    private static func text(of notification: UILocalNotification) -> AlertText {
        AlertText(title: notification.alertTitle ?? "", body: notification.alertBody ?? "")
    }

    /// S0.19. From iOS 15 on, the oldest system the kit runs on outside a virtual phone, the notification centre's
    /// delegate reports local notifications.
    static func launchTap(of options: [UIApplication.LaunchOptionsKey: Any]?) -> KitMachine.Tap? {
        if let userInfo = options?[.remoteNotification] as? [AnyHashable: Any] {
            return KitMachine.Tap(payload: JSONValue(userInfo: userInfo), origin: .launchOptions)
        }
        #if TIDINGS_UIKIT
            return (options?[.localNotification] as? UILocalNotification).map {
                KitMachine.Tap(
                    userInfo: JSONValue(userInfo: $0.userInfo ?? [:]), text: Self.text(of: $0), origin: .launchOptions)
            }
        #else
            return nil
        #endif
    }

    /// iOS 8 and 9 ask the person by settings, iOS 7 and before when the app registers.
    func registerTheOldWay() -> Bool {
        #if TIDINGS_UIKIT
            if self.system.major >= 8 {
                self.application.registerUserNotificationSettings(
                    UIUserNotificationSettings(types: [.alert, .badge, .sound], categories: nil))
            }
        #endif
        self.application.registerForRemoteNotifications()
        return true
    }
}
