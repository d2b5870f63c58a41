/// The raw value is the `cType` code of notification payloads (S0.11, S3.10), except for `chatRoom`, which has none,
/// so that no push can open one (S0.17).
public enum ConversationType: String, Hashable, Sendable, CaseIterable, Comparable, Codable, JSONWritable {
    case direct = "PR"
    case discussion = "DS"
    case group = "GRP"
    case customerService = "CS"
    case system = "SYS"
    /// A public service of this app.
    case appPublicService = "MC"
    /// Across apps.
    case publicService = "MP"
    case pushService = "PH"
    /// Kept in history, fanned out to people who are connected, never pushed (S0.17).
    case chatRoom = "CHRM"

    /// The word for people that the HTTP API takes and tells beside the code.
    package var word: String {
        switch self {
        case .direct: "direct"
        case .discussion: "discussion"
        case .group: "group"
        case .customerService: "customer_service"
        case .system: "system"
        case .appPublicService: "app_public_service"
        case .publicService: "public_service"
        case .pushService: "push_service"
        case .chatRoom: "chat_room"
        }
    }

    /// Reads a code or a word.
    package init?(word text: String) {
        guard let type = Self.allCases.first(where: { $0.rawValue == text || $0.word == text }) else { return nil }
        self = type
    }

    /// The `cType` of a notification payload; nil for a chat room (S0.17).
    public var notificationCode: String? { self == .chatRoom ? nil : self.rawValue }

    /// The kind for a `cType` code; nil for an unknown code and for the chat room's internal one.
    public init?(notificationCode: String) {
        guard let type = ConversationType(rawValue: notificationCode), type != .chatRoom else { return nil }
        self = type
    }

    /// True if several people talk here, so that a text needs its sender's name.
    package var isGroup: Bool {
        switch self {
        case .group, .discussion: true
        case .direct, .customerService, .system, .appPublicService, .publicService, .pushService, .chatRoom: false
        }
    }

    /// True if people talk to each other here, so that a notification may come from a person rather than from the app (ios-delivery.md
    /// §11).
    package var isOfPeople: Bool {
        switch self {
        case .direct, .group, .discussion: true
        case .customerService, .system, .appPublicService, .publicService, .pushService, .chatRoom: false
        }
    }

    /// True if the target is the other person rather than the conversation itself (S0.16).
    public var targetIsPeer: Bool {
        switch self {
        case .direct, .customerService, .system, .appPublicService, .publicService, .pushService: true
        case .discussion, .group, .chatRoom: false
        }
    }

    /// True if one of the two sides speaks as an account of that kind, as the app's backend does: customer service, system, public services
    /// and push service.
    public var isService: Bool {
        switch self {
        case .customerService, .system, .appPublicService, .publicService, .pushService: true
        case .direct, .discussion, .group, .chatRoom: false
        }
    }

    /// Orders by code.
    public static func < (left: ConversationType, right: ConversationType) -> Bool { left.rawValue < right.rawValue }
}

/// A conversation as one person sees it: its kind, and the peer's id (one to one and services) or its own id (S0.16).
/// A one-to-one conversation has the other person's id as target on each side.
public struct ConversationID: Hashable, Sendable, Comparable, Codable, CustomStringConvertible {
    /// The kind.
    public var type: ConversationType
    /// The peer's id or the conversation's id, by `type.targetIsPeer`.
    public var target: String

    /// Names a conversation.
    public init(type: ConversationType, target: String) {
        self.type = type
        self.target = target
    }

    /// Equal if the kinds and the targets' bytes are, as with all ids.
    public static func == (left: ConversationID, right: ConversationID) -> Bool {
        left.type == right.type && left.target.hasSameBytes(as: right.target)
    }

    /// Feeds kind and target.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.type)
        hasher.combine(self.target)
    }

    /// Orders by kind, then target bytes.
    public static func < (left: ConversationID, right: ConversationID) -> Bool {
        left.type == right.type ? left.target.hasLowerBytes(than: right.target) : left.type < right.type
    }

    /// `GRP:team`.
    public var description: String { "\(self.type.rawValue):\(self.target)" }
}
