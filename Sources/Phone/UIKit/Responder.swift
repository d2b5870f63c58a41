public import Foundation

/// Receives events. Unlike Apple's it is no NSObject: Linux has no Objective-C runtime.
@MainActor open class UIResponder: Hashable {
    /// A responder.
    public init() {}
    /// Who gets what this one does not take; nil for nobody.
    open var next: UIResponder? { nil }

    open func touchesBegan(_ touches: Set<UITouch>, with event: UIEvent?) {
        self.next?.touchesBegan(touches, with: event)
    }
    open func touchesMoved(_ touches: Set<UITouch>, with event: UIEvent?) {
        self.next?.touchesMoved(touches, with: event)
    }
    open func touchesEnded(_ touches: Set<UITouch>, with event: UIEvent?) {
        self.next?.touchesEnded(touches, with: event)
    }
    open func touchesCancelled(_ touches: Set<UITouch>, with event: UIEvent?) {
        self.next?.touchesCancelled(touches, with: event)
    }

    public nonisolated static func == (left: UIResponder, right: UIResponder) -> Bool { left === right }
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
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

/// One finger on the screen. Nothing is laid out, so every place is told in the window's coordinates.
/// https://developer.apple.com/documentation/uikit/uitouch
@MainActor public final class UITouch: Hashable {
    /// What the finger does. Raw values as Apple's.
    public enum Phase: Int, Hashable, Sendable {
        case began = 0
        case moved = 1
        case stationary = 2
        case ended = 3
        case cancelled = 4
    }

    public private(set) var phase = Phase.began
    public let view: UIView?
    private var place = CGPoint.zero

    init(on view: UIView) { self.view = view }

    func move(by distance: CGPoint) {
        self.phase = .moved
        self.place = CGPoint(x: self.place.x + distance.x, y: self.place.y + distance.y)
    }
    func end() { self.phase = .ended }

    /// Whether it has left the control it began on: without a layout, 70 points are far enough.
    var isAway: Bool { max(abs(self.place.x), abs(self.place.y)) > 70 }

    public func location(in view: UIView?) -> CGPoint { self.place }

    public nonisolated static func == (left: UITouch, right: UITouch) -> Bool { left === right }
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What the system tells with touches. https://developer.apple.com/documentation/uikit/uievent
@MainActor public final class UIEvent {
    public let allTouches: Set<UITouch>?
    init(_ touch: UITouch) { self.allTouches = [touch] }
}
