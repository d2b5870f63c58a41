public import TidingsModel

/// The content of a notification: the text, sound, badge and data of Apple's notification content (ios-delivery.md §9).
public struct NotificationContent: Hashable, Sendable, JSONCodable {
    /// The first line; empty for none.
    public var title: String
    /// The second line; empty for none.
    public var subtitle: String
    /// The text; empty for none.
    public var body: String
    /// The number for the app's icon: nil changes nothing, 0 removes it, n sets it. Never added to.
    public var badge: Int?
    /// The sound; nil is silence.
    public var sound: NotificationSound?
    /// The custom data; for a push the whole payload with `aps`.
    public var userInfo: JSONObject
    /// The category whose actions are offered; empty for none.
    public var categoryIdentifier: String
    /// The group in the list; empty for none.
    public var threadIdentifier: String
    /// Chooses the scene (iOS 13); nil for none.
    public var targetContentIdentifier: String?
    /// How strongly it asks for attention (iOS 15).
    public var interruptionLevel: InterruptionLevel
    /// The weight in the scheduled summary, 0 to 1 (iOS 15).
    public var relevanceScore: Double
    /// The launch image; empty for none.
    public var launchImageName: String
    /// The name in the system's summary of the group (iOS 12–14); empty for none.
    public var summaryArgument: String
    /// How many things it stands for in that sum, 1 or more (iOS 12–14).
    public var summaryArgumentCount: Int
    /// Files that come along, in order.
    public var attachments: [NotificationAttachment]
    /// The text that a Focus filter compares (iOS 16); nil for none.
    public var filterCriteria: String?
    /// Whom it is from, once it was updated from a message intent (iOS 15; ios-delivery.md §11); nil for one of the app.
    public var communication: CommunicationDetails?

    private enum CodingKeys: String, CodingKey {
        case title, subtitle, body, badge, sound, userInfo
        case categoryIdentifier = "category"
        case threadIdentifier = "thread"
        case targetContentIdentifier = "target_content"
        case interruptionLevel
        case relevanceScore = "relevance"
        case launchImageName = "launch_image"
        case summaryArgument
        case summaryArgumentCount = "summary_count"
        case attachments, filterCriteria, communication
    }

    /// Content of the given parts.
    public init(
        title: String = "", subtitle: String = "", body: String = "", badge: Int? = nil,
        sound: NotificationSound? = nil, userInfo: JSONObject = JSONObject(), categoryIdentifier: String = "",
        threadIdentifier: String = "", targetContentIdentifier: String? = nil,
        interruptionLevel: InterruptionLevel = .active, relevanceScore: Double = 0, launchImageName: String = "",
        summaryArgument: String = "", summaryArgumentCount: Int = 1, attachments: [NotificationAttachment] = [],
        filterCriteria: String? = nil, communication: CommunicationDetails? = nil
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.badge = badge
        self.sound = sound
        self.userInfo = userInfo
        self.categoryIdentifier = categoryIdentifier
        self.threadIdentifier = threadIdentifier
        self.targetContentIdentifier = targetContentIdentifier
        self.interruptionLevel = interruptionLevel
        self.relevanceScore = relevanceScore
        self.launchImageName = launchImageName
        self.summaryArgument = summaryArgument
        self.summaryArgumentCount = summaryArgumentCount
        self.attachments = attachments
        self.filterCriteria = filterCriteria
        self.communication = communication
    }

    /// True if there is a title, subtitle or body. Without one nothing enters the list (ios-delivery.md §5.0).
    public var hasText: Bool { !self.title.isEmpty || !self.subtitle.isEmpty || !self.body.isEmpty }

    /// True if the system shows the sender in place of the app.
    public var isCommunication: Bool { self.communication != nil }

    /// True if there is nothing to show: no text, no sound, no badge (ios-delivery.md §9: error 1401).
    public var isEmpty: Bool { !self.hasText && self.sound == nil && self.badge == nil }
}

extension NotificationContent {
    /// With the texts that are looked up when the notification is shown.
    func shown(with strings: [String: String]) -> NotificationContent {
        var content = self
        content.title = LocalizedText.shown(self.title, strings: strings)
        content.subtitle = LocalizedText.shown(self.subtitle, strings: strings)
        content.body = LocalizedText.shown(self.body, strings: strings)
        return content
    }
}

