import Foundation
import TidingsKit
import UIKit
import VirtualPhone

/// The app's one chat session: the kit, the window, and what a tap opens.
@MainActor final class ChatSession {
    let kit: NotificationIntegration
    var client: ChatClient { self.kit.client }
    private let environment: ChatEnvironment
    private let names: DirectoryNames
    private var window: UIWindow?
    private var executor: NavigationExecutor?
    /// The message the server acknowledged last.
    private var lastSent: MessageID?

    init(environment: ChatEnvironment) {
        self.environment = environment
        self.names = DirectoryNames()
        self.kit = NotificationIntegration(
            configuration: ChatClient.Configuration(
                appKey: environment.appKey, appGroupIdentifier: environment.appGroup, serverURL: environment.serverURL),
            pushEnvironment: .sandbox)
        self.kit.userInfoProvider = self.names
        self.kit.groupInfoProvider = self.names
    }

    /// Asks for permission, connects, and follows what happens.
    func start() {
        let token = self.environment.token
        let user = self.environment.user
        Task {
            await self.kit.registerForNotifications()
        }
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
        Task { [weak self, statuses = self.client.connectionStatuses] in
            for await _ in statuses { self?.report() }
        }
        // A lost connection is seen, and a chat that comes back to the front is read.
        Task { [weak self, statuses = self.client.connectionStatuses] in
            for await _ in statuses { self?.refresh() }
        }
        Task { [weak self, runs = self.client.runStates] in
            for await _ in runs { self?.refresh() }
        }
        Task { [weak self, values = PhoneInput.values] in
            // Sending waits for the server; the next input does not wait for it.
            for await value in values { Task { await self?.perform(value) } }
        }
    }

    /// Builds the screens: tabs, the first with the conversations.
    func show(in window: UIWindow) {
        let conversations = UINavigationController(rootViewController: ConversationsScreen(chat: self))
        let settings = UINavigationController(rootViewController: SettingsScreen())
        let tabs = UITabBarController()
        tabs.setViewControllers([conversations, settings], animated: false)
        window.rootViewController = tabs
        window.makeKeyAndVisible()
        self.window = window
        self.executor = NavigationExecutor(window: window) { [weak self] route in
            ChatScreen(conversation: route.conversation, chat: self)
        }
        // A tap that came before the window is handed over here.
        self.kit.responseHandler = { [weak self] response in self?.open(response.conversation) }
        self.refresh()
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

    private var openChat: ChatScreen? {
        let tabs = self.window?.rootViewController as? UITabBarController
        return (tabs?.selectedViewController as? UINavigationController)?.topViewController as? ChatScreen
    }
}

// A finger and an eye, which a phone without a display lacks. On an iPhone these are buttons and labels.
extension ChatSession {
    /// Takes `{"send": {"to": "bob", "text": "hi"}}`, with `"type": "GRP"` for a group, and `{"open": "PR:bob"}`.
    private func perform(_ value: JSONValue) async {
        if let send = value["send"] {
            guard let target = send["to"]?.stringValue, let text = send["text"]?.stringValue else {
                return self.report(fault: "send must have the strings to and text")
            }
            let code = send["type"]?.stringValue ?? ConversationType.direct.rawValue
            guard let type = ConversationType(rawValue: code) else {
                return self.report(fault: "send.type is not a conversation type: \(code)")
            }
            do {
                let message = try await self.client.send(text: text, to: ConversationID(type: type, target: target))
                self.lastSent = message.id
                self.report()
            } catch {
                self.report(fault: "\(error)")
            }
        } else if let name = value["open"]?.stringValue {
            let parts = name.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let type = ConversationType(rawValue: String(parts[0])) else {
                return self.report(fault: "open must be a conversation such as PR:bob, got \(name)")
            }
            self.open(ConversationID(type: type, target: String(parts[1])))
        } else {
            self.report(fault: "the input must have send or open")
        }
    }

    /// Tells the phone the stack of screens and the messages of the open chat.
    private func report(fault: String? = nil) {
        var members: [(String, JSONValue)] = [
            ("stack", .array((self.window?.visibleScreens ?? []).map { .string($0) }))
        ]
        if let chat = self.openChat {
            members.append(("conversation", .string(chat.route.conversation.description)))
            members.append(
                ("messages", .array(chat.messages.map { .string("\($0.message.sender): \($0.text ?? "")") })))
        }
        if let unread = try? self.client.unreadMessageCount() { members.append(("unread", .int(unread))) }
        members.append(("connection", .string(self.connectionName)))
        if let sent = self.lastSent { members.append(("sent", .string("\(sent)"))) }
        if let fault { members.append(("fault", .string(fault))) }
        PhoneScreen.report(.members(members))
    }

    private var connectionName: String {
        switch self.client.connectionStatus {
        case .disconnected: "disconnected"
        case .connecting: "connecting"
        case .connected: "connected"
        case .waiting: "waiting"
        case .suspended: "suspended"
        case .refused: "refused"
        }
    }
}

/// The example's address book: a person is called what their id says, with a capital letter.
struct DirectoryNames: UserInfoProvider, GroupInfoProvider {
    func userInfo(for id: UserID) async -> UserInfo? { UserInfo(name: id.rawValue.capitalized) }
    func groupInfo(for id: ConversationID) async -> GroupInfo? { GroupInfo(name: id.target.capitalized) }
}
