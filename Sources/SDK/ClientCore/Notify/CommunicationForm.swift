package import TidingsModel

/// Describes a message for the system: a notification that comes from a person rather than from the app, and a donation for the system's
/// suggestions (ios-delivery.md §11; docs/inside/decisions/0038). Extension and kit share this form and translate it to Apple's intent.
package struct CommunicationForm: Hashable, Sendable {
    package struct Person: Hashable, Sendable {
        package var id: UserID
        package var name: String
    }

    package var message: MessageID
    /// The conversation as the person sees it.
    package var conversation: ConversationID
    /// Nil for what the person has written.
    package var sender: Person?
    /// The name of a group or discussion.
    package var groupName: String?
    /// The recipient of a message that the person has written to one other person.
    package var recipient: Person?
    /// How many people get it, the person among them. The system takes a message to fewer than two for one to a person alone, and leaves its
    /// group's name out: for a group it is two at least, also where its members are not known.
    package var recipientCount: Int?
    package var isMention = false
    package var isReply = false
    /// The text of the message, without the names, which have members of their own.
    package var text: PushLine
    /// Where the sender's portrait is, as a push says; nil where the app has it, or nobody.
    package var portrait: String?

    /// Systems before know no such notification.
    package static let majorMin = 15

    /// - Parameter version: the system's, `15.2` or `17`; nil or anything else is taken for one that knows none.
    package static func isKnown(to version: String?) -> Bool {
        (version ?? "").split(separator: ".").first.flatMap { Int($0) }.map { $0 >= Self.majorMin } ?? false
    }

    /// A message that came; `text` as without the form. Nil where the notification is not of a person: for other kinds of conversations, with a
    /// title that was chosen, which the name would replace, and where a name is missing that the system shows.
    package init?(
        _ payload: NotificationPayload, message: MessageID, text: PushInfo.Text, names: KnownNames, isMention: Bool,
        isReply: Bool
    ) {
        func known(_ name: String?) -> String? { name.flatMap { $0.isEmpty ? nil : $0 } }
        let isGroup = payload.conversationType.isGroup
        let title = text.title?.plain
        guard payload.conversationType.isOfPeople, !text.isTitleChosen,
            let sender = known(names.sender) ?? known(isGroup ? text.sender : title)
        else { return nil }
        if isGroup {
            guard let group = known(names.group) ?? known(title) else { return nil }
            self.groupName = group
        }
        self.message = message
        self.conversation = payload.conversation
        self.sender = Person(id: payload.senderID, name: sender)
        self.recipientCount = isGroup ? Self.recipients(ofGroupOf: names.memberCount) : 1
        self.isMention = isMention
        self.isReply = isReply
        self.text = text.body
    }

    mutating func mark(isMention: Bool, isReply: Bool, portrait: String?) {
        self.isMention = isMention
        self.isReply = isReply
        self.portrait = portrait
    }

    /// A message of the person's that has a `question`, once the server has accepted it. Nil where the name is missing.
    init?(sent message: Message, names: ResolvedNames, words: NotificationWords) {
        let name = message.conversation.type.isGroup ? names.group : names.user
        guard let name, !name.isEmpty else { return nil }
        if message.conversation.type.isGroup {
            self.groupName = name
            self.recipientCount = Self.recipients(ofGroupOf: names.memberCount)
        } else {
            self.recipient = Person(id: UserID(message.conversation.target), name: name)
            self.recipientCount = 1
        }
        self.message = message.id
        self.conversation = message.conversation
        self.text = .text(MessageSummary.text(of: message, in: words))
    }

    /// Whose names are needed; nil for what the system is not told of: other kinds of conversations, commands, and what rings for nobody.
    static func question(ofSent message: Message) -> NameQuestion? {
        guard message.flags.contains(.stored), message.flags.contains(.notified) else { return nil }
        switch message.conversation.type {
        case .direct: return NameQuestion(sender: UserID(message.conversation.target), group: nil)
        case .group, .discussion: return NameQuestion(sender: message.sender, group: message.conversation)
        case .customerService, .system, .appPublicService, .publicService, .pushService, .chatRoom: return nil
        }
    }

    private static func recipients(ofGroupOf members: Int?) -> Int { max(Self.groupRecipientsMin, (members ?? 0) - 1) }

    private static let groupRecipientsMin = 2
}

/// Which donated messages the system is to forget.
package enum DonationScope: Hashable, Sendable {
    case messages([MessageID])
    case conversation(ConversationID)
    /// Also what the app itself has donated.
    case all
}
