package import TidingsModel

package struct Delivery: Hashable, Sendable {
    package var user: UserID
    package var position: LogPosition
    package var unread: Int
    /// True for a recall of a message that was unread until now, outside muted conversations.
    package var wasUnread: Bool
    /// True for a message of a sender whom the person had blocked: their entry says `Message.hushed`. True also for the recall of such a
    /// message, which no notification has told of.
    package var isHushed: Bool

    package init(
        user: UserID, position: LogPosition, unread: Int, wasUnread: Bool = false, isHushed: Bool = false
    ) {
        self.user = user
        self.position = position
        self.unread = unread
        self.wasUnread = wasUnread
        self.isHushed = isHushed
    }
}

/// The names in a push of a message in place of ids; empty where there is no name.
package struct MessageNames: Hashable, Sendable {
    /// The group's or discussion's.
    package var conversation: String
    /// The sender's nickname in the conversation, or else the name of their profile.
    package var sender: String
    /// The portrait of the sender's profile, as it was set: a URL, a reference to media, or anything else.
    package var portrait: String?

    package init(conversation: String = "", sender: String = "", portrait: String? = nil) {
        self.conversation = conversation
        self.sender = sender
        self.portrait = portrait
    }
}

/// A person in a conversation as named in the messages they send there.
package struct ConversationSender: Hashable, Sendable {
    package var conversation: ConversationID
    package var sender: UserID

    package init(of message: Message) {
        self.init(message.sender, in: message.conversation)
    }

    package init(_ sender: UserID, in conversation: ConversationID) {
        self.conversation = conversation
        self.sender = sender
    }
}

/// A message that names media.
package struct MediaUse: Hashable, Sendable {
    package var message: MessageID
    /// Who has written it, which for an operator's message is not the account.
    package var sender: UserID
    /// The app's backend has sent it, in the sender's name.
    package var isBackend: Bool
    /// Wall milliseconds: from then on it names nothing any more.
    package var expiresAt: Int64?
    /// The message does not name it: it is its sender's portrait.
    package var isPortrait = false

    package static let listMax = 100

    package init(message: MessageID, sender: UserID, isBackend: Bool, expiresAt: Int64? = nil) {
        self.message = message
        self.sender = sender
        self.isBackend = isBackend
        self.expiresAt = expiresAt
    }

    /// Makes the use of a person's own portrait, whatever their messages say; nil if it is another one.
    package init?(portrait media: MediaID, of person: UserProfile) {
        guard person.profile.portrait == media.reference else { return nil }
        self.init(message: MessageID(rawValue: 0), sender: person.id, isBackend: false)
        self.isPortrait = true
    }

    /// Returns true if it speaks for the uploader of the media: nil for the backend.
    package func isBy(_ owner: UserID?) -> Bool { owner.map { $0 == self.sender } ?? self.isBackend }
}

/// The uses to tell of all messages that name one file: the newest, and the one that ends last if it is older.
package struct MediaUseList {
    package private(set) var uses: [MediaUse] = []
    /// The latest end in the list; `.max` for one that lasts.
    private var lastEnd = Int64.min

    package init() {}

    /// Newest first. False if no older one matters: whether the file is named, and until when, is known.
    package mutating func add(_ use: MediaUse) -> Bool {
        let end = use.expiresAt ?? .max
        if self.uses.count < MediaUse.listMax {
            self.uses.append(use)
        } else if end > self.lastEnd {
            // Messages that end may have hidden it: the file must not go with them.
            self.uses = self.uses.prefix(MediaUse.listMax) + [use]
        }
        self.lastEnd = max(self.lastEnd, end)
        return self.uses.count < MediaUse.listMax || self.lastEnd < .max
    }
}

package struct LogPage: Hashable, Sendable {
    /// Oldest first, without gaps.
    package var entries: [LogEntry]
    package var head: LogPosition
    package var unread: Int
    /// The names of the page's senders, as they are now; without those that have none.
    package var names: [ConversationSender: MessageNames]
    /// Positions of recalls whose message was unread until then, as in `Delivery.wasUnread`. Ascending.
    package var wereUnread: [LogPosition]
    /// Positions of entries that are for no device any more, with empty texts: messages that were recalled or deleted
    /// by the person, edits of them, and edits before the last. Ascending.
    package var erased: [LogPosition]
    /// Positions of messages whose sender the person had blocked, and of their recalls, as in `Delivery.isHushed`. Ascending.
    package var hushed: [LogPosition]
    /// Hosts of images that may be named to a phone: the app's, which the store does not know.
    package var imageHosts: [String] = []

    package init(
        entries: [LogEntry], head: LogPosition, unread: Int, names: [ConversationSender: MessageNames] = [:],
        wereUnread: [LogPosition] = [], erased: [LogPosition] = [], hushed: [LogPosition] = []
    ) {
        self.entries = entries
        self.head = head
        self.unread = unread
        self.names = names
        self.wereUnread = wereUnread
        self.erased = erased
        self.hushed = hushed
    }
}

