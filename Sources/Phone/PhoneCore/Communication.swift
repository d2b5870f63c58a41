public import TidingsModel

/// Whom a communication notification is from, as its message intent says (iOS 15; ios-delivery.md §11). Images are named, not kept.
public struct CommunicationDetails: Hashable, Sendable, JSONCodable {
    /// The sender's name; never empty.
    public var sender: String
    /// The sender's image; nil draws the first letters of the name.
    public var portrait: String?
    /// The group's name; nil for a message to one person.
    public var group: String?
    /// The group's image.
    public var groupPortrait: String?
    /// The same for all messages of the conversation.
    public var conversation: String
    /// How many people the message goes to; 0 where the app does not say.
    public var recipientCount: Int
    /// True if it mentions the person who holds the phone.
    public var mentionsPerson: Bool
    /// True if it answers the person who holds the phone.
    public var isReply: Bool

    private enum CodingKeys: String, CodingKey {
        case sender, portrait, group, groupPortrait, conversation
        case recipientCount = "recipients"
        case mentionsPerson = "mention"
        case isReply = "reply"
    }

    /// Details from their parts.
    public init(
        sender: String, portrait: String? = nil, group: String? = nil, groupPortrait: String? = nil,
        conversation: String, recipientCount: Int = 0, mentionsPerson: Bool = false, isReply: Bool = false
    ) {
        self.sender = sender
        self.portrait = portrait
        self.group = group
        self.groupPortrait = groupPortrait
        self.conversation = conversation
        self.recipientCount = recipientCount
        self.mentionsPerson = mentionsPerson
        self.isReply = isReply
    }
}

extension NotificationContent {
    /// Changes the content as the system does: the sender's name is the title, the group's the line below. A message to fewer than two
    /// people is one to a person, whatever the group is called.
    package mutating func show(_ details: CommunicationDetails) {
        self.title = details.sender
        if details.recipientCount >= 2, let group = details.group { self.subtitle = group }
        if self.threadIdentifier.isEmpty { self.threadIdentifier = details.conversation }
        self.communication = details
    }
}

/// A message that an app has told the system of (`INInteraction.donate`), from which it suggests people and conversations
/// (ios-delivery.md §11).
public struct DonatedMessage: Hashable, Sendable, JSONCodable {
    /// By which the app takes it back; empty for none.
    public var identifier: String
    /// By which the app takes back all that belongs together; nil for none.
    public var group: String?
    /// True if the person who holds the phone has written it.
    public var isOutgoing: Bool
    /// The conversation; nil if the app does not say.
    public var conversation: String?
    /// The person who has written it; nil for the one who holds the phone.
    public var sender: String?
    /// Who gets it, as far as the app says.
    public var recipients: [String]
    /// The group's name; nil for a message to one person.
    public var groupName: String?
    /// The text; nil for none.
    public var content: String?

    private enum CodingKeys: String, CodingKey {
        case identifier, group
        case isOutgoing = "outgoing"
        case conversation, sender, recipients, groupName, content
    }

    /// A donated message from its parts.
    public init(
        identifier: String = "", group: String? = nil, isOutgoing: Bool, conversation: String? = nil,
        sender: String? = nil, recipients: [String] = [], groupName: String? = nil, content: String? = nil
    ) {
        self.identifier = identifier
        self.group = group
        self.isOutgoing = isOutgoing
        self.conversation = conversation
        self.sender = sender
        self.recipients = recipients
        self.groupName = groupName
        self.content = content
    }
}
