import Foundation
import PhoneCore
import UIKit
import VirtualPhone

/// An app of the time before UserNotifications and scenes.
final class OldDelegate: UIResponder, UIApplicationDelegate {
    let notebook: Notebook
    init(_ notebook: Notebook) { self.notebook = notebook }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let payload = launchOptions?[.remoteNotification] as? [AnyHashable: Any]
        let local = launchOptions?[.localNotification] as? UILocalNotification
        self.notebook.note(
            "DF \(payload.map { "remote \($0["k"] as? String ?? "-")" } ?? local.map { "local \($0.alertBody ?? "-")" } ?? "-")"
        )
        application.registerUserNotificationSettings(
            UIUserNotificationSettings(types: [.alert, .badge, .sound], categories: nil))
        application.registerForRemoteNotifications()
        return true
    }
    func applicationWillEnterForeground(_ application: UIApplication) { self.notebook.note("WEF") }
    func applicationDidBecomeActive(_ application: UIApplication) { self.notebook.note("DBA") }
    func applicationWillResignActive(_ application: UIApplication) { self.notebook.note("WRA") }
    func applicationDidEnterBackground(_ application: UIApplication) { self.notebook.note("DEB") }
    func applicationWillTerminate(_ application: UIApplication) { self.notebook.note("WT") }
    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {
        self.notebook.note("R0 \(application.applicationState) \(userInfo["k"] as? String ?? "-")")
    }
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        self.notebook.note("RF \(application.applicationState) \(userInfo["k"] as? String ?? "-")")
        completionHandler(.newData)
    }
    func application(_ application: UIApplication, didReceive notification: UILocalNotification) {
        self.notebook.note("L0 \(application.applicationState) \(notification.alertBody ?? "-")")
    }
}

/// A phone of the era with the old app, launched and allowed to notify.
@MainActor func oldPhone(_ version: OSVersion, _ methods: DelegateMethods, _ notebook: Notebook) async -> VirtualPhone {
    let phone = VirtualPhone(osVersion: version)
    phone.install(
        InstalledApp(bundleID: chat, lifecycle: .application, methods: methods, hasServiceExtension: false),
        code: VirtualApp(delegates: methods, lifecycle: .application).code { OldDelegate(notebook) })
    await phone.allowNotifications()
    await phone.launch()
    notebook.clear()
    return phone
}

@MainActor func presentLocalNow(_ text: String) {
    let notification = UILocalNotification()
    notification.alertBody = text
    notification.userInfo = ["k": "local"]
    UIApplication.shared.presentLocalNotificationNow(notification)
}

/// What the little app shows after some navigation, and what its controllers say of themselves.
@MainActor func navigate() -> [[String]] {
    final class Screen: UIViewController {
        init(_ title: String) {
            super.init()
            self.title = title
        }
    }
    var seen: [[String]] = []
    let chats = UINavigationController(rootViewController: Screen("Conversations"))
    let tabs = UITabBarController()
    tabs.viewControllers = [chats, UINavigationController(rootViewController: Screen("Settings"))]
    let window = UIWindow()
    window.rootViewController = tabs
    window.makeKeyAndVisible()
    seen.append(window.visibleScreens)
    let detail = Screen("Chat PR:alice")
    detail.hidesBottomBarWhenPushed = true
    chats.pushViewController(detail, animated: true)
    seen.append(window.visibleScreens)
    tabs.selectedIndex = 1
    seen.append(window.visibleScreens)
    tabs.selectedIndex = 0
    detail.present(Screen("Picture"), animated: true)
    seen.append(window.visibleScreens)
    detail.dismiss(animated: false)
    chats.popToRootViewController(animated: false)
    seen.append(window.visibleScreens)
    seen.append([
        detail.navigationController == nil ? "off the stack" : "on the stack",
        chats.topViewController?.tabBarController === tabs ? "in the tabs" : "lost",
    ])
    return seen
}
