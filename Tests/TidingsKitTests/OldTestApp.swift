import Foundation
import PhoneCore
import TidingsClient
import TidingsKit
import UIKit
import VirtualPhone

/// An app of the years before iOS 10: no notification centre, no scenes; it forwards the old callbacks.
@MainActor final class OldTestApp: UIResponder, UIApplicationDelegate {
    static let methods: DelegateMethods = [.receiveRemote, .receiveRemoteFetch, .receiveLocal, .performFetch]
    let bench: ChatBench
    private(set) var kit: NotificationIntegration?
    var window: UIWindow?

    init(bench: ChatBench) { self.bench = bench }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let kit = self.bench.makeKit(in: application)
        self.kit = kit
        application.setMinimumBackgroundFetchInterval(UIApplication.backgroundFetchIntervalMinimum)
        return self.bench.start(kit, with: launchOptions)
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) { self.kit?.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken) }

    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {
        self.kit?.application(application, didReceiveRemoteNotification: userInfo)
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) {
        let isOurs = self.kit?.application(
            application, didReceiveRemoteNotification: userInfo, fetchCompletionHandler: completionHandler)
        if isOurs != true { completionHandler(.noData) }
    }

    func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) {
        let isOurs = self.kit?.application(application, performFetchWithCompletionHandler: completionHandler)
        if isOurs != true { completionHandler(.noData) }
    }

    func application(_ application: UIApplication, didReceive notification: UILocalNotification) {
        self.kit?.application(application, didReceive: notification)
    }
}
