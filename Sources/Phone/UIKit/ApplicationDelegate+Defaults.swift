public import Foundation
import VirtualPhone

// The defaults replace optional methods that an app does not have. Where iOS would not have called one, the default reports it.
extension UIApplicationDelegate {
    public var window: UIWindow? {
        get { nil }
        set {}
    }
    public func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }
    public func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        self.applicationDidFinishLaunching(application)
        return true
    }
    public func applicationDidFinishLaunching(_ application: UIApplication) {}
    public func applicationWillEnterForeground(_ application: UIApplication) {}
    public func applicationDidBecomeActive(_ application: UIApplication) {}
    public func applicationWillResignActive(_ application: UIApplication) {}
    public func applicationDidEnterBackground(_ application: UIApplication) {}
    public func applicationWillTerminate(_ application: UIApplication) {}
    public func applicationDidReceiveMemoryWarning(_ application: UIApplication) {}
    public func application(
        _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        UISceneConfiguration(name: "Default Configuration", sessionRole: connectingSceneSession.role)
    }
    public func application(
        _ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>
    ) {}
    public func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {}
    public func applicationProtectedDataWillBecomeUnavailable(_ application: UIApplication) {}
    public func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {}
    public func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {}
    public func application(_ application: UIApplication, didRegister notificationSettings: UIUserNotificationSettings)
    {}
    public func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {
        PhoneProcess.reportMissing("application(_:didReceiveRemoteNotification:)")
    }
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) {
        Task { @MainActor in
            completionHandler(await self.application(application, didReceiveRemoteNotification: userInfo))
        }
    }
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        PhoneProcess.reportMissing("application(_:didReceiveRemoteNotification:fetchCompletionHandler:)")
        return .noData
    }
    public func application(_ application: UIApplication, didReceive notification: UILocalNotification) {
        PhoneProcess.reportMissing("application(_:didReceive:)")
    }
    public func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) { Task { @MainActor in completionHandler(await self.applicationPerformFetch(application)) } }
    public func applicationPerformFetch(_ application: UIApplication) async -> UIBackgroundFetchResult {
        PhoneProcess.reportMissing("application(_:performFetchWithCompletionHandler:)")
        return .noData
    }
}

// Custom actions of iOS 8 and 9.
extension UIApplicationDelegate {
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], completionHandler: @escaping @Sendable () -> Void
    ) {
        Task { @MainActor in
            await self.application(
                application, handleActionWithIdentifier: identifier, forRemoteNotification: userInfo)
            completionHandler()
        }
    }
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any]
    ) async {
        PhoneProcess.reportMissing(
            "application(_:handleActionWithIdentifier:forRemoteNotification:completionHandler:)")
    }
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], withResponseInfo responseInfo: [AnyHashable: Any],
        completionHandler: @escaping @Sendable () -> Void
    ) {
        Task { @MainActor in
            await self.application(
                application, handleActionWithIdentifier: identifier, forRemoteNotification: userInfo,
                withResponseInfo: responseInfo)
            completionHandler()
        }
    }
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], withResponseInfo responseInfo: [AnyHashable: Any]
    ) async {
        PhoneProcess.reportMissing(
            "application(_:handleActionWithIdentifier:forRemoteNotification:withResponseInfo:completionHandler:)")
    }
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, completionHandler: @escaping @Sendable () -> Void
    ) {
        Task { @MainActor in
            await self.application(application, handleActionWithIdentifier: identifier, for: notification)
            completionHandler()
        }
    }
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification
    ) async { PhoneProcess.reportMissing("application(_:handleActionWithIdentifier:for:completionHandler:)") }
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, withResponseInfo responseInfo: [AnyHashable: Any],
        completionHandler: @escaping @Sendable () -> Void
    ) {
        Task { @MainActor in
            await self.application(
                application, handleActionWithIdentifier: identifier, for: notification, withResponseInfo: responseInfo)
            completionHandler()
        }
    }
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, withResponseInfo responseInfo: [AnyHashable: Any]
    ) async {
        PhoneProcess.reportMissing(
            "application(_:handleActionWithIdentifier:for:withResponseInfo:completionHandler:)")
    }
}
