public import Foundation

/// What stands in a menu. https://developer.apple.com/documentation/uikit/uimenuelement
@MainActor open class UIMenuElement {
    /// How an element is offered. Raw values as Apple's.
    public struct Attributes: OptionSet, Hashable, Sendable {
        /// Apple's bits.
        public let rawValue: UInt
        /// Wraps Apple's bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// It is there and cannot be chosen.
        public static let disabled = Attributes(rawValue: 1 << 0)
        /// It takes something away for good.
        public static let destructive = Attributes(rawValue: 1 << 1)
        /// It is not there.
        public static let hidden = Attributes(rawValue: 1 << 2)
    }

    /// Whether an element is marked. Raw values as Apple's.
    public enum State: Int, Hashable, Sendable {
        case off, on, mixed
    }

    /// What is written on it.
    open var title: String
    /// Its image.
    open var image: UIImage?

    init(title: String, image: UIImage?) {
        self.title = title
        self.image = image
    }
}

/// What a `UIAction` does.
public typealias UIActionHandler = (UIAction) -> Void

/// What is done when a control is used, or an element of a menu chosen. https://developer.apple.com/documentation/uikit/uiaction
@MainActor open class UIAction: UIMenuElement {
    /// Names an action, so that another takes its place.
    public struct Identifier: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String
        /// Wraps a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Wraps a name.
        public init(_ rawValue: String) { self.rawValue = rawValue }
    }

    /// Its name.
    public let identifier: Identifier
    /// What it does, in words for a menu's help.
    open var discoverabilityTitle: String?
    /// How it is offered in a menu.
    open var attributes: UIMenuElement.Attributes
    /// Whether it is marked in a menu.
    open var state: UIMenuElement.State
    /// The control that is used; nil otherwise.
    open var sender: Any? { self.user }
    private weak var user: AnyObject?
    private let handler: UIActionHandler

    /// An action.
    public init(
        title: String = "", image: UIImage? = nil, identifier: Identifier? = nil, discoverabilityTitle: String? = nil,
        attributes: UIMenuElement.Attributes = [], state: UIMenuElement.State = .off,
        handler: @escaping UIActionHandler
    ) {
        self.identifier = identifier ?? Identifier(UUID().uuidString)
        self.discoverabilityTitle = discoverabilityTitle
        self.attributes = attributes
        self.state = state
        self.handler = handler
        super.init(title: title, image: image)
    }

    func run(by sender: AnyObject?) {
        self.user = sender
        self.handler(self)
        self.user = nil
    }
}

/// Actions and further menus. https://developer.apple.com/documentation/uikit/uimenu
@MainActor open class UIMenu: UIMenuElement {
    /// Names a menu.
    public struct Identifier: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String
        /// Wraps a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Wraps a name.
        public init(_ rawValue: String) { self.rawValue = rawValue }
    }

    /// How a menu stands in another. Raw values as Apple's.
    public struct Options: OptionSet, Hashable, Sendable {
        /// Apple's bits.
        public let rawValue: UInt
        /// Wraps Apple's bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// Its elements stand in the menu it is in.
        public static let displayInline = Options(rawValue: 1 << 0)
        /// It takes something away for good.
        public static let destructive = Options(rawValue: 1 << 1)
        /// One of its actions is marked (iOS 15).
        public static let singleSelection = Options(rawValue: 1 << 5)
    }

    /// Its name.
    public let identifier: Identifier
    /// How it stands in another.
    public let options: Options
    /// What is in it.
    open private(set) var children: [UIMenuElement]

    /// A menu.
    public init(
        title: String = "", image: UIImage? = nil, identifier: Identifier? = nil, options: Options = [],
        children: [UIMenuElement] = []
    ) {
        self.identifier = identifier ?? Identifier(UUID().uuidString)
        self.options = options
        self.children = children
        super.init(title: title, image: image)
    }

    /// The same menu with other elements.
    open func replacingChildren(_ newChildren: [UIMenuElement]) -> UIMenu {
        UIMenu(
            title: self.title, image: self.image, identifier: self.identifier, options: self.options,
            children: newChildren)
    }
}

/// Makes the screen that a context menu shows of what it is for.
public typealias UIContextMenuContentPreviewProvider = () -> UIViewController?
/// Makes a context menu of what the system suggests: nothing here.
public typealias UIContextMenuActionProvider = ([UIMenuElement]) -> UIMenu?

/// What a finger that stays opens. https://developer.apple.com/documentation/uikit/uicontextmenuconfiguration
@MainActor open class UIContextMenuConfiguration {
    /// Its name.
    public let identifier: any NSCopying
    private let actionProvider: UIContextMenuActionProvider?

    /// A context menu; the preview is kept out of sight.
    public init(
        identifier: (any NSCopying)? = nil, previewProvider: UIContextMenuContentPreviewProvider? = nil,
        actionProvider: UIContextMenuActionProvider? = nil
    ) {
        self.identifier = identifier ?? NSUUID()
        self.actionProvider = actionProvider
    }

    func makeMenu() -> UIMenu? { self.actionProvider?([]) }
}

/// An open menu, before everything else of the window.
final class MenuView: UIView {
    private weak var source: UIView?

    static func open(_ menu: UIMenu, over source: UIView) {
        guard let window = source.window else { return }
        let view = MenuView()
        view.source = source
        view.coversTouches = true
        view.accessibilityLabel = menu.title.isEmpty ? nil : menu.title
        view.show(menu.children)
        window.addSubview(view)
    }

    private func show(_ elements: [UIMenuElement]) {
        for view in self.subviews { view.removeFromSuperview() }
        self.add(elements)
    }

    private func add(_ elements: [UIMenuElement]) {
        for element in elements {
            if let menu = element as? UIMenu, menu.options.contains(.displayInline) {
                self.add(menu.children)
            } else if (element as? UIAction)?.attributes.contains(.hidden) != true {
                self.addSubview(self.button(for: element))
            }
        }
    }

    private func button(for element: UIMenuElement) -> UIButton {
        let button = UIButton(
            type: .system,
            primaryAction: UIAction(title: element.title, image: element.image) { [weak self] _ in
                self?.choose(element)
            })
        button.isEnabled = (element as? UIAction)?.attributes.contains(.disabled) != true
        button.isSelected = (element as? UIAction)?.state == .on
        return button
    }

    private func choose(_ element: UIMenuElement) {
        if let menu = element as? UIMenu { return self.show(menu.children) }
        self.removeFromSuperview()
        (element as? UIAction)?.run(by: self.source)
    }

    override func accessibilityPerformEscape() -> Bool {
        self.removeFromSuperview()
        return true
    }
}
