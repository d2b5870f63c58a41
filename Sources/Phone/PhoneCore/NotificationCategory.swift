/// An action a category offers. Option values as Apple's (ios-delivery.md §6.4).
public struct NotificationAction: Hashable, Sendable, Codable {
    /// Names it; chosen by the app.
    public var identifier: String
    /// What the button says.
    public var title: String
    /// How the action behaves.
    public var options: Options
    /// Whether it asks for text.
    public var takesText: Bool
    /// What the button beside the text says; empty for the system's.
    public var textButtonTitle: String
    /// What stands in the empty field.
    public var textHint: String

    /// `UNNotificationActionOptions`.
    public struct Options: OptionSet, Hashable, Sendable, Codable {
        /// The bits, as Apple's.
        public let rawValue: UInt
        /// Options of the given bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// Unlock first.
        public static let authenticationRequired = Options(rawValue: 1 << 0)
        /// Looks different, nothing more.
        public static let destructive = Options(rawValue: 1 << 1)
        /// Brings the app to the foreground.
        public static let foreground = Options(rawValue: 1 << 2)
    }

    private enum CodingKeys: String, CodingKey {
        case identifier, title, options, takesText
        case textButtonTitle = "text_button"
        case textHint
    }

    /// An action.
    public init(
        identifier: String, title: String, options: Options = [], takesText: Bool = false,
        textButtonTitle: String = "", textHint: String = ""
    ) {
        self.identifier = identifier
        self.title = title
        self.options = options
        self.takesText = takesText
        self.textButtonTitle = textButtonTitle
        self.textHint = textHint
    }
}

/// A registered kind of notification with its actions.
public struct NotificationCategory: Hashable, Sendable, Codable {
    /// Names it; chosen by the app.
    public var identifier: String
    /// What the person can choose, in order.
    public var actions: [NotificationAction]
    /// How the category behaves.
    public var options: Options
    /// What stands for the text while previews are hidden (iOS 11); empty for the system's.
    public var hiddenPreviewsBodyPlaceholder: String
    /// How the system sums up a group: `%u` is the number, `%@` the summary arguments (iOS 12); empty for the system's.
    public var categorySummaryFormat: String
    /// Intents that belong to it.
    public var intentIdentifiers: [String]

    /// `UNNotificationCategoryOptions` (ios-delivery.md §9).
    public struct Options: OptionSet, Hashable, Sendable, Codable {
        /// The bits, as Apple's.
        public let rawValue: UInt
        /// Options of the given bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// A dismissal is reported (ios-delivery.md §6.3).
        public static let customDismissAction = Options(rawValue: 1 << 0)
        /// Allowed in a car.
        public static let allowInCarPlay = Options(rawValue: 1 << 1)
        /// The title shows although previews are hidden.
        public static let hiddenPreviewsShowTitle = Options(rawValue: 1 << 2)
        /// The subtitle shows although previews are hidden.
        public static let hiddenPreviewsShowSubtitle = Options(rawValue: 1 << 3)
        /// May be read aloud.
        public static let allowAnnouncement = Options(rawValue: 1 << 4)
    }

    private enum CodingKeys: String, CodingKey {
        case identifier, actions, options
        case hiddenPreviewsBodyPlaceholder = "hidden_body"
        case categorySummaryFormat = "summary_format"
        case intentIdentifiers = "intents"
    }

    /// `customDismissAction`: a dismissal is reported (ios-delivery.md §6.3).
    public var reportsDismissal: Bool { self.options.contains(.customDismissAction) }

    /// A category; `reportsDismissal` adds the option of that meaning.
    public init(
        identifier: String, actions: [NotificationAction] = [], reportsDismissal: Bool = false, options: Options = [],
        hiddenPreviewsBodyPlaceholder: String = "", categorySummaryFormat: String = "",
        intentIdentifiers: [String] = []
    ) {
        self.identifier = identifier
        self.actions = actions
        self.options = reportsDismissal ? options.union(.customDismissAction) : options
        self.hiddenPreviewsBodyPlaceholder = hiddenPreviewsBodyPlaceholder
        self.categorySummaryFormat = categorySummaryFormat
        self.intentIdentifiers = intentIdentifiers
    }
}
