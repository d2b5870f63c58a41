import PhoneCore

/// The kinds an app asks for on iOS 8–9. Raw values as Apple's.
public struct UIUserNotificationType: OptionSet, Hashable, Sendable {
    /// Apple's number.
    public let rawValue: UInt
    /// Wraps Apple's value.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The number on the icon.
    public static let badge = UIUserNotificationType(rawValue: 1 << 0)
    /// Sounds.
    public static let sound = UIUserNotificationType(rawValue: 1 << 1)
    /// Alerts.
    public static let alert = UIUserNotificationType(rawValue: 1 << 2)
}

/// The kinds an app asks for on iOS 3–7. Raw values as Apple's.
public struct UIRemoteNotificationType: OptionSet, Hashable, Sendable {
    /// Apple's number.
    public let rawValue: UInt
    /// Wraps Apple's value.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The number on the icon.
    public static let badge = UIRemoteNotificationType(rawValue: 1 << 0)
    /// Sounds.
    public static let sound = UIRemoteNotificationType(rawValue: 1 << 1)
    /// Alerts.
    public static let alert = UIRemoteNotificationType(rawValue: 1 << 2)
    /// A new issue in the Newsstand; kept, without effect.
    public static let newsstandContentAvailability = UIRemoteNotificationType(rawValue: 1 << 3)
}

/// An app's request for permission on iOS 8–9.
public final class UIUserNotificationSettings: Sendable {
    /// The kinds.
    public let types: UIUserNotificationType
    /// The categories with their actions.
    public let categories: Set<UIUserNotificationCategory>?

    /// Settings of the given kinds and categories.
    public init(types: UIUserNotificationType, categories: Set<UIUserNotificationCategory>?) {
        self.types = types
        // Later changes by the app must not change these.
        self.categories = categories.map { Set($0.map { UIUserNotificationCategory(copying: $0) }) }
    }
}

/// Where an action runs (iOS 8–9). Raw values as Apple's.
public enum UIUserNotificationActivationMode: UInt, Hashable, Sendable {
    case foreground, background
}

/// The kind of answer that an action asks for (iOS 9). Raw values as Apple's.
public enum UIUserNotificationActionBehavior: UInt, Hashable, Sendable {
    case `default`, textInput
}

/// How much room there is for actions (iOS 8–9). Raw values as Apple's.
public enum UIUserNotificationActionContext: UInt, Hashable, Sendable {
    /// All of them, in an alert panel.
    case `default` = 0
    /// Two, in a banner.
    case minimal = 1
}

/// The key of the typed text in a response's information (iOS 9).
public let UIUserNotificationActionResponseTypedTextKey = "UIUserNotificationActionResponseTypedTextKey"
/// The key of what the button beside the text says, in an action's parameters (iOS 9).
public let UIUserNotificationTextInputActionButtonTitleKey = "UIUserNotificationTextInputActionButtonTitleKey"

/// A button under a notification (iOS 8–9).
///
/// `@unchecked Sendable`: one thread changes it at a time, before it is registered, which copies it.
public class UIUserNotificationAction: Hashable, @unchecked Sendable {
    fileprivate struct Parts: Hashable {
        var identifier: String?
        var title: String?
        var behavior = UIUserNotificationActionBehavior.default
        var activationMode = UIUserNotificationActivationMode.foreground
        var isAuthenticationRequired = false
        var isDestructive = false
        var textButtonTitle: String?
    }

    fileprivate var parts = Parts()

    /// An action that says nothing yet.
    public init() {}

    /// Names the action.
    public var identifier: String? { self.parts.identifier }
    /// The title of the button.
    public var title: String? { self.parts.title }
    /// The kind of answer that it asks for (iOS 9).
    public var behavior: UIUserNotificationActionBehavior { self.parts.behavior }
    /// Where it runs.
    public var activationMode: UIUserNotificationActivationMode { self.parts.activationMode }
    /// True if the phone must be unlocked first; always so in the foreground.
    public var isAuthenticationRequired: Bool {
        self.parts.isAuthenticationRequired || self.parts.activationMode == .foreground
    }
    /// True if it looks dangerous.
    public var isDestructive: Bool { self.parts.isDestructive }
    /// The look of a text input (iOS 9).
    public var parameters: [AnyHashable: Any] {
        self.parts.textButtonTitle.map { [UIUserNotificationTextInputActionButtonTitleKey: $0] } ?? [:]
    }

