public import Foundation
import PhoneCore

/// Distances from the edges of the screen. https://developer.apple.com/documentation/uikit/uiedgeinsets
public struct UIEdgeInsets: Hashable, Sendable {
    /// No distances.
    public static let zero = UIEdgeInsets(top: 0, left: 0, bottom: 0, right: 0)
    /// From the top, in points.
    public var top: CGFloat
    /// From the left.
    public var left: CGFloat
    /// From the bottom.
    public var bottom: CGFloat
    /// From the right.
    public var right: CGFloat

    /// Four distances.
    public init(top: CGFloat, left: CGFloat, bottom: CGFloat, right: CGFloat) {
        self.top = top
        self.left = left
        self.bottom = bottom
        self.right = right
    }
}

/// Who is told how a view scrolls. https://developer.apple.com/documentation/uikit/uiscrollviewdelegate
@MainActor public protocol UIScrollViewDelegate: AnyObject {
    /// It shows another part, by whatever.
    func scrollViewDidScroll(_ scrollView: UIScrollView)
    /// A finger begins to scroll.
    func scrollViewWillBeginDragging(_ scrollView: UIScrollView)
    /// The finger has left the screen.
    func scrollViewDidEndDragging(_ scrollView: UIScrollView, willDecelerate decelerate: Bool)
    /// It has come to rest after a finger gave it speed; a virtual finger gives none.
    func scrollViewDidEndDecelerating(_ scrollView: UIScrollView)
    /// An animation that the app asked for is over.
    func scrollViewDidEndScrollingAnimation(_ scrollView: UIScrollView)
}

extension UIScrollViewDelegate {
    /// Nothing, unless the delegate has it.
    public func scrollViewDidScroll(_ scrollView: UIScrollView) {}
    /// Nothing, unless the delegate has it.
    public func scrollViewWillBeginDragging(_ scrollView: UIScrollView) {}
    /// Nothing, unless the delegate has it.
    public func scrollViewDidEndDragging(_ scrollView: UIScrollView, willDecelerate decelerate: Bool) {}
    /// Nothing, unless the delegate has it.
    public func scrollViewDidEndDecelerating(_ scrollView: UIScrollView) {}
    /// Nothing, unless the delegate has it.
    public func scrollViewDidEndScrollingAnimation(_ scrollView: UIScrollView) {}
}

/// Gives a `UIScrollView` its `delegate`. Tables and text views have one of their own type under the same name, which Swift lets a
/// subclass declare only over a default of a protocol. Linux only.
@MainActor public protocol ScrollDelegateHolder: UIScrollView {}
extension UIScrollView: ScrollDelegateHolder {}
extension ScrollDelegateHolder {
    /// Who is told how the view scrolls.
    public var delegate: (any UIScrollViewDelegate)? {
        get { self.scrollDelegate }
        set { self.scrollDelegate = newValue }
    }
}

/// A view whose contents are larger than it is. https://developer.apple.com/documentation/uikit/uiscrollview
open class UIScrollView: UIView {
    /// When scrolling sends the keyboard away. Raw values as Apple's.
    public enum KeyboardDismissMode: Int, Hashable, Sendable {
        case none, onDrag, interactive
    }

    /// How bars shorten the contents. Raw values as Apple's.
    public enum ContentInsetAdjustmentBehavior: Int, Hashable, Sendable {
        case automatic, scrollableAxes, never, always
    }

