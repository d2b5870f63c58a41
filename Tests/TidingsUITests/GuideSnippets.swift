import ClientCore
import TidingsClient
import TidingsModel
import TidingsUI
import UIKit

// What the pages of docs/app show of the SDK's views, compiled: the tidy test holds that the pages show these lines.

@MainActor private func presenter(_ kit: NotificationIntegration) -> InAppBannerPresenter {
    kit.client.ringsInForeground = true
    let banners = InAppBannerPresenter(kit: kit)

    return banners
}

@MainActor private func ownBanners(_ banners: InAppBannerPresenter) {
    banners.words = InterfaceWords(opensConversation: "Öffnet die Unterhaltung", dismiss: "Schließen")
    banners.makeView = { banner, portrait, words in
        let view = InAppBannerView(banner, portrait: portrait, words: words)
        view.backgroundColor = .tertiarySystemBackground
        return view
    }
}

/// What stands behind a SwiftUI view.
@MainActor private func chats(of kit: NotificationIntegration) -> UINavigationController {
    let interface = ChatInterface(kit: kit)
    ChatInterface.shared = interface
    let chats = UINavigationController(rootViewController: ConversationListViewController())
    let container = StandardContainer(chats, makeScreen: interface.screen(for:))
    kit.responseHandler = { response in
        NavigationExecutor(container: container, router: kit.router).open(response.route)
    }
    return chats
}

/// What the reference begins with.
@MainActor private func list(_ kit: NotificationIntegration) -> UINavigationController {
    ChatInterface.shared = ChatInterface(kit: kit)
    let chats = UINavigationController(rootViewController: ConversationListViewController())

    return chats
}

@MainActor private func screens(_ kit: NotificationIntegration, in window: UIWindow) -> NavigationExecutor {
    let interface = ChatInterface(kit: kit)
    ChatInterface.shared = interface

    let chats = UINavigationController(rootViewController: ConversationListViewController())
    chats.tabBarItem = UITabBarItem(title: "Chats", image: UIImage(systemName: "message"), tag: 0)
    let settings = UINavigationController(rootViewController: NotificationSettingsViewController())
    settings.tabBarItem = UITabBarItem(title: "Settings", image: UIImage(systemName: "gear"), tag: 1)
    let tabs = UITabBarController()
    tabs.setViewControllers([chats, settings], animated: false)
    window.rootViewController = tabs
    window.makeKeyAndVisible()

    let executor = NavigationExecutor(
        window: window, router: kit.router, makeScreen: interface.screen(for:))
    kit.responseHandler = { response in executor.open(response.route) }

    return executor
}

@MainActor private func push(on navigationController: UINavigationController) {
    let chat = ConversationViewController(type: .group, target: "team", title: "The team")
    navigationController.pushViewController(chat, animated: true)
}

@MainActor private func chosen(_ kit: NotificationIntegration) -> ChatInterface {
    var configuration = InterfaceConfiguration()
    configuration.showsReadMarks = false
    configuration.conversationTypes = [.direct, .group]
    configuration.inputPlugins.append(PlacePlugin())
    configuration.messageCells["my:Poll"] = PollCell.self
    configuration.makeConversation = { id, title, interface in
        TeamChat(type: id.type, target: id.target, title: title, interface: interface)
    }
    let interface = ChatInterface(kit: kit, configuration: configuration)
    interface.words.chat.send = "Go"

    return interface
}

private struct PlacePlugin: InputPlugin {
    var image: UIImage? { UIImage(systemName: "mappin") }
    func title(in words: InterfaceWords) -> String { "Place" }
    func perform(in screen: ConversationViewController) {
        screen.send(.location(.init(latitude: 52.52, longitude: 13.4, name: "Museum Island")))
    }
}

private final class PollCell: MessageCell {
    private let question = UILabel()

    override func makeBody() {
        self.question.font = .preferredFont(forTextStyle: .headline)
        self.question.adjustsFontForContentSizeCategory = true
        self.bodyStack.addArrangedSubview(self.question)
    }

    override func show(_ row: MessageRow, in screen: ConversationViewController) {
        super.show(row, in: screen)
        guard case .custom(_, let json) = row.content else { return }
        self.question.text = (try? JSONValue(parsing: json))?["question"]?.stringValue
        self.accessibilityLabel = self.question.text
    }
}

private final class TeamChat: ConversationViewController {
    override func willSend(_ content: MessageContent) -> MessageContent? {
        guard case .text(let text) = content else { return content }
        return text.hasPrefix("/") ? nil : content
    }

    override func willDisplay(_ cell: MessageCell, _ row: MessageRow) {
        cell.nameLabel.textColor = row.sender == "boss" ? .systemRed : .secondaryLabel
    }

    override func actions(for row: MessageRow) -> [MessageAction] {
        super.actions(for: row).filter { $0 != .edit }
    }
}

private final class Chats: ConversationListViewController {
    override func willShow(_ items: [ConversationSummary]) -> [ConversationSummary] {
        items.filter { !$0.id.target.hasPrefix("test-") }
    }

    override func configure(_ cell: ConversationCell, for row: ConversationRow) {
        super.configure(cell, for: row)
        cell.titleLabel.textColor = row.isPinned ? .systemBlue : .label
    }
}

/// What the doc comments of the entry points show.
@MainActor private func entryPoints(
    kit: NotificationIntegration, window: UIWindow, navigationController: UINavigationController?
) {
    let interface = ChatInterface(kit: kit)
    ChatInterface.shared = interface
    window.rootViewController = UINavigationController(rootViewController: ConversationListViewController())
    kit.responseHandler = { response in
        NavigationExecutor(window: window, router: kit.router, makeScreen: interface.screen(for:)).open(response.route)
    }

    let chat = ConversationViewController(type: .direct, target: "bob", title: "Bob")
    navigationController?.pushViewController(chat, animated: true)
}
