public import ClientCore
public import UIKit

/// The executor recognises such a screen and does not open it twice.
@MainActor public protocol RoutedScreen: UIViewController {
    var route: Route { get }
}

/// Performs the router's steps on real view controllers (S1.17, S1.18, S4.8): a tab bar of navigation controllers, or
/// one navigation controller. Any other root is left to the app (S0.18).
@MainActor public struct NavigationExecutor {
    private let window: UIWindow
    private let makeScreen: (Route) -> UIViewController

    /// - Parameters:
    ///   - window: the app's window.
    ///   - makeScreen: makes the screen of a route; a `RoutedScreen` is recognised later.
    public init(window: UIWindow, makeScreen: @escaping (Route) -> UIViewController) {
        self.window = window
        self.makeScreen = makeScreen
    }

    /// What is on the screen now; nil if the root is neither a tab bar nor a navigation controller.
    public var current: NavigationState? {
        switch self.window.rootViewController {
        case let tabs as UITabBarController:
            NavigationState(
                selectedTab: tabs.selectedIndex, stacks: (tabs.viewControllers ?? []).map(Self.stack(of:)))
        case let navigation as UINavigationController: NavigationState(stacks: [Self.stack(of: navigation)])
        default: nil
        }
    }

    /// Opens a route. Returns false if the root is none the executor knows; nothing was done then.
    @discardableResult
    public func open(_ route: Route, by router: NotificationRouter = NotificationRouter()) -> Bool {
        guard let current = self.current else { return false }
        // What is shown over everything would hide the screen.
        if self.window.rootViewController?.presentedViewController != nil {
            self.window.rootViewController?.dismiss(animated: false, completion: nil)
        }
        for step in router.steps(for: route, current: current) { self.carryOut(step) }
        return true
    }

    private func carryOut(_ step: NavigationStep) {
        switch step {
        case .popToRoot(let animated): _ = self.navigation?.popToRootViewController(animated: animated)
        case .selectTab(let index):
            guard let tabs = self.window.rootViewController as? UITabBarController,
                (tabs.viewControllers ?? []).indices.contains(index)
            else { return }
            tabs.selectedIndex = index
        case .push(let route, let animated, let hidesBottomBar):
            let screen = self.makeScreen(route)
            screen.hidesBottomBarWhenPushed = hidesBottomBar
            self.navigation?.pushViewController(screen, animated: animated)
        }
    }

    private var navigation: UINavigationController? {
        switch self.window.rootViewController {
        case let tabs as UITabBarController: tabs.selectedViewController as? UINavigationController
        case let navigation as UINavigationController: navigation
        default: nil
        }
    }

    private static func stack(of controller: UIViewController) -> [Route?] {
        guard let navigation = controller as? UINavigationController else { return [] }
        return navigation.viewControllers.dropFirst().map { ($0 as? any RoutedScreen)?.route }
    }
}
