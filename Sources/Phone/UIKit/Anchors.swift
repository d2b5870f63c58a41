public import Foundation

// Auto Layout: constraints are recorded on the view that has them, and none is solved. There are no anchors of left and right,
// which are wrong where people write from right to left.

/// A place to hang constraints on, without a view. https://developer.apple.com/documentation/uikit/uilayoutguide
@MainActor public final class UILayoutGuide {
    public private(set) weak var owningView: UIView?
    init(of view: UIView) { self.owningView = view }
}

/// How strongly a constraint holds. https://developer.apple.com/documentation/uikit/uilayoutpriority
public struct UILayoutPriority: RawRepresentable, Hashable, Sendable {
    public let rawValue: Float
    public init(rawValue: Float) { self.rawValue = rawValue }
    public init(_ rawValue: Float) { self.rawValue = rawValue }
    public static let required = UILayoutPriority(1_000)
    public static let defaultHigh = UILayoutPriority(750)
    public static let defaultLow = UILayoutPriority(250)
}

/// A rule between two edges or lengths. https://developer.apple.com/documentation/uikit/nslayoutconstraint
@MainActor public final class NSLayoutConstraint {
    /// Raw values as Apple's.
    public enum Relation: Int, Hashable, Sendable {
        case lessThanOrEqual = -1
        case equal = 0
        case greaterThanOrEqual = 1
    }

    /// Raw values as Apple's, which has left (1) and right (2) too.
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

    /// Raw values as Apple's.
    public enum Axis: Int, Hashable, Sendable {
        case horizontal = 0
        case vertical = 1
    }

    /// A view or a guide.
    public private(set) weak var firstItem: AnyObject?
    public let firstAttribute: Attribute
    public let relation: Relation
    /// nil for a length of its own.
    public private(set) weak var secondItem: AnyObject?
    public let secondAttribute: Attribute
    public let multiplier: CGFloat
    public var constant: CGFloat
    public var priority = UILayoutPriority.required
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

    public class func activate(_ constraints: [NSLayoutConstraint]) { for one in constraints { one.isActive = true } }
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

    public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>) -> NSLayoutConstraint {
        self.constraint(.equal, anchor, 0)
    }
    public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>, constant c: CGFloat) -> NSLayoutConstraint {
        self.constraint(.equal, anchor, c)
    }
    public func constraint(greaterThanOrEqualTo anchor: NSLayoutAnchor<AnchorType>) -> NSLayoutConstraint {
        self.constraint(.greaterThanOrEqual, anchor, 0)
    }
    public func constraint(
        greaterThanOrEqualTo anchor: NSLayoutAnchor<AnchorType>, constant c: CGFloat
    ) -> NSLayoutConstraint { self.constraint(.greaterThanOrEqual, anchor, c) }
    public func constraint(lessThanOrEqualTo anchor: NSLayoutAnchor<AnchorType>) -> NSLayoutConstraint {
        self.constraint(.lessThanOrEqual, anchor, 0)
    }
    public func constraint(
        lessThanOrEqualTo anchor: NSLayoutAnchor<AnchorType>, constant c: CGFloat
    ) -> NSLayoutConstraint { self.constraint(.lessThanOrEqual, anchor, c) }
}

/// Leading, trailing or the middle between. https://developer.apple.com/documentation/uikit/nslayoutxaxisanchor
public final class NSLayoutXAxisAnchor: NSLayoutAnchor<NSLayoutXAxisAnchor> {}

/// Top, bottom, a baseline or the middle. https://developer.apple.com/documentation/uikit/nslayoutyaxisanchor
public final class NSLayoutYAxisAnchor: NSLayoutAnchor<NSLayoutYAxisAnchor> {}

/// A width or a height. https://developer.apple.com/documentation/uikit/nslayoutdimension
public final class NSLayoutDimension: NSLayoutAnchor<NSLayoutDimension> {
    private func length(_ relation: NSLayoutConstraint.Relation, _ constant: CGFloat) -> NSLayoutConstraint {
        NSLayoutConstraint(self.item, self.attribute, relation, to: nil, .notAnAttribute, constant: constant)
    }

    public func constraint(equalToConstant c: CGFloat) -> NSLayoutConstraint { self.length(.equal, c) }
    public func constraint(greaterThanOrEqualToConstant c: CGFloat) -> NSLayoutConstraint {
        self.length(.greaterThanOrEqual, c)
    }
    public func constraint(lessThanOrEqualToConstant c: CGFloat) -> NSLayoutConstraint {
        self.length(.lessThanOrEqual, c)
    }
    public func constraint(equalTo anchor: NSLayoutDimension, multiplier m: CGFloat) -> NSLayoutConstraint {
        self.constraint(.equal, anchor, 0, multiplier: m)
    }
}

extension UIView {
    public var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .leading) }
    public var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .trailing) }
    public var centerXAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .centerX) }
    public var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .top) }
    public var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .bottom) }
    public var centerYAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .centerY) }
    public var firstBaselineAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .firstBaseline) }
    public var lastBaselineAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .lastBaseline) }
    public var widthAnchor: NSLayoutDimension { NSLayoutDimension(self, .width) }
    public var heightAnchor: NSLayoutDimension { NSLayoutDimension(self, .height) }
}

extension UILayoutGuide {
    public var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .leading) }
    public var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .trailing) }
    public var centerXAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(self, .centerX) }
    public var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .top) }
    public var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .bottom) }
    public var centerYAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(self, .centerY) }
    public var widthAnchor: NSLayoutDimension { NSLayoutDimension(self, .width) }
    public var heightAnchor: NSLayoutDimension { NSLayoutDimension(self, .height) }
}
