public import Foundation

/// How lines are set. Raw values as Apple's, which has left (0) and right (2) too.
/// https://developer.apple.com/documentation/uikit/nstextalignment
public enum NSTextAlignment: Int, Hashable, Sendable {
    case center = 1
    case justified = 3
    case natural = 4
}

/// A text. https://developer.apple.com/documentation/uikit/uilabel
open class UILabel: UIView {
    /// The text of the label.
    open var text: String?
    /// How it is written.
    open var font: UIFont = .preferredFont(forTextStyle: .body)
    /// In what colour.
    open var textColor: UIColor = .label
    /// How lines are set.
    open var textAlignment = NSTextAlignment.natural
    /// 0 for as many as there are.
    open var numberOfLines = 1
    /// True if the text grows at once when the person changes its size.
    open var adjustsFontForContentSizeCategory = false

    override func setUp() {
        self.isUserInteractionEnabled = false
        self.isAccessibilityElement = true
        self.accessibilityTraits = .staticText
    }
}

/// An image on the screen. https://developer.apple.com/documentation/uikit/uiimageview
open class UIImageView: UIView {
    /// The image that is shown.
    open var image: UIImage?

    override func setUp() {
        self.isUserInteractionEnabled = false
        self.accessibilityTraits = .image
    }

    /// A view of an image.
    public convenience init(image: UIImage?) {
        self.init(frame: .zero)
        self.image = image
    }
}

/// Views in a row or column. https://developer.apple.com/documentation/uikit/uistackview
open class UIStackView: UIView {
    /// How views lie across the row or column. Raw values as Apple's.
    public enum Alignment: Int, Hashable, Sendable {
        case fill, leading, firstBaseline, center, trailing, lastBaseline

        /// The top edge of a row.
        public static var top: Alignment { .leading }
        /// The bottom edge of a row.
        public static var bottom: Alignment { .trailing }
    }

    /// The views, in their order.
    public private(set) var arrangedSubviews: [UIView] = []
    /// Row or column.
    open var axis = NSLayoutConstraint.Axis.horizontal
    /// How views lie across it.
    open var alignment = Alignment.fill
    /// Points between views.
    open var spacing: CGFloat = 0

    /// A stack of nothing.
    public override init(frame: CGRect) { super.init(frame: frame) }

    /// A stack of views.
    public convenience init(arrangedSubviews views: [UIView]) {
        self.init(frame: .zero)
        for view in views { self.addArrangedSubview(view) }
    }

    /// From an archive, of which a virtual phone has none: a stack of nothing, as Apple's cannot fail.
    public required init(coder: NSCoder) { super.init(frame: .zero) }

    /// Puts a view at the end. The order among the subviews is the one of drawing, which is kept.
    open func addArrangedSubview(_ view: UIView) {
        self.arrangedSubviews.removeAll { $0 === view }
        self.arrangedSubviews.append(view)
        view.translatesAutoresizingMaskIntoConstraints = false
        if view.superview !== self { self.addSubview(view) }
    }

    override func didRemove(_ view: UIView) { self.arrangedSubviews.removeAll { $0 === view } }
}
