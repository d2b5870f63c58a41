public import Foundation

// Auto Layout: constraints are recorded on the view that has them, and none is solved. There are no anchors of left and right,
// which are wrong where people write from right to left.

/// A place to hang constraints on, without a view. https://developer.apple.com/documentation/uikit/uilayoutguide
@MainActor open class UILayoutGuide {
    /// The view it belongs to.
    public internal(set) weak var owningView: UIView?
    init(of view: UIView) { self.owningView = view }
}

/// Where the keyboard is; without one, where it would come from (iOS 15).
/// https://developer.apple.com/documentation/uikit/uikeyboardlayoutguide
public final class UIKeyboardLayoutGuide: UILayoutGuide {}

/// How strongly a constraint holds. https://developer.apple.com/documentation/uikit/uilayoutpriority
public struct UILayoutPriority: RawRepresentable, Hashable, Sendable {
    /// 1 to 1,000.
    public let rawValue: Float
    /// Wraps a number.
    public init(rawValue: Float) { self.rawValue = rawValue }
    /// Wraps a number.
    public init(_ rawValue: Float) { self.rawValue = rawValue }
    /// It holds, whatever else.
    public static let required = UILayoutPriority(1_000)
}

/// A rule between two edges or lengths. https://developer.apple.com/documentation/uikit/nslayoutconstraint
@MainActor public final class NSLayoutConstraint {
    /// How two lengths compare. Raw values as Apple's.
    public enum Relation: Int, Hashable, Sendable {
        case lessThanOrEqual = -1
        case equal, greaterThanOrEqual
    }

    /// An edge, a middle or a length. Raw values as Apple's, which has left (1) and right (2) too.
    public enum Attribute: Int, Hashable, Sendable {
        case notAnAttribute = 0
        case top = 3
        case bottom, leading, trailing, width, height, centerX, centerY, lastBaseline, firstBaseline
    }

    /// A direction. Raw values as Apple's.
    public enum Axis: Int, Hashable, Sendable {
        case horizontal, vertical
    }

    /// A view or a guide.
    public private(set) weak var firstItem: AnyObject?
    /// The attribute of the first item.
    public let firstAttribute: Attribute
    /// How it compares.
    public let relation: Relation
    /// nil for a length of its own.
    public private(set) weak var secondItem: AnyObject?
    /// The attribute of the second item.
    public let secondAttribute: Attribute
    /// The factor of the second length.
    public let multiplier: CGFloat
    /// The length that is added, in points.
    public var constant: CGFloat
    /// How strongly it holds.
    public var priority = UILayoutPriority.required
    private weak var holder: UIView?

    init(
        _ item: AnyObject?, _ attribute: Attribute, _ relation: Relation, to other: AnyObject?,
        _ otherAttribute: Attribute, multiplier: CGFloat = 1, constant: CGFloat
    ) {
        self.firstItem = item
        self.firstAttribute = attribute
        self.relation = relation
        self.secondItem = other
        self.secondAttribute = otherAttribute
        self.multiplier = multiplier
        self.constant = constant
    }

    /// True if the nearest common ancestor of both items has it.
    ///
    /// - Precondition: to be active, the items must have a common ancestor (Apple throws an exception).
    public var isActive: Bool {
        get { self.holder != nil }
        set { if newValue { self.hold() } else { self.drop() } }
    }

    /// Makes constraints active.
    public class func activate(_ constraints: [NSLayoutConstraint]) { for one in constraints { one.isActive = true } }

    private func hold() {
        guard self.holder == nil else { return }
        let first = Self.view(of: self.firstItem)
        var ancestor = first
        if self.secondItem != nil {
            let second = Self.view(of: self.secondItem)
            while let candidate = ancestor, second?.isDescendant(of: candidate) != true {
                ancestor = candidate.superview
            }
        }
        guard let ancestor else { preconditionFailure("the items of the constraint have no common ancestor") }
        self.holder = ancestor
        ancestor.constraints.append(self)
    }

