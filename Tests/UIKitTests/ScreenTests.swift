import Foundation
import Requirements
import Testing
import UIKit
import VirtualPhone

private final class Screen: UIViewController {
    private let notebook: Notebook?

    init(_ title: String, _ notebook: Notebook? = nil) {
        self.notebook = notebook
        super.init(nibName: nil, bundle: nil)
        self.title = title
    }

    required init?(coder: NSCoder) { fatalError("no storyboard") }

    override func viewDidLoad() { self.note("loads") }
    override func viewDidAppear(_ animated: Bool) { self.note("appears") }
    override func viewWillDisappear(_ animated: Bool) { self.note("goes") }
    private func note(_ what: String) { self.notebook?.note("\(self.title ?? "") \(what)") }
}

@MainActor @Suite struct `Screens of an app` {
    private let window = UIWindow(frame: UIScreen.main.bounds)
    private let tabs = UITabBarController()
    private let chats = UINavigationController(rootViewController: Screen("Conversations"))

    private func open() {
        self.tabs.viewControllers = [self.chats, UINavigationController(rootViewController: Screen("Settings"))]
        self.window.rootViewController = self.tabs
        self.window.makeKeyAndVisible()
    }

    @Test(.requirement("S1.17", "S1.18", "S4.8"))
    func `are a readable stack through tabs, navigation and presentation`() {
        self.open()
        #expect(self.window.visibleScreens == ["Conversations"])
        let detail = Screen("Chat PR:alice")
        detail.hidesBottomBarWhenPushed = true
        #expect(self.tabs.isTabBarVisible)
        self.chats.pushViewController(detail, animated: true)
        #expect(self.window.visibleScreens == ["Conversations", "Chat PR:alice"])
        #expect(self.chats.topViewController === detail)
        #expect(!self.tabs.isTabBarVisible)
        self.tabs.selectedIndex = 1
        #expect(self.window.visibleScreens == ["Settings"])
        self.tabs.selectedIndex = 7
        #expect(self.tabs.selectedIndex == 1)
        self.tabs.selectedViewController = self.chats
        let image = Screen("Image")
        detail.present(image, animated: true)
        #expect(self.window.visibleScreens == ["Conversations", "Chat PR:alice", "Image"])
        #expect(self.chats.visibleViewController === image)
        #expect(image.presentingViewController === self.tabs)
        detail.dismiss(animated: false)
        #expect(self.chats.visibleViewController === detail)
        let popped = self.chats.popToRootViewController(animated: false)
        #expect(popped == [detail])
        #expect(self.window.visibleScreens == ["Conversations"])
        #expect(detail.navigationController == nil)
        #expect(self.chats.topViewController?.tabBarController === self.tabs)
    }

    @Test func `are told when they are seen and when they go`() {
        let notebook = Notebook()
        self.chats.viewControllers = [Screen("List", notebook)]
        #expect(notebook.lines == [])
        self.open()
        self.chats.pushViewController(Screen("Chat", notebook), animated: false)
        #expect(notebook.lines == ["List loads", "List appears", "List goes", "Chat loads", "Chat appears"])
        notebook.clear()
        self.tabs.selectedIndex = 1
        self.chats.popViewController(animated: false)
        #expect(notebook.lines == ["Chat goes"])
        self.tabs.selectedIndex = 0
        #expect(notebook.lines == ["Chat goes", "List appears"])
    }

    @Test(.requirement("S1.18"))
    func `shown over a screen of a stack are over the root, and go when the root dismisses`() {
        self.open()
        let detail = Screen("Chat")
        self.chats.pushViewController(detail, animated: false)
        detail.present(Screen("Image"), animated: false)
        #expect(self.tabs.presentedViewController != nil)
        detail.present(Screen("Second"), animated: false)
        #expect(self.window.visibleScreens == ["Conversations", "Chat", "Image"])
        self.window.rootViewController?.dismiss(animated: false)
        #expect(self.window.visibleScreens == ["Conversations", "Chat"])
        let sheet = Screen("Sheet")
        sheet.modalPresentationStyle = .overCurrentContext
        detail.present(sheet, animated: false)
        #expect(sheet.presentingViewController === self.chats)
        #expect(self.tabs.presentedViewController == nil)
    }

    @Test func `have their views in the window while they are seen`() {
        let list = Screen("List")
        self.chats.viewControllers = [list]
        self.open()
        let chat = Screen("Chat")
        #expect(list.view.window === self.window)
        self.chats.pushViewController(chat, animated: false)
        #expect(list.view.window == nil)
        #expect(chat.view.window === self.window)
        let image = Screen("Image")
        image.modalPresentationStyle = .fullScreen
        chat.present(image, animated: false)
        #expect(chat.view.window == nil)
        #expect(image.view.window === self.window)
        image.dismiss(animated: false)
        #expect(chat.view.window === self.window)
        #expect(image.view.window == nil)
    }

    @Test func `appear when their window does, key or not`() {
        let notebook = Notebook()
        self.window.rootViewController = Screen("Root", notebook)
        self.window.makeKey()
        #expect(self.window.isHidden)
        #expect(notebook.lines == [])
        self.window.makeKeyAndVisible()
        #expect(notebook.lines == ["Root loads", "Root appears"])
        self.window.isHidden = true
        #expect(notebook.lines.last == "Root goes")
        self.window.isHidden = false
        #expect(notebook.lines.last == "Root appears")
    }

    @Test func `are in one key window an app`() async {
        let phone = await phoneInForeground(notebook: Notebook())
        await phone.inApp {
            let first = UIApplication.shared.keyWindow
            let second = UIWindow(frame: UIScreen.main.bounds)
            second.makeKeyAndVisible()
            #expect(first?.isKeyWindow == false)
            #expect(second.isKeyWindow)
            first?.makeKey()
            #expect(!second.isKeyWindow)
            #expect(UIApplication.shared.keyWindow === first)
        }
    }

    @Test func `that are in a presented container are dismissed by the one below`() {
        self.open()
        let inner = Screen("Compose")
        self.tabs.present(UINavigationController(rootViewController: inner), animated: false)
        #expect(self.window.visibleScreens == ["Conversations", "Compose"])
        inner.dismiss(animated: false)
        #expect(self.tabs.presentedViewController == nil)
        #expect(self.window.visibleScreens == ["Conversations"])
    }
}
