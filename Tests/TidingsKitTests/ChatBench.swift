import ClientCore
import Foundation
import PhoneCore
import Requirements
import SDKTestSupport
import ServerCore
import TidingsClient
import TidingsModel
import UIKit
import UserNotifications
import VirtualPhone

@testable import TidingsKit

extension ServerTransport {
    static let withBob = ConversationID(type: .direct, target: "bob")

    /// A message of bob's; to alice if nothing else is said.
    @discardableResult
    func say(_ text: String, to conversation: ConversationID = .init(type: .direct, target: "alice")) -> MessageID {
        self.send(text, from: "bob", to: conversation)
    }

    /// Another device of alice's has read the conversation with bob.
    func readElsewhere(upTo position: LogPosition) {
        self.act(as: "alice", [.markRead(Self.withBob, upTo: position)])
    }

    /// Bob recalls a message.
    func recall(_ message: MessageID) { self.request(.request(Self.app, actor: "bob", .recall(message))) }

    /// Alice has set this on another device.
    func set(_ settings: PersonSettings) {
        self.request(.request(Self.app, actor: "alice", .setPersonSettings(settings)))
    }

    var isConnected: Bool { !self.connections.isEmpty }
    func tag(of person: UserID = "alice") -> String { self.welcome(of: person)?.recipientTag ?? "none" }
}

/// The app under test: forwards to the kit and writes down what a tap opened.
@MainActor final class TestApp: UIResponder, UIApplicationDelegate, @preconcurrency UNUserNotificationCenterDelegate {
    static let bundle: BundleID = "com.example.chat"
    static let refreshTask = "com.example.chat.refresh"
    let bench: ChatBench
    private(set) var kit: NotificationIntegration?
    var window: UIWindow?

    init(bench: ChatBench) { self.bench = bench }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        UNUserNotificationCenter.current().delegate = self
        let kit = self.bench.makeKit(in: application)
        self.kit = kit
        self.bench.takeCalls(kit)
        kit.registerCategories()
        kit.registerBackgroundRefresh(identifier: Self.refreshTask, every: 0)
        kit.scheduleBackgroundRefresh(identifier: Self.refreshTask, after: 0)
        return self.bench.start(kit, with: launchOptions)
    }

    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) { self.kit?.application(application, didFailToRegisterForRemoteNotificationsWithError: error) }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) { self.kit?.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken) }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) {
        let isOurs = self.kit?.application(
            application, didReceiveRemoteNotification: userInfo, fetchCompletionHandler: completionHandler)
        if isOurs != true { completionHandler(.noData) }
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
    ) {
        let isOurs = self.kit?.userNotificationCenter(
            center, willPresent: notification, withCompletionHandler: completionHandler)
        if isOurs != true { completionHandler([]) }
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    ) {
        let isOurs = self.kit?.userNotificationCenter(
            center, didReceive: response, withCompletionHandler: completionHandler)
        if isOurs != true { completionHandler() }
    }
}

@MainActor final class TestScene: UIResponder, UIWindowSceneDelegate {
    let bench: ChatBench
    init(bench: ChatBench) { self.bench = bench }
    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
        self.bench.kit?.scene(scene, willConnectTo: session, options: options)
    }
}

/// A phone with the app installed, a server, and a folder.
@MainActor final class ChatBench: PhoneBench {
    let server: ServerTransport
    let phone: VirtualPhone
    let clock: ForwardingClock
    let folder: String
    let hasNames: Bool
    var kit: NotificationIntegration?
    var opened: [String] = []
    var responses: [PersonResponse] = []
    var banners: [InAppBanner] = []
    /// What the kit has told the app in the background.
    var woken: [ReceivedNotification] = []
    var problems: [ClientProblem] = []
    /// What `application(_:didFinishLaunchingWithOptions:)` returned, for each launch.
    var launches: [Bool] = []
    /// Who signs in at the next start.
    var person: UserID = "alice"
    /// Whether the app signs in as it starts; false leaves it to the test.
    var signsIn = true
    /// Set for an app that takes calls; it is made anew by each process.
    let takesCalls: Bool
    /// Whether the app wants notifications of people.
    let usesPeople: Bool
    var calls: CallBench?
    /// When the app sets its handler; false keeps the response pending.
    var handlesResponses = true

    /// The app has a screen for one type of its own pushes.
    static let router =
        (try? NotificationRouter(table: [.detail(types: ["commentpass"], screen: "comments")])) ?? NotificationRouter()

    /// The kit of one process of the app.
    func makeKit(in application: UIApplication) -> NotificationIntegration {
        var configuration = KitSurroundings.fill(
            ChatClient.Configuration(
                appKey: "demo", appGroupIdentifier: "group.chat", serverURL: URL(fileURLWithPath: "/in-memory")),
            application: application)
        configuration.log = { _ in }
        let client = ChatClient(configuration: configuration, transport: self.server, clock: self.clock)
        let kit = NotificationIntegration(client: client, pushEnvironment: .sandbox)
        kit.userInfoProvider = self.hasNames ? Names() : nil
        if self.usesPeople {
            kit.userInfoProvider = Faces()
            kit.groupInfoProvider = Faces()
            client.usesCommunicationNotifications = true
        }
        kit.router = Self.router
        self.kit = kit
        Task { [weak self] in for await banner in kit.inAppBanners { self?.banners.append(banner) } }
        Task { [weak self] in for await told in client.backgroundNotifications { self?.woken.append(told) } }
        Task { [weak self] in for await problem in client.problems { self?.problems.append(problem) } }
        Task { [weak self] in for await response in client.notificationResponses { self?.responses.append(response) } }
        return kit
    }