package struct UnreadReport: Hashable, Sendable {
    package var counts: UnreadCounts
    package var head: LogPosition
    package var conversation: Conversation?

    package struct Conversation: Hashable, Sendable {
        package var id: ConversationID
        package var unread: Int
        package var mentions: Int
        package var readUpTo: LogPosition
        /// Its messages do not count in `UnreadCounts.unread`.
        package var isMuted: Bool

        package init(id: ConversationID, unread: Int, mentions: Int, readUpTo: LogPosition, isMuted: Bool) {
            self.id = id
            self.unread = unread
            self.mentions = mentions
            self.readUpTo = readUpTo
            self.isMuted = isMuted
        }
    }

    package init(counts: UnreadCounts, head: LogPosition, conversation: Conversation? = nil) {
        self.counts = counts
        self.head = head
        self.conversation = conversation
    }
}

/// Where a message stands in each log, and how each leg stands or ended.
package struct MessageTrace: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        case message(Message)
        case recall(Recall, app: AppID)
        case custom(CustomMessage, app: AppID)

        package var app: AppID {
            switch self {
            case .message(let message): message.app
            case .recall(_, let app), .custom(_, let app): app
            }
        }
    }

    package var subject: Subject
    /// The id of its recall, which has a trace of its own.
    package var recall: MessageID?
    /// Who has written a message as the account that is its sender; nil if nobody is known.
    package var author: UserID?
    package var deliveries: [Delivery]
    package var open: [OpenLeg]
    package var ended: [EndedLeg]
    /// Sorted by leg, then receipt.
    package var receipts: [Receipt]
    /// The last reports of the devices of its legs, sorted by device.
    package var reports: [DeviceReport] = []

    package struct Receipt: Hashable, Sendable {
        package var leg: LegID
        package var receipt: LegReceipt
        package var at: Int64

        package init(leg: LegID, receipt: LegReceipt, at: Int64) {
            self.leg = leg
            self.receipt = receipt
            self.at = at
        }
    }

    package init(
        of subject: Subject, recall: MessageID? = nil, author: UserID? = nil, deliveries: [Delivery] = [],
        open: [OpenLeg] = [], ended: [EndedLeg] = [], receipts: [Receipt] = []
    ) {
        self.subject = subject
        self.recall = recall
        self.author = author
        self.deliveries = deliveries
        self.open = open
        self.ended = ended
        self.receipts = receipts
    }

    package var id: MessageID {
        switch self.subject {
        case .message(let message): message.id
        case .recall(let recall, _): recall.id
        case .custom(let message, _): message.id
        }
    }

    package var message: Message? {
        if case .message(let message) = self.subject { message } else { nil }
    }

    package var app: AppID { self.subject.app }

    /// The devices that have or had a leg, sorted.
    package var devices: [DeviceKey] {
        let legs = self.open.map(\.leg) + self.ended.map(\.leg)
        return Set(legs.compactMap { leg in leg.device.map { DeviceKey(user: leg.user, device: $0) } }).sorted()
    }
}

package struct DeviceReport: Hashable, Sendable {
    package var device: DeviceKey
    package var reported: ReportedStatus

    package init(device: DeviceKey, reported: ReportedStatus) {
        self.device = device
        self.reported = reported
    }
}

package struct StoreOpening: Hashable, Sendable {
    /// Larger than every earlier one; a batch with an older one is refused (design.md §3 "Owner").
    package var epoch: UInt64
    /// New ids are larger.
    package var lastMessageID: MessageID
    /// People with a device whose `max(settled, decided)` is behind the head, or an open leg. Sorted.
    package var pending: [UserKey]
    package var identity: StoreIdentity
    package var control: ControlState
    /// The unfinished push jobs, by id.
    package var pushJobs: [PushJob]

    package init(
        epoch: UInt64, lastMessageID: MessageID, pending: [UserKey], identity: StoreIdentity = StoreIdentity(),
        control: ControlState = ControlState(), pushJobs: [PushJob] = []
    ) {
        self.pushJobs = pushJobs
        self.epoch = epoch
        self.lastMessageID = lastMessageID
        self.pending = pending
        self.identity = identity
        self.control = control
    }
}
