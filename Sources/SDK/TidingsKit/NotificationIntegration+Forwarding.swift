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

    /// Tells the app's developer that there is no device token; the kit asks again when the app comes to the front.
    @discardableResult
    public func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) -> Bool {
        self.client.report(.pushRegistrationFailed(reason: error.localizedDescription))
        self.lifecycle.asksForTokenInFront = true
        return true
    }

    // MARK: Notification centre (S1.13, S1.14, S2.9, S2.10)

    /// How long the app may think about a presentation, in milliseconds: less than iOS waits (ios-delivery.md §7.1).
    private static let presentationMilliseconds: Int64 = 3_000

    /// A notification meets the app in front: how to present it. For one of ours the handler is called once, within three
    /// seconds.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) -> Bool {
        let content = notification.request.content
        let json = JSONValue(userInfo: content.userInfo)
        guard self.isOurs(json) else { return false }
        // Neither is the app told of it nor asked.
        guard !self.isForAnother(json) else {
            completionHandler([])
            return true
        }
        var received = self.received(
            json, text: AlertText(title: content.title, subtitle: content.subtitle, body: content.body))
        received.isSilenced = json[PushInfo.key] != nil && content.sound == nil
        self.client.publish(received, isInFront: true)
        let arrived = received
        let major = self.system.major
        let completion = Completion<PresentationOptions>(fallback: []) { options in
            completionHandler(UNNotificationPresentationOptions(rawValue: options.systemValue(major: major)))
        }
        Task {
            let options = await self.presentationOptions(for: arrived)
            if completion(options), !options.isDisjoint(with: [.banner, .sound]), let id = Self.message(of: arrived) {
                self.noteRung(id)
            }
        }
        let clock = self.client.clock
        let deadline = clock.now.monotonic + Self.presentationMilliseconds
        Task {
            await clock.sleep(untilMonotonic: deadline)
            completion([])
        }
        return true
    }

    /// The person did something to a notification. For one of ours the handler is called once: at once for a tap, for a
    /// reply or "mark as read" when the server has it, and within 30 seconds in any case.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) -> Bool {
        guard let work = self.take(response, origin: .callback) else { return false }
        self.finish(work, then: Completion(fallback: ()) { completionHandler() })
        return true
    }

    // MARK: Launch (S0.19, S0.21, S3.12)

    /// Takes the notification a cold start began with, from the launch options of iOS before scenes. A tap that iOS tells by
    /// a second road is handled once.
    @discardableResult
    public func handleLaunch(options: [UIApplication.LaunchOptionsKey: Any]?) -> Bool {
        // A push that woke the app in the background is not a tap.
        guard self.application.applicationState != .background else { return false }
        if let userInfo = options?[.remoteNotification] as? [AnyHashable: Any] {
            let json = JSONValue(userInfo: userInfo)
            return self.take(
                json, text: AlertText(userInfo: json), action: MessageCategory.defaultAction, typed: nil,
                origin: .launchOptions) != nil
        }
        return self.handleLocalLaunch(options: options)
    }

    /// Takes the notification a scene was connected for (iOS 13).
    @discardableResult
    public func handleConnection(options: UIScene.ConnectionOptions) -> Bool {
        guard let response = options.notificationResponse, let work = self.take(response, origin: .sceneConnection)
        else { return false }
        self.finish(work, then: Completion(fallback: ()) {})
        return true
    }

    /// A scene was connected, by a tap if the options hold a response. With Apple's signature.
    @discardableResult
    public func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
    ) -> Bool { self.handleConnection(options: connectionOptions) }

    // MARK: Pushes (S0.20, S1.3–S1.11, S4.9)

    /// A push: arrival in front, or a tap.
    @discardableResult
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) -> Bool { self.takeRemote(userInfo, in: application.applicationState) }

    /// A push: arrival in front, a silent push, or a tap on iOS 7–9. For one of ours the client catches up with the server,
    /// and the handler is called once, within 30 seconds, whatever happens (ios-delivery.md §7.1). A silent push that is
    /// about the number on the icon changes it at once.
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) -> Bool {
        let state = application.applicationState
        let json = JSONValue(userInfo: userInfo)
        if let push = BadgeInfo(userInfo: json) {
            self.take(push, of: json, in: state, then: Completion(fallback: .failed) { completionHandler($0) })
            return true
        }
        guard self.takeRemote(userInfo, in: state) else { return false }
        self.refresh(then: Completion(fallback: .failed) { completionHandler($0) })
        return true
    }

    /// Background Fetch (S4.13). Always ours.
    @discardableResult
    public func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) -> Bool {
        self.refresh(then: Completion(fallback: .failed) { completionHandler($0) })
        return true
    }

    // MARK: In-app banner (S4.7)

    /// The person tapped a banner the app has drawn.
    public func didTap(_ banner: InAppBanner) {
        NotificationCenter.default.post(
            name: Self.inAppBannerTappedNotification, object: banner.userInfo.userInfo)
        let work = self.take(
            banner.userInfo, text: banner.text, action: MessageCategory.defaultAction, typed: nil, origin: .inAppBanner)
        self.finish(work, then: Completion(fallback: ()) {})
    }
}
