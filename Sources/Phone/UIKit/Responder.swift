public import Foundation

/// Receives events. Unlike Apple's it is no NSObject: Linux has no Objective-C runtime.
@MainActor open class UIResponder: Hashable {
    /// A responder.
    public init() {}
    /// Who gets what this one does not take; nil for nobody.
    open var next: UIResponder? { nil }

    // MARK: Typing: one responder of a window is typed into

    /// True if it can be typed into.
    open var canBecomeFirstResponder: Bool { false }
    /// True if it is the one that is typed into.
    open var isFirstResponder: Bool { self.hostingWindow?.firstResponder === self }

    /// Takes the keyboard. Returns false out of a window, or if the one that has it keeps it.
    @discardableResult open func becomeFirstResponder() -> Bool {
        guard let window = self.hostingWindow else { return false }
        if window.firstResponder === self { return true }
        guard self.canBecomeFirstResponder else { return false }
        if let former = window.firstResponder, !former.resignFirstResponder() { return false }
        window.firstResponder = self
        self.didBeginTyping()
        return true
    }

    /// Lets the keyboard go. Returns false if it keeps it.
    @discardableResult open func resignFirstResponder() -> Bool {
        guard let window = self.hostingWindow, window.firstResponder === self else { return true }
        guard self.mayEndTyping else { return false }
        window.firstResponder = nil
        self.didEndTyping()
        return true
    }

    /// True if the delegate lets typing end.
    var mayEndTyping: Bool { true }
    func didBeginTyping() {}
    /// The keyboard has gone, by its own will or by force.
    func didEndTyping() {}

    var hostingWindow: UIWindow? { (self as? UIView)?.window ?? (self as? UIViewController)?.viewIfLoaded?.window }

    // MARK: VoiceOver

    /// VoiceOver's double tap; false leaves it to a touch on the view.
    open func accessibilityActivate() -> Bool { false }
    /// VoiceOver's scrub with two fingers; false if it is nothing that goes away, and the next one is asked.
    open func accessibilityPerformEscape() -> Bool { false }

    // MARK: Fingers; each is told to the next one unless it is taken

    /// A finger is on the screen.
    open func touchesBegan(_ touches: Set<UITouch>, with event: UIEvent?) {
        self.next?.touchesBegan(touches, with: event)
    }
    /// It has moved.
    open func touchesMoved(_ touches: Set<UITouch>, with event: UIEvent?) {
        self.next?.touchesMoved(touches, with: event)
    }
    /// It has left the screen.
    open func touchesEnded(_ touches: Set<UITouch>, with event: UIEvent?) {
        self.next?.touchesEnded(touches, with: event)
    }

    /// Compares by identity.
    public nonisolated static func == (left: UIResponder, right: UIResponder) -> Bool { left === right }
    /// Hashes the identity.
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The display, which a virtual phone does not have.
@MainActor public final class UIScreen {
    /// The phone's own.
    public static let main = UIScreen()
    /// 390 by 844 points, a usual phone.
    public let bounds = CGRect(x: 0, y: 0, width: 390, height: 844)
}

/// One finger on the screen. Nothing is laid out, so every place is told in the window's coordinates.
/// https://developer.apple.com/documentation/uikit/uitouch
@MainActor public final class UITouch: Hashable {
    /// The view it began on.
    public let view: UIView?
    private var place = CGPoint.zero

    init(on view: UIView) { self.view = view }

    func move(by distance: CGPoint) {
        self.place = CGPoint(x: self.place.x + distance.x, y: self.place.y + distance.y)
    }

    /// True if it has left the control it began on: without a layout, 70 points are far enough.
    var isAway: Bool { max(abs(self.place.x), abs(self.place.y)) > 70 }

    /// Where it is.
    public func location(in view: UIView?) -> CGPoint { self.place }

    /// Compares by identity.
    public nonisolated static func == (left: UITouch, right: UITouch) -> Bool { left === right }
    /// Hashes the identity.
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The system's facts along with touches. https://developer.apple.com/documentation/uikit/uievent
@MainActor public final class UIEvent {
    init() {}
}
