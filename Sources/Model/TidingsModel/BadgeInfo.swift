/// A push that carries only the badge: messages were read on another device, or recalled. It travels under the
/// key of `PushInfo`, without a message (design.md §5 "Badge"), in a silent push or in an alert that the service extension reduces to the number.
public struct BadgeInfo: Hashable, Sendable {
    /// Unread messages outside muted conversations, 0 or more.
    public var badge: Int
    /// The log position `badge` was computed at; a device takes it only if this is newer than what it has.
    public var badgePosition: LogPosition
    /// Names the person on this device without saying who it is.
    public var recipientTag: String

    /// The `apns-collapse-id` of such pushes: request identifier of one that stands in the list although nobody was to see it.
    public static let identifier = "badge"

    /// A number from its parts.
    public init(badge: Int, badgePosition: LogPosition, recipientTag: String) {
        self.badge = badge
        self.badgePosition = badgePosition
        self.recipientTag = recipientTag
    }

    /// Reads it from a whole payload; nil for a push that tells of a message, another sender's, or a malformed one.
    public init?(userInfo: JSONValue) {
        guard let info = userInfo[PushInfo.key], info["mid"] == nil,
            let badge = info["badge"]?.intValue.flatMap({ Int(exactly: $0) }), badge >= 0,
            let position = info["bseq"]?.intValue, position >= 0, let tag = info["to"]?.stringValue
        else { return nil }
        self.init(badge: badge, badgePosition: LogPosition(position), recipientTag: tag)
    }

    /// The dictionary as it travels.
    public var dictionary: JSONValue {
        .members([
            ("badge", .int(self.badge)), ("bseq", .int(self.badgePosition)), ("to", .string(self.recipientTag)),
        ])
    }
}
