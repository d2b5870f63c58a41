public import Foundation
import PhoneCore

/// A view: what it is, what it is called, what is in it. Nothing is drawn or laid out; a virtual phone shows the tree
/// (`VirtualPhone.views(of:)`). https://developer.apple.com/documentation/uikit/uiview
@MainActor open class UIView: UIResponder {
    /// How contents fill a view. Raw values as Apple's.
    public enum ContentMode: Int, Hashable, Sendable {
        case scaleToFill, scaleAspectFit, scaleAspectFill, redraw, center
    }

    // Kept, without effect, as all that only says where or how something is drawn.

    /// Where it is in the view it is in.
    open var frame: CGRect
    /// Its own size.
    open var bounds: CGRect { CGRect(origin: .zero, size: self.frame.size) }
    /// The color of its background; nil for none.
    open var backgroundColor: UIColor?
    /// On Apple's systems it is implicitly unwrapped, as fonts and colours of labels are.
    open var tintColor: UIColor = .tintColor
    /// How its contents fill it.
    open var contentMode = ContentMode.scaleToFill
    /// True if its content ends at its edges.
    open var clipsToBounds = false
    /// The layer that it is drawn on.
    public let layer = CALayer()
    /// A hidden view, and what is in it, is not in the tree.
    open var isHidden = false
    /// A view below 0.01 is seen and touched as little as a hidden one.
    open var alpha: CGFloat = 1
    /// True if the view and its subviews take touches.
    open var isUserInteractionEnabled = true
    /// Back to front.
    public private(set) var subviews: [UIView] = []
    /// The view it is in.
    public private(set) weak var superview: UIView?
    /// The window it is in.
    open var window: UIWindow? { self.superview?.window ?? self as? UIWindow }
    /// The controller whose view it is, otherwise the view it is in.
    open override var next: UIResponder? { self.controller ?? self.superview }
    /// The controller whose view it is.
    weak var controller: UIViewController?
    /// True if nothing behind it takes touches while it is in the window: a screen presented over another, or a menu.
    var coversTouches = false
    private var waitsForLayout = true
    private var kept: [UIView] = []

    // Auto Layout: recorded, not solved (Anchors.swift).

    /// True if the frame says where it is, not constraints.
    open var translatesAutoresizingMaskIntoConstraints = true
    /// The distances of `layoutMarginsGuide`.
    open var directionalLayoutMargins = NSDirectionalEdgeInsets(top: 8, leading: 8, bottom: 8, trailing: 8)
    /// Where no bar and no notch is.
    public private(set) lazy var safeAreaLayoutGuide = UILayoutGuide(of: self)
    /// Within the margins.
    public private(set) lazy var layoutMarginsGuide = UILayoutGuide(of: self)
    /// Where the keyboard is, or would come from (iOS 15).
    public private(set) lazy var keyboardLayoutGuide = UIKeyboardLayoutGuide(of: self)
    /// The constraints that are active and have this view as their nearest common ancestor.
    public internal(set) var constraints: [NSLayoutConstraint] = []

    // Accessibility: what VoiceOver says and offers, and what tests find views by.

    /// True if VoiceOver speaks of it, and then of nothing in it.
    open var isAccessibilityElement = false
    /// The name in words.
    open var accessibilityLabel: String?
    /// The value that it is set to.
    open var accessibilityValue: String?
    /// The hint at its action.
    open var accessibilityHint: String?
    /// The kind of view.
    open var accessibilityTraits = UIAccessibilityTraits.none
    /// Its name for tests, which nobody hears.
    open var accessibilityIdentifier: String?
    /// The actions that VoiceOver offers.
    open var accessibilityCustomActions: [UIAccessibilityCustomAction]?

    /// A view.
    public init(frame: CGRect) {
        self.frame = frame
        super.init()
        self.setUp()
    }

    /// From an archive, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { return nil }

    /// A view without a size.
    public override convenience init() { self.init(frame: .zero) }

    /// Sets up every view of a class. It stands in place of initialisers, which a subclass then inherits.
    func setUp() {}

    // MARK: The tree

    /// Puts a view in the foreground.
    open func addSubview(_ view: UIView) { self.insertSubview(view, at: self.subviews.count) }

    /// Puts a view behind those from a place on. One that is in here already only moves.
    open func insertSubview(_ view: UIView, at index: Int) {
        if view.superview === self {
            self.subviews.removeAll { $0 === view }
            self.subviews.insert(view, at: min(index, self.subviews.count))
            return
        }
        self.adopt(view, at: index)
        self.setNeedsLayout()
    }

    private func adopt(_ view: UIView, at index: Int) {
        view.removeFromSuperview()
        self.subviews.insert(view, at: min(index, self.subviews.count))
        view.superview = self
    }

    /// Has these views in it, behind those of the app, and no longer what it put in before: part of a layout, which asks for no other.
    func setOwnSubviews(_ views: [UIView]) {
        for view in self.kept where view.superview === self && !views.contains(where: { $0 === view }) {
            view.removeFromSuperview()
        }
        self.kept = views
        for (place, view) in views.enumerated() {
            if view.superview === self { self.insertSubview(view, at: place) } else { self.adopt(view, at: place) }
        }
    }