    weak var scrollDelegate: (any UIScrollViewDelegate)?
    /// Which part is shown: its beginning.
    open var contentOffset = CGPoint.zero {
        didSet {
            guard oldValue != self.contentOffset else { return }
            self.setNeedsLayout()
            self.scrollDelegate?.scrollViewDidScroll(self)
        }
    }
    /// How large the contents are.
    open var contentSize = CGSize.zero
    /// Room around the contents.
    open var contentInset = UIEdgeInsets.zero
    /// How bars shorten the contents; kept, without effect.
    open var contentInsetAdjustmentBehavior = ContentInsetAdjustmentBehavior.automatic
    /// Room around the contents, with that for bars.
    open var adjustedContentInset: UIEdgeInsets { self.contentInset }
    /// When scrolling sends the keyboard away: with `onDrag` at once, with `interactive` when a finger pulls it down.
    open var keyboardDismissMode = KeyboardDismissMode.none
    /// Whether a finger scrolls.
    open var isScrollEnabled = true
    /// Whether it goes on a little at its end, and can be pulled to refresh.
    open var alwaysBounceVertical = false
    /// Whether a bar shows where one is; kept, without effect.
    open var showsVerticalScrollIndicator = true
    /// Whether a finger is on it; a virtual finger has left when the app runs again.
    public private(set) var isDragging = false
    /// Whether it moves by itself: never.
    open var isDecelerating: Bool { false }
    /// Whether a finger moves it.
    open var isTracking: Bool { self.isDragging }
    /// Where the contents are.
    public private(set) lazy var contentLayoutGuide = UILayoutGuide(of: self)
    /// Where the view is.
    public private(set) lazy var frameLayoutGuide = UILayoutGuide(of: self)
    /// What a pull at the top shows.
    open var refreshControl: UIRefreshControl? {
        didSet {
            oldValue?.removeFromSuperview()
            if let control = self.refreshControl { self.insertSubview(control, at: 0) }
        }
    }

    /// As large as the screen, without a frame.
    open override var bounds: CGRect {
        let size = self.frame.size
        return CGRect(origin: self.contentOffset, size: size.height > 0 ? size : UIScreen.main.bounds.size)
    }

    /// Shows another part.
    open func setContentOffset(_ contentOffset: CGPoint, animated: Bool) {
        let isElsewhere = self.contentOffset != contentOffset
        self.contentOffset = contentOffset
        guard animated, isElsewhere else { return }
        // An animation is over when the app runs again.
        Task { self.scrollDelegate?.scrollViewDidEndScrollingAnimation(self) }
    }

    /// What is left beyond the screen, in points.
    var end: CGFloat { max(0, self.contentSize.height - self.bounds.height) }
    private var canRefresh: Bool { self.refreshControl?.isRefreshing == false && self.contentOffset.y <= 0 }

    override var scrollDirections: [ViewAction.Direction] {
        guard self.isScrollEnabled else { return [] }
        let up: [ViewAction.Direction] = self.contentOffset.y > 0 || self.canRefresh ? [.up] : []
        return up + (self.contentOffset.y < self.end ? [.down] : [])
    }

    /// A finger that goes half a screen; at the top one that pulls refreshes.
    override func scroll(_ direction: ViewAction.Direction) {
        let isRefresh = direction == .up && self.canRefresh
        self.isDragging = true
        self.scrollDelegate?.scrollViewWillBeginDragging(self)
        if self.keyboardDismissMode == .onDrag || self.keyboardDismissMode == .interactive && direction == .up {
            self.window?.endEditing(false)
        }
        let half = (self.bounds.height / 2).rounded(.down)
        let place = self.contentOffset.y + (direction == .down ? half : -half)
        self.contentOffset = CGPoint(x: self.contentOffset.x, y: min(max(0, place), self.end))
        self.isDragging = false
        if isRefresh { self.refreshControl?.pull() }
        self.scrollDelegate?.scrollViewDidEndDragging(self, willDecelerate: false)
    }
}

/// What a pull at the top of a scroll view shows. https://developer.apple.com/documentation/uikit/uirefreshcontrol
open class UIRefreshControl: UIControl {
    /// Whether it is shown.
    public private(set) var isRefreshing = false

    /// A control that waits for a pull.
    public override init(frame: CGRect) {
        super.init(frame: frame)
        self.accessibilityLabel = "Refreshing"
        self.isHidden = true
    }

    /// From an archive, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// Shows it, as after a pull, without `valueChanged`.
    open func beginRefreshing() {
        self.isRefreshing = true
        self.isHidden = false
    }

    /// Takes it away: what was asked for is there.
    open func endRefreshing() {
        self.isRefreshing = false
        self.isHidden = true
    }

    func pull() {
        self.beginRefreshing()
        self.sendActions(for: [.valueChanged, .primaryActionTriggered])
    }
}
