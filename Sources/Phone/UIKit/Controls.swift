public import Foundation

/// A view that is used: its actions are closures. Targets with selectors need Objective-C, which Linux has not.
/// https://developer.apple.com/documentation/uikit/uicontrol
open class UIControl: UIView {
    /// What happens to a control. Raw values as Apple's.
    public struct Event: OptionSet, Hashable, Sendable {
        /// Apple's bits.
        public let rawValue: UInt
        /// Wraps Apple's bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// A finger is on it.
        public static let touchDown = Event(rawValue: 1 << 0)
        /// A finger has left it that was on it.
        public static let touchUpInside = Event(rawValue: 1 << 6)
        /// Something else has taken the finger over.
        public static let touchCancel = Event(rawValue: 1 << 8)
        /// The person has set it to something else.
        public static let valueChanged = Event(rawValue: 1 << 12)
        /// What the control is for has happened.
        public static let primaryActionTriggered = Event(rawValue: 1 << 13)
        /// The menu of it is about to open.
        public static let menuActionTriggered = Event(rawValue: 1 << 14)
        /// It is typed into.
        public static let editingDidBegin = Event(rawValue: 1 << 16)
        /// The person has typed something.
        public static let editingChanged = Event(rawValue: 1 << 17)
        /// It is not typed into any more.
        public static let editingDidEnd = Event(rawValue: 1 << 18)
        /// The return key, which ends typing if somebody is told of it.
        public static let editingDidEndOnExit = Event(rawValue: 1 << 19)
    }

    /// What a control looks like. Raw values as Apple's.
    public struct State: OptionSet, Hashable, Sendable {
        /// Apple's bits.
        public let rawValue: UInt
        /// Wraps Apple's bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// As usual.
        public static let normal: State = []
        /// With a finger on it.
        public static let highlighted = State(rawValue: 1 << 0)
        /// Off.
        public static let disabled = State(rawValue: 1 << 1)
        /// Chosen.
        public static let selected = State(rawValue: 1 << 2)
    }

    /// Whether it takes touches.
    open var isEnabled = true
    /// Whether it is chosen.
    open var isSelected = false
    /// Whether it looks as with a finger on it.
    open var isHighlighted = false
    /// Whether a finger is on it.
    public private(set) var isTracking = false
    /// What it looks like.
    open var state: State {
        var state = State.normal
        if self.isHighlighted { state.insert(.highlighted) }
        if !self.isEnabled { state.insert(.disabled) }
        if self.isSelected { state.insert(.selected) }
        return state
    }
    private var actions: [(action: UIAction, events: Event)] = []

    /// A control without actions.
    public override init(frame: CGRect) {
        super.init(frame: frame)
        self.isAccessibilityElement = true
    }

    /// A control with the action of `primaryActionTriggered`.
    public convenience init(frame: CGRect, primaryAction: UIAction?) {
        self.init(frame: frame)
        if let primaryAction { self.addAction(primaryAction, for: .primaryActionTriggered) }
    }

    /// From an archive, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

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

    /// Has an action done.
    open func sendAction(_ action: UIAction) { action.run(by: self) }

    /// Has the actions of events done.
    open func sendActions(for controlEvents: Event) {
        for known in self.actions where !known.events.isDisjoint(with: controlEvents) { self.sendAction(known.action) }
    }

    /// What a finger that has left the control sends.
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
    /// Something else has taken the finger over.
    open func cancelTracking(with event: UIEvent?) {}

    /// Follows the finger.
    open override func touchesBegan(_ touches: Set<UITouch>, with event: UIEvent?) {
        guard self.isEnabled, let touch = touches.first, self.beginTracking(touch, with: event) else { return }
        self.isTracking = true
        self.isHighlighted = true
        self.sendActions(for: .touchDown)
    }

    /// Follows it.
    open override func touchesMoved(_ touches: Set<UITouch>, with event: UIEvent?) {
        guard self.isTracking, let touch = touches.first, !self.continueTracking(touch, with: event) else { return }
        self.stopTracking()
    }

