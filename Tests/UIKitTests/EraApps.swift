import AudioToolbox
import Foundation
import PhoneCore
import UIKit
import UserNotifications
import VirtualPhone

// Delegates as Apple's documentation of each era has them, unchanged but for what docs/testing/phone-facades.md lists. What they
// would do in an app, they note.

/// iOS 3–6.
class SixDelegate: UIResponder, UIApplicationDelegate {
    var window: UIWindow?
    let notebook: Notebook
    init(_ notebook: Notebook) { self.notebook = notebook }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        self.window = UIWindow(frame: UIScreen.main.bounds)
        self.window?.rootViewController = UIViewController()
        self.window?.backgroundColor = UIColor.white
        self.window?.makeKeyAndVisible()
        application.registerForRemoteNotifications(matching: [.alert, .badge, .sound])
        // S4.5: launched by a notification.
        if let payload = launchOptions?[.remoteNotification] as? [AnyHashable: Any] {
            self.notebook.note("DF remote \(payload["k"] as? String ?? "-")")
        } else if let local = launchOptions?[.localNotification] as? UILocalNotification {
            self.notebook.note("DF local \(local.userInfo?["k"] as? String ?? "-")")
        } else {
            self.notebook.note("DF")
        }
        return true
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) { self.notebook.note("token \(deviceToken.map { String(format: "%02x", $0) }.joined().count)") }

    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) { self.notebook.note("no token: \(error.localizedDescription)") }

    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {
        // S4.6: in the foreground an own banner with a sound, else the screen.
        let aps = userInfo["aps"] as? [String: Any]
        let body = aps?["alert"] as? String ?? (aps?["alert"] as? [String: Any])?["body"] as? String
        if application.applicationState == .active {
            AudioServicesPlaySystemSound(1007)
            AudioServicesPlaySystemSound(kSystemSoundID_Vibrate)
            self.notebook.note("R0 banner \(body ?? "-")")
        } else {
            self.notebook.note("R0 open \(userInfo["k"] as? String ?? "-")")
        }
    }

    func application(_ application: UIApplication, didReceive notification: UILocalNotification) {
        self.notebook.note("L0 \(application.applicationState) \(notification.userInfo?["k"] as? String ?? "-")")
    }
}

/// iOS 8–9: settings with categories, custom actions, typed text, silent pushes and Background Fetch.
class NineDelegate: UIResponder, UIApplicationDelegate {
    var window: UIWindow?
    let notebook: Notebook
    init(_ notebook: Notebook) { self.notebook = notebook }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        self.notebook.note("DF \(launchOptions?[.remoteNotification] == nil ? "-" : "remote")")
        let reply = UIMutableUserNotificationAction()
        reply.identifier = "reply"
        reply.title = "Reply"
        reply.behavior = .textInput
        reply.activationMode = .background
        reply.isAuthenticationRequired = false
        let show = UIMutableUserNotificationAction()
        show.identifier = "show"
        show.title = "Show"
        show.activationMode = .foreground
        let category = UIMutableUserNotificationCategory()
        category.identifier = "message"
        category.setActions([reply, show], for: .default)
        category.setActions([reply], for: .minimal)
        application.registerUserNotificationSettings(
            UIUserNotificationSettings(types: [.badge, .sound, .alert], categories: [category]))
        application.setMinimumBackgroundFetchInterval(UIApplication.backgroundFetchIntervalMinimum)
        return true
    }

    func application(_ application: UIApplication, didRegister notificationSettings: UIUserNotificationSettings) {
        self.notebook.note("allowed \(notificationSettings.types.rawValue)")
        application.registerForRemoteNotifications()
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        self.notebook.note("RF \(application.applicationState) \(userInfo["k"] as? String ?? "-")")
        completionHandler(.newData)
    }

    func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        self.notebook.note("PF \(application.applicationState)")
        completionHandler(.noData)
    }

    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], completionHandler: @escaping () -> Void
    ) {
        self.notebook.note("AR \(identifier ?? "-") \(userInfo["k"] as? String ?? "-")")
        completionHandler()
    }

    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], withResponseInfo responseInfo: [AnyHashable: Any],
        completionHandler: @escaping () -> Void
    ) {
        let text = responseInfo[UIUserNotificationActionResponseTypedTextKey] as? String
        self.notebook.note("AR9 \(identifier ?? "-") \(text ?? "-")")
        completionHandler()
    }

    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification
    ) async { self.notebook.note("AL \(identifier ?? "-") \(notification.alertBody ?? "-")") }

    static let methods: DelegateMethods = [
        .receiveRemoteFetch, .performFetch, .actionRemote, .actionRemoteText, .actionLocal,
    ]
}

/// iOS 10–12: the centre's delegate set before `application(_:didFinishLaunchingWithOptions:)` returns.
class TwelveDelegate: UIResponder, UIApplicationDelegate {
    var window: UIWindow?
    let notebook: Notebook
    init(_ notebook: Notebook) { self.notebook = notebook }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        self.notebook.note("DF \(launchOptions?[.remoteNotification] == nil ? "-" : "remote")")
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        let accept = UNNotificationAction(identifier: "accept", title: "Accept", options: [])
        let open = UNNotificationAction(identifier: "open", title: "Open", options: [.foreground])
        center.setNotificationCategories([
            UNNotificationCategory(
                identifier: "invitation", actions: [accept, open], intentIdentifiers: [],
                hiddenPreviewsBodyPlaceholder: "", options: .customDismissAction)
        ])
        center.requestAuthorization(options: [.alert, .sound, .badge, .providesAppNotificationSettings]) {
            granted, error in
            self.notebook.note("granted \(granted)")
        }
        application.registerForRemoteNotifications()
        return true
    }

    func applicationWillEnterForeground(_ application: UIApplication) { self.notebook.note("WEF") }
    func applicationDidBecomeActive(_ application: UIApplication) { self.notebook.note("DBA") }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        self.notebook.note("RF \(application.applicationState) \(userInfo["k"] as? String ?? "-")")
        return .newData
    }
}

extension TwelveDelegate: @preconcurrency UNUserNotificationCenterDelegate {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        self.notebook.note("WP \(notification.request.content.body)")
        completionHandler([.alert, .sound])
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        switch response.actionIdentifier {
        case UNNotificationDefaultActionIdentifier: self.notebook.note("DR tap")
        case UNNotificationDismissActionIdentifier: self.notebook.note("DR dismiss")
        default: self.notebook.note("DR \(response.actionIdentifier)")
        }
        completionHandler()
    }

    func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?) {
        self.notebook.note("OPS \(notification?.request.content.body ?? "-")")
    }

    static let methods: DelegateMethods = [.receiveRemoteFetch, .willPresent, .receiveResponse, .openSettings]
}

/// A phone with the app of an era, launched and allowed to notify; what it noted meanwhile is gone.
@MainActor func eraPhone(
    _ version: OSVersion, _ methods: DelegateMethods, modes: BackgroundModes = [.remoteNotification, .fetch],
    notebook: Notebook, delegate: @escaping @MainActor @Sendable () -> any UIApplicationDelegate
) async -> VirtualPhone {
    let phone = VirtualPhone(osVersion: version)
    phone.install(
        InstalledApp(
            bundleID: chat, lifecycle: .application, methods: methods, backgroundModes: modes,
            hasServiceExtension: false),
        code: VirtualApp(lifecycle: .application, delegates: methods).code(delegate: delegate))
    await phone.allowNotifications()
    await phone.launch()
    return phone
}
