public import ClientCore
public import UIKit

/// The executor recognises such a screen and does not open it twice.
@MainActor public protocol RoutedScreen: UIViewController {
    var route: Route { get }
}

/// A root of the app's own, such as a split view, a drawer or what stands behind a SwiftUI view, that the executor can walk:
/// it says what is open, and performs steps (S0.18, S1.17, S1.18, S4.8).
///
/// What is a tab bar or a navigation controller within it is walked by a `StandardContainer`.
@MainActor public protocol NavigationContainer: AnyObject {
    /// The tabs and screens that are open now. Nil leaves the route to the app: nothing is dismissed, and no step comes.
    var navigationState: NavigationState? { get }
    /// Performs one step. The steps of a route come in order, without a pause, and go by the state that was told before the first.
    func perform(_ step: NavigationStep)
}

/// UIKit's own containers: a tab bar of navigation controllers, or one navigation controller. The executor takes it for the
/// window's root; a container of the app's own takes it for a controller within.
@MainActor public final class StandardContainer: NavigationContainer {
    let controller: UIViewController
    private let makeScreen: (Route) -> UIViewController

    /// - Parameters:
    ///   - controller: the tab bar or navigation controller; any other has no state and performs nothing.
    ///   - makeScreen: makes the screen of a route; a `RoutedScreen` is recognised later.
    public init(_ controller: UIViewController, makeScreen: @escaping (Route) -> UIViewController) {
        self.controller = controller
        self.makeScreen = makeScreen
    }

    /// The tabs and screens that are open now; nil for a controller that is neither a tab bar nor a navigation controller.
    public var navigationState: NavigationState? {
        switch self.controller {
        case let tabs as UITabBarController:
            NavigationState(
                selectedTab: tabs.selectedIndex, stacks: (tabs.viewControllers ?? []).map(Self.stack(of:)))
        case let navigation as UINavigationController: NavigationState(stacks: [Self.stack(of: navigation)])
        default: nil
        }
    }

    /// Performs one step; a tab that is not there is not chosen.
    public func perform(_ step: NavigationStep) {
        switch step {
        case .popToRoot(let animated): _ = self.navigation?.popToRootViewController(animated: animated)
        case .selectTab(let index):
            guard let tabs = self.controller as? UITabBarController,
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
        switch self.controller {
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
