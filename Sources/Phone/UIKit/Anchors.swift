public import Foundation

// Auto Layout: constraints are recorded on the view that has them, and none is solved. There are no anchors of left and right,
// which are wrong where people write from right to left.

/// A place to hang constraints on, without a view. https://developer.apple.com/documentation/uikit/uilayoutguide
@MainActor open class UILayoutGuide {
    /// The view it belongs to.
    public internal(set) weak var owningView: UIView?
    /// Its name in messages about layout.
    open var identifier = ""
    /// A guide of no view yet (`UIView.addLayoutGuide`).
    public init() {}
    init(of view: UIView) { self.owningView = view }
}

/// Where the keyboard is; without one, where it would come from (iOS 15).
/// https://developer.apple.com/documentation/uikit/uikeyboardlayoutguide
public final class UIKeyboardLayoutGuide: UILayoutGuide {
    /// Whether it follows a keyboard that floats; kept, without effect.
    public var followsUndockedKeyboard = false
}

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
    /// How strongly contents do not shrink.
    public static let defaultHigh = UILayoutPriority(750)
    /// How strongly contents do not grow.
    public static let defaultLow = UILayoutPriority(250)
}

/// A rule between two edges or lengths. https://developer.apple.com/documentation/uikit/nslayoutconstraint
@MainActor public final class NSLayoutConstraint {
    /// How two lengths compare. Raw values as Apple's.
    public enum Relation: Int, Hashable, Sendable {
        case lessThanOrEqual = -1
        case equal = 0
        case greaterThanOrEqual = 1
    }

    /// An edge, a middle or a length. Raw values as Apple's, which has left (1) and right (2) too.
    public enum Attribute: Int, Hashable, Sendable {
        case top = 3
        case bottom = 4
        case leading = 5
        case trailing = 6
        case width = 7
        case height = 8
        case centerX = 9
        case centerY = 10
        case lastBaseline = 11
        case firstBaseline = 12
        case notAnAttribute = 0
    }

    /// A direction. Raw values as Apple's.
    public enum Axis: Int, Hashable, Sendable {
        case horizontal, vertical
    }

    /// A view or a guide.
    public private(set) weak var firstItem: AnyObject?
    /// What of the first item.
    public let firstAttribute: Attribute
    /// How it compares.
    public let relation: Relation
    /// nil for a length of its own.
    public private(set) weak var secondItem: AnyObject?
    /// What of the second item.
    public let secondAttribute: Attribute
    /// What the second length is multiplied with.
    public let multiplier: CGFloat
    /// What is added, in points.
    public var constant: CGFloat
    /// How strongly it holds.
    public var priority = UILayoutPriority.required
    /// Its name in messages about layout.
    public var identifier: String?
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

    /// Whether the nearest common ancestor of both items has it.
    ///
    /// - Precondition: to be active, the items must have a common ancestor (Apple throws an exception).
    public var isActive: Bool {
        get { self.holder != nil }
        set { if newValue { self.hold() } else { self.drop() } }
    }

    /// Makes constraints active.
    public class func activate(_ constraints: [NSLayoutConstraint]) { for one in constraints { one.isActive = true } }
    /// Makes constraints inactive.
    public class func deactivate(_ constraints: [NSLayoutConstraint]) {
        for one in constraints { one.isActive = false }
    }

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

    // A constraint to another anchor, not active yet: where it is, before or after it, with a distance in points.

    /// At another anchor.
    public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>) -> NSLayoutConstraint {
        self.constraint(.equal, anchor, 0)
    }
    /// At a distance from it.
    public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>, constant c: CGFloat) -> NSLayoutConstraint {
        self.constraint(.equal, anchor, c)
    }
    /// At it or after it.
    public func constraint(greaterThanOrEqualTo anchor: NSLayoutAnchor<AnchorType>) -> NSLayoutConstraint {
        self.constraint(.greaterThanOrEqual, anchor, 0)
    }
    /// At a distance or farther.
    public func constraint(
        greaterThanOrEqualTo anchor: NSLayoutAnchor<AnchorType>, constant c: CGFloat
    ) -> NSLayoutConstraint { self.constraint(.greaterThanOrEqual, anchor, c) }
    /// At it or before it.
    public func constraint(lessThanOrEqualTo anchor: NSLayoutAnchor<AnchorType>) -> NSLayoutConstraint {
        self.constraint(.lessThanOrEqual, anchor, 0)
    }
    /// At a distance or nearer.
    public func constraint(
        lessThanOrEqualTo anchor: NSLayoutAnchor<AnchorType>, constant c: CGFloat
    ) -> NSLayoutConstraint { self.constraint(.lessThanOrEqual, anchor, c) }
}