    /// Takes the view out of the one it is in, with the constraints between what is in it and what is not.
    open func removeFromSuperview() {
        guard let superview = self.superview else { return }
        // As on a phone, the keyboard goes with the view that it types into.
        if let typed = self.window?.firstResponder as? UIView, typed.isDescendant(of: self) {
            typed.endEditing(true)
        }
        self.dropOuterConstraints()
        superview.subviews.removeAll { $0 === self }
        superview.didRemove(self)
        self.superview = nil
    }

    func didRemove(_ view: UIView) {}

    /// Ends typing into a view in here, with `force` whatever its delegate would say. Returns whether nothing here is typed into any more.
    @discardableResult open func endEditing(_ force: Bool) -> Bool {
        guard let typed = self.window?.firstResponder as? UIView, typed.isDescendant(of: self) else { return true }
        guard force else { return typed.resignFirstResponder() }
        // Nobody is asked; what overrides `resignFirstResponder()` and delegates hear of it.
        self.window?.firstResponder = nil
        typed.resignFirstResponder()
        typed.didEndTyping()
        return true
    }

    // MARK: Layout: once, after whatever changed, as at the end of a turn of the run loop

    /// Has `layoutSubviews()` called soon.
    open func setNeedsLayout() {
        self.waitsForLayout = true
        self.window?.scheduleLayout()
    }
    /// Has it called now, if it waits, here and in what is in here.
    open func layoutIfNeeded() {
        if self.waitsForLayout || self.isLaidOutAlways {
            self.waitsForLayout = false
            self.layoutSubviews()
            self.controller?.viewDidLayoutSubviews()
        }
        for view in self.subviews { view.layoutIfNeeded() }
    }
    /// Arranges what is in it; no frame is set here.
    open func layoutSubviews() {}
    /// True if its content belongs to others, who do not tell of changes.
    var isLaidOutAlways: Bool { false }
    /// Takes the size that its contents need; kept, without effect.
    open func sizeToFit() {}

    /// Returns true if it is a view, or in it.
    open func isDescendant(of view: UIView) -> Bool {
        var candidate: UIView? = self
        while let current = candidate {
            if current === view { return true }
            candidate = current.superview
        }
        return false
    }

    // MARK: What a person does; what is not one of these is a touch (ViewTree.swift)

    /// True if a tap does something.
    var takesTaps: Bool { false }
    func receiveTap() {}
    /// True if it is typed into.
    var takesText: Bool { false }
    /// Types until this is the text. Returns false if it is not allowed.
    func type(_ text: String) -> Bool { false }
    func pressReturn() -> Bool { false }
    /// The menu that opens when a finger stays.
    var contextMenu: UIMenu? { nil }
    /// The actions that a swipe to the side opens.
    var swipeActions: [UIContextualAction] { [] }
    /// Where there is more to see.
    var scrollDirections: [ViewAction.Direction] { [] }
    func scroll(_ direction: ViewAction.Direction) {}

    // MARK: Layout priorities, without effect

    /// How strongly it does not grow.
    open func setContentHuggingPriority(_ priority: UILayoutPriority, for axis: NSLayoutConstraint.Axis) {}
    /// How strongly it does not shrink.
    open func setContentCompressionResistancePriority(
        _ priority: UILayoutPriority, for axis: NSLayoutConstraint.Axis
    ) {}

    // MARK: Animation: there are no moments between, so what is animated is so at once

    /// Changes views over a time.
    public class func animate(
        withDuration duration: TimeInterval, animations: @escaping () -> Void, completion: ((Bool) -> Void)? = nil
    ) {
        animations()
        completion?(true)
    }

    /// Changes views over a time, later, or in some way.
    public class func animate(
        withDuration duration: TimeInterval, delay: TimeInterval, options: AnimationOptions = [],
        animations: @escaping () -> Void, completion: ((Bool) -> Void)? = nil
    ) { self.animate(withDuration: duration, animations: animations, completion: completion) }

    /// How an animation runs. Raw values as Apple's.
    public struct AnimationOptions: OptionSet, Sendable {
        /// Apple's bits.
        public let rawValue: UInt
        /// Wraps Apple's bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The views take touches meanwhile.
        public static let allowUserInteraction = AnimationOptions(rawValue: 1 << 1)
    }
}

/// The layer that a view is drawn on; kept, without effect. https://developer.apple.com/documentation/quartzcore/calayer
@MainActor public final class CALayer {
    /// How round the corners are, in points.
    public var cornerRadius: CGFloat = 0
}

/// Distances from the edges, by the direction of writing. https://developer.apple.com/documentation/uikit/nsdirectionaledgeinsets
public struct NSDirectionalEdgeInsets: Hashable, Sendable {
    /// No distances.
    public static let zero = NSDirectionalEdgeInsets(top: 0, leading: 0, bottom: 0, trailing: 0)
    /// From the top, in points.
    public var top: CGFloat
    /// From where lines begin.
    public var leading: CGFloat
    /// From the bottom.
    public var bottom: CGFloat
    /// From where lines end.
    public var trailing: CGFloat

    /// Four distances.
    public init(top: CGFloat, leading: CGFloat, bottom: CGFloat, trailing: CGFloat) {
        self.top = top
        self.leading = leading
        self.bottom = bottom
        self.trailing = trailing
    }
}
