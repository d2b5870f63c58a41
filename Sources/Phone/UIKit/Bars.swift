import Foundation

/// An item of a bar. https://developer.apple.com/documentation/uikit/uibaritem
@MainActor open class UIBarItem {
    /// The text written on it.
    open var title: String?
    /// Its image.
    open var image: UIImage?
    /// A number to find it by.
    open var tag = 0
    /// True if it can be tapped.
    open var isEnabled = true
    /// The name in words.
    open var accessibilityLabel: String?
    /// The hint at its action.
    open var accessibilityHint: String?
    /// Its name for tests.
    open var accessibilityIdentifier: String?
    /// Its view, the same as long as the item.
    private(set) lazy var button = UIButton(type: .system)

    /// An item that says nothing.
    public init() {}

    /// The text that VoiceOver speaks for its image unless the app gives another.
    var spoken: String? { nil }

    func describeButton() {
        self.button.setTitle(self.title, for: .normal)
        self.button.setImage(self.image, for: .normal)
        self.button.isEnabled = self.isEnabled
        self.button.accessibilityLabel = self.accessibilityLabel ?? self.spoken
        self.button.accessibilityHint = self.accessibilityHint
        self.button.accessibilityIdentifier = self.accessibilityIdentifier
    }
}

/// A button of a navigation bar. https://developer.apple.com/documentation/uikit/uibarbuttonitem
@MainActor open class UIBarButtonItem: UIBarItem {
    /// Buttons whose looks are the system's. Raw values as Apple's, which has more.
    public enum SystemItem: Int, Hashable, Sendable {
        case done, cancel, edit, save, add
        case compose = 7

        /// True if it is written; the others are images.
        var isWritten: Bool { self.rawValue < Self.add.rawValue }

        /// The text that VoiceOver speaks.
        var spoken: String {
            switch self {
            case .done: "Done"
            case .cancel: "Cancel"
            case .edit: "Edit"
            case .save: "Save"
            case .add: "Add"
            case .compose: "Compose"
            }
        }
    }

    /// How a button looks. Raw values as Apple's.
    public enum Style: Int, Hashable, Sendable {
        case plain = 0
        case done = 2
    }

    /// How it looks.
    open var style = Style.plain
    /// The action of a tap.
    open var primaryAction: UIAction?
    /// The menu that a tap opens if there is no action.
    open var menu: UIMenu?
    private var systemItem: SystemItem?
    override var spoken: String? { self.systemItem?.spoken }

    /// A button of words or an image.
    public convenience init(
        title: String? = nil, image: UIImage? = nil, primaryAction: UIAction? = nil, menu: UIMenu? = nil
    ) {
        self.init()
        self.title = title ?? primaryAction?.title
        self.image = image ?? primaryAction?.image
        self.primaryAction = primaryAction
        self.menu = menu
    }

    /// A button whose looks are the system's.
    public convenience init(systemItem: SystemItem, primaryAction: UIAction? = nil, menu: UIMenu? = nil) {
        self.init(primaryAction: primaryAction, menu: menu)
        self.title = systemItem.isWritten ? systemItem.spoken : nil
        self.systemItem = systemItem
    }

    private lazy var tap = UIAction { [weak self] _ in
        if let self { self.primaryAction?.run(by: self) }
    }

    var view: UIView {
        self.describeButton()
        self.button.menu = self.menu
        self.button.showsMenuAsPrimaryAction = self.primaryAction == nil
        self.button.removeAction(self.tap, for: .primaryActionTriggered)
        if self.primaryAction != nil { self.button.addAction(self.tap, for: .primaryActionTriggered) }
        return self.button
    }
}

/// A screen's item in a tab bar. https://developer.apple.com/documentation/uikit/uitabbaritem
@MainActor open class UITabBarItem: UIBarItem {
    /// The number in the corner; nil for none.
    open var badgeValue: String?

