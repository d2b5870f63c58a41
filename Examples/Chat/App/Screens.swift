import TidingsKit
import UIKit

/// The list of conversations.
@MainActor final class ConversationsScreen: UIViewController {
    private weak var chat: ChatSession?

    init(chat: ChatSession) {
        self.chat = chat
        super.init(nibName: nil, bundle: nil)
        self.title = "Conversations"
    }

    required init?(coder: NSCoder) { return nil }

    override func viewDidAppear(_ animated: Bool) {
        super.viewDidAppear(animated)
        self.chat?.refresh()
    }
}

/// One conversation.
@MainActor final class ChatScreen: UIViewController, RoutedScreen {
    let conversation: ConversationID
    var route: Route { Route(conversation: self.conversation) }
    private(set) var messages: [StoredMessage] = []
    private weak var chat: ChatSession?

    init(conversation: ConversationID, chat: ChatSession?) {
        self.conversation = conversation
        self.chat = chat
        super.init(nibName: nil, bundle: nil)
        self.title = "Chat \(conversation)"
    }

    required init?(coder: NSCoder) { return nil }

    override func viewWillAppear(_ animated: Bool) {
        super.viewWillAppear(animated)
        self.reload()
    }

    /// Reads the newest messages; what is on the screen of an app in the foreground is read.
    func reload() {
        guard let client = self.chat?.client else { return }
        self.messages = (try? client.history(conversation: self.conversation)) ?? []
        guard client.runState == .foreground, self.messages.contains(where: \.isUnread) else { return }
        try? client.markRead(self.conversation)
    }
}

/// The second tab.
@MainActor final class SettingsScreen: UIViewController {
    init() {
        super.init(nibName: nil, bundle: nil)
        self.title = "Settings"
    }

    required init?(coder: NSCoder) { return nil }
}
