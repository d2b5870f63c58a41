import Foundation

/// A button of an alert. https://developer.apple.com/documentation/uikit/uialertaction
@MainActor public final class UIAlertAction {
    /// The kind of answer. Raw values as Apple's.
    public enum Style: Int, Hashable, Sendable {
        case `default`, cancel, destructive
    }

    /// The text written on it.
    public let title: String?
    /// The kind of answer.
    public let style: Style
    /// True if it can be tapped.
    public var isEnabled = true
    private let handler: ((UIAlertAction) -> Void)?

    /// A button, and what it does once the alert is gone.
    public init(title: String?, style: Style, handler: ((UIAlertAction) -> Void)? = nil) {
        self.title = title
        self.style = style
        self.handler = handler
    }

    func run() { self.handler?(self) }
}

/// A question over a screen; until it is answered nothing else takes touches. https://developer.apple.com/documentation/uikit/uialertcontroller
open class UIAlertController: UIViewController {
    /// How it looks. Raw values as Apple's.
    public enum Style: Int, Hashable, Sendable {
        case actionSheet, alert
    }

    /// The question in more words.
    open var message: String?
    /// How it looks.
    public private(set) var preferredStyle = Style.alert
    /// The answers, in the order they were added.
    public private(set) var actions: [UIAlertAction] = []
    /// The fields of the alert; nil for none.
    public private(set) var textFields: [UITextField]?

    /// A question without answers yet.
    public convenience init(title: String?, message: String?, preferredStyle: Style) {
        self.init(nibName: nil, bundle: nil)
        self.title = title
        self.message = message
        self.preferredStyle = preferredStyle
    }

    /// Adds an answer.
    ///
    /// - Precondition: there is one of the style `cancel` at most (Apple throws an exception).
    open func addAction(_ action: UIAlertAction) {
        precondition(
            action.style != .cancel || !self.actions.contains { $0.style == .cancel },
            "an alert has one action of the style cancel")
        self.actions.append(action)
    }

    /// Adds a field to type into.
    ///
    /// - Precondition: the style is `alert` (Apple throws an exception).
    open func addTextField(configurationHandler: ((UITextField) -> Void)? = nil) {
        precondition(self.preferredStyle == .alert, "text fields are for the style alert")
        let field = UITextField()
        configurationHandler?(field)
        self.textFields = (self.textFields ?? []) + [field]
    }

    /// Makes the view of what is asked and how it can be answered.
    open override func loadView() { self.view = AlertView(self) }

    /// VoiceOver's scrub answers with *cancel*.
    open override func accessibilityPerformEscape() -> Bool {
        guard let cancel = self.actions.first(where: { $0.style == .cancel }) else { return false }
        self.answer(cancel)
        return true
    }

    func answer(_ action: UIAlertAction) { self.presentingViewController?.dismiss(animated: true) { action.run() } }
}

final class AlertView: UIView {
    private weak var alert: UIAlertController?
    private let titleLabel = UILabel()
    private let messageLabel = UILabel()
    private var buttons: [UIButton] = []

    init(_ alert: UIAlertController) {
        self.alert = alert
        super.init(frame: .zero)
        self.accessibilityLabel = alert.title
    }

    required init?(coder: NSCoder) { return nil }

    /// Answers may be switched on while one types.
    override var isLaidOutAlways: Bool { true }

    override func layoutSubviews() {
        guard let alert = self.alert else { return }
        self.titleLabel.text = alert.title
        self.messageLabel.text = alert.message
        if self.buttons.count != alert.actions.count {
            for button in self.buttons { button.removeFromSuperview() }
            self.buttons = alert.actions.map { action in
                UIButton(action.title) { [weak alert] in alert?.answer(action) }
            }
        }
        for (button, action) in zip(self.buttons, alert.actions) { button.isEnabled = action.isEnabled }
        for view in [self.titleLabel, self.messageLabel] + (alert.textFields ?? []) + self.buttons
        where view.superview !== self { self.addSubview(view) }
    }
}
