import Foundation
import TidingsModel
import UIKit
import UserNotifications
import VirtualPhone

// An app of one screen, in a process of its own: a button that counts, one whose work is done by a task later, and as many more
// labels as SCREEN_LABELS says. With SCREEN_ACTIVITY it has a Live Activity: one with a token, one that listens to the channel named, or none
// until a push starts it. With SCREEN_NOTES it has as many notes instead, asks for notifications, and tells of taps on them.

final class CountingScreen: UIViewController {
    private let count = UILabel()
    private var taps = 0

    override func viewDidLoad() {
        super.viewDidLoad()
        self.count.text = "0 taps"
        let now = UIButton(type: .system, primaryAction: UIAction(title: "Count") { [weak self] _ in self?.add() })
        let later = UIButton(
            type: .system,
            primaryAction: UIAction(title: "Count Later") { [weak self] _ in
                Task {
                    try? await Task.sleep(for: .milliseconds(50))
                    self?.add()
                }
            })
        let more = Int(ProcessInfo.processInfo.environment["SCREEN_LABELS"] ?? "") ?? 0
        let labels = (0..<more).map { number in
            let label = UILabel()
            label.text = "label \(number)"
            return label
        }
        let stack = UIStackView(arrangedSubviews: [self.count, now, later] + labels)
        stack.axis = .vertical
        self.view.addSubview(stack)
    }

    private func add() {
        self.taps += 1
        self.count.text = "\(self.taps) taps"
    }
}

final class AppDelegate: UIResponder, UIApplicationDelegate, @preconcurrency UNUserNotificationCenterDelegate {
    var window: UIWindow?
    private var notes: NotesScreen?
    private var isAllowed = false
    private var hasActivity = false

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let window = UIWindow(frame: UIScreen.main.bounds)
        if let count = Int(ProcessInfo.processInfo.environment["SCREEN_NOTES"] ?? "") {
            let notes = NotesScreen(count: count)
            self.notes = notes
            window.rootViewController = notes
            self.askForNotifications(application)
        } else {
            window.rootViewController = CountingScreen()
        }
        window.makeKeyAndVisible()
        self.window = window
        return true
    }

    func applicationDidBecomeActive(_ application: UIApplication) {
        guard let kind = ProcessInfo.processInfo.environment["SCREEN_ACTIVITY"], !self.hasActivity else { return }
        self.hasActivity = true
        switch kind {
        case "start": PhoneActivities.shared.requestPushToStartToken()
        case "token": PhoneActivities.shared.start("ride", pushType: .token, contentState: ["eta": 9])
        default: PhoneActivities.shared.start("ride", pushType: .channel(kind), contentState: ["eta": 9])
        }
    }

    private func askForNotifications(_ application: UIApplication) {
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        center.setNotificationCategories([
            UNNotificationCategory(
                identifier: "question",
                actions: [
                    UNTextInputNotificationAction(
                        identifier: "answer", title: "Answer", textInputButtonTitle: "Send", textInputPlaceholder: "")
                ],
                intentIdentifiers: [])
        ])
        Task {
            let isGranted = (try? await center.requestAuthorization(options: [.alert, .badge, .sound])) ?? false
            self.isAllowed = isGranted
            application.registerForRemoteNotifications()
        }
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) { self.notes?.tellRegistration(self.isAllowed ? "registered" : "registered, not allowed") }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    ) {
        let body = response.notification.request.content.body
        let text = (response as? UNTextInputNotificationResponse)?.userText
        self.notes?.tell(text.map { "answered \(body): \($0)" } ?? "opened: \(body)")
        completionHandler()
    }
}

VirtualApp(delegates: .modern, lifecycle: .application).run(delegate: AppDelegate())
