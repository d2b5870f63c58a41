package import TidingsModel

/// The answer to one command, in the order of the commands.
package enum StoreResult: Hashable, Sendable {
    /// The command was carried out and is synced.
    case done
    /// The message is synced; the position it got in the log of each person it concerns, sorted by person. The sender is one
    /// of them. Empty of persons only for a chat room. And the present name of the group, discussion or chat room; empty for
    /// other kinds, and for a conversation without a name.
    case accepted(deliveries: [Delivery], conversationName: String = "")
    /// The sender's device had sent this client message id before; nothing was written.
    case duplicate(MessageID, sentAt: Int64)
    /// Bad input; nothing was written.
    case refused(ServerFrame.Problem)
    /// The conversation was changed: the entry in the log of each person it concerns (members before or after), sorted by
    /// person. Without a change if it was so already.
    indirect case changed(ConversationChange?, deliveries: [Delivery])
    /// The message was recalled: the entry in each log that has the message, sorted by person, and the message's legs that had
    /// shown it or may have: accepted by APNs, or settled as shown. Sorted. The message says nothing any more.
    indirect case recalled(Recall, of: Message, deliveries: [Delivery], shown: [LegID])
    /// Something became an entry in the logs of those it concerns, sorted by person; none if nothing changed.
    case noted(LogEntry.Body?, deliveries: [Delivery])
    /// The token was another device's: those have none now. Sorted.
    case taken([DeviceKey])
    /// A conversation.
    indirect case conversation(ConversationInfo)
    /// Messages, newest first; whether there are older ones.
    case history([Message], hasMore: Bool)
    /// What a person has set.
    case settings(AllSettings)
    /// Who has got a message and who has read it.
    indirect case receipts(MessageReceipts)
    /// How much a person has not read.
    indirect case unread(UnreadReport)
    /// The object names an app has registered, sorted.
    case objectNames([ObjectName])
    /// What the backend has decided about a person.
    case userAccount(AccountState)
    /// The accounts of an app, sorted.
    case accounts([ConversationID])
    /// Who may not come into a chat room now, sorted by person.
    case bans([Ban])
    /// Whether a log is this store's.
    case isSameLog(Bool)
    /// Stored bytes that the command needs cannot be read; nothing was written. With a person, that person is set aside: the store
    /// takes nothing for them until it is rebuilt.
    indirect case unreadable(UserKey?, String)
    /// The device as it is now.
    indirect case device(DeviceRecord)
    /// The read cursor moved (or stood there already: then `position` is nil), and what is unread now.
    case read(position: LogPosition?, unread: Int)
    /// A person.
    indirect case user(UserRecord)
    /// A page of a person's log: its messages and edits as they read now.
    indirect case page(LogPage)
    /// The life of one message, or nil if the app has no such message.
    indirect case trace(MessageTrace?)
    /// The disk refused; nothing of the whole batch was written, and the store accepts no more until it is opened again.
    case failed(String)
}

/// Where an accepted message stands in one person's log.
package struct Delivery: Hashable, Sendable {
    /// The person.
    package var user: UserID
    /// The position in that person's log.
    package var position: LogPosition
    /// The person's unread count after it, without muted conversations.
    package var unread: Int
    /// Of a recall: whether the message was among the unread ones until now, outside muted conversations. False for all
    /// else.
    package var wasUnread: Bool

    /// A delivery from its parts.
    package init(user: UserID, position: LogPosition, unread: Int, wasUnread: Bool = false) {
        self.user = user
        self.position = position
        self.unread = unread
        self.wasUnread = wasUnread
    }
}

/// A page of a person's log.
package struct LogPage: Hashable, Sendable {
    /// Oldest first, without gaps.
    package var entries: [LogEntry]
    /// The head of the log when the page was read.
    package var head: LogPosition
    /// Unread messages without muted conversations.
    package var unread: Int
    /// The present names of the groups and discussions the page has messages of; those without a name are left out.
    package var names: [ConversationID: String]
    /// The recalls in it whose message was among the unread ones until then, outside muted conversations: as in
    /// `Delivery.wasUnread`. Their positions, ascending.
    package var wereUnread: [LogPosition]
    /// Where entries stand that are for no device any more, though the server still has to know of them: messages that were recalled,
    /// or that the person has deleted, and edits of them or before the last one. Their texts are empty. Ascending.
    package var erased: [LogPosition]

    /// A page from its parts.
    package init(
        entries: [LogEntry], head: LogPosition, unread: Int, names: [ConversationID: String] = [:],
        wereUnread: [LogPosition] = [], erased: [LogPosition] = []
    ) {
        self.entries = entries
        self.head = head
        self.unread = unread
        self.names = names
        self.wereUnread = wereUnread
        self.erased = erased
    }
}

