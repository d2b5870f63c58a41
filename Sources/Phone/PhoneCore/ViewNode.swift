public import TidingsModel

/// One view on an app's screen as a person meets it, seen or spoken: the tree of an app's windows is what tests read and what a
/// drawing of the screen is made of. Views that only hold others are left out, and so is everything hidden.
public struct ViewNode: Hashable, Sendable, JSONCodable {
    /// What a view is.
    public enum Role: String, Hashable, Sendable, CaseIterable, Codable {
        case window
        /// Views that belong together and are spoken, named or used as one.
        case group
        case text
        case image
        case button
        /// Something else that is used.
        case control
    }

    /// What the view is.
    public var role: Role
    /// What is written on it; nil for nothing.
    public var text: String?
    /// What VoiceOver says of it; nil if it says nothing, as of what is in a view that is spoken as one.
    public var label: String?
    /// What VoiceOver says it is set to.
    public var value: String?
    /// What VoiceOver says it does.
    public var hint: String?
    /// The name the app's code gave it.
    public var identifier: String?
    /// What a person can do with it. A swipe is possible everywhere and is not listed.
    public var actions: [ViewAction]
    /// What is in it, back to front.
    public var children: [ViewNode]

    package static let leftOutMembers = ["text", "label", "value", "hint", "identifier"]

    /// A node from its parts.
    public init(
        _ role: Role, text: String? = nil, label: String? = nil, value: String? = nil, hint: String? = nil,
        identifier: String? = nil, actions: [ViewAction] = [], children: [ViewNode] = []
    ) {
        self.role = role
        self.text = text
        self.label = label
        self.value = value
        self.hint = hint
        self.identifier = identifier
        self.actions = actions
        self.children = children
    }

    /// Whether a person who looks or listens for these words means this view, or a test its identifier.
    public func isCalled(_ name: String) -> Bool { [self.label, self.text, self.identifier].contains(name) }

    /// The view in the foreground among those called so; nil if there is none.
    public func first(_ name: String) -> ViewNode? {
        for child in self.children.reversed() { if let found = child.first(name) { return found } }
        return self.isCalled(name) ? self : nil
    }

    /// All that is written, back to front.
    public var texts: [String] { [self.text].compactMap(\.self) + self.children.flatMap(\.texts) }
}

/// What a person does with a view.
public enum ViewAction: Hashable, Sendable, JSONTagged {
    /// A tap, or VoiceOver's double tap.
    case tap
    /// A short swipe that begins on the view.
    case swipe(Direction)
    /// VoiceOver's scrub with two fingers, which means "away with this".
    case escape
    /// One of the actions that VoiceOver offers by name.
    case named(String)

    /// Where a finger goes; left and right are those of the screen, whatever is written from where.
    public enum Direction: String, Hashable, Sendable, CaseIterable, Codable {
        case up, down, left, right
    }

    package static let tag = JSONTag(
        "type", meaning: "what is done with a view", names: ["swipe": ["_0": "direction"], "named": ["_0": "name"]])
}
