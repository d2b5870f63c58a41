public import TidingsModel

/// One view on an app's screen as a person meets it, seen or spoken: the tree of an app's windows is what tests read and what a
/// drawing of the screen is made of. Views that only hold others are left out, and so is everything hidden.
public struct ViewNode: Hashable, Sendable, JSONCodable {
    /// The kind of a view.
    public enum Role: String, Hashable, Sendable, CaseIterable, Codable {
        /// A window of the app; its children are what stands in it.
        case window
        /// Views that belong together and are spoken, named or used as one.
        case group
        /// Words that are read.
        case text
        /// An image.
        case image
        /// Does something when it is tapped.
        case button
        /// Something else that is used.
        case control
        /// Takes typing, of one line or several. Its text is the typed one, of a password as many bullets.
        case textField
        /// Is on or off: its value is "1" or "0".
        case `switch`
        /// Rows that scroll. Only the visible ones are in it.
        case table
        /// A row of a table.
        case row
        /// The title above, or the note below, a section of a table.
        case header
        /// The bar with the way back, the title and the screen's buttons.
        case navigationBar
        /// The bar with the app's tabs.
        case tabBar
        /// A question that must be answered before anything else is touched.
        case alert
        /// Offers actions, as buttons; nothing else is touched while it is open.
        case menu
    }

    /// The kind of view.
    public var role: Role
    /// The text written on it; nil for none.
    public var text: String?
    /// The text that VoiceOver speaks; nil for none, as in a view that is spoken as one.
    public var label: String?
    /// The value that VoiceOver speaks.
    public var value: String?
    /// The hint that VoiceOver speaks.
    public var hint: String?
    /// The name the app's code gave it.
    public var identifier: String?
    /// True if it is the chosen one among its like: a tab, a segment, a row with a mark.
    public var isSelected: Bool
    /// The actions that a person can take on it: `enter` with an empty text. None if something that must be answered first covers it.
    /// Actions that are possible everywhere are not listed: a swipe, `activate` and `escape`.
    public var actions: [ViewAction]
    /// The views in it, back to front.
    public var children: [ViewNode]

    package static let leftOutMembers = ["text", "label", "value", "hint", "identifier"]

    /// A node from its parts.
    public init(
        _ role: Role, text: String? = nil, label: String? = nil, value: String? = nil, hint: String? = nil,
        identifier: String? = nil, isSelected: Bool = false, actions: [ViewAction] = [], children: [ViewNode] = []
    ) {
        self.role = role
        self.text = text
        self.label = label
        self.value = value
        self.hint = hint
        self.identifier = identifier
        self.isSelected = isSelected
        self.actions = actions
        self.children = children
    }

    /// Returns true if a person who looks or listens for these words means this view, or a test its identifier.
    public func isCalled(_ name: String) -> Bool { [self.label, self.text, self.identifier].contains(name) }

    /// The view in the foreground among those called so; nil if there is none.
    public func first(_ name: String) -> ViewNode? {
        for child in self.children.reversed() { if let found = child.first(name) { return found } }
        return self.isCalled(name) ? self : nil
    }

    /// All that is written, back to front.
    public var texts: [String] { [self.text].compactMap(\.self) + self.children.flatMap(\.texts) }
}

/// A person's action on a view.
public enum ViewAction: Hashable, Sendable, JSONTagged {
    /// A tap with a finger.
    case tap
    /// VoiceOver's double tap: what the view does itself when it is activated, otherwise a tap.
    case activate
    /// A finger that stays: opens the menu of what lies under it.
    case longPress
    /// A short swipe that begins on the view. To the side it opens what a row has there; up or down it scrolls.
    case swipe(Direction)
    /// Scrolls by half a screen to what is further in a direction: `down` shows later rows. At the top, `up` refreshes.
    case scroll(Direction)
    /// Types until this is what is written; in a control of times, sets it: `22:00`.
    case enter(String)
    /// The return key.
    case submit
    /// VoiceOver's scrub with two fingers, which means "away with this".
    case escape
    /// One of the actions that VoiceOver offers by name.
    case named(String)

    /// Where a finger goes, or a scroll; left and right are those of the screen, whatever is written from where.
    public enum Direction: String, Hashable, Sendable, CaseIterable, Codable {
        /// Towards the top of the screen.
        case up
        /// Towards the bottom.
        case down
        /// To the left.
        case left
        /// To the right.
        case right
    }

    package static let tag = JSONTag(
        "type", meaning: "what is done with a view",
        names: [
            "swipe": ["_0": "direction"], "scroll": ["_0": "direction"], "enter": ["_0": "text"],
            "named": ["_0": "name"],
        ])
}
