public import Foundation

/// An element of a menu. https://developer.apple.com/documentation/uikit/uimenuelement
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

    /// The mark of an element. Raw values as Apple's.
    public enum State: Int, Hashable, Sendable {
        case off, on, mixed
    }

    /// The text written on it.
    open var title: String
    /// Its image.
    open var image: UIImage?

    init(title: String, image: UIImage?) {
        self.title = title
        self.image = image
    }
}

/// An action that runs when a control is used, or an element of a menu chosen. https://developer.apple.com/documentation/uikit/uiaction
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
    /// How it is offered in a menu.
    open var attributes: UIMenuElement.Attributes
    /// The mark in a menu.
    open var state: UIMenuElement.State
    /// The control that is used; nil otherwise.
    open var sender: Any? { self.user }
    private weak var user: AnyObject?
    private let handler: (UIAction) -> Void

    /// An action.
    public init(
        title: String = "", image: UIImage? = nil, identifier: Identifier? = nil,
        attributes: UIMenuElement.Attributes = [], state: UIMenuElement.State = .off,
        handler: @escaping (UIAction) -> Void
    ) {
        self.identifier = identifier ?? Identifier(UUID().uuidString)
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
    }

    /// How it stands in another.
    public let options: Options
    /// The elements in it.
    open private(set) var children: [UIMenuElement]

    /// A menu.
    public init(
        title: String = "", image: UIImage? = nil, options: Options = [], children: [UIMenuElement] = []
    ) {
        self.options = options
        self.children = children
        super.init(title: title, image: image)
    }
}

/// The menu that opens when a finger stays. https://developer.apple.com/documentation/uikit/uicontextmenuconfiguration
@MainActor open class UIContextMenuConfiguration {
    private let actionProvider: (([UIMenuElement]) -> UIMenu?)?

    /// A context menu, made of what the system suggests: nothing here. Its name and the preview have no effect.
    public init(
        identifier: (any NSCopying)? = nil, previewProvider: (() -> UIViewController?)? = nil,
        actionProvider: (([UIMenuElement]) -> UIMenu?)? = nil
    ) { self.actionProvider = actionProvider }

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
        let button = UIButton(element.title, image: element.image) { [weak self] in self?.choose(element) }
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
