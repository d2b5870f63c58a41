import Foundation
import PhoneCore
import Requirements
import Testing
import TidingsModel
import UIKit
import UserNotifications
import UserNotificationsUI
import VirtualPhone

private final class App: UIResponder, UIApplicationDelegate, @preconcurrency UNUserNotificationCenterDelegate {
    let notes: Notes
    init(_ notes: Notes) { self.notes = notes }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        let actions = ["like", "later", "open"].map { UNNotificationAction(identifier: $0, title: $0) }
        center.setNotificationCategories([
            UNNotificationCategory(identifier: "photo", actions: actions, intentIdentifiers: [])
        ])
        center.requestAuthorization(options: [.alert]) { _, _ in }
        application.registerForRemoteNotifications()
        return true
    }

    func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async {
        self.notes.add("app \(response.actionIdentifier)")
    }
}

private final class PhotoScreen: UIViewController, UNNotificationContentExtension {
    private let notes: Notes

    init(_ notes: Notes) {
        self.notes = notes
        super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) { fatalError("no storyboard") }

    override func viewDidLoad() { self.notes.add("loads") }

    func didReceive(_ notification: UNNotification) {
        self.notes.add("shows \(notification.request.content.body)")
        guard notification.request.content.body == "too much" else { return }
        UNUserNotificationCenter.current().removeAllDeliveredNotifications()
        UNUserNotificationCenter.current().setBadgeCount(0)
    }

    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void
    ) {
        self.notes.add("asked \(response.actionIdentifier)")
        switch response.actionIdentifier {
        case "like": completion(.doNotDismiss)
        case "later": completion(.dismiss)
        default: completion(.dismissAndForwardAction)
        }
    }
}

@MainActor @Suite struct `A notification with a content extension` {
    private let notes = Notes()

    private func phone() async -> VirtualPhone {
        let phone = VirtualPhone(osVersion: 17)
        phone.install(
            InstalledApp(
                bundleID: "com.example.photos", lifecycle: .application, methods: .receiveResponse,
                hasServiceExtension: false),
            code: VirtualApp(lifecycle: .application, delegates: .receiveResponse).code { [notes] in App(notes) },
            contentExtension: VirtualExtension.code(categories: ["photo"]) { [notes] in PhotoScreen(notes) })
        await phone.allowNotifications()
        await phone.launch()
        await phone.home()
        await phone.deliver(["aps": ["alert": "one", "category": "photo", "thread-id": "t"]], collapseID: "p1")
        return phone
    }

    @Test(.requirement("S2.15"))
    func `is shown by it when it is expanded, and again for the next of its thread`() async {
        let phone = await self.phone()
        #expect(await phone.expand("p1"))
        await phone.deliver(["aps": ["alert": "two", "category": "photo", "thread-id": "t"]], collapseID: "p2")
        await phone.deliver(["aps": ["alert": "other", "category": "photo", "thread-id": "u"]], collapseID: "p3")
        #expect(self.notes.all == ["loads", "shows one", "shows two"])
        #expect(phone.faults == [])
    }

    @Test func `lets it decide whether the app hears of an action`() async {
        let phone = await self.phone()
        await phone.expand("p1")
        await phone.perform(action: "like", on: "p1")
        await phone.perform(action: "later", on: "p1")
        #expect(self.notes.all == ["loads", "shows one", "asked like", "asked later"])
        await phone.expand("p1")
        await phone.perform(action: "open", on: "p1")
        #expect(self.notes.all.suffix(2) == ["asked open", "app open"])
        #expect(phone.screen.list == [])
    }

    @Test func `is told of by a fault when it does what a virtual phone cannot do for it`() async {
        let phone = await self.phone()
        await phone.deliver(["aps": ["alert": "too much", "category": "photo"]], collapseID: "p5")
        await phone.expand("p5")
        #expect(
            phone.faults == [
                "deliveredRemoved of a content extension has no effect on a virtual phone",
                "setBadgeCount of a content extension has no effect on a virtual phone",
            ])
        #expect(phone.screen.list.count == 2)
    }

    @Test func `is the system's own if the category is another`() async {
        let phone = await self.phone()
        await phone.deliver(["aps": ["alert": "plain"]], collapseID: "p4")
        #expect(await phone.expand("p4") == false)
        #expect(self.notes.all == [])
    }
}
