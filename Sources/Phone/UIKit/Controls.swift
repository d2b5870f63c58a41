public import Foundation

/// A view that is used: its actions are closures. Targets with selectors need Objective-C, which Linux has not.
/// https://developer.apple.com/documentation/uikit/uicontrol
open class UIControl: UIView {
    /// An event of a control. Raw values as Apple's.
    public struct Event: OptionSet, Hashable, Sendable {
        /// Apple's bits.
        public let rawValue: UInt
        /// Wraps Apple's bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// A finger has left it that was on it.
        public static let touchUpInside = Event(rawValue: 1 << 6)
        /// The person has set it to something else.
        public static let valueChanged = Event(rawValue: 1 << 12)
        /// The control's purpose is fulfilled, such as a button's tap.
        public static let primaryActionTriggered = Event(rawValue: 1 << 13)
        /// The person has typed something.
        public static let editingChanged = Event(rawValue: 1 << 17)
        /// The return key, which ends typing if a target is told of it.
        public static let editingDidEndOnExit = Event(rawValue: 1 << 19)
    }

    /// The look of a control. Raw values as Apple's.
    public struct State: OptionSet, Hashable, Sendable {
        /// Apple's bits.
        public let rawValue: UInt
        /// Wraps Apple's bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The usual look.
        public static let normal: State = []
        /// Off.
        public static let disabled = State(rawValue: 1 << 1)
        /// Chosen.
        public static let selected = State(rawValue: 1 << 2)
    }

    /// True if it takes touches.
    open var isEnabled = true
    /// True if it is chosen.
    open var isSelected = false
    /// True if a finger is on it.
    public private(set) var isTracking = false
    /// The look of the control.
    open var state: State {
        var state = State.normal
        if !self.isEnabled { state.insert(.disabled) }
        if self.isSelected { state.insert(.selected) }
        return state
    }
    private var actions: [(action: UIAction, events: Event)] = []

    override func setUp() { self.isAccessibilityElement = true }

    /// A control with the action of `primaryActionTriggered`.
    public convenience init(frame: CGRect, primaryAction: UIAction?) {
        self.init(frame: frame)
        if let primaryAction { self.addAction(primaryAction, for: .primaryActionTriggered) }
    }

    // MARK: Actions

    /// Adds an action; one of the same identifier is replaced.
    open func addAction(_ action: UIAction, for controlEvents: Event) {
        self.removeAction(action, for: controlEvents)
        self.actions.append((action, controlEvents))
    }

    /// Takes an action away from some events.
    open func removeAction(_ action: UIAction, for controlEvents: Event) {
        self.actions = self.actions.compactMap { known in
            guard known.action.identifier == action.identifier else { return known }
            let left = known.events.subtracting(controlEvents)
            return left.isEmpty ? nil : (known.action, left)
        }
    }

    /// Has the actions of events done.
    open func sendActions(for controlEvents: Event) {
        for known in self.actions where !known.events.isDisjoint(with: controlEvents) { known.action.run(by: self) }
    }

    /// The events that a tap sends.
    var tapEvents: Event { .touchUpInside }

    func hasActions(for events: Event) -> Bool { self.actions.contains { !$0.events.isDisjoint(with: events) } }

    override var takesTaps: Bool { self.isEnabled && self.hasActions(for: self.tapEvents) }

    // MARK: A finger

    /// False does not follow the finger.
    open func beginTracking(_ touch: UITouch, with event: UIEvent?) -> Bool { true }
    /// False follows the finger no longer: no `touchUpInside` comes.
    open func continueTracking(_ touch: UITouch, with event: UIEvent?) -> Bool { true }
    /// The finger has left the screen.
    open func endTracking(_ touch: UITouch?, with event: UIEvent?) {}

    /// Follows the finger.
    open override func touchesBegan(_ touches: Set<UITouch>, with event: UIEvent?) {
        guard self.isEnabled, let touch = touches.first, self.beginTracking(touch, with: event) else { return }
        self.isTracking = true
    }

    /// Follows it.
    open override func touchesMoved(_ touches: Set<UITouch>, with event: UIEvent?) {
        guard self.isTracking, let touch = touches.first, !self.continueTracking(touch, with: event) else { return }
        self.isTracking = false
    }

    /// A tap, if the finger is still on it.
    open override func touchesEnded(_ touches: Set<UITouch>, with event: UIEvent?) {
        guard self.isTracking else { return }
        self.isTracking = false
        self.endTracking(touches.first, with: event)
        if touches.first?.isAway == false { self.sendTap() }
    }

    func sendTap() { self.sendActions(for: self.tapEvents) }
}

/// A button. https://developer.apple.com/documentation/uikit/uibutton
open class UIButton: UIControl {
    /// The look of a button. Raw values as Apple's.
    public enum ButtonType: Int, Hashable, Sendable {
        case custom, system
        case close = 7
    }

    /// Its font and the like; the text on it is the title.
    public private(set) lazy var titleLabel: UILabel? = UILabel()
    /// The menu, opened by a finger that stays, or by a tap (`showsMenuAsPrimaryAction`).
    open var menu: UIMenu?
    /// True if a tap opens the menu.
    open var showsMenuAsPrimaryAction = false
    private var titles: [UInt: String] = [:]

    override func setUp() {
        super.setUp()
        self.accessibilityTraits = .button
    }

    /// A button of a type, which is not drawn here.
    public convenience init(type buttonType: ButtonType) { self.init(frame: .zero) }

    /// A button with an action, whose title and image it shows.
    public convenience init(type buttonType: ButtonType = .system, primaryAction: UIAction?) {
        self.init(frame: .zero, primaryAction: primaryAction)
        self.setTitle(primaryAction?.title, for: .normal)
        self.setImage(primaryAction?.image, for: .normal)
    }

    /// A button of the system's with words, an image and what a tap does.
    convenience init(_ title: String?, image: UIImage? = nil, onTap: @escaping () -> Void) {
        self.init(primaryAction: UIAction(title: title ?? "", image: image) { _ in onTap() })
    }

    /// Sets the words of a state; those of `normal` stand for the others.
    open func setTitle(_ title: String?, for state: State) { self.titles[state.rawValue] = title }
    /// The words of a state.
    open func title(for state: State) -> String? {
        self.titles[state.rawValue] ?? self.titles[State.normal.rawValue]
    }
    /// Sets the image of a state, which is not drawn here.
    open func setImage(_ image: UIImage?, for state: State) {}
    /// The words now.
    open var currentTitle: String? { self.title(for: self.state) }

    override var tapEvents: Event { [.touchUpInside, .primaryActionTriggered] }
    private var opensMenu: Bool { self.isEnabled && self.showsMenuAsPrimaryAction && self.menu != nil }
    override var takesTaps: Bool { self.opensMenu || super.takesTaps }
    override var contextMenu: UIMenu? { self.isEnabled && !self.opensMenu ? self.menu : nil }
    override func sendTap() {
        guard self.opensMenu, let menu = self.menu else { return super.sendTap() }
        MenuView.open(menu, over: self)
    }
}