/// A file that comes along with a notification.
public struct NotificationAttachment: Hashable, Sendable, Codable {
    /// Names it; chosen by the app.
    public var identifier: String
    /// Where the file is, as text.
    public var url: String

    /// An attachment.
    public init(identifier: String, url: String) {
        self.identifier = identifier
        self.url = url
    }
}

/// A notification's sound.
public enum NotificationSound: Hashable, Sendable, Codable {
    case standard
    case named(String)
    /// Volume from 0 to 1 (iOS 12).
    case critical(name: String?, volume: Double)

    private enum CodingKeys: String, CodingKey { case name, critical, volume }

    /// Reads `name`, `critical` and, of a critical alert's, `volume`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let name = try members.decodeIfPresent(String.self, forKey: .name)
        if try members.decode(Bool.self, forKey: .critical) {
            self = .critical(name: name, volume: try members.decode(Double.self, forKey: .volume))
        } else {
            self = name.map { .named($0) } ?? .standard
        }
    }

    /// Writes the same.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .standard: try members.encodeNil(forKey: .name)
        case .named(let name), .critical(let name?, _): try members.encode(name, forKey: .name)
        case .critical(nil, _): try members.encodeNil(forKey: .name)
        }
        guard case .critical(_, let volume) = self else { return try members.encode(false, forKey: .critical) }
        try members.encode(true, forKey: .critical)
        try members.encode(volume, forKey: .volume)
    }
}

/// How strongly a notification asks for attention. Raw values as Apple's (ios-delivery.md §11).
public enum InterruptionLevel: Int, Hashable, Sendable, CaseIterable, Codable {
    /// List only: no banner, no sound.
    case passive = 0
    case active = 1
    case timeSensitive = 2
    case critical = 3

    /// The word in `aps.interruption-level`.
    public init?(payloadWord: String) {
        let words = ["passive", "active", "time-sensitive", "critical"]
        guard let place = words.firstIndex(of: payloadWord) else { return nil }
        self.init(rawValue: place)
    }
}

/// A request to notify: an identifier, a content, a trigger.
public struct NotificationRequest: Hashable, Sendable, JSONCodable {
    /// One list entry per identifier; for a push the `apns-collapse-id` or one the phone makes (ios-delivery.md §9).
    public var identifier: String
    /// The content to show.
    public var content: NotificationContent
    /// nil presents now.
    public var trigger: NotificationTrigger?

    /// A request of the three parts.
    public init(identifier: String, content: NotificationContent, trigger: NotificationTrigger? = nil) {
        self.identifier = identifier
        self.content = content
        self.trigger = trigger
    }

    /// True if it came from APNs.
    public var isRemote: Bool { self.trigger == .push }
}

/// A request that was delivered at a moment.
public struct DeliveredNotification: Hashable, Sendable, Codable {
    /// The request.
    public var request: NotificationRequest
    /// Wall milliseconds since 1970; with the identifier it tells two deliveries apart (ios-delivery.md §6.1 rule 1).
    public var date: Int64
}

/// A person's response to a notification, as an app is told.
public struct UserResponse: Hashable, Sendable, Codable {
    /// The notification that the person acted on.
    public var notification: DeliveredNotification
    /// `defaultAction`, `dismissAction` or an action of the category.
    public var actionIdentifier: String
    /// The text typed into a text-input action; nil for other actions.
    public var userText: String?

    private enum CodingKeys: String, CodingKey {
        case notification
        case actionIdentifier = "action"
        case userText = "text"
    }

    /// Apple's identifier of a tap.
    public static let defaultAction = "com.apple.UNNotificationDefaultActionIdentifier"
    /// Apple's identifier of a dismissal.
    public static let dismissAction = "com.apple.UNNotificationDismissActionIdentifier"

    /// A response.
    public init(notification: DeliveredNotification, actionIdentifier: String, userText: String? = nil) {
        self.notification = notification
        self.actionIdentifier = actionIdentifier
        self.userText = userText
    }
}

/// Names one entry of the notification list.
public struct NotificationKey: Hashable, Sendable, CustomStringConvertible {
    /// The entry's app.
    public var app: BundleID
    /// Its request's identifier.
    public var identifier: String

    /// The entry of an app with a request identifier.
    public init(app: BundleID, identifier: String) {
        self.app = app
        self.identifier = identifier
    }

    /// `app/identifier`.
    public var description: String { "\(self.app)/\(self.identifier)" }
}
