import PhoneCore
import Testing
import UIKit
import VirtualPhone

@MainActor private func screen(_ title: String) -> UIViewController {
    let screen = UIViewController()
    screen.title = title
    screen.view.addSubview(UILabel.saying("\(title) here"))
    return screen
}

@MainActor @Suite struct `The bars of an app` {
    private let app = OneScreen()

    @Test func `above have the way back, the title and the screen's buttons, and act`() async {
        var done: [String] = []
        let stack = UINavigationController(rootViewController: screen("Chats"))
        let chat = screen("Bob")
        chat.navigationItem.prompt = "typing…"
        chat.navigationItem.rightBarButtonItems = [
            UIBarButtonItem(title: "Info", primaryAction: UIAction { done.append("\($0.sender is UIBarButtonItem)") }),
            UIBarButtonItem(
                image: UIImage(systemName: "ellipsis"),
                menu: UIMenu(children: [UIAction(title: "Mute") { done.append($0.title) }])),
        ]
        chat.navigationItem.rightBarButtonItems?[1].accessibilityLabel = "More"
        self.app.root = stack
        let phone = await self.app.phone()
        #expect(phone.all(.navigationBar).flatMap(\.texts) == ["Chats"])
        await phone.inApp { stack.pushViewController(chat, animated: false) }
        let bar = phone.all(.navigationBar).first
        #expect(bar?.children.map { $0.label ?? $0.text } == ["typing…", "Back", "Bob", "More", "Info"])
        #expect(bar?.first("Back")?.text == "Chats" && bar?.first("back")?.actions == [.tap])
        await phone.touch("Info")
        await phone.touch("More")
        await phone.touch("Mute")
        #expect(done == ["true", "Mute"])
        #expect(await phone.touch("Back"))
        #expect(stack.viewControllers.count == 1)
        #expect(phone.views().flatMap(\.texts) == ["Chats", "Chats here"])
        #expect(phone.view("Back") == nil)
    }

    @Test func `above follow what the screen says of itself`() async {
        let stack = UINavigationController(rootViewController: screen("Chats"))
        let chat = screen("Bob")
        self.app.root = stack
        let phone = await self.app.phone()
        await phone.inApp { stack.pushViewController(chat, animated: false) }
        let item = UIBarButtonItem(systemItem: .edit, primaryAction: UIAction { _ in })
        stack.viewControllers[0].navigationItem.backButtonTitle = "All"
        chat.title = "Bobby"
        #expect(phone.all(.navigationBar).flatMap(\.texts) == ["All", "Bobby"])
        chat.navigationItem.leftBarButtonItem = item
        item.isEnabled = false
        #expect(phone.all(.navigationBar).flatMap(\.texts) == ["Edit", "Bobby"], "in the place of the way back")
        #expect(phone.view("Edit")?.actions == [])
        stack.navigationBar.isHidden = true
        #expect(phone.all(.navigationBar) == [])
        #expect(await phone.touch("Bob here", .escape), "VoiceOver goes back by its scrub")
        #expect(stack.viewControllers.count == 1)
    }

    @Test func `show the system's pictures without a word, and VoiceOver says what they are`() async {
        let chats = screen("Chats")
        let item = UIBarButtonItem(systemItem: .compose, primaryAction: UIAction(title: "New") { _ in })
        chats.navigationItem.rightBarButtonItem = item
        self.app.root = UINavigationController(rootViewController: chats)
        let phone = await self.app.phone()
        #expect(phone.all(.navigationBar).flatMap(\.texts) == ["Chats"])
        #expect(phone.view("Compose")?.actions == [.tap])
        item.accessibilityLabel = "New Chat"
        #expect(phone.all(.navigationBar).flatMap(\.texts) == ["Chats"])
        #expect(phone.view("New Chat")?.actions == [.tap])
        #expect(phone.view("Compose") == nil)
    }

    @Test func `below have the tabs, the chosen one marked, and a tap chooses`() async {
        let chats = UINavigationController(rootViewController: screen("Chats"))
        let settings = UINavigationController(rootViewController: screen("Settings"))
        settings.tabBarItem = UITabBarItem(title: "Me", image: nil, tag: 1)
        chats.viewControllers[0].tabBarItem.badgeValue = "3"
        let tabs = UITabBarController()
        tabs.viewControllers = [chats, settings]
        self.app.root = tabs
        let phone = await self.app.phone()
        let bar = phone.all(.tabBar).first
        #expect(bar?.children.map(\.text) == ["Chats", "Me"])
        #expect(bar?.children.map(\.isSelected) == [true, false])
        #expect(bar?.children.map(\.value) == ["3", nil])
        #expect(phone.views().first?.children.last?.role == .tabBar, "the bar is seen last")
        #expect(await phone.touch("Me"))
        #expect(tabs.selectedIndex == 1)
        #expect(phone.all(.navigationBar).flatMap(\.texts) == ["Settings"])
        let detail = screen("Detail")
        await phone.inApp { settings.pushViewController(detail, animated: false) }
        await phone.touch("Me")
        #expect(settings.viewControllers.count == 1, "the chosen tab goes back to its first screen")
        detail.hidesBottomBarWhenPushed = true
        await phone.inApp { settings.pushViewController(detail, animated: false) }
        #expect(phone.all(.tabBar).flatMap(\.children) == [])
    }

    @Test func `keep the views that the app puts into them`() async {
        let stack = UINavigationController(rootViewController: screen("Chats"))
        self.app.root = stack
        let phone = await self.app.phone()
        stack.navigationBar.addSubview(UILabel.saying("Offline"))
        await phone.inApp { stack.pushViewController(screen("Bob"), animated: false) }
        #expect(phone.all(.navigationBar).flatMap(\.texts) == ["Chats", "Bob", "Offline"])
    }

    @Test func `tell screens that they come into a container and go`() async {
        final class Moving: UIViewController {
            var lines: [String] = []
            override func willMove(toParent parent: UIViewController?) {
                self.lines.append("will \(parent == nil) \(self.parent == nil)")
            }
            override func didMove(toParent parent: UIViewController?) {
                self.lines.append("did \(parent == nil) \(self.parent == nil)")
            }
        }
        let (comes, goes) = (["will false true", "did false false"], ["will true false", "did true true"])
        let (stack, tabs, first, second) = (UINavigationController(), UITabBarController(), Moving(), Moving())
        stack.viewControllers = [first]
        stack.pushViewController(second, animated: false)
        stack.popViewController(animated: false)
        #expect(first.lines == comes && second.lines == comes + goes)
        tabs.viewControllers = [second]
        tabs.viewControllers = []
        #expect(second.lines == comes + goes + comes + goes)
        second.lines = []
        tabs.addChild(second)
        second.removeFromParent()
        #expect(second.lines == ["will false true", "did true true"], "the rest is the app's part")
    }
}
