import PhoneCore
import ServerCore
import Testing
import TidingsModel
import UIKit
import VirtualPhone

@testable import SDKTestSupport
@testable import TidingsKit
@testable import TidingsUI

// What the tests of the list and of the screens of settings share.
extension ConversationBench {
    /// Shows a screen in the first of two tabs, as an app does.
    func show(
        tabs titles: (String, String) = ("First", "Second"),
        _ make: @escaping @MainActor @Sendable (ChatInterface) -> UIViewController
    ) async {
        let app = self.app
        _ = await self.inApp {
            guard let window = app?.window, let interface = app?.interface else { return }
            let tabs = UITabBarController()
            let first = UINavigationController(rootViewController: make(interface))
            first.tabBarItem = UITabBarItem(title: titles.0, image: nil, tag: 0)
            let second = UINavigationController(rootViewController: UIViewController())
            second.tabBarItem = UITabBarItem(title: titles.1, image: nil, tag: 1)
            tabs.viewControllers = [first, second]
            window.rootViewController = tabs
        }
        await self.settle()
    }

    /// Whoever is signed in signs out, and once a text of theirs is gone somebody signs in.
    func signIn(_ person: UserID, untilReadsNo text: String = "") async {
        let client = self.client
        _ = await self.inApp { await client?.signOut() }
        await self.until(readsNo: text)
        #expect(!self.texts.contains(text), "still shown after the sign-out")
        _ = await self.inApp { try? await client?.connect(userID: person, token: person.rawValue) }
        await self.untilConnected()
        await self.settle()
    }

    func showList() async { await self.show { ConversationListViewController(interface: $0) } }

    /// The app asks for notifications, and the person comes back to it.
    func register() async {
        let interface = self.interface
        _ = await self.inApp { await interface?.kit.registerForNotifications() }
        await self.phone.home()
        await self.phone.launch()
        await self.settle()
    }

    /// The rows without their time, which is the second text.
    var lines: [[String]] {
        self.rows.map { row in
            row.count < 3 ? row : row.enumerated().filter { $0.offset != 1 }.map(\.element)
        }
    }
    var firsts: [String] { self.rows.compactMap(\.first) }
    func until(lists firsts: [String]) async { await self.until { $0.firsts == firsts } }
    /// What the open question or message says.
    var alert: [String] { self.nodes.flatMap { $0.all(.alert) }.last?.texts ?? [] }
    var headers: [String] { self.nodes.flatMap { $0.all(.header) }.compactMap(\.text) }
    /// The number on a tab; nil for none.
    func badge(_ title: String) -> String? {
        self.nodes.flatMap { $0.all(.tabBar) }.flatMap(\.children).first { $0.isCalled(title) }?.value
    }
    /// VoiceOver's actions are those of the row, which it reads as one.
    func choose(_ action: String, ofRow text: String) async -> Bool {
        guard let label = self.row(text)?.label else { return false }
        return await self.touch(label, .named(action))
    }
    func isOn(_ name: String) -> Bool? {
        self.nodes.flatMap { $0.all(.switch) }.first { $0.isCalled(name) }.map { $0.value == "1" }
    }

    func request(_ request: ClientRequest, as actor: UserID?) {
        self.server.request(.request(ServerTransport.app, actor: actor, request))
    }
}
