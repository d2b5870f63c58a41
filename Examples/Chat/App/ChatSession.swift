import Foundation
import TidingsUI
import UIKit

/// The app's one chat session: kit, screens, and who is signed in.
@MainActor final class ChatSession {
    let kit: NotificationIntegration
    var client: ChatClient { self.kit.client }
    let configuration: AppConfiguration
    let names: DirectoryNames
    let banners: InAppBannerPresenter
    private let interface: ChatInterface
    /// Pushes of these types, whose conversation they go before, open a screen of the app's own.
    private static let table: [NavigationEntry] = [.detail(types: ["commentpass"], screen: "Comments")]
    private let account = AccountStore()
    /// Somebody has signed in at other servers: another session takes this one's place.
    var onMove: ((AppConfiguration) -> Void)?
    private(set) var window: UIWindow?
    private var executor: NavigationExecutor?
    private var followers: [Task<Void, Never>] = []
    private var isSignedIn = false
    /// The message the server acknowledged last.
    var lastSent: MessageID?
    /// What the person did last with a call.
    var callEvent: String? { didSet { self.report() } }
    /// The banner that the app showed last in the foreground.
    var banner: InAppBanner?
    /// The backend's custom messages, oldest first, as this process was handed them.
    private(set) var customMessages: [CustomMessage] = []
    /// What the backend's silent pushes have brought this process while it was in the background, oldest first.
    private(set) var silentData: [JSONObject] = []

    init(configuration: AppConfiguration) {
        self.configuration = configuration
        let addresses = configuration.addresses
        var settings = ChatClient.Configuration(
            appKey: AppID(addresses.appKey), appGroupIdentifier: configuration.appGroup, serverURL: addresses.server)
        settings.apiURL = addresses.api
        self.kit = NotificationIntegration(configuration: settings, pushEnvironment: .sandbox)
        self.names = DirectoryNames(client: self.kit.client)
        self.kit.userInfoProvider = self.names
        self.kit.groupInfoProvider = self.names
        self.kit.client.usesCommunicationNotifications = configuration.showsPeople
        if let router = try? NotificationRouter(table: Self.table) { self.kit.router = router }
        self.interface = ChatInterface(kit: self.kit)
        ChatInterface.shared = self.interface
        self.banners = InAppBannerPresenter(kit: self.kit)
    }

    // MARK: Who is signed in

    /// Connects whoever is signed in, and follows what happens. To be called at every launch, also one in the background.
    func start() {
        self.follow()
        self.signInAgain()
    }

    /// Connects whoever was signed in when the app ended. Called again once iOS gives what it kept back before the first unlock.
    func signInAgain() {
        guard !self.isSignedIn else { return }
        if let given = self.configuration.given {
            self.connect(as: given.user) { given.token }
        } else if let signedIn = self.account.signedIn {
            var configuration = self.configuration
            configuration.addresses = signedIn.addresses
            // Launched before the first unlock, the app did not know yet where they are signed in.
            guard configuration.addresses == self.configuration.addresses || self.configuration.addressesAreGiven else {
                return self.move(to: configuration)
            }
            self.connect(as: UserID(signedIn.user), token: self.tokens(of: signedIn))
        } else if let key = self.configuration.clientKey {
            self.registerForNotifications()
            self.tellFault { try await $0.connectAnonymously(clientKey: key) }
        }
    }

    /// Asks the backend each time: a token is good for an hour.
    private func tokens(of signedIn: SignedIn) -> @Sendable () async throws -> String {
        let account = self.account
        let backend = BackendClient(address: signedIn.addresses.backend)
        return { [weak self] in
            let session = try account.session()
            do {
                return try await backend.userToken(session: session)
            } catch BackendRefusal.signedOut {
                // Not waited for: the client cannot sign out while it waits for this token.
                Task { await self?.end(session) }
                throw BackendRefusal.signedOut
            }
        }
    }

    /// The backend has ended a session. Somebody may have signed in since, whom that does not concern.
    private func end(_ session: String) async {
        guard (try? self.account.session()) == session else { return }
        await self.signOut(because: "\(BackendRefusal.signedOut)")
    }

    private func connect(as user: UserID, token: @escaping @Sendable () async throws -> String) {
        self.isSignedIn = true
        self.registerForNotifications()
        self.tellFault { try await $0.connect(userID: user, tokenProvider: token) }
        self.showRoot()
    }

    private func registerForNotifications() {
        // `LegacyAppDelegate` asks each old system in its own way.
        if self.configuration.delegate == .modern { Task { await self.kit.registerForNotifications() } }
    }

    func tellFault(_ work: @escaping (ChatClient) async throws -> Void) {
        Task {
            do {
                try await work(self.client)
            } catch {
                self.report(fault: "\(error)")
            }
        }
    }

