public import Foundation
import PhoneCore

/// Who is told how a view scrolls. https://developer.apple.com/documentation/uikit/uiscrollviewdelegate
@MainActor public protocol UIScrollViewDelegate: AnyObject {
    /// It shows another part, by whatever.
    func scrollViewDidScroll(_ scrollView: UIScrollView)
}

extension UIScrollViewDelegate {
    /// Nothing, unless the delegate has it.
    public func scrollViewDidScroll(_ scrollView: UIScrollView) {}
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
    /// When scrolling sends the keyboard away: with `onDrag` at once, with `interactive` when a finger pulls it down.
    open var keyboardDismissMode = KeyboardDismissMode.none
    /// True if a finger scrolls.
    open var isScrollEnabled = true
    /// The control that a pull at the top shows.
    open var refreshControl: UIRefreshControl? {
        didSet {
            oldValue?.removeFromSuperview()
            if let control = self.refreshControl { self.insertSubview(control, at: 0) }
        }
    }

    /// The visible part, as large as the screen if there is no frame.
    open override var bounds: CGRect {
        let size = self.frame.size
        return CGRect(origin: self.contentOffset, size: size.height > 0 ? size : UIScreen.main.bounds.size)
    }

    /// Shows another part.
    open func setContentOffset(_ contentOffset: CGPoint, animated: Bool) { self.contentOffset = contentOffset }

    /// The farthest offset that scrolling reaches, in points.
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
        if self.keyboardDismissMode == .onDrag || self.keyboardDismissMode == .interactive && direction == .up {
            self.window?.endEditing(false)
        }
        let half = (self.bounds.height / 2).rounded(.down)
        let place = self.contentOffset.y + (direction == .down ? half : -half)
        self.contentOffset = CGPoint(x: self.contentOffset.x, y: min(max(0, place), self.end))
        if isRefresh { self.refreshControl?.pull() }
    }
}

/// The control that a pull at the top of a scroll view shows. https://developer.apple.com/documentation/uikit/uirefreshcontrol
open class UIRefreshControl: UIControl {
    /// True if it is shown.
    public private(set) var isRefreshing = false

    override func setUp() {
        super.setUp()
        self.accessibilityLabel = "Refreshing"
        self.isHidden = true
    }

    /// Takes it away: what was asked for is there.
    open func endRefreshing() {
        self.isRefreshing = false
        self.isHidden = true
    }

    func pull() {
        self.isRefreshing = true
        self.isHidden = false
        self.sendActions(for: [.valueChanged, .primaryActionTriggered])
    }
}
