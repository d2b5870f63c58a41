import ClientCore
import Requirements
import Testing
import TidingsKit
import TidingsModel
import UIKit

private let withBob = Route(conversation: ConversationID(type: .direct, target: "bob"))
private let team = Route(conversation: ConversationID(type: .group, target: "team"))

@MainActor private final class Screen: UIViewController, RoutedScreen {
    let route: Route
    init(_ route: Route) {
        self.route = route
        super.init(nibName: nil, bundle: nil)
    }
    required init?(coder: NSCoder) { nil }
}

/// A drawer over a tab bar.
private final class DrawerController: UIViewController, NavigationContainer {
    private let content: StandardContainer
    private(set) var isDrawerOpen = true

    init(_ tabs: UITabBarController, makeScreen: @escaping (Route) -> UIViewController) {
        self.content = StandardContainer(tabs, makeScreen: makeScreen)
        super.init(nibName: nil, bundle: nil)
        self.addChild(tabs)
    }

    required init?(coder: NSCoder) { nil }

    var navigationState: NavigationState? { self.content.navigationState }

    func perform(_ step: NavigationStep) {
        self.isDrawerOpen = false
        self.content.perform(step)
    }
}

/// Places side by side, chats and everything else, of which a phone shows one.
private final class SplitController: UIViewController, NavigationContainer {
    let columns = [UINavigationController(rootViewController: UIViewController()), UINavigationController()]
    private(set) var shown = 0
    var isReady = true

    var navigationState: NavigationState? {
        guard self.isReady else { return nil }
        return NavigationState(
            selectedTab: self.shown,
            stacks: self.columns.map { $0.viewControllers.dropFirst().map { ($0 as? Screen)?.route } })
    }

    func perform(_ step: NavigationStep) {
        switch step {
        case .popToRoot(let animated): self.columns[self.shown].popToRootViewController(animated: animated)
        case .selectTab(let column): self.shown = column
        case .push(let route, let animated, _):
            self.columns[self.shown].pushViewController(Screen(route), animated: animated)
        }
    }
}

/// What stands behind a SwiftUI view: no controller at all.
@MainActor private final class PathModel: NavigationContainer {
    var path: [Route] = []
    var steps: [NavigationStep] = []
    var navigationState: NavigationState? { NavigationState(stacks: [self.path]) }

    func perform(_ step: NavigationStep) {
        self.steps.append(step)
        switch step {
        case .popToRoot: self.path = []
        case .selectTab: break
        case .push(let route, _, _): self.path.append(route)
        }
    }
}

@MainActor private func tabs() -> UITabBarController {
    let tabs = UITabBarController()
    tabs.setViewControllers(
        (0..<3).map { _ in UINavigationController(rootViewController: UIViewController()) }, animated: false)
    return tabs
}

@MainActor private func window(_ root: UIViewController) -> UIWindow {
    let window = UIWindow()
    window.rootViewController = root
    window.makeKeyAndVisible()
    return window
}

/// The routes above the root of a tab.
@MainActor private func opened(in tab: Int, of tabs: UITabBarController) -> [Route?] {
    (tabs.viewControllers?[tab] as? UINavigationController)?.viewControllers.dropFirst().map { ($0 as? Screen)?.route }
        ?? []
}

private func table() throws -> NotificationRouter {
    try NotificationRouter(table: [
        .conversations(.fromRoot), .kind(.group, .fromRoot(tab: 1)),
        .detail(types: ["commentpass"], screen: "comments", .onTop(tab: 2)),
    ])
}

@MainActor @Suite struct `The executor of navigation steps` {
    @Test(.requirement("S1.17", "S1.18")) func `pops, chooses the tab, and pushes with the bottom bar hidden`() throws {
        let tabs = tabs()
        let second = try #require(tabs.viewControllers?[1] as? UINavigationController)
        tabs.selectedIndex = 1
        second.pushViewController(UIViewController(), animated: false)
        let executor = NavigationExecutor(window: window(tabs), router: NotificationRouter()) { Screen($0) }
        #expect(executor.open(withBob))
        let first = try #require(tabs.viewControllers?[0] as? UINavigationController)
        #expect(tabs.selectedIndex == 0)
        #expect(second.viewControllers.count == 1)
        #expect((first.topViewController as? Screen)?.route == withBob)
        #expect(first.topViewController?.hidesBottomBarWhenPushed == true)
        #expect(executor.open(withBob))
        #expect(first.viewControllers.count == 2)
    }