    var value: NotificationAction {
        var options: NotificationAction.Options = []
        if self.isAuthenticationRequired { options.insert(.authenticationRequired) }
        if self.isDestructive { options.insert(.destructive) }
        if self.activationMode == .foreground { options.insert(.foreground) }
        return NotificationAction(
            identifier: self.identifier ?? "", title: self.title ?? "", options: options,
            takesText: self.behavior == .textInput, textButtonTitle: self.parts.textButtonTitle ?? "")
    }

    fileprivate func copied() -> UIUserNotificationAction {
        let copy = UIUserNotificationAction()
        copy.parts = self.parts
        return copy
    }

    /// With the same properties.
    public static func == (left: UIUserNotificationAction, right: UIUserNotificationAction) -> Bool {
        left.parts == right.parts
    }
    /// Equal ones have equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.parts) }
}

/// A button under construction (iOS 8–9).
///
/// `@unchecked Sendable`: one thread changes it at a time, before it is registered, which copies it.
public final class UIMutableUserNotificationAction: UIUserNotificationAction, @unchecked Sendable {
    public override var identifier: String? {
        get { self.parts.identifier }
        set { self.parts.identifier = newValue }
    }
    public override var title: String? {
        get { self.parts.title }
        set { self.parts.title = newValue }
    }
    public override var behavior: UIUserNotificationActionBehavior {
        get { self.parts.behavior }
        set { self.parts.behavior = newValue }
    }
    public override var activationMode: UIUserNotificationActivationMode {
        get { self.parts.activationMode }
        set { self.parts.activationMode = newValue }
    }
    public override var isAuthenticationRequired: Bool {
        get { super.isAuthenticationRequired }
        set { self.parts.isAuthenticationRequired = newValue }
    }
    public override var isDestructive: Bool {
        get { self.parts.isDestructive }
        set { self.parts.isDestructive = newValue }
    }
    public override var parameters: [AnyHashable: Any] {
        get { super.parameters }
        set { self.parts.textButtonTitle = newValue[UIUserNotificationTextInputActionButtonTitleKey] as? String }
    }
}

/// A kind of notification with its actions (iOS 8–9).
///
/// `@unchecked Sendable`: one thread changes it at a time, before it is registered, which copies it.
public class UIUserNotificationCategory: Hashable, @unchecked Sendable {
    fileprivate var name: String?
    fileprivate var all: [UIUserNotificationAction] = []
    fileprivate var few: [UIUserNotificationAction]?

    /// A category without actions.
    public init() {}

    fileprivate init(copying other: UIUserNotificationCategory) {
        self.name = other.name
        self.all = other.all.map { $0.copied() }
        self.few = other.few.map { $0.map { $0.copied() } }
    }

    /// Names the category; the payload's `category`.
    public var identifier: String? { self.name }

    /// The buttons where there is so much room; a banner has the first two unless told otherwise.
    public func actions(for context: UIUserNotificationActionContext) -> [UIUserNotificationAction]? {
        switch context {
        case .default: self.all
        case .minimal: self.few ?? Array(self.all.prefix(2))
        }
    }

    var value: NotificationCategory {
        let actions = self.all.isEmpty ? self.few ?? [] : self.all
        return NotificationCategory(identifier: self.name ?? "", actions: actions.map(\.value))
    }

    /// With the same identifier and actions.
    public static func == (left: UIUserNotificationCategory, right: UIUserNotificationCategory) -> Bool {
        left.name == right.name && left.all == right.all && left.few == right.few
    }
    /// Equal ones have equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.name) }
}

/// A kind of notification under construction (iOS 8–9).
///
/// `@unchecked Sendable`: one thread changes it at a time, before it is registered, which copies it.
public final class UIMutableUserNotificationCategory: UIUserNotificationCategory, @unchecked Sendable {
    public override var identifier: String? {
        get { self.name }
        set { self.name = newValue }
    }

    /// Sets the buttons, in order.
    public func setActions(_ actions: [UIUserNotificationAction]?, for context: UIUserNotificationActionContext) {
        switch context {
        case .default: self.all = actions ?? []
        case .minimal: self.few = actions
        }
    }
}
