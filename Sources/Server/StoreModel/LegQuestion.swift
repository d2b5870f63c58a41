package import TidingsModel

/// A step of a search for legs, from the newest message on: each looks at so much, and says where the next one goes on.
package struct LegQuestion: Hashable, Sendable {
    package var app: AppID
    /// With a person, what is in their log: open and ended legs, and the one without a device. Without, what has ended on a device, of anybody.
    package var user: UserID?
    /// Messages with an id from here on.
    package var oldest: MessageID
    /// Messages with an id before this one.
    package var newest: MessageID
    /// Before this one alone: with a person a position of their log, otherwise a message's id; nil for the first step.
    package var before: UInt64?
    /// A step is over with the first message by which it has looked at so much: 1 for each entry or id, and 1 for each leg on a device that has
    /// ended of a message it answers. At least 1.
    package var looksMax: Int

    package init(
        app: AppID, user: UserID? = nil, oldest: MessageID = MessageID(rawValue: 0),
        newest: MessageID = MessageID(rawValue: UInt64(Int64.max)), before: UInt64? = nil, looksMax: Int
    ) {
        self.app = app
        self.user = user
        self.oldest = oldest
        self.newest = newest
        self.before = before
        self.looksMax = looksMax
    }

    /// The legs that are asked for of all that have ended: those of the person, or of anybody's devices.
    package func asks(for leg: LegID) -> Bool {
        guard leg.user.app == self.app else { return false }
        return self.user.map { $0 == leg.user.user } ?? (leg.device != nil)
    }
}

/// The legs of one message.
package struct MessageLegs: Hashable, Sendable {
    package var id: MessageID
    /// Where the next step would go on behind it.
    package var place: UInt64
    package var about: About
    /// Sorted by leg.
    package var open: [OpenLeg]
    /// Sorted by leg.
    package var ended: [EndedLeg]
    /// Sorted by leg, then receipt.
    package var receipts: [MessageTrace.Receipt]

    package init(
        id: MessageID, place: UInt64, about: About, open: [OpenLeg], ended: [EndedLeg],
        receipts: [MessageTrace.Receipt]
    ) {
        self.id = id
        self.place = place
        self.about = about
        self.open = open
        self.ended = ended
        self.receipts = receipts
    }

    /// The facts that traces tell of a message, without its text.
    package struct About: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable, JSONWritable {
            case message
            case recall
            case custom
        }

        package var kind: Kind
        /// Nil for a custom message, which is the backend's.
        package var sender: UserID?
        package var conversation: ConversationID?
        package var objectName: ObjectName?
        /// The message that a recall takes back, under whose id its pushes replace that one's.
        package var recalls: MessageID?
        /// Wall milliseconds.
        package var sentAt: Int64

        package init(_ subject: MessageTrace.Subject) {
            switch subject {
            case .message(let message):
                self.kind = .message
                self.sender = message.sender
                self.conversation = message.conversation
                self.objectName = message.objectName
                self.sentAt = message.sentAt
            case .recall(let recall, _):
                self.kind = .recall
                self.sender = recall.sender
                self.recalls = recall.message
                self.conversation = recall.conversation
                self.sentAt = recall.at
            case .custom(let message, _):
                self.kind = .custom
                self.sentAt = message.sentAt
            }
        }
    }
}

/// A step of a search for legs.
package struct LegPage: Hashable, Sendable {
    /// Newest first. Without a person, those alone that have legs; with one also others, of which only the person's owner may know legs.
    package var messages: [MessageLegs]
    /// The place before which the next step searches; nil after the last.
    package var next: UInt64?
    /// The oldest message that was looked at; nil for none.
    package var reached: MessageID?

    package init(messages: [MessageLegs] = [], next: UInt64? = nil, reached: MessageID? = nil) {
        self.messages = messages
        self.next = next
        self.reached = reached
    }
}

extension MessageLegs {
    package var isEmpty: Bool { self.open.isEmpty && self.ended.isEmpty }
}
