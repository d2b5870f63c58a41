public import Foundation

/// Receives events. Unlike Apple's it is no NSObject: Linux has no Objective-C runtime.
@MainActor open class UIResponder: Hashable {
    /// A responder.
    public init() {}
    /// The next responder; nil, since a virtual phone sends no events.
    open var next: UIResponder? { nil }

    public nonisolated static func == (left: UIResponder, right: UIResponder) -> Bool { left === right }
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A view without an image: it exists so that an app's code compiles.
@MainActor open class UIView: UIResponder {
    /// The frame in its superview; kept, without effect.
    open var frame: CGRect
    /// Its own coordinates; kept, without effect.
    open var bounds: CGRect { CGRect(origin: .zero, size: self.frame.size) }
    /// Kept, without effect.
    open var backgroundColor: UIColor?
    /// A number to find it by.
    open var tag = 0
    /// Whether it is hidden.
    open var isHidden = false
    /// The views within it, back to front.
    public private(set) var subviews: [UIView] = []
    /// The view it is in.
    public private(set) weak var superview: UIView?
    /// The window it is in.
    open var window: UIWindow? { self.superview?.window ?? self as? UIWindow }

    /// A view of a size.
    public init(frame: CGRect) {
        self.frame = frame
        super.init()
    }

    /// From an archive, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { return nil }

    /// A view without a size.
    public override convenience init() { self.init(frame: .zero) }

    /// Puts a view in the foreground.
    open func addSubview(_ view: UIView) {
        view.removeFromSuperview()
        self.subviews.append(view)
        view.superview = self
    }

    /// Takes the view out of the one it is in.
    open func removeFromSuperview() {
        self.superview?.subviews.removeAll { $0 === self }
        self.superview = nil
    }

    /// The view or the one within it that carries a number.
    open func viewWithTag(_ tag: Int) -> UIView? {
        if self.tag == tag { return self }
        for view in self.subviews { if let found = view.viewWithTag(tag) { return found } }
        return nil
    }
}

/// A colour by its parts; nothing is painted with it.
public final class UIColor: Hashable, Sendable {
    private let parts: [Double]

    /// A colour of parts from 0 to 1.
    public init(red: Double, green: Double, blue: Double, alpha: Double) { self.parts = [red, green, blue, alpha] }

    /// A grey from 0, black, to 1, white.
    public convenience init(white: Double, alpha: Double) {
        self.init(red: white, green: white, blue: white, alpha: alpha)
    }

    /// Nothing.
    public static let clear = UIColor(white: 0, alpha: 0)
    /// Black.
    public static let black = UIColor(white: 0, alpha: 1)
    /// White.
    public static let white = UIColor(white: 1, alpha: 1)
    /// What lies behind everything.
    public static let systemBackground = UIColor(white: 1, alpha: 1)

    public static func == (left: UIColor, right: UIColor) -> Bool { left.parts == right.parts }
    public func hash(into hasher: inout Hasher) { hasher.combine(self.parts) }
}

/// The display, which a virtual phone does not have.
@MainActor public final class UIScreen {
    /// The phone's own.
    public static let main = UIScreen()
    /// 390 by 844 points, a usual phone.
    public let bounds = CGRect(x: 0, y: 0, width: 390, height: 844)
    /// Pixels a point.
    public let scale = 3.0
}
