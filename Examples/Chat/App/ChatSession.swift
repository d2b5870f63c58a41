import Foundation
import TidingsKit
import UIKit

/// The app's one chat session: the kit, the window, and what a tap opens.
@MainActor final class ChatSession {
    let kit: NotificationIntegration
    var client: ChatClient { self.kit.client }
    private let environment: ChatEnvironment
    private let names: DirectoryNames
    var window: UIWindow?
    private var executor: NavigationExecutor?
    /// The message the server acknowledged last.
    var lastSent: MessageID?
    /// What the person did last with a call.
    var callEvent: String? { didSet { self.report() } }
    /// The banner the app shows in the foreground where the system shows none (iOS below 10).
    var banner: InAppBanner?
    /// The backend's custom messages, oldest first, as this process was handed them.
    private(set) var customMessages: [CustomMessage] = []

    init(environment: ChatEnvironment) {
        self.environment = environment
        self.names = DirectoryNames()
        var configuration = ChatClient.Configuration(
            appKey: environment.appKey, appGroupIdentifier: environment.appGroup, serverURL: environment.serverURL)
        configuration.apiURL = environment.apiURL
        self.kit = NotificationIntegration(configuration: configuration, pushEnvironment: .sandbox)
        self.kit.userInfoProvider = self.names
        self.kit.groupInfoProvider = self.names
        self.kit.client.usesCommunicationNotifications = environment.showsPeople
    }

    /// Connects, and follows what happens.
    func start() {
        let token = self.environment.token
        let user = self.environment.user
        Task {
            do {
                try await self.client.connect(userID: user) { token }
            } catch {
                self.report(fault: "\(error)")
            }
        }
        Task { [weak self, entries = self.client.logEntries] in
            for await _ in entries { self?.refresh() }
        }
        // A lost connection is seen, and a chat that comes back to the foreground is read.
        Task { [weak self, statuses = self.client.connectionStatuses] in
            for await _ in statuses { self?.refresh() }
        }
        Task { [weak self, runs = self.client.runStates] in
            for await _ in runs { self?.refresh() }
        }
        Task { [weak self, banners = self.kit.inAppBanners] in
            for await banner in banners {
                self?.banner = banner
                self?.report()
            }
        }
        Task { [weak self, messages = self.client.customMessages] in
            for await message in messages {
                self?.customMessages.append(message)
                self?.report()
            }
        }
    }

    /// Signs in, perhaps in the place of another person, of whom nothing stays on the screen.
    func signIn(as user: UserID, token: String) async {
        do {
            try await self.client.connect(userID: user) { token }
        } catch {
            self.report(fault: "\(error)")
        }
        self.showAgain()
    }

    /// Signs out; nobody's screen is left.
    func signOut() async {
        await self.client.signOut()
        self.showAgain()
    }

    private func showAgain() {
        self.customMessages = []
        if let window { self.show(in: window) }
    }

    /// Builds the screens: tabs, the first with the conversations.
    func show(in window: UIWindow) {
        let conversations = UINavigationController(rootViewController: ConversationsScreen(chat: self))
        let settings = UINavigationController(rootViewController: SettingsScreen())
        let tabs = UITabBarController()
        tabs.setViewControllers([conversations, settings], animated: false)
        window.rootViewController = tabs
        window.makeKeyAndVisible()
        let isFirst = self.window == nil
        self.window = window
        self.executor = NavigationExecutor(window: window, router: self.kit.router) { [weak self] route in
            switch route {
            case .conversation(let conversation): ChatScreen(conversation: conversation, chat: self)
            case .detail: SettingsScreen()
            }
        }
        // A tap that came before the window is handed over here.
        self.kit.responseHandler = { [weak self] response in
            if let conversation = response.route.conversation { self?.open(conversation) }
        }
        self.refresh()
        // A finger finds only what is shown.
        if isFirst { self.followFinger() }
    }

    /// Opens a conversation and marks it as read.
    func open(_ conversation: ConversationID) {
        self.executor?.open(Route(conversation: conversation))
        self.refresh()
    }

    /// Shows what changed and tells the phone what is on the screen.
    func refresh() {
        guard let chat = self.openChat else { return self.report() }
        chat.reload()
        self.report()
    }

    /// The conversation on the screen.
    var openChat: ChatScreen? {
        let tabs = self.window?.rootViewController as? UITabBarController
        return (tabs?.selectedViewController as? UINavigationController)?.topViewController as? ChatScreen
    }
}

/// The example's address book: a person is called what their id says, with a capital letter.
struct DirectoryNames: UserInfoProvider, GroupInfoProvider {
    func userInfo(for id: UserID) async -> UserInfo? { UserInfo(name: id.rawValue.capitalized) }
    func groupInfo(for id: ConversationID) async -> GroupInfo? { GroupInfo(name: id.target.capitalized) }
}
