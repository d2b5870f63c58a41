public import Foundation
import VirtualPhone

/// A stack of screens.
@MainActor open class UINavigationController: UIViewController {
    private var stack: [UIViewController] = []
    /// The bar above: the way back, the title and the items of the screen below it.
    public let navigationBar = UINavigationBar()

    /// An empty stack.
    public override init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) {
        super.init(nibName: nibNameOrNil, bundle: nibBundleOrNil)
        self.definesPresentationContext = true
    }

    /// From a storyboard, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// A stack with one screen.
    public init(rootViewController: UIViewController) {
        super.init(nibName: nil, bundle: nil)
        self.definesPresentationContext = true
        self.replace(with: [rootViewController], animated: false)
    }

    /// Makes the view, with the bar.
    open override func loadView() {
        super.loadView()
        self.navigationBar.owner = self
        self.view.addSubview(self.navigationBar)
    }

    /// VoiceOver's scrub goes back.
    open override func accessibilityPerformEscape() -> Bool {
        self.popViewController(animated: true) != nil || super.accessibilityPerformEscape()
    }

    /// The stack, the root first. Setting it replaces the stack at once.
    open var viewControllers: [UIViewController] {
        get { self.stack }
        set { self.replace(with: newValue, animated: false) }
    }

    open override var children: [UIViewController] { self.stack }
    override var visibleChildren: [UIViewController] { self.stack.last.map { [$0] } ?? [] }
    /// The last screen of the stack.
    open var topViewController: UIViewController? { self.stack.last }
    /// The screen one sees: shown over the stack, or its last.
    open var visibleViewController: UIViewController? {
        var top = self.topViewController?.presentedViewController ?? self.presentedViewController
        while let over = top?.presentedViewController { top = over }
        return top ?? self.topViewController
    }

    /// Replaces the stack.
    open func setViewControllers(_ viewControllers: [UIViewController], animated: Bool) {
        self.replace(with: viewControllers, animated: animated)
    }

    /// Puts a screen on the stack.
    ///
    /// - Precondition: the screen is not on it (Apple throws an exception).
    open func pushViewController(_ viewController: UIViewController, animated: Bool) {
        precondition(!self.stack.contains { $0 === viewController }, "the screen is already on the stack")
        self.replace(with: self.stack + [viewController], animated: animated)
    }

    /// Takes the last screen off the stack; the root stays.
    @discardableResult
    open func popViewController(animated: Bool) -> UIViewController? {
        guard self.stack.count > 1 else { return nil }
        let last = self.stack.last
        self.replace(with: Array(self.stack.dropLast()), animated: animated)
        return last
    }

    /// Takes everything but the root off the stack.
    @discardableResult
    open func popToRootViewController(animated: Bool) -> [UIViewController]? {
        guard self.stack.count > 1 else { return [] }
        let popped = Array(self.stack.dropFirst())
        self.replace(with: Array(self.stack.prefix(1)), animated: animated)
        return popped
    }

    private func replace(with next: [UIViewController], animated: Bool) {
        let old = self.stack
        self.contain(next, insteadOf: old) {
            self.stack = next
            guard old.last !== next.last, self.isOnScreen else { return }
            old.last?.disappear(animated)
            next.last?.appear(animated)
        }
    }

    override var ownTitles: [String] { self.stack.flatMap(\.visibleTitles) }
}

/// Screens side by side, one of them chosen.
@MainActor open class UITabBarController: UIViewController {
    private var tabs: [UIViewController]?
    private var chosen = 0

    /// The bar below.
    public let tabBar = UITabBar()

    /// Makes the view, with the bar.
    open override func loadView() {
        super.loadView()
        self.tabBar.owner = self
        self.view.addSubview(self.tabBar)
    }

    /// Handles a tap on the bar: on the chosen tab, it goes back to its first screen.
    func tap(_ controller: UIViewController) {
        if controller === self.selectedViewController {
            (controller as? UINavigationController)?.popToRootViewController(animated: true)
        }
        self.selectedViewController = controller
    }

    /// The screens.
    open var viewControllers: [UIViewController]? {
        get { self.tabs }
        set {
            let old = self.selectedViewController
            self.contain(newValue ?? [], insteadOf: self.tabs ?? []) {
                self.tabs = newValue
                // The chosen screen stays chosen if it is still there, as on a phone.
                let place = newValue?.firstIndex { $0 === old }
                self.chosen = place ?? (self.chosen < (newValue?.count ?? 0) ? self.chosen : 0)
                self.changed(from: old)
            }
        }
    }

