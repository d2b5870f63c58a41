import TidingsKit
import UIKit

/// The list of conversations.
@MainActor final class ConversationsScreen: UIViewController {
    private weak var chat: ChatSession?

    init(chat: ChatSession) {
        self.chat = chat
        super.init()
        self.title = "Conversations"
    }

    override func viewDidAppear(_ animated: Bool) {
        super.viewDidAppear(animated)
        self.chat?.refresh()
    }
}

/// One conversation.
@MainActor final class ChatScreen: UIViewController, RoutedScreen {
    let route: Route
    private(set) var messages: [StoredMessage] = []
    private weak var chat: ChatSession?

    init(conversation: ConversationID, chat: ChatSession?) {
        self.route = Route(conversation: conversation)
        self.chat = chat
        super.init()
        self.title = "Chat \(conversation)"
    }

    override func viewWillAppear(_ animated: Bool) {
        super.viewWillAppear(animated)
        self.reload()
    }

    /// Reads the newest messages; what is on the screen of an app in front is read.
    func reload() {
        guard let client = self.chat?.client else { return }
        self.messages = (try? client.history(conversation: self.route.conversation)) ?? []
        guard client.runState == .foreground, self.messages.contains(where: \.isUnread) else { return }
        try? client.markRead(self.route.conversation)
    }
}

/// The second tab.
@MainActor final class SettingsScreen: UIViewController {
    override init() {
        super.init()
        self.title = "Settings"
    }
}
