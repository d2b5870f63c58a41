import Foundation
import TidingsKit
import UIKit
import UserNotifications

/// The app's delegate: forwards to the kit, each call in one line. Works with scenes and without.
@MainActor final class AppDelegate: UIResponder, UIApplicationDelegate, @preconcurrency UNUserNotificationCenterDelegate
{
    let environment: ChatEnvironment
    var window: UIWindow?
    private(set) var chat: ChatSession?

    init(environment: ChatEnvironment) { self.environment = environment }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        UNUserNotificationCenter.current().delegate = self
        let chat = ChatSession(environment: self.environment)
        self.chat = chat
        chat.kit.handleLaunch(options: launchOptions)
        if !self.environment.usesScenes {
            let window = UIWindow()
            self.window = window
            chat.show(in: window)
        }
        chat.start()
        return true
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) { self.chat?.kit.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken) }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) {
        let isOurs = self.chat?.kit.application(
            application, didReceiveRemoteNotification: userInfo, fetchCompletionHandler: completionHandler)
        if isOurs != true { completionHandler(.noData) }
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
    ) {
        let isOurs = self.chat?.kit.userNotificationCenter(
            center, willPresent: notification, withCompletionHandler: completionHandler)
        if isOurs != true { completionHandler([.banner, .list, .sound]) }
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    ) {
        let isOurs = self.chat?.kit.userNotificationCenter(
            center, didReceive: response, withCompletionHandler: completionHandler)
        if isOurs != true { completionHandler() }
    }
}

/// The scene's delegate: the window, and the tap a cold start began with.
@MainActor final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    private let appDelegate: AppDelegate
    var window: UIWindow?

    init(appDelegate: AppDelegate) { self.appDelegate = appDelegate }

    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
        guard let scene = scene as? UIWindowScene, let chat = self.appDelegate.chat else { return }
        let window = UIWindow(windowScene: scene)
        self.window = window
        chat.show(in: window)
        chat.kit.handleConnection(options: options)
    }
}
