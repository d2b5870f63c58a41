public import ClientCore
public import UIKit

/// Walks by the router's steps on the app's screens (S1.17, S1.18, S4.8): in a tab bar of navigation controllers, in one
/// navigation controller, or in a `NavigationContainer`. Any other root is left to the app (S0.18).
@MainActor public struct NavigationExecutor {
    private let router: NotificationRouter
    private let container: () -> (any NavigationContainer)?
    /// The controller with the container's screens: others may be presented over it.
    private let root: () -> UIViewController?

    /// Walks in what is the window's root when a route is opened.
    ///
    /// - Parameters:
    ///   - window: the app's window.
    ///   - router: the app's table, as the kit has it.
    ///   - makeScreen: makes the screen of a route; a `RoutedScreen` is recognised later. A root that is a
    ///     `NavigationContainer` makes its screens itself.
    public init(window: UIWindow, router: NotificationRouter, makeScreen: @escaping (Route) -> UIViewController) {
        self.router = router
        self.root = { window.rootViewController }
        self.container = {
            guard let root = window.rootViewController else { return nil }
            return root as? any NavigationContainer ?? StandardContainer(root, makeScreen: makeScreen)
        }
    }

    /// Walks in a container of the app's own that is not the window's root, such as what stands behind a SwiftUI view.
    ///
    /// - Parameters:
    ///   - container: the container, which is kept.
    ///   - router: the app's table, as the kit has it.
    public init(container: any NavigationContainer, router: NotificationRouter) {
        self.router = router
        self.root = { container as? UIViewController ?? (container as? StandardContainer)?.controller }
        self.container = { container }
    }

    /// The tabs and screens that are open now; nil if the executor cannot walk the root.
    public var current: NavigationState? { self.container()?.navigationState }

    /// Opens a route. Returns false if the root is none the executor can walk; nothing was done then.
    @discardableResult
    public func open(_ route: Route) -> Bool {
        guard let container = self.container(), let current = container.navigationState else { return false }
        // What is shown over everything would hide the screen.
        if let root = self.root(), root.presentedViewController != nil {
            root.dismiss(animated: false, completion: nil)
        }
        for step in self.router.steps(for: route, current: current) { container.perform(step) }
        return true
    }
}
