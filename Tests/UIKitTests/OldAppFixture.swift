import Foundation
import PhoneCore
import UIKit
import VirtualPhone

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
        if Double(UIDevice.current.systemVersion) ?? 17 < 8 {
            application.registerForRemoteNotifications(matching: [.alert, .badge, .sound])
        } else {
            application.registerUserNotificationSettings(
                UIUserNotificationSettings(types: [.alert, .badge, .sound], categories: nil))
            application.registerForRemoteNotifications()
        }
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

@MainActor func oldPhone(_ version: OSVersion, _ notebook: Notebook) async -> VirtualPhone {
    let methods: DelegateMethods = [.receiveRemote, .receiveRemoteFetch, .receiveLocal]
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
