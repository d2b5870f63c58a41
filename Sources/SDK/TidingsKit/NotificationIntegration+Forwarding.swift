public import ClientCore
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
            self.client.report(.pushRegistrationFailed(reason: "\(error)"))
            return false
        }
    }

    /// Tells the app's developer that there is no device token; the kit asks again when the app comes to the foreground.
    @discardableResult
    public func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) -> Bool {
        self.client.report(.pushRegistrationFailed(reason: error.localizedDescription))
        return self.handle(.registrationFailed)
    }

    // MARK: Notification centre (S1.13, S1.14, S2.9, S2.10)

    /// A notification meets the app in the foreground: how to present it. For one of ours the handler is called once, within three
    /// seconds.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) -> Bool {
        let content = notification.request.content
        let arrival = KitMachine.Arrival(
            userInfo: JSONValue(userInfo: content.userInfo), text: AlertText(content), hasSound: content.sound != nil)
        let call = self.calls.next()
        let major = self.system.major
        return self.handle(.presentationRequested(arrival, call)) {
            self.calls.presentations[call] = Completion(fallback: []) { options in
                completionHandler(UNNotificationPresentationOptions(rawValue: options.systemValue(major: major)))
            }
        }
    }

    /// The person did something to a notification. For one of ours the handler is called once: at once for a tap, for a
    /// reply or "mark as read" when the server has it, and within 30 seconds in any case.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) -> Bool {
        self.handle(KitMachine.Tap(response, origin: .callback), completionHandler: completionHandler)
    }

    // MARK: Launch (S0.19, S0.21, S3.12)

    /// The app was launched. Takes what `handleLaunch(options:)` takes, with Apple's signature.
    ///
    /// - Returns: what the app's delegate returns: true, whether a notification launched it or the person did (S0.22).
    public func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        self.handleLaunch(options: launchOptions)
        return true
    }

    /// Takes the notification a cold start began with, from the launch options of iOS before scenes. A tap that iOS tells by
    /// a second callback is handled once.
    @discardableResult
    public func handleLaunch(options: [UIApplication.LaunchOptionsKey: Any]?) -> Bool {
        guard let tap = Self.launchTap(of: options) else { return false }
        return self.handle(.launched(tap, KitMachine.AppState(self.application.applicationState)))
    }

    /// Takes the notification a scene was connected for (iOS 13).
    @discardableResult
    public func handleConnection(options: UIScene.ConnectionOptions) -> Bool {
        guard let response = options.notificationResponse else { return false }
        return self.handle(KitMachine.Tap(response, origin: .sceneConnection), completionHandler: nil)
    }

    /// A scene was connected, by a tap if the options hold a response. With Apple's signature.
    @discardableResult
    public func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
    ) -> Bool { self.handleConnection(options: connectionOptions) }

    // MARK: Pushes (S0.20, S1.3–S1.11, S4.9)

    /// A push: arrival in the foreground, or a tap.
    @discardableResult
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) -> Bool { self.handle(self.remoteArrived(userInfo, application.applicationState, nil)) }

    private func remoteArrived(
        _ userInfo: [AnyHashable: Any], _ state: UIApplication.State, _ call: KitMachine.Call?
    ) -> KitMachine.Event {
        .remoteArrived(
            KitMachine.Arrival(payload: JSONValue(userInfo: userInfo)), KitMachine.AppState(state),
            isCenterDelegateSet: self.center.delegate != nil, call)
    }

    /// A push: arrival in the foreground, a silent push, or a tap on iOS 7–9. For one of ours the client catches up with the server,
    /// and the handler is called once, within 30 seconds, whatever happens (ios-delivery.md §7.1). A silent push that is
    /// about the number on the icon changes it at once.
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) -> Bool {
        self.handleFetch(completionHandler) { self.remoteArrived(userInfo, application.applicationState, $0) }
    }

    /// Background Fetch (S4.13). Always ours.
    @discardableResult
    public func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) -> Bool {
        self.handleFetch(completionHandler) { .fetchRequested($0) }
    }

    // MARK: In-app banner (S4.7)

    /// The person tapped a banner the app has drawn.
    public func didTap(_ banner: InAppBanner) {
        NotificationCenter.default.post(
            name: Self.inAppBannerTappedNotification, object: banner.userInfo.userInfo)
        self.handle(.responded(KitMachine.Tap(userInfo: banner.userInfo, text: banner.text, origin: .inAppBanner), nil))
    }
}
