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
@testable import TidingsUI

/// A phone of alice's with an app that shows its banners by the presenter, and its server.
@MainActor final class BannerBench: PhoneBench {
    static let bundle: BundleID = "com.example.banners"
    static let withBob = ConversationID(type: .direct, target: "bob")
    static let team = ConversationID(type: .group, target: "team")

    let server: ServerTransport
    let phone: VirtualPhone
    let clock: ForwardingClock
    let people: People
    let language: String
    let hasScenes: Bool
    private let folder: String
    fileprivate(set) var app: BannerApp?

    var kit: NotificationIntegration? { self.app?.kit }
    var presenter: InAppBannerPresenter? { self.app?.banners }

    init(
        osVersion: OSVersion = 17, lifecycle: LifecycleStyle = .scenes, language: String = "en",
        people: People = People()
    ) async {
        self.people = people
        self.language = language
        self.hasScenes = lifecycle == .scenes
        self.folder = testFolder().path
        self.phone = VirtualPhone(osVersion: osVersion, folder: self.folder)
        let clock = ForwardingClock(wall: self.phone.now.wall)
        self.clock = clock
        self.server = ServerTransport(now: { clock.now })
        self.phone.install(
            InstalledApp(
                bundleID: Self.bundle, lifecycle: lifecycle, methods: .modern, backgroundModes: [.remoteNotification],
                appGroup: "group.banners"),
            code: VirtualApp(delegates: .modern, lifecycle: lifecycle).code(
                delegate: { BannerApp(bench: self) }, sceneDelegate: { BannerScene(bench: self) }))
        await self.phone.allowNotifications()
        await self.phone.launch()
        await self.until { $0.kit?.client.connectionStatus == .connected }
    }

    @discardableResult
    func say(
        _ text: String, from sender: UserID = "bob", to conversation: ConversationID? = nil, lifetime: Int64? = nil
    ) -> MessageID {
        self.server.send(
            text, from: sender, to: conversation ?? ConversationID(type: .direct, target: "alice"),
            lifetimeMilliseconds: lifetime)
    }

    /// What is on the screen as a banner.
    var banners: [ViewNode] { self.phone.views().flatMap { $0.all("tidings.banner") } }
    /// The screens from the root to the visible one.
    var screens: [String] { self.app?.window?.visibleScreens ?? [] }

    /// Of the newest message with bob.
    var lastPosition: LogPosition {
        (try? self.kit?.client.history(conversation: Self.withBob).map(\.position).max()) ?? 0
    }

    /// Until a banner says something.
    func untilBanner(says text: String) async { await self.until { $0.banners.last?.texts.contains(text) == true } }

    func settle() async { await self.settle(20) }
}

extension ViewNode {
    func all(_ identifier: String) -> [ViewNode] {
        (self.identifier == identifier ? [self] : []) + self.children.flatMap { $0.all(identifier) }
    }
}

/// Names for everybody, and portraits for whom there is one.
struct People: UserInfoProvider, GroupInfoProvider {
    /// Begins as a PNG does.
    static let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    var portraits: Set<String> = []
    /// Of people and groups whose id is not their name.
    var names: [String: String] = [:]
    /// Each answer about a person waits for one of these; nil for none.
    var permits: AsyncStream<Void>?

    func userInfo(for id: UserID) async -> UserInfo? {
        if let permits = self.permits { for await _ in permits { break } }
        return UserInfo(
            name: self.names[id.rawValue] ?? id.rawValue.capitalized,
            portrait: self.portraits.contains(id.rawValue) ? Self.png : nil)
    }
    func groupInfo(for id: ConversationID) async -> GroupInfo? {
        GroupInfo(
            name: self.names[id.target] ?? "Our \(id.target)",
            portrait: self.portraits.contains(id.target) ? Self.png : nil)
    }
}

final class BannerApp: UIResponder, UIApplicationDelegate, @preconcurrency UNUserNotificationCenterDelegate {
    let bench: BannerBench
    var window: UIWindow?
    private(set) var kit: NotificationIntegration?
    private(set) var banners: InAppBannerPresenter?
    /// Conversations that taps have opened, each time.
    private(set) var opened: [ConversationID] = []

    init(bench: BannerBench) { self.bench = bench }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        self.bench.app = self
        UNUserNotificationCenter.current().delegate = self
        var configuration = KitSurroundings.fill(
            ChatClient.Configuration(
                appKey: "demo", appGroupIdentifier: "group.banners", serverURL: URL(fileURLWithPath: "/in-memory")),
            application: application)
        configuration.log = { _ in }
        configuration.words.language = self.bench.language
        let client = ChatClient(configuration: configuration, transport: self.bench.server, clock: self.bench.clock)
        let kit = NotificationIntegration(client: client, pushEnvironment: .sandbox)
        kit.userInfoProvider = self.bench.people
        kit.groupInfoProvider = self.bench.people
        client.ringsInForeground = true
        self.kit = kit
        self.banners = InAppBannerPresenter(kit: kit)
        kit.responseHandler = { [weak self] response in self?.open(response.route) }
        Task { await kit.registerForNotifications() }
        Task { try await client.connect(userID: "alice", token: "alice") }
        if !self.bench.hasScenes { self.show(UIWindow(frame: UIScreen.main.bounds)) }
        return kit.application(application, didFinishLaunchingWithOptions: launchOptions)
    }

    func show(_ window: UIWindow) {
        window.rootViewController = UINavigationController(rootViewController: TitledScreen("Conversations"))
        window.makeKeyAndVisible()
        self.window = window
    }

    private func open(_ route: Route) {
        guard case .conversation(let conversation) = route, let window = self.window, let kit = self.kit else { return }
        self.opened.append(conversation)
        NavigationExecutor(window: window, router: kit.router) { _ in TitledScreen("Chat \(conversation)") }.open(route)
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

final class BannerScene: UIResponder, UIWindowSceneDelegate {
    let bench: BannerBench
    init(bench: BannerBench) { self.bench = bench }

    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
        guard let scene = scene as? UIWindowScene else { return }
        self.bench.app?.show(UIWindow(windowScene: scene))
        self.bench.kit?.scene(scene, willConnectTo: session, options: options)
    }
}

private final class TitledScreen: UIViewController {
    init(_ title: String) {
        super.init(nibName: nil, bundle: nil)
        self.title = title
    }
    required init?(coder: NSCoder) { return nil }
}
