import Foundation
import PhoneCore
import Synchronization
import TidingsModel
import UIKit
import UserNotifications
import VirtualPhone

/// What a little app noted down; one per test.
final class Notebook: Sendable {
    private let notes = Mutex<[String]>([])
    func note(_ text: String) { self.notes.withLock { $0.append(text) } }
    var lines: [String] { self.notes.withLock { $0 } }
    func clear() { self.notes.withLock { $0 = [] } }
}

final class AppDelegate: UIResponder, UIApplicationDelegate {
    let notebook: Notebook
    init(_ notebook: Notebook) { self.notebook = notebook }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        self.notebook.note("DF \(launchOptions?.keys.map(\.rawValue).sorted() ?? [])")
        UNUserNotificationCenter.current().delegate = self
        application.registerForRemoteNotifications()
        Task {
            let granted = try? await UNUserNotificationCenter.current().requestAuthorization(options: [
                .alert, .sound, .badge,
            ])
            self.notebook.note("granted \(granted == true)")
        }
        return true
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        self.notebook.note("token of \(deviceToken.count) bytes")
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        self.notebook.note("RF \(application.applicationState) \(userInfo["k"] as? String ?? "-")")
        completionHandler(.newData)
    }
}

extension AppDelegate: @preconcurrency UNUserNotificationCenterDelegate {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        self.notebook.note("WP \(notification.request.content.body)")
        return [.banner, .list, .sound]
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let content = response.notification.request.content
        let remote = response.notification.request.trigger is UNPushNotificationTrigger
        let text = (response as? UNTextInputNotificationResponse)?.userText
        let action =
            response.actionIdentifier == UNNotificationDefaultActionIdentifier ? "tap" : response.actionIdentifier
        self.notebook.note(
            "DR \(action) \(content.body) \(remote ? "remote" : "local")\(text.map { " “\($0)”" } ?? "")")
        completionHandler()
    }
}

final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?
    let notebook: Notebook
    init(_ notebook: Notebook) { self.notebook = notebook }

    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
        let response = options.notificationResponse.map { $0.notification.request.content.body }
        self.notebook.note("SC \(response ?? "-")")
        guard let windowScene = scene as? UIWindowScene else { return }
        let list = UIViewController()
        list.title = "Conversations"
        let window = UIWindow(windowScene: windowScene)
        window.rootViewController = UINavigationController(rootViewController: list)
        window.makeKeyAndVisible()
        self.window = window
    }
    func sceneWillEnterForeground(_ scene: UIScene) { self.notebook.note("sceneWEF") }
    func sceneDidBecomeActive(_ scene: UIScene) { self.notebook.note("sceneDBA") }
    func sceneWillResignActive(_ scene: UIScene) { self.notebook.note("sceneWRA") }
    func sceneDidEnterBackground(_ scene: UIScene) { self.notebook.note("sceneDEB") }
}

final class NotificationService: UNNotificationServiceExtension {
    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else { return }
        content.body = "[\(content.body)]"
        content.badge = 3
        contentHandler(content)
    }
}

let chat: BundleID = "com.example.chat"

@MainActor func phoneInForeground(
    _ version: OSVersion = 17, notebook: Notebook, withExtension: Bool = false
) async -> VirtualPhone {
    let phone = VirtualPhone(osVersion: version)
    phone.install(
        InstalledApp(bundleID: chat, hasServiceExtension: withExtension),
        code: VirtualApp().code {
            AppDelegate(notebook)
        } sceneDelegate: {
            SceneDelegate(notebook)
        },
        serviceExtension: withExtension ? VirtualExtension.code { NotificationService() } : nil)
    await phone.allowNotifications()
    await phone.launch()
    return phone
}

func alert(_ body: String, mutable: Bool = false) -> JSONValue {
    .members([
        (
            "aps",
            .members(
                [("alert", .members([("body", .string(body))])), ("sound", "default")]
                    + (mutable ? [("mutable-content", 1)] : []))
        )
    ])
}

// What tests do as the app.

@MainActor func iconBadgeNumber() -> Int { UIApplication.shared.applicationIconBadgeNumber }

/// Seconds; nil is without limit.
@MainActor func backgroundTimeLeft() -> Double? {
    let left = UIApplication.shared.backgroundTimeRemaining
    return left == UIApplication.backgroundTimeUnlimited ? nil : left
}

@MainActor func beginTask(noting notebook: Notebook) {
    let running = RunningTask()
    running.identifier = UIApplication.shared.beginBackgroundTask(withName: "linger") {
        notebook.note("expired")
        UIApplication.shared.endBackgroundTask(running.identifier)
    }
}

@MainActor private final class RunningTask {
    var identifier = UIBackgroundTaskIdentifier.invalid
}

struct DeviceFacts: Sendable {
    var version: String
    var name: String
    var vendor: UUID?
    var refresh: Int
    var isLowPower: Bool
    var isProtectedDataAvailable: Bool
}

@MainActor func deviceFacts() -> DeviceFacts {
    DeviceFacts(
        version: UIDevice.current.systemVersion, name: UIDevice.current.systemName,
        vendor: UIDevice.current.identifierForVendor,
        refresh: UIApplication.shared.backgroundRefreshStatus.rawValue,
        isLowPower: ProcessInfo.processInfo.isLowPowerModeEnabled,
        isProtectedDataAvailable: UIApplication.shared.isProtectedDataAvailable)
}

@MainActor func noteRefreshChanges(in notebook: Notebook) {
    let application = UIApplication.shared
    _ = NotificationCenter.default.addObserver(
        forName: UIApplication.backgroundRefreshStatusDidChangeNotification, object: application, queue: nil
    ) { _ in notebook.note("refresh changed") }
}