    private func drop() {
        self.holder?.constraints.removeAll { $0 === self }
        self.holder = nil
    }

    static func view(of item: AnyObject?) -> UIView? { item as? UIView ?? (item as? UILayoutGuide)?.owningView }
}

extension UIView {
    func dropOuterConstraints() {
        var ancestor = self.superview
        while let view = ancestor {
            for one in view.constraints
            where [one.firstItem, one.secondItem].contains(where: {
                NSLayoutConstraint.view(of: $0)?.isDescendant(of: self) == true
            }) {
                one.isActive = false
            }
            ancestor = view.superview
        }
    }
}

/// An edge, a middle or a length. https://developer.apple.com/documentation/uikit/nslayoutanchor
@MainActor public class NSLayoutAnchor<AnchorType: AnyObject> {
    fileprivate weak var item: AnyObject?
    fileprivate let attribute: NSLayoutConstraint.Attribute

    fileprivate init(_ item: AnyObject, _ attribute: NSLayoutConstraint.Attribute) {
        self.item = item
        self.attribute = attribute
    }

    fileprivate func constraint(
        _ relation: NSLayoutConstraint.Relation, _ other: NSLayoutAnchor<AnchorType>, _ constant: CGFloat,
        multiplier: CGFloat = 1
    ) -> NSLayoutConstraint {
        NSLayoutConstraint(
            self.item, self.attribute, relation, to: other.item, other.attribute, multiplier: multiplier,
            constant: constant)
    }

    // A constraint to another anchor, not active yet, with a distance in points.

    /// At another anchor.
    public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>) -> NSLayoutConstraint {
        self.constraint(.equal, anchor, 0)
    }
    /// At a distance from it.
    public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>, constant c: CGFloat) -> NSLayoutConstraint {
        self.constraint(.equal, anchor, c)
    }
}

/// Leading or trailing. https://developer.apple.com/documentation/uikit/nslayoutxaxisanchor
public final class NSLayoutXAxisAnchor: NSLayoutAnchor<NSLayoutXAxisAnchor> {}

/// Top or bottom. https://developer.apple.com/documentation/uikit/nslayoutyaxisanchor
public final class NSLayoutYAxisAnchor: NSLayoutAnchor<NSLayoutYAxisAnchor> {}

/// A width or a height. https://developer.apple.com/documentation/uikit/nslayoutdimension
public final class NSLayoutDimension: NSLayoutAnchor<NSLayoutDimension> {
    /// So many points.
    public func constraint(equalToConstant c: CGFloat) -> NSLayoutConstraint {
        NSLayoutConstraint(self.item, self.attribute, .equal, to: nil, .notAnAttribute, constant: c)
    }
    /// Another length times a number, and so many points more.
    public func constraint(
        equalTo anchor: NSLayoutDimension, multiplier m: CGFloat, constant c: CGFloat = 0
    ) -> NSLayoutConstraint { self.constraint(.equal, anchor, c, multiplier: m) }
    /// At most another length times a number.
    public func constraint(
        lessThanOrEqualTo anchor: NSLayoutDimension, multiplier m: CGFloat, constant c: CGFloat = 0
    ) -> NSLayoutConstraint { self.constraint(.lessThanOrEqual, anchor, c, multiplier: m) }
}

/// Gives views and guides their anchors. Linux only.
@MainActor public protocol AnchorHolder: AnyObject {}
extension UIView: AnchorHolder {}
extension UILayoutGuide: AnchorHolder {}
extension AnchorHolder {
    /// Where lines begin.
    public var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .leading) }
    /// Where lines end.
    public var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .trailing) }
    /// The upper edge.
    public var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .top) }
    /// The lower edge.
    public var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .bottom) }
    /// The width.
    public var widthAnchor: NSLayoutDimension { NSLayoutDimension(self, .width) }
    /// The height.
    public var heightAnchor: NSLayoutDimension { NSLayoutDimension(self, .height) }
}
