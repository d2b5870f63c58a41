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
    case byWordWrapping, byCharWrapping, byClipping, byTruncatingHead, byTruncatingTail, byTruncatingMiddle
}

/// A text. https://developer.apple.com/documentation/uikit/uilabel
open class UILabel: UIView {
    /// What is written.
    open var text: String?
    /// How it is written.
    open var font: UIFont = .preferredFont(forTextStyle: .body)
    /// In what colour.
    open var textColor: UIColor = .label
    /// How lines are set.
    open var textAlignment = NSTextAlignment.natural
    /// Where lines end.
    open var lineBreakMode = NSLineBreakMode.byTruncatingTail
    /// 0 for as many as there are.
    open var numberOfLines = 1
    /// Whether it is drawn as usual.
    open var isEnabled = true
    /// Whether the text grows at once when the person changes its size.
    open var adjustsFontForContentSizeCategory = false

    /// A label without words.
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
    /// What is shown.
    open var image: UIImage?

    /// A view without an image.
    public override init(frame: CGRect) {
        super.init(frame: frame)
        self.isUserInteractionEnabled = false
        self.accessibilityTraits = .image
    }

    /// A view of an image.
    public convenience init(image: UIImage?) {
        self.init(frame: .zero)
        self.image = image
    }

    /// From an archive, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { super.init(coder: coder) }
}

/// Views in a row or column. https://developer.apple.com/documentation/uikit/uistackview
open class UIStackView: UIView {
    /// How views lie across the row or column. Raw values as Apple's.
    public enum Alignment: Int, Hashable, Sendable {
        case fill, leading, firstBaseline, center, trailing, lastBaseline

        /// Of a row.
        public static var top: Alignment { .leading }
        /// Of a row.
        public static var bottom: Alignment { .trailing }
    }

    /// How views lie along it. Raw values as Apple's.
    public enum Distribution: Int, Hashable, Sendable {
        case fill, fillEqually, fillProportionally, equalSpacing, equalCentering
    }

    /// The views, in their order.
    public private(set) var arrangedSubviews: [UIView] = []
    /// Row or column.
    open var axis = NSLayoutConstraint.Axis.horizontal
    /// How views lie across it.
    open var alignment = Alignment.fill
    /// How views lie along it.
    open var distribution = Distribution.fill
    /// Points between views.
    open var spacing: CGFloat = 0
    /// Whether it keeps its margins free.
    open var isLayoutMarginsRelativeArrangement = false

    /// A stack of nothing.
    public override init(frame: CGRect) { super.init(frame: frame) }

    /// A stack of views.
    public convenience init(arrangedSubviews views: [UIView]) {
        self.init(frame: .zero)
        for view in views { self.addArrangedSubview(view) }
    }

    /// From an archive, of which a virtual phone has none: a stack of nothing, as Apple's cannot fail.
    public required init(coder: NSCoder) { super.init(frame: .zero) }

    /// Puts a view at the end.
    open func addArrangedSubview(_ view: UIView) {
        self.insertArrangedSubview(view, at: self.arrangedSubviews.filter { $0 !== view }.count)
    }

    /// Puts a view at a place.
    ///
    /// - Precondition: the place is among the views or behind the last (Apple throws an exception).
    open func insertArrangedSubview(_ view: UIView, at stackIndex: Int) {
        self.arrangedSubviews.removeAll { $0 === view }
        precondition(
            (0...self.arrangedSubviews.count).contains(stackIndex),
            "a stack of \(self.arrangedSubviews.count) views has no place \(stackIndex)")
        view.translatesAutoresizingMaskIntoConstraints = false
        self.arrangedSubviews.insert(view, at: stackIndex)
        // The order among the subviews is the one of drawing, which is kept.
        if view.superview !== self { self.addSubview(view) }
    }

    /// The view stays a subview.
    open func removeArrangedSubview(_ view: UIView) { self.arrangedSubviews.removeAll { $0 === view } }
    /// Another distance behind one view; kept, without effect.
    open func setCustomSpacing(_ spacing: CGFloat, after arrangedSubview: UIView) {}

    override func didRemove(_ view: UIView) { self.removeArrangedSubview(view) }
}