    /// The place of the chosen screen; a place where no screen is is ignored.
    open var selectedIndex: Int {
        get { self.chosen }
        set {
            guard let tabs = self.tabs, tabs.indices.contains(newValue) else { return }
            let old = self.selectedViewController
            self.chosen = newValue
            self.changed(from: old)
        }
    }

    open override var children: [UIViewController] { self.tabs ?? [] }
    override var visibleChildren: [UIViewController] { self.selectedViewController.map { [$0] } ?? [] }

    /// The chosen screen.
    open var selectedViewController: UIViewController? {
        get {
            guard let tabs = self.tabs, tabs.indices.contains(self.chosen) else { return nil }
            return tabs[self.chosen]
        }
        set { if let index = self.tabs?.firstIndex(where: { $0 === newValue }) { self.selectedIndex = index } }
    }

    /// Replaces the screens.
    open func setViewControllers(_ viewControllers: [UIViewController]?, animated: Bool) {
        self.viewControllers = viewControllers
    }

    private func changed(from old: UIViewController?) {
        guard old !== self.selectedViewController, self.isOnScreen else { return }
        old?.disappear(false)
        self.selectedViewController?.appear(false)
    }

    /// True if the bar of tabs is seen: the chosen stack's top may have hidden it (S1.18). Linux only.
    public var isTabBarVisible: Bool {
        guard let stack = self.selectedViewController as? UINavigationController else { return true }
        return !stack.viewControllers.dropFirst().contains { $0.hidesBottomBarWhenPushed }
    }

    override var ownTitles: [String] { self.selectedViewController?.visibleTitles ?? [] }
}

/// Where an app draws.
@MainActor open class UIWindow: UIView {
    /// The screen at the bottom.
    open var rootViewController: UIViewController? {
        didSet {
            guard oldValue !== self.rootViewController else { return }
            oldValue?.rootWindow = nil
            self.rootViewController?.rootWindow = self
            guard !self.isHidden else { return }
            oldValue?.disappear(false)
            self.rootViewController?.appear(false)
        }
    }
    /// The scene the window belongs to.
    open weak var windowScene: UIWindowScene? { didSet { self.windowScene?.add(self) } }
    /// True if it is the one that is typed into: one an app.
    public internal(set) var isKeyWindow = false
    /// True if it is hidden; a new one is.
    open override var isHidden: Bool {
        didSet {
            guard oldValue != self.isHidden else { return }
            if self.isHidden {
                self.rootViewController?.disappear(false)
            } else {
                self.rootViewController?.appear(false)
            }
        }
    }
    open override var window: UIWindow? { self }
    open override var next: UIResponder? {
        self.windowScene ?? PhoneProcess.currentIfAny.map { UIApplication.of($0) }
    }
    weak var firstResponder: UIResponder?
    /// Counts what a person does, before and after it is done.
    var touches = 0
    private var isLayoutScheduled = false
    private var isLayoutDue = false

    func scheduleLayout() {
        self.isLayoutDue = true
        guard !self.isLayoutScheduled else { return }
        self.isLayoutScheduled = true
        Task { [weak self] in
            self?.isLayoutScheduled = false
            self?.layOut()
        }
    }

    /// Until nothing waits; a layout that asks for another each time is left after a few.
    func layOut() {
        for _ in 1...8 {
            self.isLayoutDue = false
            self.layoutIfNeeded()
            if !self.isLayoutDue { return }
        }
    }

    override func setUp() { self.isHidden = true }

    /// A window of a scene.
    public convenience init(windowScene: UIWindowScene) {
        self.init(frame: UIScreen.main.bounds)
        self.windowScene = windowScene
        windowScene.add(self)
    }

    /// Makes it the one that is typed into.
    open func makeKey() {
        // In a test of screens alone there is no phone, and no app with another key window.
        if let process = PhoneProcess.currentIfAny { UIApplication.of(process).makeKey(self) }
        self.isKeyWindow = true
    }

    /// Shows the window and makes it the one that is typed into.
    open func makeKeyAndVisible() {
        self.makeKey()
        self.isHidden = false
    }

    /// The names of the screens from the root to the visible one, for tests and traces. Linux only.
    public var visibleScreens: [String] { self.rootViewController?.visibleTitles ?? [] }
}