    func takeCalls(_ kit: NotificationIntegration) {
        if self.takesCalls { self.calls = CallBench(kit: kit) }
    }

    /// What the app's `didFinishLaunching` does.
    func start(_ kit: NotificationIntegration, with options: [UIApplication.LaunchOptionsKey: Any]?) -> Bool {
        let answer = kit.application(.shared, didFinishLaunchingWithOptions: options)
        if self.handlesResponses { self.handleResponses(of: kit) }
        Task { await kit.registerForNotifications() }
        if self.signsIn { self.signIn(to: kit) }
        self.launches.append(answer)
        return answer
    }

    func signIn(to kit: NotificationIntegration) {
        let person = self.person
        Task { try await kit.client.connect(userID: person, token: person.rawValue) }
    }

    func handleResponses(of kit: NotificationIntegration) {
        kit.responseHandler = { [weak self] response in
            switch response.route {
            case .conversation(let conversation): self?.opened.append(conversation.description)
            case .detail(let screen): self?.opened.append(screen)
            }
        }
    }

    init(
        osVersion: OSVersion = 17, lifecycle: LifecycleStyle = .scenes, hasNames: Bool = true, isOld: Bool = false,
        takesCalls: Bool = false, usesPeople: Bool = false, entitlements: Entitlements = []
    ) async {
        self.hasNames = hasNames
        self.takesCalls = takesCalls
        self.usesPeople = usesPeople
        self.folder = testFolder().path
        self.phone = VirtualPhone(osVersion: osVersion, folder: self.folder)
        let clock = ForwardingClock(wall: self.phone.now.wall)
        self.clock = clock
        self.server = ServerTransport(now: { clock.now })
        let methods: DelegateMethods = isOld ? OldTestApp.methods : .modern
        let app = VirtualApp(delegates: methods, lifecycle: lifecycle)
        let makeDelegate: @MainActor @Sendable () -> any UIApplicationDelegate = {
            if isOld { return OldTestApp(bench: self) }
            return TestApp(bench: self)
        }
        self.phone.install(
            InstalledApp(
                bundleID: TestApp.bundle, lifecycle: lifecycle, methods: methods,
                backgroundModes: takesCalls ? [.remoteNotification, .fetch, .voip] : [.remoteNotification, .fetch],
                appGroup: "group.chat", entitlements: entitlements, localizations: ["FROM": "From %@"],
                permittedTasks: isOld ? [] : [TestApp.refreshTask]),
            code: app.code(delegate: makeDelegate, sceneDelegate: { TestScene(bench: self) }))
        await self.phone.allowNotifications()
        await self.phone.launch()
        await self.until { $0.kit?.client.connectionStatus == .connected }
    }

    /// A Tidings push for a message of bob's.
    func push(_ id: MessageID, to tag: String? = nil) -> JSONValue {
        [
            "aps": ["alert": ["title": "Bob", "body": "hi"], "sound": "default", "badge": 1, "mutable-content": 1],
            "rc": [
                "cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob", "mId": "",
                "id": .string(id.description),
            ],
            "tidings": [
                "mid": .string(id.description), "seq": 1, "bseq": 1, "to": .string(tag ?? self.server.tag()),
            ],
        ]
    }

    /// The process dies. In one process its tasks live on, so the connection is given up for them.
    func kill() async {
        self.kit?.client.disconnect()
        await self.until { !$0.server.isConnected }
        await self.phone.terminate()
    }

    /// A silent push of the server's.
    func silentPush() -> JSONValue {
        [
            "aps": ["content-available": 1],
            "tidings": [
                "mid": .string(MessageID(rawValue: 1).description), "seq": 1, "bseq": 1,
                "to": .string(self.server.tag()),
            ],
        ]
    }

    /// A silent push of the server's about the number on the icon.
    func badgePush(_ badge: Int, at position: LogPosition, to tag: String? = nil) async {
        let info = BadgeInfo(badge: badge, badgePosition: position, recipientTag: tag ?? self.server.tag())
        await self.phone.deliver(
            ["aps": ["content-available": 1], "tidings": info.dictionary], pushType: "background", priority: 5)
    }

    /// What the app has answered the system of its wakes.
    var fetchResults: [FetchResult] {
        self.phone.trace.compactMap { if case .completion(_, .fetch(let result)) = $0.entry { result } else { nil } }
    }

    var icon: Int { self.phone.screen.badge(of: TestApp.bundle) }

    /// The frames the server got since there were `count`.
    func frames(after count: Int) -> [ClientFrame] { Array(self.server.frames.dropFirst(count)) }

    /// Whose notifications the server was told were opened.
    var receipts: [MessageID] {
        self.server.frames.compactMap { frame in
            guard case .opened(let message) = frame else { return nil }
            return message
        }
    }

    /// Leaves the app for the home screen, and waits until the client knows.
    func goHome() async {
        await self.phone.home()
        await self.until { $0.kit?.client.runState == .backgroundActive }
    }
}
