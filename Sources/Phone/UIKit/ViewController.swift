public import Foundation

/// One screen of an app, as far as routing needs it.
///
/// The initializers are Apple's: a subclass with an initializer of its own calls `super.init(nibName: nil, bundle: nil)` and
/// has `required init?(coder:)`.
@MainActor open class UIViewController: UIResponder {
    /// The name of the screen; setting it names it in the bars too.
    open var title: String? {
        didSet {
            self.navigationItem.title = self.title
            self.tabBarItem.title = self.title
        }
    }
    /// True if the tab bar disappears when the screen is pushed (S1.18).
    open var hidesBottomBarWhenPushed = false
    /// The screen's item in the navigation bar.
    public let navigationItem = UINavigationItem()
    /// The screen's item in the tab bar.
    open var tabBarItem = UITabBarItem()
    /// How the screen covers the one it is shown over: that disappears with `fullScreen` alone, and only `currentContext` and
    /// `overCurrentContext` cover less than the outermost container.
    open var modalPresentationStyle = UIModalPresentationStyle.automatic
    /// The container the screen is in.
    public internal(set) weak var parent: UIViewController?
    /// The screens it contains.
    open var children: [UIViewController] { self.added }
    /// The screen shown over this one, or over a container it is in.
    open var presentedViewController: UIViewController? { self.presented ?? self.parent?.presentedViewController }
    /// The screen that this one, or a container it is in, is shown over.
    open var presentingViewController: UIViewController? { self.presenter ?? self.parent?.presentingViewController }
    /// True if a screen of the style `currentContext` or `overCurrentContext` covers no more than this one.
    open var definesPresentationContext = false
    /// Who gets what the screen does not take: the view its view is in.
    open override var next: UIResponder? { self.viewIfMade?.superview ?? self.presenter }
    weak var rootWindow: UIWindow?
    private var presented: UIViewController?
    private weak var presenter: UIViewController?
    private var added: [UIViewController] = []
    private var viewIfMade: UIView?
    private var isVisible = false
    private var hangsInPlace = false

