import Foundation
import TidingsUI
import UIKit

#if TIDINGS_UIKIT
    /// The delegate as apps had it before iOS 10 and before scenes: forwards to the kit, each call in one line. For the virtual phone of
    /// those versions alone: the package's oldest system is iOS 15, where none of these calls is made.
    @MainActor final class LegacyAppDelegate: UIResponder, UIApplicationDelegate {
        let configuration: AppConfiguration
        var window: UIWindow?
        private(set) var chat: ChatSession?

        init(configuration: AppConfiguration) { self.configuration = configuration }

        /// For `@main` in an Xcode project.
        override convenience init() { self.init(configuration: .ofProcess) }

        // MARK: Launch and registration

        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool {
            let chat = self.makeSession(self.configuration)
            let answer = chat.kit.application(application, didFinishLaunchingWithOptions: launchOptions)
            self.register(in: application)
            application.setMinimumBackgroundFetchInterval(UIApplication.backgroundFetchIntervalMinimum)
            chat.start()
            let window = UIWindow()
            self.window = window
            // Another one, if somebody is signed in elsewhere.
            self.chat?.show(in: window)
            return answer
        }

        private func makeSession(_ configuration: AppConfiguration) -> ChatSession {
            let chat = ChatSession(configuration: configuration)
            self.chat = chat
            chat.onMove = { [weak self] configuration in
                guard let self else { return }
                let chat = self.makeSession(configuration)
                // The new session has no device token yet.
                self.register(in: .shared)
                chat.start()
                if let window { chat.show(in: window) }
            }
            return chat
        }

        /// What iOS gave nobody before the first unlock is there.
        func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) { self.chat?.signInAgain() }

        /// Asks the person, each system in its own way, and for a device token.
        private func register(in application: UIApplication) {
            if UIDevice.current.majorVersion >= 8 {
                application.registerUserNotificationSettings(
                    UIUserNotificationSettings(types: [.alert, .badge, .sound], categories: [Self.messageCategory]))
            } else {
                application.registerForRemoteNotifications(matching: [.alert, .badge, .sound])
            }
        }

        func application(_ application: UIApplication, didRegister notificationSettings: UIUserNotificationSettings) {
            application.registerForRemoteNotifications()
        }

        func application(
            _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
        ) { self.chat?.kit.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken) }

        func application(
            _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
        ) { self.chat?.kit.application(application, didFailToRegisterForRemoteNotificationsWithError: error) }

        /// Reply (with text from iOS 9 on) and Mark as Read, as the kit names them.
        private static var messageCategory: UIUserNotificationCategory {
            let reply = UIMutableUserNotificationAction()
            reply.identifier = MessageCategory.replyAction
            reply.title = "Reply"
            reply.behavior = .textInput
            reply.activationMode = .background
            reply.isAuthenticationRequired = false
            let read = UIMutableUserNotificationAction()
            read.identifier = MessageCategory.markReadAction
            read.title = "Mark as Read"
            read.activationMode = .background
            read.isAuthenticationRequired = false
            let category = UIMutableUserNotificationCategory()
            category.identifier = MessageCategory.identifier
            category.setActions([reply, read], for: .default)
            return category
        }

        // MARK: Pushes and local notifications

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

        func application(_ application: UIApplication, didReceive notification: UILocalNotification) {
            self.chat?.kit.application(application, didReceive: notification)
        }

        func application(
            _ application: UIApplication,
            performFetchWithCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
        ) {
            let isOurs = self.chat?.kit.application(application, performFetchWithCompletionHandler: completionHandler)
            if isOurs != true { completionHandler(.noData) }
        }

        // MARK: Actions

        func application(
            _ application: UIApplication, handleActionWithIdentifier identifier: String?,
            forRemoteNotification userInfo: [AnyHashable: Any], completionHandler: @escaping @Sendable () -> Void
        ) {
            let isOurs = self.chat?.kit.application(
                application, handleActionWithIdentifier: identifier, forRemoteNotification: userInfo,
                completionHandler: completionHandler)
            if isOurs != true { completionHandler() }
        }

        func application(
            _ application: UIApplication, handleActionWithIdentifier identifier: String?,
            forRemoteNotification userInfo: [AnyHashable: Any], withResponseInfo responseInfo: [AnyHashable: Any],
            completionHandler: @escaping @Sendable () -> Void
        ) {
            let isOurs = self.chat?.kit.application(
                application, handleActionWithIdentifier: identifier, forRemoteNotification: userInfo,
                withResponseInfo: responseInfo, completionHandler: completionHandler)
            if isOurs != true { completionHandler() }
        }

        func application(
            _ application: UIApplication, handleActionWithIdentifier identifier: String?,
            for notification: UILocalNotification, completionHandler: @escaping @Sendable () -> Void
        ) {
            let isOurs = self.chat?.kit.application(
                application, handleActionWithIdentifier: identifier, for: notification,
                completionHandler: completionHandler)
            if isOurs != true { completionHandler() }
        }

        func application(
            _ application: UIApplication, handleActionWithIdentifier identifier: String?,
            for notification: UILocalNotification, withResponseInfo responseInfo: [AnyHashable: Any],
            completionHandler: @escaping @Sendable () -> Void
        ) {
            let isOurs = self.chat?.kit.application(
                application, handleActionWithIdentifier: identifier, for: notification, withResponseInfo: responseInfo,
                completionHandler: completionHandler)
            if isOurs != true { completionHandler() }
        }
    }
#endif
