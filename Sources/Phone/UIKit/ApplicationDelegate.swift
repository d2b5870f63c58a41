public import Foundation
import UserNotifications

/// Who is told about the app. On Apple's systems every method is optional and iOS asks before it calls; here
/// `VirtualApp(delegates:)` says which methods of `ios-delivery.md §0.3` the app has, and every method has a default.
///
/// The phone calls completion-handler forms; their defaults call the async forms, whose defaults report that neither is
/// there.
@MainActor public protocol UIApplicationDelegate: AnyObject {
    /// The window of an app without scenes.
    var window: UIWindow? { get set }
    /// WF.
    func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    /// DF.
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    /// The app was launched: the form of iOS 2, called if DF is not there.
    func applicationDidFinishLaunching(_ application: UIApplication)
    /// WEF.
    func applicationWillEnterForeground(_ application: UIApplication)
    /// DBA.
    func applicationDidBecomeActive(_ application: UIApplication)
    /// WRA.
    func applicationWillResignActive(_ application: UIApplication)
    /// DEB.
    func applicationDidEnterBackground(_ application: UIApplication)
    /// WT.
    func applicationWillTerminate(_ application: UIApplication)
    /// Memory is low.
    func applicationDidReceiveMemoryWarning(_ application: UIApplication)
    /// Chooses the configuration of a new scene.
    func application(
        _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration
    /// Sessions the person closed in the app switcher; a virtual phone keeps them.
    func application(_ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>)
    /// Files with protection can be read again.
    func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication)
    /// Files with protection are about to be out of reach.
    func applicationProtectedDataWillBecomeUnavailable(_ application: UIApplication)
    /// The device token.
    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
    /// There is no device token.
    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)
    /// R0.
    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any])
    /// RF.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void)
    /// RF, async form.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult
    /// L0.
    func application(_ application: UIApplication, didReceive notification: UILocalNotification)
    /// PF.
    func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void)
    /// PF, async form.
    func applicationPerformFetch(_ application: UIApplication) async -> UIBackgroundFetchResult
    /// What the person allowed on iOS 8–9.
    func application(_ application: UIApplication, didRegister notificationSettings: UIUserNotificationSettings)
    /// AR.
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], completionHandler: @escaping @Sendable () -> Void)
    /// AR, async form.
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any]
    ) async
    /// AR9.
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], withResponseInfo responseInfo: [AnyHashable: Any],
        completionHandler: @escaping @Sendable () -> Void)
    /// AR9, async form.
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], withResponseInfo responseInfo: [AnyHashable: Any]
    ) async
    /// AL.
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, completionHandler: @escaping @Sendable () -> Void)
    /// AL, async form.
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification
    ) async
    /// AL9.
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, withResponseInfo responseInfo: [AnyHashable: Any],
        completionHandler: @escaping @Sendable () -> Void)
    /// AL9, async form.
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, withResponseInfo responseInfo: [AnyHashable: Any]
    ) async
}