    /// A screen. There are no nib files; both arguments are kept out of sight.
    public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) { super.init() }

    /// From a storyboard, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { return nil }

    /// A screen.
    public override convenience init() { self.init(nibName: nil, bundle: nil) }

    // MARK: The view

    /// The screen's view, made at first use. On Apple's systems it is implicitly unwrapped.
    open var view: UIView {
        get {
            self.loadViewIfNeeded()
            guard let view = self.viewIfMade else { fatalError("loadView() must set the view") }
            return view
        }
        set {
            self.viewIfMade?.controller = nil
            self.viewIfMade = newValue
            newValue.controller = self
        }
    }

    /// The view if it was made.
    open var viewIfLoaded: UIView? { self.viewIfMade }
    /// True if the view was made.
    open var isViewLoaded: Bool { self.viewIfMade != nil }
    /// Makes the view.
    open func loadView() { self.view = UIView(frame: UIScreen.main.bounds) }
    /// The view has been made.
    open func viewDidLoad() {}

    /// Makes the view if it was not made yet.
    open func loadViewIfNeeded() {
        guard self.viewIfMade == nil else { return }
        self.loadView()
        self.viewDidLoad()
    }

    /// The view was laid out.
    open func viewDidLayoutSubviews() {}
    /// The screen is about to be visible.
    open func viewWillAppear(_ animated: Bool) {}
    /// The screen is visible.
    open func viewDidAppear(_ animated: Bool) {}
    /// The screen is about to be covered or left.
    open func viewWillDisappear(_ animated: Bool) {}
    /// The screen is covered or left.
    open func viewDidDisappear(_ animated: Bool) {}

    // MARK: Containers

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

    /// Puts a screen into this one, and tells it that it will be there; that it is, the app tells it.
    open func addChild(_ childController: UIViewController) {
        childController.removeFromParent()
        childController.willMove(toParent: self)
        childController.parent = self
        self.added.append(childController)
    }

    /// Takes this screen out of the one it was added to, and tells it so; that it will be, the app tells it before.
    open func removeFromParent() {
        guard let parent = self.parent else { return }
        parent.added.removeAll { $0 === self }
        self.parent = nil
        self.didMove(toParent: nil)
    }

    /// Tells the screens that a container's change brings and takes away of it, before and after.
    func contain(_ next: [UIViewController], insteadOf old: [UIViewController], _ change: () -> Void) {
        let gone = old.filter { screen in !next.contains { $0 === screen } }
        let new = next.filter { screen in !old.contains { $0 === screen } }
        for screen in gone { screen.willMove(toParent: nil) }
        for screen in new { screen.willMove(toParent: self) }
        for screen in gone { screen.parent = nil }
        for screen in new { screen.parent = self }
        change()
        for screen in gone { screen.didMove(toParent: nil) }
        for screen in new { screen.didMove(toParent: self) }
    }

    /// VoiceOver's scrub: takes away what is shown over another screen.
    open override func accessibilityPerformEscape() -> Bool {
        guard self.presenter != nil else { return false }
        self.dismiss(animated: true)
        return true
    }

    /// The screen was added to a container, or taken out: nil.
    open func didMove(toParent parent: UIViewController?) {}
    /// The screen is about to be added to a container, or taken out: nil.
    open func willMove(toParent parent: UIViewController?) {}

    // MARK: Screens over screens

    /// Shows a screen over this one: over the outermost container it is in, unless the style asks for less.
    open func present(
        _ viewControllerToPresent: UIViewController, animated flag: Bool, completion: (() -> Void)? = nil
    ) {
        // Apple's attempt to present twice is refused with a warning.
        let presenter = self.presenter(for: viewControllerToPresent.modalPresentationStyle)
        guard presenter.presented == nil else { return }
        presenter.presented = viewControllerToPresent
        viewControllerToPresent.presenter = presenter
        if viewControllerToPresent.coversAll, presenter.isVisible { presenter.disappear(flag) }
        viewControllerToPresent.appear(flag)
        completion?()
    }

    /// Takes away the screen shown over this one, or this one.
    open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {
        var covered: UIViewController = self
        while covered.presented == nil, let parent = covered.parent { covered = parent }
        guard let presented = covered.presented else {
            // What is in a container is over what its container is over.
            if let presenter = covered.presenter { return presenter.dismiss(animated: flag, completion: completion) }
            completion?()
            return
        }
        presented.dropPresented(flag)
        covered.presented = nil
        presented.presenter = nil
        presented.disappear(flag)
        if presented.coversAll, !covered.isVisible { covered.appear(flag) }
        completion?()
    }

    private func dropPresented(_ animated: Bool) {
        for child in self.children { child.dropPresented(animated) }
        guard let presented = self.presented else { return }
        presented.dropPresented(animated)
        self.presented = nil
        presented.presenter = nil
        presented.disappear(animated)
    }

    private func presenter(for style: UIModalPresentationStyle) -> UIViewController {
        var presenter: UIViewController = self
        let isLimited = style == .currentContext || style == .overCurrentContext
        while let parent = presenter.parent, !(isLimited && presenter.definesPresentationContext) {
            presenter = parent
        }
        return presenter
    }

    private var coversAll: Bool { self.modalPresentationStyle == .fullScreen }

    // MARK: Being seen

    /// A visible screen is not told again.
    func appear(_ animated: Bool) {
        self.loadViewIfNeeded()
        guard !self.isVisible else { return }
        self.isVisible = true
        self.viewWillAppear(animated)
        self.hangView()
        for child in self.visibleChildren { child.appear(animated) }
        self.viewDidAppear(animated)
    }

    func disappear(_ animated: Bool) {
        guard self.isVisible else { return }
        self.isVisible = false
        self.viewWillDisappear(animated)
        for child in self.visibleChildren { child.disappear(animated) }
        if self.hangsInPlace { self.viewIfMade?.removeFromSuperview() }
        self.hangsInPlace = false
        self.viewDidDisappear(animated)
    }

    /// A view that the app put somewhere itself stays there.
    private func hangView() {
        guard let view = self.viewIfMade, view.superview == nil else { return }
        view.coversTouches = self.presenter != nil
        if let container = self.parent?.viewIfMade {
            // Behind a bar at the bottom, which is seen last.
            let place = container.subviews.firstIndex { $0 is UITabBar }
            container.insertSubview(view, at: place ?? container.subviews.count)
        } else {
            self.hostWindow?.insertSubview(view, at: self.presenter == nil ? 0 : .max)
        }
        self.hangsInPlace = view.superview != nil
    }

    private var hostWindow: UIWindow? { self.rootWindow ?? self.parent?.hostWindow ?? self.presenter?.hostWindow }

    var isOnScreen: Bool { self.isVisible }
    var visibleChildren: [UIViewController] { self.added }

    var visibleTitles: [String] {
        let own = self.ownTitles
        return own + (self.presented?.visibleTitles ?? [])
    }

    var ownTitles: [String] { [self.title ?? String(describing: type(of: self))] }
}

/// How a screen covers the one it is shown over. Raw values as Apple's.
public enum UIModalPresentationStyle: Int, Hashable, Sendable {
    case fullScreen, pageSheet, formSheet, currentContext, custom, overFullScreen, overCurrentContext, popover
    case none = -1
    case automatic = -2
}
