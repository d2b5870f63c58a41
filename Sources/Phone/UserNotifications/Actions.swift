package import PhoneCore

/// An image beside an action's title (iOS 15); kept, not drawn.
public final class UNNotificationActionIcon: Hashable, Sendable {
    private let name: String
    /// An image of the app.
    public init(templateImageName: String) { self.name = templateImageName }
    /// An image of the system.
    public init(systemImageName: String) { self.name = "system:" + systemImageName }

    /// Equal in name.
    public static func == (left: UNNotificationActionIcon, right: UNNotificationActionIcon) -> Bool {
        left.name == right.name
    }
    /// Hashes alike what is equal.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.name) }
}

/// A button under a notification.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public class UNNotificationAction: @unchecked Sendable, Hashable {
    // Immutable, also in the subclass.

    /// Names the action.
    public let identifier: String
    /// The title of the button.
    public let title: String
    /// How it behaves.
    public let options: UNNotificationActionOptions
    /// Its image (iOS 15).
    public let icon: UNNotificationActionIcon?

    /// An action.
    public init(
        identifier: String, title: String, options: UNNotificationActionOptions = [],
        icon: UNNotificationActionIcon? = nil
    ) {
        self.identifier = identifier
        self.title = title
        self.options = options
        self.icon = icon
    }

    var value: NotificationAction {
        NotificationAction(
            identifier: self.identifier, title: self.title,
            options: NotificationAction.Options(rawValue: self.options.rawValue))
    }

    static func make(_ action: NotificationAction) -> UNNotificationAction {
        let options = UNNotificationActionOptions(rawValue: action.options.rawValue)
        guard action.takesText else {
            return UNNotificationAction(identifier: action.identifier, title: action.title, options: options)
        }
        return UNTextInputNotificationAction(
            identifier: action.identifier, title: action.title, options: options,
            textInputButtonTitle: action.textButtonTitle, textInputPlaceholder: action.textHint)
    }

    /// Equal in all members.
    public static func == (left: UNNotificationAction, right: UNNotificationAction) -> Bool {
        left.value == right.value && left.icon == right.icon
    }
    /// Hashes alike what is equal.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.identifier) }
}

/// A button that takes text.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public final class UNTextInputNotificationAction: UNNotificationAction, @unchecked Sendable {
    /// The title of the button beside the text.
    public let textInputButtonTitle: String
    /// The placeholder of the empty field.
    public let textInputPlaceholder: String

    /// An action with text.
    public init(
        identifier: String, title: String, options: UNNotificationActionOptions = [],
        icon: UNNotificationActionIcon? = nil, textInputButtonTitle: String, textInputPlaceholder: String
    ) {
        self.textInputButtonTitle = textInputButtonTitle
        self.textInputPlaceholder = textInputPlaceholder
        super.init(identifier: identifier, title: title, options: options, icon: icon)
    }

    override var value: NotificationAction {
        NotificationAction(
            identifier: self.identifier, title: self.title,
            options: NotificationAction.Options(rawValue: self.options.rawValue), takesText: true,
            textButtonTitle: self.textInputButtonTitle, textHint: self.textInputPlaceholder)
    }
}

/// A kind of notification with its actions.
public final class UNNotificationCategory: Sendable, Hashable {
    /// Names the category; the payload's `category`.
    public let identifier: String
    /// The buttons, in order.
    public let actions: [UNNotificationAction]
    /// Intents that belong to it; kept.
    public let intentIdentifiers: [String]
    /// The placeholder for the text while previews are hidden (iOS 11).
    public let hiddenPreviewsBodyPlaceholder: String
    /// How the system sums up a group (iOS 12); kept, a virtual phone sums up nothing.
    public let categorySummaryFormat: String
    /// How it behaves.
    public let options: UNNotificationCategoryOptions

    /// A category.
    public init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String? = nil, categorySummaryFormat: String? = nil,
        options: UNNotificationCategoryOptions = []
    ) {
        self.identifier = identifier
        self.actions = actions
        self.intentIdentifiers = intentIdentifiers
        self.hiddenPreviewsBodyPlaceholder = hiddenPreviewsBodyPlaceholder ?? ""
        self.categorySummaryFormat = categorySummaryFormat ?? ""
        self.options = options
    }

    convenience init(_ category: NotificationCategory) {
        self.init(
            identifier: category.identifier, actions: category.actions.map { UNNotificationAction.make($0) },
            intentIdentifiers: category.intentIdentifiers,
            hiddenPreviewsBodyPlaceholder: category.hiddenPreviewsBodyPlaceholder,
            categorySummaryFormat: category.categorySummaryFormat,
            options: UNNotificationCategoryOptions(rawValue: category.options.rawValue))
    }

    package var value: NotificationCategory {
        NotificationCategory(
            identifier: self.identifier, actions: self.actions.map(\.value),
            options: NotificationCategory.Options(rawValue: self.options.rawValue),
            hiddenPreviewsBodyPlaceholder: self.hiddenPreviewsBodyPlaceholder,
            categorySummaryFormat: self.categorySummaryFormat, intentIdentifiers: self.intentIdentifiers)
    }

    /// Equal in all members.
    public static func == (left: UNNotificationCategory, right: UNNotificationCategory) -> Bool {
        left.value == right.value
    }
    /// Hashes alike what is equal.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.identifier) }
}
