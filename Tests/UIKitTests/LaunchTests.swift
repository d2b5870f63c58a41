import Foundation
import PhoneCore
import Requirements
import Testing
import TidingsModel
import UIKit
import UserNotifications
import VirtualPhone

private final class CuriousApp: UIResponder, UIApplicationDelegate, @preconcurrency UNUserNotificationCenterDelegate {
    private let notebook: Notebook
    init(_ notebook: Notebook) { self.notebook = notebook }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        self.notebook.note("registered \(application.isRegisteredForRemoteNotifications)")
        let notebook = self.notebook
        _ = NotificationCenter.default.addObserver(
            forName: UIApplication.didFinishLaunchingNotification, object: application, queue: nil
        ) { notification in
            let key = UIApplication.LaunchOptionsKey.remoteNotification
            let payload = notification.userInfo?[key] as? [AnyHashable: Any]
            notebook.note("launched for \(payload?["k"] as? String ?? "-")")
        }
        UNUserNotificationCenter.current().delegate = self
        UNUserNotificationCenter.current().requestAuthorization(options: [.alert]) { _, _ in }
        application.registerForRemoteNotifications()
        return true
    }

    func application(
        _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        let response = options.notificationResponse?.notification.request.content.body
        self.notebook.note("configuration for \(response ?? "-")")
        return UISceneConfiguration(name: "Main", sessionRole: connectingSceneSession.role)
    }

    func applicationPerformFetch(_ application: UIApplication) async -> UIBackgroundFetchResult {
        self.notebook.note("PF")
        return .newData
    }

    func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async {
    }

    static let methods: DelegateMethods = [.performFetch, .receiveResponse]
}

private final class CuriousScene: UIResponder, UIWindowSceneDelegate {
    private let notebook: Notebook
    init(_ notebook: Notebook) { self.notebook = notebook }

    private func note(_ call: String, _ scene: UIScene) {
        self.notebook.note("\(call) \(scene.activationState) \(UIApplication.shared.applicationState)")
    }

    func sceneWillEnterForeground(_ scene: UIScene) { self.note("WEF", scene) }
    func sceneDidBecomeActive(_ scene: UIScene) { self.note("DBA", scene) }
    func sceneWillResignActive(_ scene: UIScene) { self.note("WRA", scene) }
    func sceneDidEnterBackground(_ scene: UIScene) { self.note("DEB", scene) }
}

private final class ForgetfulApp: UIResponder, UIApplicationDelegate {
    private final class Lost: UNUserNotificationCenterDelegate {
        func userNotificationCenter(
            _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
        ) async {}
    }

    private let notebook: Notebook
    init(_ notebook: Notebook) { self.notebook = notebook }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        UNUserNotificationCenter.current().delegate = Lost()
        UNUserNotificationCenter.current().requestAuthorization(options: [.alert]) { _, _ in }
        application.registerForRemoteNotifications()
        return true
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        self.notebook.note("RF")
        return .newData
    }

    static let methods: DelegateMethods = [.receiveRemoteFetch, .receiveResponse]
}

@MainActor @Suite struct `What an app can know when it is called` {
    private let notebook = Notebook()

    private func phone(_ lifecycle: LifecycleStyle, on version: OSVersion = 17) async -> VirtualPhone {
        let phone = VirtualPhone(osVersion: version)
        phone.install(
            InstalledApp(
                bundleID: chat, lifecycle: lifecycle, methods: CuriousApp.methods,
                backgroundModes: [.fetch, .remoteNotification], hasServiceExtension: false),
            code: VirtualApp(delegates: CuriousApp.methods, lifecycle: lifecycle).code { [notebook] in
                CuriousApp(notebook)
            } sceneDelegate: { [notebook] in
                CuriousScene(notebook)
            })
        await phone.allowNotifications()
        await phone.launch()
        return phone
    }

