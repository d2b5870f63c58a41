package import TidingsModel

/// The answer to one command, in the order of the commands.
package enum StoreResult: Hashable, Sendable {
    /// The command was carried out and is synced.
    case done
    /// The message is synced; the position it got in the log of each person it concerns, sorted by person. The sender is one
    /// of them. Empty of persons only for a chat room.
    case accepted(deliveries: [Delivery])
    /// The sender's device had sent this client message id before; nothing was written.
    case duplicate(MessageID, sentAt: Int64)
    /// Bad input; nothing was written.
    case refused(ServerFrame.Problem)
    /// The conversation was changed: the entry in the log of each person it concerns (members before or after), sorted by
    /// person. Without a change if it was so already.
    case changed(ConversationChange?, deliveries: [Delivery])
    /// The message was withdrawn: the entry in each log that has the message, sorted by person, and the message's legs that had
    /// shown it or may have: accepted by APNs, or settled as shown. Sorted.
    case recalled(Recall, of: Message, deliveries: [Delivery], shown: [LegID])
    /// Something became an entry in the logs of those it concerns, sorted by person; none if nothing changed.
    case noted(LogEntry.Body?, deliveries: [Delivery])
    /// The token was another device's: those have none now. Sorted.
    case taken([DeviceKey])
    /// A conversation.
    case conversation(ConversationInfo)
    /// Messages, newest first; whether there are older ones.
    case history([Message], hasMore: Bool)
    /// What a person has set.
    case settings(AllSettings)
    /// The device as it is now.
    case device(DeviceRecord)
    /// The read cursor moved (or stood there already: then `position` is nil), and what is unread now.
    case read(position: LogPosition?, unread: Int)
    /// A person.
    case user(UserRecord)
    /// A page of a person's log.
    case page(LogPage)
    /// The life of one message, or nil if the app has no such message.
    case trace(MessageTrace?)
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

    /// A delivery from its parts.
    package init(user: UserID, position: LogPosition, unread: Int) {
        self.user = user
        self.position = position
        self.unread = unread
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

    /// A page from its parts.
    package init(entries: [LogEntry], head: LogPosition, unread: Int) {
        self.entries = entries
        self.head = head
        self.unread = unread
    }
}

/// The life of one message: where it stands in each log and how each leg stands or ended.
package struct MessageTrace: Hashable, Sendable {
    /// The message as it was accepted.
    package var message: Message
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
        message: Message, deliveries: [Delivery], open: [OpenLeg], ended: [EndedLeg], receipts: [Receipt]
    ) {
        self.message = message
        self.deliveries = deliveries
        self.open = open
        self.ended = ended
        self.receipts = receipts
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

    /// An opening from its parts.
    package init(epoch: UInt64, lastMessageID: MessageID, pending: [UserKey]) {
        self.epoch = epoch
        self.lastMessageID = lastMessageID
        self.pending = pending
    }
}
