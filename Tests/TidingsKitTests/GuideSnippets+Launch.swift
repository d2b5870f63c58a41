import ClientCore
import Foundation
import TidingsClient
import TidingsKit
import TidingsModel
import UIKit
import UserNotifications

// What the pages of docs/app show of an app's launch and screens, compiled: the tidy test holds that the pages show these lines.

/// Names from the app's own records.
private typealias Directory = UserInfoProvider & GroupInfoProvider

/// An app's own backend, which asks the server's HTTP API for user tokens.
private protocol Backend: Sendable {
    func userToken() async throws -> String
}

@MainActor private final class LaunchedApp: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate {
    private let gateway: URL
    private let phoneRoutes: URL
    private let directory: any Directory
    private let backend: any Backend
    private var kit: NotificationIntegration?
    private var executor: NavigationExecutor?

    init(gateway: URL, phoneRoutes: URL, directory: any Directory, backend: any Backend) {
        self.gateway = gateway
        self.phoneRoutes = phoneRoutes
        self.directory = directory
        self.backend = backend
    }

    private func makeKit() -> NotificationIntegration {
        var configuration = ChatClient.Configuration(
            appKey: "demo", appGroupIdentifier: "group.com.example.chat", serverURL: self.gateway)
        configuration.apiURL = self.phoneRoutes
        let kit = NotificationIntegration(configuration: configuration, pushEnvironment: .sandbox)
        kit.userInfoProvider = self.directory
        kit.groupInfoProvider = self.directory
        return kit
    }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        UNUserNotificationCenter.current().delegate = self
        let kit = self.makeKit()
        self.kit = kit
        let answer = kit.application(application, didFinishLaunchingWithOptions: launchOptions)
        kit.registerCategories()
        if kit.registerBackgroundRefresh(identifier: "com.example.chat.refresh") {
            kit.scheduleBackgroundRefresh(identifier: "com.example.chat.refresh")
        }
        Task { await kit.registerForNotifications() }
        self.connect(kit.client, as: "bob")
        return answer
    }

    private func connect(_ client: ChatClient, as user: UserID) {
        Task { [backend = self.backend] in
            do {
                try await client.connect(userID: user) { try await backend.userToken() }
            } catch {
                self.show(error)
            }
        }
    }

    private func show(_ error: any Error) {}

    private func show(in window: UIWindow, _ kit: NotificationIntegration) {
        self.executor = NavigationExecutor(window: window, router: kit.router) { route in
            switch route {
            case .conversation(let conversation): ChatScreen(conversation: conversation)
            case .detail(let screen): DetailScreen(named: screen)
            }
        }
        kit.responseHandler = { [weak self] response in self?.executor?.open(response.route) }
    }
}

@MainActor private final class ChatScreen: UIViewController, RoutedScreen {
    let conversation: ConversationID
    var route: Route { Route(conversation: self.conversation) }

    init(conversation: ConversationID) {
        self.conversation = conversation
        super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) { return nil }
}

@MainActor private final class DetailScreen: UIViewController {
    init(named name: String) {
        super.init(nibName: nil, bundle: nil)
        self.title = name
    }

    required init?(coder: NSCoder) { return nil }
}