    /// Signs in with a password, and remembers it.
    ///
    /// - Throws: `BackendRefusal` and `KeychainRefusal`, which say what to tell the person.
    func signIn(user: String, password: String, at backend: URL) async throws {
        let session = try await BackendClient(address: backend).signIn(user: user, password: password)
        let addresses = AppConfiguration.Addresses(
            backend: backend, server: session.serverUrl, api: session.apiUrl, appKey: session.app)
        let signedIn = SignedIn(user: session.user, addresses: addresses)
        try self.account.remember(signedIn, session: session.session)
        var configuration = self.configuration
        configuration.addresses = addresses
        configuration.given = nil
        // A client is made for one server.
        guard configuration.addresses == self.configuration.addresses else { return self.move(to: configuration) }
        self.connect(as: UserID(signedIn.user), token: self.tokens(of: signedIn))
    }

    /// Signs in with a token, perhaps in the place of another person, of whom nothing stays on the screen.
    func signIn(as user: UserID, token: String) {
        self.customMessages = []
        self.connect(as: user) { token }
    }

    /// Signs out; nobody's screen is left.
    ///
    /// - Parameter reason: a sentence for the person, if they did not ask for it.
    func signOut(because reason: String? = nil) async {
        let backend = self.account.signedIn.map { BackendClient(address: $0.addresses.backend) }
        let session = try? self.account.session()
        self.account.forget()
        self.isSignedIn = false
        self.customMessages = []
        if let key = self.configuration.clientKey {
            // Not waited for: connecting again may take long.
            self.tellFault { try await $0.signOut(returningWith: key) }
        } else {
            await self.client.signOut()
        }
        self.showRoot(telling: reason)
        // What the backend does not hear ends with the session's time.
        if reason == nil, let backend, let session { try? await backend.signOut(session: session) }
    }

    /// Ends this session; another one takes over its window.
    private func move(to configuration: AppConfiguration) {
        for follower in self.followers { follower.cancel() }
        self.onMove?(configuration)
    }

    /// Somebody may be called otherwise: screens and notifications ask anew.
    func forgetNames() {
        Task { [names = self.names, interface = self.interface] in
            // First who answers, then who asks.
            await names.forget()
            interface.forgetNames()
        }
    }

    // MARK: Screens

    /// Shows the app in a window.
    func show(in window: UIWindow) {
        self.window = window
        self.showRoot()
        window.makeKeyAndVisible()
        // A finger finds only what is shown.
        self.followFinger()
    }

    /// The sign-in screen, or tabs, the first with the conversations.
    private func showRoot(telling reason: String? = nil) {
        guard let window else { return }
        guard self.isSignedIn else {
            self.kit.responseHandler = nil
            window.rootViewController = UINavigationController(
                rootViewController: SignInScreen(chat: self, telling: reason))
            return self.report()
        }
        let conversations = UINavigationController(rootViewController: ConversationsScreen(chat: self))
        conversations.tabBarItem = UITabBarItem(title: "Chats", image: UIImage(systemName: "message"), tag: 0)
        let settings = UINavigationController(rootViewController: SettingsScreen(chat: self))
        settings.tabBarItem = UITabBarItem(title: "Settings", image: UIImage(systemName: "gear"), tag: 1)
        let tabs = UITabBarController()
        tabs.setViewControllers([conversations, settings], animated: false)
        window.rootViewController = tabs
        self.executor = NavigationExecutor(
            window: window, router: self.kit.router, makeScreen: self.interface.screen(for:))
        // A tap that came before the window is handed over here.
        self.kit.responseHandler = { [weak self] response in self?.open(response.route) }
        self.report()
    }

    /// Opens a conversation.
    func open(_ conversation: ConversationID) { self.open(Route(conversation: conversation)) }

    private func open(_ route: Route) {
        self.executor?.open(route)
        self.report()
    }

    /// The conversation on the screen.
    var openConversation: ConversationID? {
        let tabs = self.window?.rootViewController as? UITabBarController
        let stack = tabs?.selectedViewController as? UINavigationController
        return (stack?.topViewController as? any RoutedScreen)?.route.conversation
    }

    // MARK: What happens

    private func follow() {
        self.follow(self.client.logEntries) { chat, _ in chat.report() }
        // A lost connection is seen, and that the app is left.
        self.follow(self.client.connectionStatuses) { chat, status in
            // Without a connection nobody could say what people are called.
            if status == .connected { chat.forgetNames() }
            chat.report()
        }
        self.follow(self.client.runStates) { chat, state in
            // What people are called may have changed meanwhile.
            if state == .foreground { chat.forgetNames() }
            chat.report()
        }
        self.follow(self.kit.inAppBanners) { chat, banner in
            chat.banner = banner
            chat.report()
        }
        self.follow(self.client.backgroundNotifications) { chat, notification in
            guard let data = notification.data else { return }
            chat.silentData.append(data)
            chat.report()
        }
        self.follow(self.client.customMessages) { chat, message in
            chat.customMessages.append(message)
            chat.report()
        }
    }

    private func follow<Value: Sendable>(
        _ stream: AsyncStream<Value>, _ take: @escaping @MainActor (ChatSession, Value) -> Void
    ) {
        self.followers.append(
            Task { [weak self] in
                for await value in stream {
                    guard let self else { return }
                    take(self, value)
                }
            })
    }
}