    @Test func `is the scene's state as it is, not as it will be`() async {
        let phone = await self.phone(.scenes)
        #expect(
            self.notebook.lines.suffix(2) == ["WEF foregroundInactive inactive", "DBA foregroundActive active"])
        self.notebook.clear()
        await phone.home()
        await phone.launch()
        #expect(
            self.notebook.lines == [
                "WRA foregroundActive active", "DEB background background", "WEF background background",
                "DBA foregroundActive active",
            ])
        #expect(phone.faults == [])
    }

    @Test func `is what was tapped, before the scene is connected`() async {
        let phone = await self.phone(.scenes)
        #expect(self.notebook.lines.contains("configuration for -"))
        await phone.home()
        await phone.terminate()
        await phone.deliver(alert("tapped"))
        self.notebook.clear()
        await phone.tap()
        #expect(self.notebook.lines.contains("configuration for tapped"))
    }

    @Test(.requirement("S0.21"))
    func `are its launch options, also as an observer of the launch`() async {
        let phone = await self.phone(.application)
        #expect(self.notebook.lines.contains("launched for -"))
        await phone.forceQuit()
        await phone.deliver(["aps": ["alert": "hi"], "k": "payload"])
        self.notebook.clear()
        await phone.tap()
        #expect(self.notebook.lines.contains("launched for payload"))
    }

    @Test(.requirement("S2.5"))
    func `is whether it is registered, remembered by the phone`() async {
        let phone = await self.phone(.application)
        #expect(self.notebook.lines.first == "registered false")
        await phone.terminate()
        self.notebook.clear()
        await phone.launch()
        #expect(self.notebook.lines.first == "registered true")
        await phone.inApp { UIApplication.shared.unregisterForRemoteNotifications() }
        #expect(await phone.inApp { UIApplication.shared.isRegisteredForRemoteNotifications } == false)
    }

    @Test(.requirement("S4.13")) func `is that it may fetch, in the async form`() async {
        let phone = await self.phone(.application, on: 12)
        await phone.inApp { UIApplication.shared.setMinimumBackgroundFetchInterval(.zero) }
        await phone.home()
        await phone.advance(by: .seconds(10))
        await phone.giveBackgroundChance()
        #expect(self.notebook.lines.last == "PF")
        #expect(phone.faults == [])
    }

    @Test func `is a fault when it has the async form of a fetch and does not declare it`() async {
        let phone = VirtualPhone(osVersion: 12)
        phone.install(
            InstalledApp(
                bundleID: chat, lifecycle: .application, methods: .receiveResponse, hasServiceExtension: false),
            code: VirtualApp(delegates: .receiveResponse, lifecycle: .application).code { [notebook] in
                CuriousApp(notebook)
            })
        await phone.launch()
        #expect(
            phone.faults == [
                "application(_:performFetchWithCompletionHandler:) is implemented by CuriousApp and not declared in"
                    + " VirtualApp(delegates:)"
            ])
    }

    @Test func `is nothing at a delegate of the centre that nobody keeps: the older callbacks come`() async {
        let phone = VirtualPhone(osVersion: 17)
        phone.install(
            InstalledApp(
                bundleID: chat, lifecycle: .application, methods: ForgetfulApp.methods, hasServiceExtension: false),
            code: VirtualApp(delegates: ForgetfulApp.methods, lifecycle: .application).code { [notebook] in
                ForgetfulApp(notebook)
            })
        await phone.allowNotifications()
        await phone.launch()
        await phone.home()
        await phone.deliver(["aps": ["alert": "hi"]])
        await phone.tap()
        #expect(self.notebook.lines == ["RF"])
        // What the tap calls is decided when the launch is over: the phone must know by then.
        await phone.terminate()
        await phone.deliver(["aps": ["alert": "hi"]])
        await phone.tap()
        #expect(self.notebook.lines == ["RF", "RF"])
        let gone = "the delegate of UNUserNotificationCenter is gone: the centre holds it weakly, so keep it elsewhere"
        #expect(phone.faults == [gone, gone])
    }
}
