/// What receives events. Unlike Apple's it is no NSObject: nothing of the Objective-C runtime exists on Linux.
@MainActor open class UIResponder: Hashable {
    /// A responder.
    public init() {}
    /// Whom events go to next; nil, as a virtual phone sends none.
    open var next: UIResponder? { nil }

    public nonisolated static func == (left: UIResponder, right: UIResponder) -> Bool { left === right }
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A view without a picture: it exists so that an app's code compiles.
@MainActor open class UIView: UIResponder {
    /// Whether it is hidden.
    open var isHidden = false
    /// The views within it, back to front.
    public private(set) var subviews: [UIView] = []
    /// The view it is in.
    public private(set) weak var superview: UIView?

    /// Puts a view in front.
    open func addSubview(_ view: UIView) {
        view.removeFromSuperview()
        self.subviews.append(view)
        view.superview = self
    }

    /// Takes the view out of the one it is in.
    open func removeFromSuperview() {
        self.superview?.subviews.removeAll { $0 === self }
        self.superview = nil
    }
}

/// One screen of an app, as far as routing needs it.
@MainActor open class UIViewController: UIResponder {
    /// The name of the screen; also what a virtual phone shows of it.
    open var title: String?
    /// Whether the tab bar disappears when the screen is pushed (S1.18).
    open var hidesBottomBarWhenPushed = false
    /// The screen's view, made at first use.
    open lazy var view: UIView = {
        self.isViewLoaded = true
        return UIView()
    }()
    /// Whether the view was made.
    public private(set) var isViewLoaded = false
    /// The container the screen is in.
    public internal(set) weak var parent: UIViewController?
    /// The screens it contains.
    open var children: [UIViewController] { [] }
    /// The screen shown over this one.
    public private(set) var presentedViewController: UIViewController?
    /// The screen this one is shown over.
    public private(set) weak var presentingViewController: UIViewController?

    /// A screen.
    public override init() { super.init() }

    /// The navigation controller the screen is in.
    open var navigationController: UINavigationController? { self.ancestor() }
    /// The tab bar controller the screen is in.
    open var tabBarController: UITabBarController? { self.ancestor() }

    private func ancestor<Container: UIViewController>() -> Container? {
        var parent = self.parent
        while let candidate = parent {
            if let found = candidate as? Container { return found }
            parent = candidate.parent
        }
        return nil
    }

    /// The view has been made.
    open func viewDidLoad() {}
    /// The screen is about to be visible.
    open func viewWillAppear(_ animated: Bool) {}
    /// The screen is visible.
    open func viewDidAppear(_ animated: Bool) {}
    /// The screen is about to be covered or left.
    open func viewWillDisappear(_ animated: Bool) {}
    /// The screen is covered or left.
    open func viewDidDisappear(_ animated: Bool) {}

    /// Makes the view if it was not made yet.
    open func loadViewIfNeeded() {
        guard !self.isViewLoaded else { return }
        _ = self.view
        self.isViewLoaded = true
        self.viewDidLoad()
    }

    /// Shows a screen over this one.
    open func present(
        _ viewController: UIViewController, animated: Bool, completion: (() -> Void)? = nil
    ) {
        self.presentedViewController = viewController
        viewController.presentingViewController = self
        viewController.appear(animated)
        completion?()
    }

    /// Takes away the screen shown over this one, or this one.
    open func dismiss(animated: Bool, completion: (() -> Void)? = nil) {
        guard let presented = self.presentedViewController else {
            if let presenting = self.presentingViewController {
                return presenting.dismiss(animated: animated, completion: completion)
            }
            completion?()
            return
        }
        self.presentedViewController = nil
        presented.presentingViewController = nil
        presented.disappear(animated)
        completion?()
    }

    func appear(_ animated: Bool) {
        self.loadViewIfNeeded()
        self.viewWillAppear(animated)
        self.viewDidAppear(animated)
    }

    func disappear(_ animated: Bool) {
        self.viewWillDisappear(animated)
        self.viewDidDisappear(animated)
    }

    /// The names of the screens from this one to the visible one.
    var visibleTitles: [String] {
        let own = self.ownTitles
        return own + (self.presentedViewController?.visibleTitles ?? [])
    }

    var ownTitles: [String] { [self.title ?? String(describing: type(of: self))] }
}

/// A stack of screens.
@MainActor open class UINavigationController: UIViewController {
    /// The stack, the root first. Setting it replaces the stack at once.
    open var viewControllers: [UIViewController] = [] {
        willSet { for controller in self.viewControllers { controller.parent = nil } }
        didSet {
            for controller in self.viewControllers { controller.parent = self }
            if oldValue.last !== self.viewControllers.last {
                oldValue.last?.disappear(false)
                self.viewControllers.last?.appear(false)
            }
        }
    }

