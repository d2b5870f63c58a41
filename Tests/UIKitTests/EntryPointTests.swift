import PhoneCore
import Testing
import TidingsModel
import UIKit
import UserNotifications
import VirtualPhone

/// What the documentation of `VirtualPhone` itself shows, compiled and run: the tidy test holds that it shows these lines.
@MainActor @Suite struct `The first look at a virtual phone` {
    final class AppDelegate: UIResponder, UIApplicationDelegate {
        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool {
            application.registerForRemoteNotifications()
            Task { _ = try? await UNUserNotificationCenter.current().requestAuthorization(options: [.alert]) }
            return true
        }
    }
    final class SceneDelegate: UIResponder, UIWindowSceneDelegate {}
    final class NotificationService: UNNotificationServiceExtension {
        override func didReceive(
            _ request: UNNotificationRequest,
            withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) { contentHandler(request.content) }
    }

    @Test func `shows a push as a banner`() async {
        let phone = VirtualPhone(osVersion: 17)
        phone.install(
            InstalledApp(bundleID: "com.example.chat"),
            code: VirtualApp().code {
                AppDelegate()
            } sceneDelegate: {
                SceneDelegate()
            },
            serviceExtension: VirtualExtension.code { NotificationService() })
        await phone.launch()
        await phone.allowNotifications()
        await phone.home()
        await phone.deliver(["aps": ["alert": "hi"]])
        #expect(phone.screen.banners.count == 1)
    }
}