    @Test(.requirement("S1.16", "S1.18")) func `opens each kind of notification in the tab its table names`() throws {
        let tabs = tabs()
        let router = try table()
        let executor = NavigationExecutor(window: window(tabs), router: router) { Screen($0) }
        let comments = try #require(router.route(for: ["type": "commentpass"]))
        for route in [withBob, team, comments] { #expect(executor.open(route)) }
        #expect(tabs.selectedIndex == 2)
        // Each goes from the root of the tab that was open, but what goes on top.
        #expect((0..<3).map { opened(in: $0, of: tabs) } == [[], [team], [comments]])
        #expect(executor.open(team))
        #expect(tabs.selectedIndex == 1)
        #expect((0..<3).map { opened(in: $0, of: tabs) } == [[], [team], []])
    }

    @Test(.requirement("S0.18", "S0.15")) func `pushes on the app's navigation controller when that is the root`() {
        let navigation = UINavigationController(rootViewController: UIViewController())
        let executor = NavigationExecutor(window: window(navigation), router: NotificationRouter()) { Screen($0) }
        #expect(executor.open(withBob))
        #expect(navigation.viewControllers.count == 2)
        #expect((navigation.topViewController as? Screen)?.route == withBob)
    }

    @Test(.requirement("S4.8")) func `does nothing on top of the screen it would open`() throws {
        let navigation = UINavigationController(rootViewController: UIViewController())
        let router = try NotificationRouter(table: [
            .conversations(.onTop), .detail(types: ["news"], screen: "news", .onTop),
        ])
        let executor = NavigationExecutor(window: window(navigation), router: router) { Screen($0) }
        #expect(executor.open(.detail(screen: "news")))
        #expect(executor.open(.detail(screen: "news")))
        #expect(executor.open(withBob))
        #expect(navigation.viewControllers.count == 3)
    }

    @Test(.requirement("S0.18")) func `leaves a root it does not know to the app, and what is presented over it`() {
        let root = UIViewController()
        let window = window(root)
        root.present(UIViewController(), animated: false)
        #expect(!NavigationExecutor(window: window, router: NotificationRouter()) { Screen($0) }.open(withBob))
        #expect(root.presentedViewController != nil)
        window.rootViewController = nil
        #expect(!NavigationExecutor(window: window, router: NotificationRouter()) { Screen($0) }.open(withBob))
    }

    @Test func `dismisses first what is presented over everything`() {
        let tabs = tabs()
        let window = window(tabs)
        tabs.selectedViewController?.present(UIViewController(), animated: false)
        #expect(NavigationExecutor(window: window, router: NotificationRouter()) { Screen($0) }.open(withBob))
        #expect(tabs.presentedViewController == nil)
        #expect(opened(in: 0, of: tabs) == [withBob])
    }
}

@MainActor @Suite struct `A container of the app's own` {
    private func executor(_ window: UIWindow) throws -> NavigationExecutor {
        NavigationExecutor(window: window, router: try table()) { _ in
            Issue.record("the container makes its screens itself")
            return UIViewController()
        }
    }

    @Test(.requirement("S0.18", "S1.18")) func `is walked when it is the root, over the tab bar it has within`() throws
    {
        let tabs = tabs()
        let drawer = DrawerController(tabs) { Screen($0) }
        let executor = try self.executor(window(drawer))
        tabs.selectedViewController?.present(UIViewController(), animated: false)
        #expect(drawer.presentedViewController != nil)
        #expect(executor.open(team))
        #expect(drawer.presentedViewController == nil)
        #expect(!drawer.isDrawerOpen)
        #expect(tabs.selectedIndex == 1)
        #expect(opened(in: 1, of: tabs) == [team])
        #expect(executor.current == NavigationState(selectedTab: 1, stacks: [[], [team], []]))
    }

    @Test(.requirement("S1.17", "S1.18", "S4.8")) func `performs the steps in whatever its places are`() throws {
        let split = SplitController()
        split.columns[1].viewControllers = [UIViewController(), UIViewController()]
        let executor = try self.executor(window(split))
        #expect(executor.open(team))
        #expect(split.shown == 1)
        #expect(executor.current == NavigationState(selectedTab: 1, stacks: [[], [team]]))
        let screen = split.columns[1].topViewController
        #expect(executor.open(team))
        #expect(split.columns[1].topViewController === screen)
    }

    @Test(.requirement("S0.18")) func `that has no state yet is left to the app`() throws {
        let split = SplitController()
        split.isReady = false
        split.present(UIViewController(), animated: false)
        #expect(try !self.executor(window(split)).open(team))
        #expect(split.presentedViewController != nil)
        #expect(split.shown == 0)
    }

    @Test(.requirement("S1.17", "S1.18")) func `need not be a controller`() throws {
        let model = PathModel()
        let executor = NavigationExecutor(container: model, router: try table())
        #expect(executor.open(withBob))
        #expect(executor.open(withBob))
        #expect(executor.open(team))
        #expect(model.path == [team])
        #expect(
            model.steps == [
                .push(withBob, animated: true, hidesBottomBar: true), .popToRoot(animated: false),
                .push(team, animated: true, hidesBottomBar: true),
            ])
    }

    @Test func `may be what is presented, such as a navigation controller, and stays so`() {
        let root = UIViewController()
        let window = window(root)
        let sheet = UINavigationController(rootViewController: UIViewController())
        root.present(sheet, animated: false)
        let over = UIViewController()
        sheet.present(over, animated: false)
        let executor = NavigationExecutor(
            container: StandardContainer(sheet) { Screen($0) }, router: NotificationRouter())
        #expect(executor.open(withBob))
        #expect(root.presentedViewController === sheet)
        #expect(sheet.presentedViewController == nil)
        #expect((sheet.topViewController as? Screen)?.route == withBob)
        #expect(window.rootViewController === root)
    }
}
