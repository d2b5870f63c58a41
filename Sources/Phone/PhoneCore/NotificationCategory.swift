/// An action that a category offers. Option values as Apple's (ios-delivery.md §6.4).
package struct NotificationAction: Hashable, Sendable, Codable {
    package var identifier: String
    package var title: String
    package var options: Options
    package var takesText: Bool
    /// The title of the button beside the text; empty for the system's.
    package var textButtonTitle: String
    package var textHint: String

    /// `UNNotificationActionOptions`.
    package struct Options: OptionSet, Hashable, Sendable, Codable {
        package let rawValue: UInt
        package init(rawValue: UInt) { self.rawValue = rawValue }
        package static let authenticationRequired = Options(rawValue: 1 << 0)
        package static let destructive = Options(rawValue: 1 << 1)
        package static let foreground = Options(rawValue: 1 << 2)
    }

    private enum CodingKeys: String, CodingKey {
        case identifier, title, options, takesText
        case textButtonTitle = "text_button"
        case textHint
    }

    package init(
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
package struct NotificationCategory: Hashable, Sendable, Codable {
    package var identifier: String
    package var actions: [NotificationAction]
    package var options: Options
    /// Instead of the text while previews are hidden (iOS 11); empty for the system's.
    package var hiddenPreviewsBodyPlaceholder: String
    /// How the system sums up a group: `%u` is the number, `%@` the summary arguments (iOS 12); empty for the system's.
    package var categorySummaryFormat: String
    package var intentIdentifiers: [String]

    /// `UNNotificationCategoryOptions` (ios-delivery.md §9).
    package struct Options: OptionSet, Hashable, Sendable, Codable {
        package let rawValue: UInt
        package init(rawValue: UInt) { self.rawValue = rawValue }
        /// A dismissal is reported (ios-delivery.md §6.3).
        package static let customDismissAction = Options(rawValue: 1 << 0)
        package static let allowInCarPlay = Options(rawValue: 1 << 1)
        package static let hiddenPreviewsShowTitle = Options(rawValue: 1 << 2)
        package static let hiddenPreviewsShowSubtitle = Options(rawValue: 1 << 3)
        package static let allowAnnouncement = Options(rawValue: 1 << 4)
    }

    private enum CodingKeys: String, CodingKey {
        case identifier, actions, options
        case hiddenPreviewsBodyPlaceholder = "hidden_body"
        case categorySummaryFormat = "summary_format"
        case intentIdentifiers = "intents"
    }

    package var reportsDismissal: Bool { self.options.contains(.customDismissAction) }

    /// `reportsDismissal` adds the option of that meaning.
    package init(
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
