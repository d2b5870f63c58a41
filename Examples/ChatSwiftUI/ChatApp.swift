// A SwiftUI app with the SDK's screens. Source only: SwiftUI exists on Apple's systems alone, so this file is not built here; the
// delegate below forwards exactly as Examples/Chat/App/AppDelegate.swift does, which is built and run.
import SwiftUI
import TidingsUI
import UserNotifications

@main struct ChatApp: App {
    @UIApplicationDelegateAdaptor private var appDelegate: AppDelegate

    var body: some Scene {
        WindowGroup {
            ConversationsView(chat: self.appDelegate.chat)
        }
    }
}

/// SwiftUI keeps an app delegate for what has no SwiftUI form: device tokens, silent pushes, the notification centre.
@MainActor final class AppDelegate: NSObject, UIApplicationDelegate, UNUserNotificationCenterDelegate {
    let chat = ChatModel()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        // Before this method returns: a delegate that is set later misses the tap that started the app.
        UNUserNotificationCenter.current().delegate = self
        let answer = self.chat.kit.application(application, didFinishLaunchingWithOptions: launchOptions)
        self.chat.start()
        return answer
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) { self.chat.kit.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken) }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        let isOurs = self.chat.kit.application(
            application, didReceiveRemoteNotification: userInfo, fetchCompletionHandler: completionHandler)
        if !isOurs { completionHandler(.noData) }
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        let isOurs = self.chat.kit.userNotificationCenter(
            center, willPresent: notification, withCompletionHandler: completionHandler)
        if !isOurs { completionHandler([.banner, .list, .sound]) }
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let isOurs = self.chat.kit.userNotificationCenter(
            center, didReceive: response, withCompletionHandler: completionHandler)
        if !isOurs { completionHandler() }
    }
}

/// What the views look at: the kit, and the screens on the navigation path, which taps on notifications walk.
@MainActor @Observable final class ChatModel: NavigationContainer {
    let kit = NotificationIntegration(
        configuration: ChatClient.Configuration(
            appKey: "your-app-key", appGroupIdentifier: "group.com.example.chat",
            serverURL: Address.url("wss://chat.example.com/v1/connect")),
        pushEnvironment: .sandbox)
    @ObservationIgnored private(set) lazy var interface = ChatInterface(kit: self.kit)
    var path: [Route] = []

    func start() {
        ChatInterface.shared = self.interface
        // A tap that came before this line is handed over now.
        self.kit.responseHandler = { [weak self] response in
            guard let self else { return }
            NavigationExecutor(container: self, router: self.kit.router).open(response.route)
        }
        Task { await self.kit.registerForNotifications() }
        Task { try await self.kit.client.connect(userID: "ada") { try await Self.userToken() } }
    }

    var navigationState: NavigationState? { NavigationState(stacks: [self.path]) }

    func perform(_ step: NavigationStep) {
        switch step {
        case .popToRoot: self.path = []
        case .selectTab: break
        case .push(let route, _, _): self.path.append(route)
        }
    }

    /// Asks the app's own server for a signed user token; called again when it has expired.
    private static func userToken() async throws -> String {
        let (data, _) = try await URLSession.shared.data(from: Address.url("https://app.example.com/chat-token"))
        return String(decoding: data, as: UTF8.self)
    }
}

/// Addresses written in the source.
enum Address {
    static func url(_ text: StaticString) -> URL {
        // Valid as written: the path is never taken.
        URL(string: "\(text)") ?? URL(fileURLWithPath: "/")
    }
}

/// The conversations; a tap on one, or on a notification, puts its screen on the path.
struct ConversationsView: View {
    @Bindable var chat: ChatModel

    var body: some View {
        NavigationStack(path: self.$chat.path) {
            ConversationList { self.chat.path.append($0) }
                .navigationTitle("Conversations")
                .navigationDestination(for: Route.self) { RouteScreen(route: $0).ignoresSafeArea() }
        }
    }
}

/// The SDK's list.
struct ConversationList: UIViewControllerRepresentable {
    let open: (Route) -> Void

    /// SwiftUI's path takes the place of a navigation controller.
    final class List: ConversationListViewController {
        var open: (Route) -> Void = { _ in }
        override func didSelect(_ item: ConversationSummary) { self.open(.conversation(item.id)) }
    }

    func makeUIViewController(context: Context) -> List { List() }
    func updateUIViewController(_ list: List, context: Context) { list.open = self.open }
}

/// The SDK's screen of a route: a conversation.
struct RouteScreen: UIViewControllerRepresentable {
    let route: Route

    func makeUIViewController(context: Context) -> UIViewController {
        ChatInterface.shared?.screen(for: self.route) ?? UIViewController()
    }
    func updateUIViewController(_ screen: UIViewController, context: Context) {}
}
