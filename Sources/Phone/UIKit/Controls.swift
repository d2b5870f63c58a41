public import Foundation

/// What is done when a control is used. https://developer.apple.com/documentation/uikit/uiaction
@MainActor open class UIAction {
    /// Names an action, so that another takes its place.
    public struct Identifier: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public init(_ rawValue: String) { self.rawValue = rawValue }
    }

    open var title: String
    open var image: UIImage?
    public let identifier: Identifier
    /// The control that is used; nil otherwise.
    public private(set) weak var sender: AnyObject?
    private let handler: (UIAction) -> Void

    public init(
        title: String = "", image: UIImage? = nil, identifier: Identifier? = nil, handler: @escaping (UIAction) -> Void
    ) {
        self.title = title
        self.image = image
        self.identifier = identifier ?? Identifier(UUID().uuidString)
        self.handler = handler
    }

    func run(by sender: AnyObject?) {
        self.sender = sender
        self.handler(self)
        self.sender = nil
    }
}

/// A view that is used: its actions are closures. Targets with selectors need Objective-C, which Linux has not.
/// https://developer.apple.com/documentation/uikit/uicontrol
open class UIControl: UIView {
    /// What happens to a control. Raw values as Apple's.
    public struct Event: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let touchDown = Event(rawValue: 1 << 0)
        public static let touchUpInside = Event(rawValue: 1 << 6)
        public static let touchCancel = Event(rawValue: 1 << 8)
        public static let valueChanged = Event(rawValue: 1 << 12)
        public static let primaryActionTriggered = Event(rawValue: 1 << 13)
    }

    /// What a control looks like. Raw values as Apple's.
    public struct State: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let normal: State = []
        public static let highlighted = State(rawValue: 1 << 0)
        public static let disabled = State(rawValue: 1 << 1)
        public static let selected = State(rawValue: 1 << 2)
    }

    open var isEnabled = true
    open var isSelected = false
    open var isHighlighted = false
    /// Whether a finger is on it.
    public private(set) var isTracking = false
    open var state: State {
        var state = State.normal
        if self.isHighlighted { state.insert(.highlighted) }
        if !self.isEnabled { state.insert(.disabled) }
        if self.isSelected { state.insert(.selected) }
        return state
    }
    private var actions: [(action: UIAction, events: Event)] = []

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

    open func removeAction(_ action: UIAction, for controlEvents: Event) {
        self.actions = self.actions.compactMap { known in
            guard known.action.identifier == action.identifier else { return known }
            let left = known.events.subtracting(controlEvents)
            return left.isEmpty ? nil : (known.action, left)
        }
    }

    open func sendAction(_ action: UIAction) { action.run(by: self) }

    open func sendActions(for controlEvents: Event) {
        for known in self.actions where !known.events.isDisjoint(with: controlEvents) { self.sendAction(known.action) }
    }

    var takesTaps: Bool {
        self.isEnabled
            && self.actions.contains { !$0.events.isDisjoint(with: [.touchUpInside, .primaryActionTriggered]) }
    }

    // MARK: A finger

    /// False does not follow the finger.
    open func beginTracking(_ touch: UITouch, with event: UIEvent?) -> Bool { true }
    /// False follows the finger no longer: no `touchUpInside` comes.
    open func continueTracking(_ touch: UITouch, with event: UIEvent?) -> Bool { true }
    open func endTracking(_ touch: UITouch?, with event: UIEvent?) {}
    open func cancelTracking(with event: UIEvent?) {}

    open override func touchesBegan(_ touches: Set<UITouch>, with event: UIEvent?) {
        guard self.isEnabled, let touch = touches.first, self.beginTracking(touch, with: event) else { return }
        self.isTracking = true
        self.isHighlighted = true
        self.sendActions(for: .touchDown)
    }

    open override func touchesMoved(_ touches: Set<UITouch>, with event: UIEvent?) {
        guard self.isTracking, let touch = touches.first, !self.continueTracking(touch, with: event) else { return }
        self.stopTracking()
    }

    open override func touchesEnded(_ touches: Set<UITouch>, with event: UIEvent?) {
        guard self.isTracking else { return }
        self.stopTracking()
        self.endTracking(touches.first, with: event)
        if touches.first?.isAway == false { self.sendTap() }
    }

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

    func sendTap() { self.sendActions(for: .touchUpInside) }
}

/// A button. https://developer.apple.com/documentation/uikit/uibutton
open class UIButton: UIControl {
    /// Raw values as Apple's.
    public enum ButtonType: Int, Hashable, Sendable {
        case custom = 0
        case system = 1
        case close = 7
    }

    public private(set) var buttonType = ButtonType.custom
    /// Its font and the like; the text on it is the title.
    public private(set) lazy var titleLabel: UILabel? = UILabel()
    private var titles: [UInt: String] = [:]
    private var images: [UInt: UIImage] = [:]

    public override init(frame: CGRect) {
        super.init(frame: frame)
        self.accessibilityTraits = .button
    }

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

    open func setTitle(_ title: String?, for state: State) { self.titles[state.rawValue] = title }
    open func title(for state: State) -> String? {
        self.titles[state.rawValue] ?? self.titles[State.normal.rawValue]
    }
    open func setImage(_ image: UIImage?, for state: State) { self.images[state.rawValue] = image }
    open func image(for state: State) -> UIImage? {
        self.images[state.rawValue] ?? self.images[State.normal.rawValue]
    }
    open var currentTitle: String? { self.title(for: self.state) }
    open var currentImage: UIImage? { self.image(for: self.state) }

    override func sendTap() { self.sendActions(for: [.touchUpInside, .primaryActionTriggered]) }
}
