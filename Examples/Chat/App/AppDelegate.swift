import Foundation
import TidingsUI
import UIKit
import UserNotifications

/// The app's delegate: forwards to the kit, each call in one line. Works with scenes and without.
@MainActor final class AppDelegate: UIResponder, UIApplicationDelegate, @preconcurrency UNUserNotificationCenterDelegate
{
    let configuration: AppConfiguration
    var window: UIWindow?
    private(set) var chat: ChatSession?
    private var calls: CallCenter?

    init(configuration: AppConfiguration) { self.configuration = configuration }

    /// For `@main` in an Xcode project.
    override convenience init() { self.init(configuration: .ofProcess) }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        UNUserNotificationCenter.current().delegate = self
        let chat = self.makeSession(self.configuration)
        let answer = chat.kit.application(application, didFinishLaunchingWithOptions: launchOptions)
        self.registerBackgroundRefresh(chat.kit, in: application)
        chat.start()
        if !self.configuration.usesScenes {
            let window = UIWindow()
            self.window = window
            // Another one, if somebody is signed in elsewhere.
            self.chat?.show(in: window)
        }
        return answer
    }

    private func makeSession(_ configuration: AppConfiguration) -> ChatSession {
        let chat = ChatSession(configuration: configuration)
        self.chat = chat
        chat.kit.registerCategories()
        if configuration.takesCalls {
            self.calls = CallCenter(kit: chat.kit) { [weak chat] event in chat?.callEvent = event }
        }
        chat.onMove = { [weak self] in self?.move(to: $0) }
        return chat
    }

    /// Somebody has signed in at other servers. A refresh task is registered once in a process, so the new session has it from the next
    /// launch on.
    private func move(to configuration: AppConfiguration) {
        let window = self.chat?.window
        let chat = self.makeSession(configuration)
        chat.start()
        if let window { chat.show(in: window) }
    }

    /// What iOS gave nobody before the first unlock is there.
    func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) { self.chat?.signInAgain() }

    /// A refresh task from iOS 13 on, Background Fetch before. The task's identifier stands in the Info.plist.
    private func registerBackgroundRefresh(_ kit: NotificationIntegration, in application: UIApplication) {
        guard UIDevice.current.majorVersion >= 13 else {
            return application.setMinimumBackgroundFetchInterval(UIApplication.backgroundFetchIntervalMinimum)
        }
        let identifier = "com.example.chat.refresh"
        if kit.registerBackgroundRefresh(identifier: identifier) {
            kit.scheduleBackgroundRefresh(identifier: identifier, after: 0)
        }
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) { self.chat?.kit.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken) }

    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) { self.chat?.kit.application(application, didFailToRegisterForRemoteNotificationsWithError: error) }

    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {
        self.chat?.kit.application(application, didReceiveRemoteNotification: userInfo)
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) {
        let isOurs = self.chat?.kit.application(
            application, didReceiveRemoteNotification: userInfo, fetchCompletionHandler: completionHandler)
        if isOurs != true { completionHandler(.noData) }
    }

    func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) {
        let isOurs = self.chat?.kit.application(application, performFetchWithCompletionHandler: completionHandler)
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
    var window: UIWindow?

    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
        guard let scene = scene as? UIWindowScene, let delegate = UIApplication.shared.delegate as? AppDelegate,
            let chat = delegate.chat
        else { return }
        let window = UIWindow(windowScene: scene)
        self.window = window
        chat.show(in: window)
        chat.kit.handleConnection(options: options)
    }
}
