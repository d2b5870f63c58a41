import VirtualPhone

/// The kind of a view for VoiceOver. Raw values as Apple's. https://developer.apple.com/documentation/uikit/uiaccessibilitytraits
public struct UIAccessibilityTraits: OptionSet, Hashable, Sendable {
    /// Apple's bits.
    public let rawValue: UInt64
    /// Wraps Apple's bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Nothing is known of it.
    public static let none: UIAccessibilityTraits = []
    /// It is tapped.
    public static let button = UIAccessibilityTraits(rawValue: 1 << 0)
    /// It is an image.
    public static let image = UIAccessibilityTraits(rawValue: 1 << 2)
    /// It is the chosen one.
    public static let selected = UIAccessibilityTraits(rawValue: 1 << 3)
    /// It is read.
    public static let staticText = UIAccessibilityTraits(rawValue: 1 << 6)
    /// It begins a part of the screen.
    public static let header = UIAccessibilityTraits(rawValue: 1 << 16)
}

/// Something VoiceOver offers to do with a view. https://developer.apple.com/documentation/uikit/uiaccessibilitycustomaction
@MainActor public final class UIAccessibilityCustomAction {
    /// Carries out the action; returns true if it did.
    public typealias Handler = (UIAccessibilityCustomAction) -> Bool

    /// The name that VoiceOver speaks.
    public var name: String
    /// Carries out the action.
    public var actionHandler: Handler?

    /// An action.
    public init(name: String, actionHandler: Handler?) {
        self.name = name
        self.actionHandler = actionHandler
    }
}

/// Posts an app's messages to VoiceOver. https://developer.apple.com/documentation/uikit/uiaccessibility
@MainActor public enum UIAccessibility {
    /// The kind of event. Raw values as Apple's.
    public struct Notification: RawRepresentable, Hashable, Sendable {
        /// Apple's number.
        public let rawValue: UInt32
        /// Wraps Apple's number.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// Words that VoiceOver says.
        public static let announcement = Notification(rawValue: 1_008)
    }

    /// An announcement is a line of the log, with VoiceOver on or off.
    public static func post(notification: Notification, argument: Any?) {
        guard let text = argument as? String else { return }
        PhoneProcess.currentIfAny?.send(.log(level: "voiceover", text: text))
    }
}
