public import Foundation

/// A view: what it is, what it is called, what is in it. Nothing is drawn or laid out; a virtual phone shows the tree
/// (`VirtualPhone.views(of:)`). https://developer.apple.com/documentation/uikit/uiview
@MainActor open class UIView: UIResponder {
    /// How contents fill a view. Raw values as Apple's.
    public enum ContentMode: Int, Hashable, Sendable {
        case scaleToFill = 0
        case scaleAspectFit = 1
        case scaleAspectFill = 2
        case redraw = 3
        case center = 4
    }

    /// Kept, without effect, as all that only says where or how something is drawn.
    open var frame: CGRect
    open var bounds: CGRect { CGRect(origin: .zero, size: self.frame.size) }
    open var backgroundColor: UIColor?
    /// On Apple's systems it is implicitly unwrapped, as fonts and colours of labels are.
    open var tintColor: UIColor = .tintColor
    open var contentMode = ContentMode.scaleToFill
    open var clipsToBounds = false
    public let layer = CALayer()
    open var tag = 0
    /// A hidden view, and what is in it, is not in the tree.
    open var isHidden = false
    /// A view below 0.01 is seen and touched as little as a hidden one.
    open var alpha: CGFloat = 1
    /// Whether the view, and what is in it, takes touches.
    open var isUserInteractionEnabled = true
    /// Back to front.
    public private(set) var subviews: [UIView] = []
    public private(set) weak var superview: UIView?
    open var window: UIWindow? { self.superview?.window ?? self as? UIWindow }
    open override var next: UIResponder? { self.superview }

    // Auto Layout: recorded, not solved (Anchors.swift).
    open var translatesAutoresizingMaskIntoConstraints = true
    open var directionalLayoutMargins = NSDirectionalEdgeInsets(top: 8, leading: 8, bottom: 8, trailing: 8)
    public private(set) lazy var safeAreaLayoutGuide = UILayoutGuide(of: self)
    public private(set) lazy var layoutMarginsGuide = UILayoutGuide(of: self)
    /// The constraints that are active and have this view as their nearest common ancestor.
    public internal(set) var constraints: [NSLayoutConstraint] = []
    private var huggings: [NSLayoutConstraint.Axis: UILayoutPriority] = [:]
    private var resistances: [NSLayoutConstraint.Axis: UILayoutPriority] = [:]

    // Accessibility: what VoiceOver says and offers, and what tests find views by.
    open var isAccessibilityElement = false
    open var accessibilityLabel: String?
    open var accessibilityValue: String?
    open var accessibilityHint: String?
    open var accessibilityTraits = UIAccessibilityTraits.none
    open var accessibilityIdentifier: String?
    open var accessibilityCustomActions: [UIAccessibilityCustomAction]?

    public init(frame: CGRect) {
        self.frame = frame
        super.init()
    }

    /// From an archive, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { return nil }

    public override convenience init() { self.init(frame: .zero) }

    // MARK: The tree

    /// Puts a view in the foreground.
    open func addSubview(_ view: UIView) { self.insertSubview(view, at: self.subviews.count) }

    /// Puts a view behind those from a place on.
    open func insertSubview(_ view: UIView, at index: Int) {
        view.removeFromSuperview()
        self.subviews.insert(view, at: min(index, self.subviews.count))
        view.superview = self
        view.didMoveToSuperview()
        view.tellWindow()
    }

    open func bringSubviewToFront(_ view: UIView) {
        guard let place = self.subviews.firstIndex(where: { $0 === view }) else { return }
        self.subviews.append(self.subviews.remove(at: place))
    }

    /// Takes the view out of the one it is in, with the constraints between what is in it and what is not.
    open func removeFromSuperview() {
        guard let superview = self.superview else { return }
        self.dropOuterConstraints()
        superview.subviews.removeAll { $0 === self }
        superview.didRemove(self)
        self.superview = nil
        self.didMoveToSuperview()
        self.tellWindow()
    }

    func didRemove(_ view: UIView) {}

    private func tellWindow() {
        self.didMoveToWindow()
        for view in self.subviews { view.tellWindow() }
    }

    open func didMoveToSuperview() {}
    open func didMoveToWindow() {}
    open func setNeedsLayout() {}
    open func layoutIfNeeded() {}
    open func layoutSubviews() {}

    open func isDescendant(of view: UIView) -> Bool {
        var candidate: UIView? = self
        while let current = candidate {
            if current === view { return true }
            candidate = current.superview
        }
        return false
    }

    /// The view or the one within it that carries a number.
    open func viewWithTag(_ tag: Int) -> UIView? {
        if self.tag == tag { return self }
        for view in self.subviews { if let found = view.viewWithTag(tag) { return found } }
        return nil
    }

    // MARK: Layout priorities, kept without effect

    open func setContentHuggingPriority(_ priority: UILayoutPriority, for axis: NSLayoutConstraint.Axis) {
        self.huggings[axis] = priority
    }
    open func contentHuggingPriority(for axis: NSLayoutConstraint.Axis) -> UILayoutPriority {
        self.huggings[axis] ?? .defaultLow
    }
    open func setContentCompressionResistancePriority(
        _ priority: UILayoutPriority, for axis: NSLayoutConstraint.Axis
    ) { self.resistances[axis] = priority }
    open func contentCompressionResistancePriority(for axis: NSLayoutConstraint.Axis) -> UILayoutPriority {
        self.resistances[axis] ?? .defaultHigh
    }

    // MARK: Accessibility

    /// VoiceOver's double tap; false leaves it to a touch on the view.
    open func accessibilityActivate() -> Bool { false }
    /// VoiceOver's scrub with two fingers; false if the view is nothing that goes away.
    open func accessibilityPerformEscape() -> Bool { false }

    // MARK: Animation: there are no moments between, so what is animated is so at once

    public class func animate(
        withDuration duration: TimeInterval, animations: @escaping () -> Void, completion: ((Bool) -> Void)? = nil
    ) {
        animations()
        completion?(true)
    }

    public class func animate(
        withDuration duration: TimeInterval, delay: TimeInterval, options: AnimationOptions = [],
        animations: @escaping () -> Void, completion: ((Bool) -> Void)? = nil
    ) { self.animate(withDuration: duration, animations: animations, completion: completion) }

    public class func performWithoutAnimation(_ actionsWithoutAnimation: () -> Void) { actionsWithoutAnimation() }

    /// How an animation runs. Raw values as Apple's.
    public struct AnimationOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let allowUserInteraction = AnimationOptions(rawValue: 1 << 1)
        public static let beginFromCurrentState = AnimationOptions(rawValue: 1 << 2)
        public static let curveEaseIn = AnimationOptions(rawValue: 1 << 16)
        public static let curveEaseOut = AnimationOptions(rawValue: 2 << 16)
    }
}

/// What a view is drawn on; kept, without effect. https://developer.apple.com/documentation/quartzcore/calayer
@MainActor public final class CALayer {
    public var cornerRadius: CGFloat = 0
    public var masksToBounds = false
}

/// Distances from the edges, by the direction of writing. https://developer.apple.com/documentation/uikit/nsdirectionaledgeinsets
public struct NSDirectionalEdgeInsets: Hashable, Sendable {
    public static let zero = NSDirectionalEdgeInsets(top: 0, leading: 0, bottom: 0, trailing: 0)
    public var top: CGFloat
    public var leading: CGFloat
    public var bottom: CGFloat
    public var trailing: CGFloat

    public init(top: CGFloat, leading: CGFloat, bottom: CGFloat, trailing: CGFloat) {
        self.top = top
        self.leading = leading
        self.bottom = bottom
        self.trailing = trailing
    }
}
