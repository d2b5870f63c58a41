import VirtualPhone

/// What VoiceOver says a view is. Raw values as Apple's. https://developer.apple.com/documentation/uikit/uiaccessibilitytraits
public struct UIAccessibilityTraits: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static let none: UIAccessibilityTraits = []
    public static let button = UIAccessibilityTraits(rawValue: 1 << 0)
    public static let link = UIAccessibilityTraits(rawValue: 1 << 1)
    public static let image = UIAccessibilityTraits(rawValue: 1 << 2)
    public static let selected = UIAccessibilityTraits(rawValue: 1 << 3)
    public static let staticText = UIAccessibilityTraits(rawValue: 1 << 6)
    public static let notEnabled = UIAccessibilityTraits(rawValue: 1 << 8)
    public static let updatesFrequently = UIAccessibilityTraits(rawValue: 1 << 9)
    public static let header = UIAccessibilityTraits(rawValue: 1 << 16)
}

/// Something VoiceOver offers to do with a view. https://developer.apple.com/documentation/uikit/uiaccessibilitycustomaction
@MainActor public final class UIAccessibilityCustomAction {
    public typealias Handler = (UIAccessibilityCustomAction) -> Bool

    public var name: String
    public var actionHandler: Handler?

    public init(name: String, actionHandler: Handler?) {
        self.name = name
        self.actionHandler = actionHandler
    }
}

/// What an app tells VoiceOver. https://developer.apple.com/documentation/uikit/uiaccessibility
@MainActor public enum UIAccessibility {
    /// What has happened. Raw values as Apple's.
    public struct Notification: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        public static let screenChanged = Notification(rawValue: 1_000)
        public static let layoutChanged = Notification(rawValue: 1_001)
        public static let announcement = Notification(rawValue: 1_008)
    }

    /// An announcement is a line of the log; anything else has no effect.
    public static func post(notification: Notification, argument: Any?) {
        guard notification == .announcement, let text = argument as? String else { return }
        PhoneProcess.currentIfAny?.send(.log(level: "voiceover", text: text))
    }
}
