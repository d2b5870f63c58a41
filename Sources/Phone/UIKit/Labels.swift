public import Foundation

/// How lines are set. Raw values as Apple's, which has left (0) and right (2) too.
/// https://developer.apple.com/documentation/uikit/nstextalignment
public enum NSTextAlignment: Int, Hashable, Sendable {
    case center = 1
    case justified = 3
    case natural = 4
}

/// Where lines end. Raw values as Apple's. https://developer.apple.com/documentation/uikit/nslinebreakmode
public enum NSLineBreakMode: Int, Hashable, Sendable {
    case byWordWrapping = 0
    case byCharWrapping = 1
    case byClipping = 2
    case byTruncatingHead = 3
    case byTruncatingTail = 4
    case byTruncatingMiddle = 5
}

/// A text. https://developer.apple.com/documentation/uikit/uilabel
open class UILabel: UIView {
    open var text: String?
    open var font: UIFont = .preferredFont(forTextStyle: .body)
    open var textColor: UIColor = .label
    open var textAlignment = NSTextAlignment.natural
    open var lineBreakMode = NSLineBreakMode.byTruncatingTail
    /// 0 for as many as there are.
    open var numberOfLines = 1
    open var isEnabled = true
    /// Whether the text grows at once when the person changes its size.
    open var adjustsFontForContentSizeCategory = false

    public override init(frame: CGRect) {
        super.init(frame: frame)
        self.isUserInteractionEnabled = false
        self.isAccessibilityElement = true
        self.accessibilityTraits = .staticText
    }

    /// From an archive, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { super.init(coder: coder) }
}

/// An image on the screen. https://developer.apple.com/documentation/uikit/uiimageview
open class UIImageView: UIView {
    open var image: UIImage?

    public override init(frame: CGRect) {
        super.init(frame: frame)
        self.isUserInteractionEnabled = false
        self.accessibilityTraits = .image
    }

    public convenience init(image: UIImage?) {
        self.init(frame: .zero)
        self.image = image
    }

    /// From an archive, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { super.init(coder: coder) }
}

/// Views in a row or column. https://developer.apple.com/documentation/uikit/uistackview
open class UIStackView: UIView {
    /// Raw values as Apple's.
    public enum Alignment: Int, Hashable, Sendable {
        case fill = 0
        case leading = 1
        case firstBaseline = 2
        case center = 3
        case trailing = 4
        case lastBaseline = 5

        public static var top: Alignment { .leading }
        public static var bottom: Alignment { .trailing }
    }

    /// Raw values as Apple's.
    public enum Distribution: Int, Hashable, Sendable {
        case fill = 0
        case fillEqually = 1
        case fillProportionally = 2
        case equalSpacing = 3
        case equalCentering = 4
    }

    public private(set) var arrangedSubviews: [UIView] = []
    open var axis = NSLayoutConstraint.Axis.horizontal
    open var alignment = Alignment.fill
    open var distribution = Distribution.fill
    open var spacing: CGFloat = 0
    open var isLayoutMarginsRelativeArrangement = false

    public override init(frame: CGRect) { super.init(frame: frame) }

    public convenience init(arrangedSubviews views: [UIView]) {
        self.init(frame: .zero)
        for view in views { self.addArrangedSubview(view) }
    }

    /// From an archive, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    open func addArrangedSubview(_ view: UIView) {
        self.insertArrangedSubview(view, at: self.arrangedSubviews.filter { $0 !== view }.count)
    }

    open func insertArrangedSubview(_ view: UIView, at stackIndex: Int) {
        self.arrangedSubviews.removeAll { $0 === view }
        self.arrangedSubviews.insert(view, at: stackIndex)
        // The order among the subviews is the one of drawing, which is kept.
        if view.superview !== self { self.addSubview(view) }
    }

    /// The view stays a subview.
    open func removeArrangedSubview(_ view: UIView) { self.arrangedSubviews.removeAll { $0 === view } }

    override func didRemove(_ view: UIView) { self.removeArrangedSubview(view) }
}
