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
    /// The app is being launched: the first call of a process.
    func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    /// The launch is done when it returns: the notification centre's delegate has to be set by then (ios-delivery.md §6.1).
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    /// The app was launched: the form of iOS 2, called if `application(_:didFinishLaunchingWithOptions:)` is not there.
    func applicationDidFinishLaunching(_ application: UIApplication)
    /// The app is about to enter the foreground.
    func applicationWillEnterForeground(_ application: UIApplication)
    /// The app is active.
    func applicationDidBecomeActive(_ application: UIApplication)
    /// The app is about to be inactive.
    func applicationWillResignActive(_ application: UIApplication)
    /// The app is in the background.
    func applicationDidEnterBackground(_ application: UIApplication)
    /// The app is about to be ended.
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
    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
    /// There is no device token.
    func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)
    /// A push, arriving in the foreground or tapped.
    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any])
    /// A push, arriving in the foreground, silent or tapped.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void)
    /// `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`, async form.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult
    /// A local notification, arriving in the foreground or tapped.
    func application(_ application: UIApplication, didReceive notification: UILocalNotification)
    /// Background Fetch.
    func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void)
    /// `application(_:performFetchWithCompletionHandler:)`, async form.
    func applicationPerformFetch(_ application: UIApplication) async -> UIBackgroundFetchResult
    /// Tells the types that the person allowed on iOS 8–9.
    func application(_ application: UIApplication, didRegister notificationSettings: UIUserNotificationSettings)
    /// An action on a push (iOS 8).
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], completionHandler: @escaping @Sendable () -> Void)
    /// The same, async form.
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any]) async
    /// An action on a push, with what was typed (iOS 9).
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], withResponseInfo responseInfo: [AnyHashable: Any],
        completionHandler: @escaping @Sendable () -> Void)
    /// The same, async form.
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        forRemoteNotification userInfo: [AnyHashable: Any], withResponseInfo responseInfo: [AnyHashable: Any]) async
    /// An action on a local notification (iOS 8).
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, completionHandler: @escaping @Sendable () -> Void)
    /// The same, async form.
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification) async
    /// An action on a local notification, with what was typed (iOS 9).
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, withResponseInfo responseInfo: [AnyHashable: Any],
        completionHandler: @escaping @Sendable () -> Void)
    /// The same, async form.
    func application(
        _ application: UIApplication, handleActionWithIdentifier identifier: String?,
        for notification: UILocalNotification, withResponseInfo responseInfo: [AnyHashable: Any]) async
}