    /// An item with a title; images are not drawn.
    public convenience init(title: String?, image: UIImage?, tag: Int) {
        self.init()
        self.title = title
        self.image = image
        self.tag = tag
    }
}

/// A screen's item in a navigation bar. https://developer.apple.com/documentation/uikit/uinavigationitem
@MainActor public final class UINavigationItem {
    /// The title.
    public var title: String?
    /// A line above the title.
    public var prompt: String?
    /// The title of the way back to this screen; nil for its own.
    public var backButtonTitle: String?
    /// Buttons where lines begin, in the place of the way back.
    public var leftBarButtonItems: [UIBarButtonItem]?
    /// Buttons where lines end, the last one first.
    public var rightBarButtonItems: [UIBarButtonItem]?
    /// The first button where lines begin.
    public var leftBarButtonItem: UIBarButtonItem? {
        get { self.leftBarButtonItems?.first }
        set { self.leftBarButtonItems = newValue.map { [$0] } }
    }
    /// The last button where lines end.
    public var rightBarButtonItem: UIBarButtonItem? {
        get { self.rightBarButtonItems?.first }
        set { self.rightBarButtonItems = newValue.map { [$0] } }
    }

    /// An item that says nothing.
    init() {}
    /// An item with a title.
    public convenience init(title: String) {
        self.init()
        self.title = title
    }
}

/// The bar of a stack of screens. https://developer.apple.com/documentation/uikit/uinavigationbar
open class UINavigationBar: UIView {
    weak var owner: UINavigationController?
    private let prompt = UILabel()
    private let title = UILabel()
    private lazy var back = UIButton(nil) { [weak self] in self?.owner?.popViewController(animated: true) }

    override var isLaidOutAlways: Bool { true }

    /// Shows what the screen says.
    open override func layoutSubviews() {
        guard let screens = self.owner?.viewControllers, let item = screens.last?.navigationItem else {
            return self.setOwnSubviews([])
        }
        self.prompt.text = item.prompt
        self.title.text = item.title
        self.title.accessibilityTraits = .header
        var views = [self.prompt] as [UIView]
        if let before = screens.dropLast().last?.navigationItem, (item.leftBarButtonItems ?? []).isEmpty {
            self.back.setTitle(before.backButtonTitle ?? before.title ?? "Back", for: .normal)
            self.back.accessibilityLabel = "Back"
            self.back.accessibilityIdentifier = "back"
            views.append(self.back)
        }
        views += (item.leftBarButtonItems ?? []).map(\.view) + [self.title]
        self.setOwnSubviews(views + (item.rightBarButtonItems ?? []).reversed().map(\.view))
    }
}

/// The bar of an app's tabs. https://developer.apple.com/documentation/uikit/uitabbar
open class UITabBar: UIView {
    weak var owner: UITabBarController?
    /// The tabs.
    open var items: [UITabBarItem]? { self.owner?.viewControllers?.map(Self.item) }

    override var isLaidOutAlways: Bool { true }

    /// Shows the tabs, unless the screen hides them.
    open override func layoutSubviews() {
        guard let owner = self.owner, owner.isTabBarVisible else { return self.setOwnSubviews([]) }
        self.setOwnSubviews(
            (owner.viewControllers ?? []).map { controller in
                let item = Self.item(of: controller)
                item.describeButton()
                item.button.accessibilityValue = item.badgeValue
                item.button.isSelected = controller === owner.selectedViewController
                item.button.addAction(
                    UIAction(identifier: UIAction.Identifier("tab")) { [weak owner, weak controller] _ in
                        if let controller { owner?.tap(controller) }
                    }, for: .touchUpInside)
                return item.button
            })
    }

    /// A stack of screens whose own item says nothing has that of its first.
    private static func item(of controller: UIViewController) -> UITabBarItem {
        let item = controller.tabBarItem
        guard item.title == nil, item.image == nil, let stack = controller as? UINavigationController else {
            return item
        }
        return stack.viewControllers.first?.tabBarItem ?? item
    }
}
