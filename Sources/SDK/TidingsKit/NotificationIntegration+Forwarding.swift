import ClientCore
public import Foundation
import TidingsAppGroup
import TidingsClient
import TidingsModel
public import UIKit
public import UserNotifications

// The app's delegates call these with what iOS gave them; names and arguments are Apple's.
extension NotificationIntegration {
    // MARK: Device token (S2.7, S2.8)

    /// Hands the device token to the server once connected.
    @discardableResult
    public func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) -> Bool {
        do {
            try self.client.register(deviceToken: DeviceToken(deviceToken), environment: self.pushEnvironment)
            return true
        } catch {
            return false
        }
    }

    // MARK: Notification centre (S1.13, S1.14, S2.9, S2.10)

    /// WP. For one of ours the handler is called before this returns true.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) -> Bool {
        let content = notification.request.content
        guard let payload = Self.payload(content.userInfo) else { return false }
        self.foreground.send(ReceivedNotification(payload: payload, title: content.title, body: content.body))
        let options = self.presentationOptions(for: payload)
        completionHandler(UNNotificationPresentationOptions(rawValue: options.rawValue))
        return true
    }

    /// DR. For one of ours the handler is called before this returns true.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) -> Bool {
        guard self.take(response, origin: .callback) else { return false }
        completionHandler()
        return true
    }

    // MARK: Launch (S0.19, S0.21, S3.12)

    /// Takes the notification a cold start began with, from the launch options of iOS before scenes. A tap that iOS tells by
    /// a second road is handled once.
    @discardableResult
    public func handleLaunch(options: [UIApplication.LaunchOptionsKey: Any]?) -> Bool {
        if let userInfo = options?[.remoteNotification] as? [AnyHashable: Any] {
            // A push that woke the app in the background is not a tap.
            guard self.application.applicationState != .background else { return false }
            return self.take(userInfo, origin: .launchOptions)
        }
        if let local = options?[.localNotification] as? UILocalNotification {
            return self.take(local.userInfo ?? [:], origin: .launchOptions)
        }
        return false
    }

    /// Takes the notification a scene was connected for (iOS 13).
    @discardableResult
    public func handleConnection(options: UIScene.ConnectionOptions) -> Bool {
        guard let response = options.notificationResponse else { return false }
        return self.take(response, origin: .sceneConnection)
    }

    /// SC, with Apple's signature.
    @discardableResult
    public func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
    ) -> Bool { self.handleConnection(options: connectionOptions) }

    // MARK: Old callbacks (S0.9, S0.20, S1.3–S1.11)

    /// R0: arrival in front, or a tap.
    @discardableResult
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) -> Bool { self.takeRemote(userInfo, in: application.applicationState) != nil }

    /// RF: arrival in front, a silent push, or a tap on iOS 7–9. For one of ours the handler is called before this returns
    /// true.
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) -> Bool {
        guard let result = self.takeRemote(userInfo, in: application.applicationState) else { return false }
        completionHandler(result)
        return true
    }

    /// L0: a local notification of iOS 4–9.
    @discardableResult
    public func application(_ application: UIApplication, didReceive notification: UILocalNotification) -> Bool {
        let userInfo = notification.userInfo ?? [:]
        guard application.applicationState != .active else {
            guard let payload = Self.payload(userInfo) else { return false }
            self.foreground.send(
                ReceivedNotification(
                    payload: payload, title: notification.alertTitle ?? "", body: notification.alertBody ?? ""))
            return true
        }
        return self.take(userInfo, origin: .callback)
    }

    // MARK: Taking

    static func payload(_ userInfo: [AnyHashable: Any]) -> NotificationPayload? {
        try? NotificationPayload(userInfo: JSONValue(userInfo: userInfo))
    }

    /// The two old remote callbacks by the state of the app: active is an arrival, inactive a tap, background an arrival of a
    /// silent push (S1.8 with the right rules).
    private func takeRemote(
        _ userInfo: [AnyHashable: Any], in state: UIApplication.State
    ) -> UIBackgroundFetchResult? {
        guard let payload = Self.payload(userInfo) else { return nil }
        switch state {
        case .active:
            self.foreground.send(ReceivedNotification(payload: payload, title: "", body: ""))
            return .newData
        case .inactive:
            _ = self.take(userInfo, origin: .callback)
            return .newData
        case .background:
            self.background.send(ReceivedNotification(payload: payload, title: "", body: ""))
            return .noData
        }
    }

    /// A response by the roads of iOS 10 and later. Returns whether it was ours, also for the echo of one already taken.
    private func take(_ response: UNNotificationResponse, origin: NotificationResponse.Origin) -> Bool {
        let request = response.notification.request
        guard let payload = Self.payload(request.content.userInfo) else { return false }
        let identity = TapLog.Identity(
            request: payload.messageUID ?? request.identifier,
            deliveredAt: Int64(response.notification.date.timeIntervalSince1970 * 1_000),
            action: response.actionIdentifier)
        self.deliver(
            NotificationResponse(
                payload: payload, actionIdentifier: response.actionIdentifier,
                userText: (response as? UNTextInputNotificationResponse)?.userText, origin: origin),
            identity)
        return true
    }

    /// A tap by the old roads, which tell the user info only.
    private func take(_ userInfo: [AnyHashable: Any], origin: NotificationResponse.Origin) -> Bool {
        guard let payload = Self.payload(userInfo) else { return false }
        let identity = TapLog.Identity(
            request: payload.messageUID ?? JSONValue(userInfo: userInfo).text, deliveredAt: 0,
            action: UNNotificationDefaultActionIdentifier)
        self.deliver(
            NotificationResponse(
                payload: payload, actionIdentifier: UNNotificationDefaultActionIdentifier, origin: origin),
            identity)
        return true
    }

    private func deliver(_ response: NotificationResponse, _ identity: TapLog.Identity) {
        guard self.taps.note(identity) else { return }
        self.responses.send(response)
        // Dismissing opens nothing.
        guard response.actionIdentifier != UNNotificationDismissActionIdentifier else { return }
        if let handler = self.responseHandler { handler(response) } else { self.pendingResponse = response }
    }
}