    /// A tap, if the finger is still on it.
    open override func touchesEnded(_ touches: Set<UITouch>, with event: UIEvent?) {
        guard self.isTracking else { return }
        self.stopTracking()
        self.endTracking(touches.first, with: event)
        if touches.first?.isAway == false { self.sendTap() }
    }

    /// Forgets the finger.
    open override func touchesCancelled(_ touches: Set<UITouch>, with event: UIEvent?) {
        guard self.isTracking else { return }
        self.stopTracking()
        self.cancelTracking(with: event)
        self.sendActions(for: .touchCancel)
    }

    private func stopTracking() {
        self.isTracking = false
        self.isHighlighted = false
    }

    func sendTap() { self.sendActions(for: self.tapEvents) }
}

/// A button. https://developer.apple.com/documentation/uikit/uibutton
open class UIButton: UIControl {
    /// What a button looks like. Raw values as Apple's.
    public enum ButtonType: Int, Hashable, Sendable {
        case custom, system
        case close = 7
    }

    /// What it looks like.
    public private(set) var buttonType = ButtonType.custom
    /// Its font and the like; the text on it is the title.
    public private(set) lazy var titleLabel: UILabel? = UILabel()
    /// What the image looks like; the image on it is that of `setImage(_:for:)`.
    public private(set) lazy var imageView: UIImageView? = UIImageView()
    /// What can be done with it: opened by a finger that stays, or by a tap (`showsMenuAsPrimaryAction`).
    open var menu: UIMenu?
    /// Whether a tap opens the menu.
    open var showsMenuAsPrimaryAction = false
    private var titles: [UInt: String] = [:]
    private var images: [UInt: UIImage] = [:]
    private var colors: [UInt: UIColor] = [:]

    /// A button without words.
    public override init(frame: CGRect) {
        super.init(frame: frame)
        self.accessibilityTraits = .button
    }

    /// A button of a type.
    public convenience init(type buttonType: ButtonType) {
        self.init(frame: .zero)
        self.buttonType = buttonType
    }

    /// A button with an action, whose title and image it shows.
    public convenience init(type buttonType: ButtonType = .system, primaryAction: UIAction?) {
        self.init(frame: .zero, primaryAction: primaryAction)
        self.buttonType = buttonType
        self.setTitle(primaryAction?.title, for: .normal)
        self.setImage(primaryAction?.image, for: .normal)
    }

    /// From an archive, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// Sets the words of a state; those of `normal` stand for the others.
    open func setTitle(_ title: String?, for state: State) { self.titles[state.rawValue] = title }
    /// The words of a state.
    open func title(for state: State) -> String? {
        self.titles[state.rawValue] ?? self.titles[State.normal.rawValue]
    }
    /// Sets the image of a state.
    open func setImage(_ image: UIImage?, for state: State) { self.images[state.rawValue] = image }
    /// The image of a state.
    open func image(for state: State) -> UIImage? {
        self.images[state.rawValue] ?? self.images[State.normal.rawValue]
    }
    /// Sets the colour of the words of a state.
    open func setTitleColor(_ color: UIColor?, for state: State) { self.colors[state.rawValue] = color }
    /// The colour of the words of a state.
    open func titleColor(for state: State) -> UIColor? {
        self.colors[state.rawValue] ?? self.colors[State.normal.rawValue]
    }
    /// The words now.
    open var currentTitle: String? { self.title(for: self.state) }
    /// The image now.
    open var currentImage: UIImage? { self.image(for: self.state) }

    override var tapEvents: Event { [.touchUpInside, .primaryActionTriggered] }
    private var opensMenu: Bool { self.isEnabled && self.showsMenuAsPrimaryAction && self.menu != nil }
    override var takesTaps: Bool { self.opensMenu || super.takesTaps }
    override var contextMenu: UIMenu? { self.isEnabled && !self.opensMenu ? self.menu : nil }
    override func sendTap() {
        guard self.opensMenu, let menu = self.menu else { return super.sendTap() }
        self.sendActions(for: .menuActionTriggered)
        MenuView.open(menu, over: self)
    }
}