/// How much a person has not read: in all conversations, and in one if it was asked about.
package struct UnreadReport: Hashable, Sendable {
    /// In all conversations together.
    package var counts: UnreadCounts
    /// The head of the person's log.
    package var head: LogPosition
    /// The conversation that was asked about.
    package var conversation: Conversation?

    /// How much of one conversation a person has not read. Of one they have no entries of, nothing is unread.
    package struct Conversation: Hashable, Sendable {
        /// The conversation as the person sees it.
        package var id: ConversationID
        /// Its unread messages.
        package var unread: Int
        /// Those of them that mention the person, by id or with everybody.
        package var mentions: Int
        /// The read cursor, 0 if the person has not read it.
        package var readUpTo: LogPosition
        /// Its messages do not count in `UnreadCounts.unread`.
        package var isMuted: Bool

        /// A conversation from its parts.
        package init(id: ConversationID, unread: Int, mentions: Int, readUpTo: LogPosition, isMuted: Bool) {
            self.id = id
            self.unread = unread
            self.mentions = mentions
            self.readUpTo = readUpTo
            self.isMuted = isMuted
        }
    }

    /// A report from its parts.
    package init(counts: UnreadCounts, head: LogPosition, conversation: Conversation? = nil) {
        self.counts = counts
        self.head = head
        self.conversation = conversation
    }
}

/// The life of one message: where it stands in each log and how each leg stands or ended.
package struct MessageTrace: Hashable, Sendable {
    /// What has the id.
    package enum Subject: Hashable, Sendable {
        /// A message as it was accepted.
        case message(Message)
        /// The recall of a message, with the conversation as its sender sees it.
        case recall(Recall, app: AppID)
        /// A custom message.
        case custom(CustomMessage, app: AppID)
    }

    /// What was accepted under the id.
    package var subject: Subject
    /// The id of the message's recall, which has a life of its own; nil if it was not recalled.
    package var recall: MessageID?
    /// Sorted by person.
    package var deliveries: [Delivery]
    /// Sorted by leg.
    package var open: [OpenLeg]
    /// Sorted by leg.
    package var ended: [EndedLeg]
    /// Sorted by leg, then receipt.
    package var receipts: [Receipt]

    /// A receipt with its time.
    package struct Receipt: Hashable, Sendable {
        /// The message, the person and the device.
        package var leg: LegID
        /// What the phone said.
        package var receipt: LegReceipt
        /// Wall milliseconds.
        package var at: Int64

        /// A receipt from its parts.
        package init(leg: LegID, receipt: LegReceipt, at: Int64) {
            self.leg = leg
            self.receipt = receipt
            self.at = at
        }
    }

    /// A trace from its parts.
    package init(
        of subject: Subject, recall: MessageID? = nil, deliveries: [Delivery], open: [OpenLeg], ended: [EndedLeg],
        receipts: [Receipt]
    ) {
        self.subject = subject
        self.recall = recall
        self.deliveries = deliveries
        self.open = open
        self.ended = ended
        self.receipts = receipts
    }

    /// The id.
    package var id: MessageID {
        switch self.subject {
        case .message(let message): message.id
        case .recall(let recall, _): recall.id
        case .custom(let message, _): message.id
        }
    }

    /// The message, if the id is a message's.
    package var message: Message? {
        if case .message(let message) = self.subject { message } else { nil }
    }

    /// The app it belongs to.
    package var app: AppID {
        switch self.subject {
        case .message(let message): message.app
        case .recall(_, let app), .custom(_, let app): app
        }
    }
}

/// What a server reads once when it opens its store.
package struct StoreOpening: Hashable, Sendable {
    /// The owner's epoch: larger than every earlier one. A batch with an older one is refused (DESIGN §3 "Owner").
    package var epoch: UInt64
    /// The largest message id stored; new ids are larger.
    package var lastMessageID: MessageID
    /// People with push work: a device whose `max(settled, decided)` is behind the head, or an open leg. Sorted.
    package var pending: [UserKey]
    /// Which store it is, and which opening.
    package var identity: StoreIdentity

    /// An opening from its parts.
    package init(
        epoch: UInt64, lastMessageID: MessageID, pending: [UserKey], identity: StoreIdentity = StoreIdentity()
    ) {
        self.epoch = epoch
        self.lastMessageID = lastMessageID
        self.pending = pending
        self.identity = identity
    }
}
