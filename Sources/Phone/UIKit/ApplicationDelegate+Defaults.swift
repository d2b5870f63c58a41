public import Foundation
import VirtualPhone

// The defaults replace optional methods that an app does not have. Where iOS would not have called one, the default reports it.
extension UIApplicationDelegate {
    /// Nil, unless the delegate keeps one.
    public var window: UIWindow? {
        get { nil }
        set {}
    }
    /// Yes, unless the delegate says otherwise.
    public func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }
    /// Calls the form without options.
    public func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        self.applicationDidFinishLaunching(application)
        return true
    }
    /// Nothing, unless the delegate has it.
    public func applicationDidFinishLaunching(_ application: UIApplication) {}
    /// Nothing, unless the delegate has it.
    public func applicationWillEnterForeground(_ application: UIApplication) {}
    /// Nothing, unless the delegate has it.
    public func applicationDidBecomeActive(_ application: UIApplication) {}
    /// Nothing, unless the delegate has it.
    public func applicationWillResignActive(_ application: UIApplication) {}
    /// Nothing, unless the delegate has it.
    public func applicationDidEnterBackground(_ application: UIApplication) {}
    /// Nothing, unless the delegate has it.
    public func applicationWillTerminate(_ application: UIApplication) {}
    /// Nothing, unless the delegate has it.
    public func applicationDidReceiveMemoryWarning(_ application: UIApplication) {}
    /// The default one, unless the delegate says otherwise.
    public func application(
        _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        UISceneConfiguration(name: "Default Configuration", sessionRole: connectingSceneSession.role)
    }
    /// Nothing, unless the delegate has it.
    public func application(
        _ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>
    ) {}
    /// Nothing, unless the delegate has it.
    public func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {}
    /// Nothing, unless the delegate has it.
    public func applicationProtectedDataWillBecomeUnavailable(_ application: UIApplication) {}
    /// Nothing, unless the delegate has it.
    public func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {}
    /// Nothing, unless the delegate has it.
    public func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {}
    /// Nothing, unless the delegate has it.
    public func application(_ application: UIApplication, didRegister notificationSettings: UIUserNotificationSettings)
    {}
    /// Reports that the delegate lacks it.
    public func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {
        PhoneProcess.reportMissing("application(_:didReceiveRemoteNotification:)")
    }
    /// Calls the async form.
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) {
        Task { @MainActor in
            completionHandler(await self.application(application, didReceiveRemoteNotification: userInfo))
        }
    }
    /// Reports that the delegate lacks it.
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        PhoneProcess.reportMissing("application(_:didReceiveRemoteNotification:fetchCompletionHandler:)")
        return .noData
    }
    /// Reports that the delegate lacks it.
    public func application(_ application: UIApplication, didReceive notification: UILocalNotification) {
        PhoneProcess.reportMissing("application(_:didReceive:)")
    }
    /// Calls the async form.
    public func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) { Task { @MainActor in completionHandler(await self.applicationPerformFetch(application)) } }
    /// Reports that the delegate lacks it.
    public func applicationPerformFetch(_ application: UIApplication) async -> UIBackgroundFetchResult {
        PhoneProcess.reportMissing("application(_:performFetchWithCompletionHandler:)")
        return .noData
    }
}

// Custom actions of iOS 8 and 9.
extension UIApplicationDelegate {
    /// Calls the async form.
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
    /// Reports that the delegate lacks it.
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any]
    ) async {
        PhoneProcess.reportMissing(
            "application(_:handleActionWithIdentifier:forRemoteNotification:completionHandler:)")
    }
    /// Calls the async form.
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
    /// Reports that the delegate lacks it.
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], withResponseInfo responseInfo: [AnyHashable: Any]
    ) async {
        PhoneProcess.reportMissing(
            "application(_:handleActionWithIdentifier:forRemoteNotification:withResponseInfo:completionHandler:)")
    }
    /// Calls the async form.
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, completionHandler: @escaping @Sendable () -> Void
    ) {
        Task { @MainActor in
            await self.application(application, handleActionWithIdentifier: identifier, for: notification)
            completionHandler()
        }
    }
    /// Reports that the delegate lacks it.
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification
    ) async { PhoneProcess.reportMissing("application(_:handleActionWithIdentifier:for:completionHandler:)") }
    /// Calls the async form.
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
    /// Reports that the delegate lacks it.
    public func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, withResponseInfo responseInfo: [AnyHashable: Any]
    ) async {
        PhoneProcess.reportMissing(
            "application(_:handleActionWithIdentifier:for:withResponseInfo:completionHandler:)")
    }
}
