package import TidingsModel

/// What the server asks of its store. Commands are carried out in the order given; many share one transaction and one sync,
/// and no result is handed out before that sync (DESIGN P1, §3 "Journal first").
package enum StoreCommand: Hashable, Sendable {
    /// Accept a message: drop a repeat, check the conversation, append one journal record. The rules of this and all other
    /// commands stand at `ReferenceStore`. Answers `.accepted`, `.duplicate` or `.refused`.
    case accept(message: Message, senderDevice: DeviceID?)
    /// Create a group, discussion or chat room, or replace its members (a new membership version). Answers `.done` or `.refused`.
    case putConversation(ConversationRecord)
    /// A device signed in (or came back): create it or update what it said of itself. Answers `.device`.
    case signIn(DeviceKey, platform: String, at: Int64)
    /// A device signed out: its token is forgotten and its legs end `signed_out`. Answers `.done`.
    case signOut(DeviceKey, at: Int64)
    /// The device's push token, or what became of it. Answers `.done`; `.refused` for an unknown device.
    case setPushState(DeviceKey, PushState)
    /// Move a device's cursors forward; a smaller or equal value changes nothing. Answers `.done`; `.refused` for an unknown device.
    case advance(DeviceKey, settled: LogPosition?, decided: LogPosition?)
    /// The person read a conversation up to and including a position of their own log. Appends a `read` entry to that log unless
    /// the cursor stands there already. Answers `.read` or `.refused`.
    case markRead(UserKey, ConversationID, upTo: LogPosition, at: Int64)
    /// Keep an open leg: waiting, or in flight with its `apns-id` (DESIGN §3 "Push work"). Replaces an earlier state. Answers `.done`.
    case keepLeg(OpenLeg)
    /// A leg ended: the open leg, if any, goes, and the end is kept for the trace. Of several ends of a leg the first stays.
    /// Answers `.done`.
    case endLeg(EndedLeg)
    /// A receipt from the phone about a pushed message (DESIGN §5). Answers `.done`.
    case receipt(LegID, LegReceipt, at: Int64)
    /// Everything the server core needs to know about a person. Answers `.user`.
    case loadUser(UserKey)
    /// Entries of a person's log after a position, oldest first. Answers `.page`.
    case readLog(UserKey, after: LogPosition, limit: Int)
    /// The life of one message. Answers `.trace`.
    case trace(AppID, MessageID)
}

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
    case refused(InvalidField)
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

/// A conversation with members: group, discussion or chat room.
package struct ConversationRecord: Hashable, Sendable {
    /// The app it belongs to.
    package var app: AppID
    /// Its kind (group, discussion or chat room) and its own id.
    package var conversation: ConversationID
    /// Shown as the title of its notifications.
    package var name: String
    /// Sorted, without repeats; at most `membersMax`.
    package var members: [UserID]

    /// The default limit of members (DESIGN §3).
    package static let membersMax = 3_000

    /// A conversation from its parts; members are sorted and repeats dropped.
    package init(app: AppID, conversation: ConversationID, name: String, members: [UserID]) {
        self.app = app
        self.conversation = conversation
        self.name = name
        self.members = Set(members).sorted()
    }
}

/// What the server knows of a device's push registration.
package enum PushState: Hashable, Sendable {
    /// It has never registered, or signed out.
    case none
    /// Registered at a time (wall milliseconds).
    case registered(PushRegistration, at: Int64)
    /// APNs refused the token without saying it is dead; kept aside until the device registers again (DESIGN P8).
    case quarantined(PushRegistration, at: Int64, reason: String)
    /// APNs said 410 at `timestamp` (wall milliseconds), newer than the registration.
    case dead(timestamp: Int64)
}

/// A device as the store keeps it.
package struct DeviceRecord: Hashable, Sendable {
    /// Whose device it is, and its id.
    package var key: DeviceKey
    /// What it said it runs on, for example `ios`.
    package var platform: String
    /// Its push registration and what became of it.
    package var push: PushState
    /// Everything up to here was settled by the device itself.
    package var settled: LogPosition
    /// Everything up to here was decided by the server: ended, or kept as an open leg.
    package var decided: LogPosition
    /// The head of the person's log when the device signed in for the first time, or for the first time after it had signed out:
    /// earlier entries have no leg for it.
    package var since: LogPosition
    /// Wall milliseconds of the last sign-in.
    package var signedInAt: Int64
    /// Signed out: kept for the trace, gets no legs.
    package var isSignedOut: Bool

    /// A device from its parts.
    package init(
        key: DeviceKey, platform: String, push: PushState, settled: LogPosition, decided: LogPosition,
        since: LogPosition, signedInAt: Int64, isSignedOut: Bool
    ) {
        self.key = key
        self.platform = platform
        self.push = push
        self.settled = settled
        self.decided = decided
        self.since = since
        self.signedInAt = signedInAt
        self.isSignedOut = isSignedOut
    }
}

/// A person as the server core needs them.
package struct UserRecord: Hashable, Sendable {
    /// The app and the person.
    package var key: UserKey
    /// The position of the newest entry of the log; 0 when there is none.
    package var head: LogPosition
    /// Unread messages without muted conversations.
    package var unread: Int
    /// Sorted by device id, signed-out ones included.
    package var devices: [DeviceRecord]
    /// Sorted by leg.
    package var openLegs: [OpenLeg]

    /// A person from their parts.
    package init(key: UserKey, head: LogPosition, unread: Int, devices: [DeviceRecord], openLegs: [OpenLeg]) {
        self.key = key
        self.head = head
        self.unread = unread
        self.devices = devices
        self.openLegs = openLegs
    }
}

/// A leg that is not decided for good: it survives a crash and is taken up again.
package struct OpenLeg: Hashable, Sendable {
    /// The message, the person and the device.
    package var leg: LegID
    /// The message's position in the person's log.
    package var position: LogPosition
    /// Why it waits.
    package var wait: LegWait
    /// The `apns-id` of the attempt in flight, or of the last one.
    package var apnsID: String?
    /// How many attempts were made.
    package var attempts: Int
    /// Not before this time (wall milliseconds); nil for "as soon as the wait is over".
    package var notBefore: Int64?

    /// An open leg from its parts.
    package init(
        leg: LegID, position: LogPosition, wait: LegWait, apnsID: String? = nil, attempts: Int = 0,
        notBefore: Int64? = nil
    ) {
        self.leg = leg
        self.position = position
        self.wait = wait
        self.apnsID = apnsID
        self.attempts = attempts
        self.notBefore = notBefore
    }
}

/// The end of a leg.
package struct EndedLeg: Hashable, Sendable {
    /// The message, the person and the device.
    package var leg: LegID
    /// How it ended.
    package var end: LegEnd
    /// Wall milliseconds.
    package var at: Int64

    /// An end from its parts.
    package init(leg: LegID, end: LegEnd, at: Int64) {
        self.leg = leg
        self.end = end
        self.at = at
    }
}

/// What the phone said later about a pushed message (DESIGN §5 "receipts").
package enum LegReceipt: String, Hashable, Sendable {
    case shown
    case opened
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