    /// An empty stack.
    public override init() { super.init() }

    /// A stack with one screen.
    public init(rootViewController: UIViewController) {
        super.init()
        self.viewControllers = [rootViewController]
    }

    open override var children: [UIViewController] { self.viewControllers }
    /// The last screen of the stack.
    open var topViewController: UIViewController? { self.viewControllers.last }
    /// The screen one sees: shown over the stack, or its last.
    open var visibleViewController: UIViewController? { self.presentedViewController ?? self.topViewController }

    /// Replaces the stack.
    open func setViewControllers(_ viewControllers: [UIViewController], animated: Bool) {
        self.viewControllers = viewControllers
    }

    /// Puts a screen on the stack.
    open func pushViewController(_ viewController: UIViewController, animated: Bool) {
        precondition(!self.viewControllers.contains { $0 === viewController }, "the screen is already on the stack")
        self.viewControllers.append(viewController)
    }

    /// Takes the last screen off the stack; the root stays.
    @discardableResult
    open func popViewController(animated: Bool) -> UIViewController? {
        guard self.viewControllers.count > 1 else { return nil }
        let last = self.viewControllers.last
        self.viewControllers.removeLast()
        return last
    }

    /// Takes everything but the root off the stack.
    @discardableResult
    open func popToRootViewController(animated: Bool) -> [UIViewController]? {
        guard self.viewControllers.count > 1 else { return [] }
        let popped = Array(self.viewControllers.dropFirst())
        self.viewControllers = Array(self.viewControllers.prefix(1))
        return popped
    }

    /// Takes everything above a screen off the stack; nil if the screen is not on it.
    @discardableResult
    open func popToViewController(_ viewController: UIViewController, animated: Bool) -> [UIViewController]? {
        guard let index = self.viewControllers.firstIndex(where: { $0 === viewController }) else { return nil }
        let popped = Array(self.viewControllers[(index + 1)...])
        self.viewControllers = Array(self.viewControllers[...index])
        return popped
    }

    override var ownTitles: [String] { self.viewControllers.flatMap(\.visibleTitles) }
}

/// Screens side by side, one of them chosen.
@MainActor open class UITabBarController: UIViewController {
    /// The screens; choosing one out of range is a programmer's error.
    open var viewControllers: [UIViewController]? {
        willSet { for controller in self.viewControllers ?? [] { controller.parent = nil } }
        didSet {
            for controller in self.viewControllers ?? [] { controller.parent = self }
            if self.selectedIndex >= (self.viewControllers?.count ?? 0) { self.selectedIndex = 0 }
        }
    }
    /// The place of the chosen screen.
    open var selectedIndex = 0

    /// Without screens.
    public override init() { super.init() }

    open override var children: [UIViewController] { self.viewControllers ?? [] }

    /// The chosen screen.
    open var selectedViewController: UIViewController? {
        get {
            guard let controllers = self.viewControllers, controllers.indices.contains(self.selectedIndex) else {
                return nil
            }
            return controllers[self.selectedIndex]
        }
        set {
            if let index = self.viewControllers?.firstIndex(where: { $0 === newValue }) { self.selectedIndex = index }
        }
    }

    /// Replaces the screens.
    open func setViewControllers(_ viewControllers: [UIViewController]?, animated: Bool) {
        self.viewControllers = viewControllers
    }

    override var ownTitles: [String] { self.selectedViewController?.visibleTitles ?? [] }
}

/// Where an app draws.
@MainActor open class UIWindow: UIView {
    /// The screen at the bottom.
    open var rootViewController: UIViewController? {
        didSet {
            guard oldValue !== self.rootViewController, self.isKeyWindow else { return }
            oldValue?.disappear(false)
            self.rootViewController?.appear(false)
        }
    }
    /// The scene the window belongs to.
    open weak var windowScene: UIWindowScene? {
        didSet { self.windowScene?.add(self) }
    }
    /// Whether it is the one that is typed into.
    public private(set) var isKeyWindow = false

    /// A window without a scene.
    public override init() { super.init() }

    /// A window of a scene.
    public init(windowScene: UIWindowScene) {
        super.init()
        self.windowScene = windowScene
        windowScene.add(self)
    }

    /// Shows the window.
    open func makeKeyAndVisible() {
        self.isHidden = false
        guard !self.isKeyWindow else { return }
        self.isKeyWindow = true
        self.rootViewController?.appear(false)
    }

    /// The names of the screens from the root to the visible one, for tests and traces. Linux only.
    public var visibleScreens: [String] { self.rootViewController?.visibleTitles ?? [] }
}