/// Leading, trailing or the middle between. https://developer.apple.com/documentation/uikit/nslayoutxaxisanchor
public final class NSLayoutXAxisAnchor: NSLayoutAnchor<NSLayoutXAxisAnchor> {
    /// After another by the system's distance, 8 points, times a number.
    public func constraint(
        equalToSystemSpacingAfter anchor: NSLayoutXAxisAnchor, multiplier: CGFloat
    ) -> NSLayoutConstraint { self.constraint(.equal, anchor, 8 * multiplier) }
}

/// Top, bottom, a baseline or the middle. https://developer.apple.com/documentation/uikit/nslayoutyaxisanchor
public final class NSLayoutYAxisAnchor: NSLayoutAnchor<NSLayoutYAxisAnchor> {
    /// Below another by the system's distance, 8 points, times a number.
    public func constraint(
        equalToSystemSpacingBelow anchor: NSLayoutYAxisAnchor, multiplier: CGFloat
    ) -> NSLayoutConstraint { self.constraint(.equal, anchor, 8 * multiplier) }
}

/// A width or a height. https://developer.apple.com/documentation/uikit/nslayoutdimension
public final class NSLayoutDimension: NSLayoutAnchor<NSLayoutDimension> {
    private func length(_ relation: NSLayoutConstraint.Relation, _ constant: CGFloat) -> NSLayoutConstraint {
        NSLayoutConstraint(self.item, self.attribute, relation, to: nil, .notAnAttribute, constant: constant)
    }

    /// So many points.
    public func constraint(equalToConstant c: CGFloat) -> NSLayoutConstraint { self.length(.equal, c) }
    /// So many points or more.
    public func constraint(greaterThanOrEqualToConstant c: CGFloat) -> NSLayoutConstraint {
        self.length(.greaterThanOrEqual, c)
    }
    /// So many points or fewer.
    public func constraint(lessThanOrEqualToConstant c: CGFloat) -> NSLayoutConstraint {
        self.length(.lessThanOrEqual, c)
    }
    /// Another length times a number, and so many points more.
    public func constraint(
        equalTo anchor: NSLayoutDimension, multiplier m: CGFloat, constant c: CGFloat = 0
    ) -> NSLayoutConstraint { self.constraint(.equal, anchor, c, multiplier: m) }
    /// At least another length times a number.
    public func constraint(
        greaterThanOrEqualTo anchor: NSLayoutDimension, multiplier m: CGFloat, constant c: CGFloat = 0
    ) -> NSLayoutConstraint { self.constraint(.greaterThanOrEqual, anchor, c, multiplier: m) }
    /// At most another length times a number.
    public func constraint(
        lessThanOrEqualTo anchor: NSLayoutDimension, multiplier m: CGFloat, constant c: CGFloat = 0
    ) -> NSLayoutConstraint { self.constraint(.lessThanOrEqual, anchor, c, multiplier: m) }
}

extension UIView {
    /// Gives a guide to the view.
    public func addLayoutGuide(_ layoutGuide: UILayoutGuide) { layoutGuide.owningView = self }
    /// Where lines begin.
    public var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .leading) }
    /// Where lines end.
    public var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .trailing) }
    /// Between the two.
    public var centerXAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .centerX) }
    /// The upper edge.
    public var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .top) }
    /// The lower edge.
    public var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .bottom) }
    /// Between the two.
    public var centerYAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .centerY) }
    /// Below the first line.
    public var firstBaselineAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .firstBaseline) }
    /// Below the last line.
    public var lastBaselineAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .lastBaseline) }
    /// The width.
    public var widthAnchor: NSLayoutDimension { NSLayoutDimension(self, .width) }
    /// The height.
    public var heightAnchor: NSLayoutDimension { NSLayoutDimension(self, .height) }
}

extension UILayoutGuide {
    /// Where lines begin.
    public var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .leading) }
    /// Where lines end.
    public var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .trailing) }
    /// Between the two.
    public var centerXAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .centerX) }
    /// The upper edge.
    public var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .top) }
    /// The lower edge.
    public var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .bottom) }
    /// Between the two.
    public var centerYAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .centerY) }
    /// The width.
    public var widthAnchor: NSLayoutDimension { NSLayoutDimension(self, .width) }
    /// The height.
    public var heightAnchor: NSLayoutDimension { NSLayoutDimension(self, .height) }
}
