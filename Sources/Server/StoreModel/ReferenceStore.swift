package import TidingsModel

/// The store as a pure value: what every store must answer, command by command. It is the contract; `MessageStore` is held
/// against it, and the World uses it as its disk.
///
/// It is a value, so a crash is an assignment: keep the committed copy, drop the other. To spare the copying, hold a batch back
/// until its sync is due and apply it then; a batch dropped before is a batch the crash has lost.
///
/// # Rules
/// - **accept**: first the repeat: the same app, sender and client message id as an earlier accepted message, within the store's
///   retention (this version keeps everything), answers `.duplicate`, whatever the conversation is by now, so that a retried
///   send always gets the answer of the first. Then the id must be new. Then the conversation: group and discussion must exist
///   in the app and have the sender as a member; a chat room must exist; for all other kinds the target is a person of the app,
///   who need not be known yet. The message becomes an entry in the log of everyone it concerns (sender and peer, once if they
///   are the same; or the members), also without `.stored` in this version; a chat room's message enters no log.
/// - **Positions** are counted per person in commit order, from 1, without gaps.
/// - **Unread** counts, per conversation, entries after the read cursor with a message of somebody else that has `.counted`.
///   This version knows no muted conversations, so a person's unread is the sum.
/// - **markRead** needs a conversation the person has entries of, and a position not past the head. A cursor never goes back:
///   a position at or below it changes nothing and appends nothing. Otherwise the cursor moves and a `read` entry follows.
/// - **putConversation** with the same name and members as before changes nothing; anything else is a new membership version.
///   Entries delivered before stay where they are.
/// - **signIn** of a new device, or of one that had signed out, sets `since`, `settled` and `decided` to the head and the push
///   state to `.none`; of any other device it only notes platform and time.
/// - **signOut** forgets the push state and ends the device's open legs `signed_out`; a device unknown or signed out is left alone.
/// - **setPushState** of a signed-out device changes nothing.
/// - **advance** moves each cursor forward only, and not past the head.
/// - **keepLeg** opens a leg, or replaces its state. **endLeg** closes it and keeps the end; of several ends the first stays.
/// - **receipt**: of several with the same leg and name the first stays.
package struct ReferenceStore: Hashable, Sendable {
    /// Grows by one with each opening; 0 before the first.
    package private(set) var epoch: UInt64 = 0
    /// The largest message id accepted.
    package private(set) var lastMessageID = MessageID(rawValue: 0)
    var people: [UserKey: Person] = [:]
    var conversations: [ConversationKey: Conversation] = [:]
    var messages: [MessageID: Accepted] = [:]
    var sent: [SentKey: MessageID] = [:]
    var ended: [MessageID: [LegID: EndedLeg]] = [:]
    var receipts: [MessageID: [ReceiptKey: Int64]] = [:]

    struct Person: Hashable, Sendable {
        var log: [LogEntry] = []
        var unread = 0
        var cursors: [ConversationID: Cursor] = [:]
        var devices: [DeviceID: DeviceRecord] = [:]
        var openLegs: [LegID: OpenLeg] = [:]

        var head: LogPosition { LogPosition(self.log.count) }
    }

    struct Cursor: Hashable, Sendable {
        var unread = 0
        var upTo: LogPosition = 0
    }

    struct ConversationKey: Hashable, Sendable {
        var app: AppID
        var conversation: ConversationID
    }

    struct Conversation: Hashable, Sendable {
        var record: ConversationRecord
        var members: Set<UserID>
        var version: UInt64
    }

    struct Accepted: Hashable, Sendable {
        var message: Message
        var deliveries: [Delivery]
    }

    struct SentKey: Hashable, Sendable {
        var sender: UserKey
        var clientMessageID: ClientMessageID
    }

    struct ReceiptKey: Hashable, Sendable {
        var leg: LegID
        var receipt: LegReceipt
    }

    /// An empty store that has not been opened.
    package init() {}

    /// Opens the store for a new owner: the epoch grows, and every earlier owner's batches are refused from now on.
    package mutating func open() -> StoreOpening {
        self.epoch += 1
        let pending = self.people.filter { _, person in
            !person.openLegs.isEmpty
                || person.devices.values.contains { !$0.isSignedOut && max($0.settled, $0.decided) < person.head }
        }
        return StoreOpening(epoch: self.epoch, lastMessageID: self.lastMessageID, pending: pending.keys.sorted())
    }

    /// Carries out a batch in order.
    ///
    /// - Returns: one result per command.
    /// - Throws: `StaleEpoch` if `epoch` is not the one of the last opening; nothing was carried out.
    package mutating func apply(_ batch: [StoreCommand], epoch: UInt64) throws(StaleEpoch) -> [StoreResult] {
        guard epoch == self.epoch else { throw StaleEpoch(presented: epoch, current: self.epoch) }
        return batch.map { self.carryOut($0) }
    }

    /// Carries out one command.
    ///
    /// - Throws: `StaleEpoch` if `epoch` is not the one of the last opening; nothing was carried out.
    package mutating func apply(_ command: StoreCommand, epoch: UInt64) throws(StaleEpoch) -> StoreResult {
        guard epoch == self.epoch else { throw StaleEpoch(presented: epoch, current: self.epoch) }
        return self.carryOut(command)
    }

    private mutating func carryOut(_ command: StoreCommand) -> StoreResult {
        switch command {
        case .accept(let message, _): self.accept(message)
        case .putConversation(let record): self.putConversation(record)
        case .signIn(let key, let platform, let at): self.signIn(key, platform: platform, at: at)
        case .signOut(let key, let at): self.signOut(key, at: at)
        case .setPushState(let key, let state): self.setPushState(key, state)
        case .advance(let key, let settled, let decided): self.advance(key, settled: settled, decided: decided)
        case .markRead(let key, let conversation, let upTo, _): self.markRead(key, conversation, upTo: upTo)
        case .keepLeg(let leg): self.keepLeg(leg)
        case .endLeg(let end): self.endLeg(end)
        case .receipt(let leg, let receipt, let at): self.keepReceipt(leg, receipt, at: at)
        case .loadUser(let key): .user(self.record(of: key))
        case .readLog(let key, let after, let limit): .page(self.page(of: key, after: after, limit: limit))
        case .trace(let app, let id): .trace(self.trace(of: id, in: app))
        }
    }
}

extension ReferenceStore {
    private mutating func accept(_ message: Message) -> StoreResult {
        let sender = UserKey(app: message.app, user: message.sender)
        let sentKey = SentKey(sender: sender, clientMessageID: message.clientMessageID)
        if let earlier = self.sent[sentKey], let first = self.messages[earlier] {
            return .duplicate(earlier, sentAt: first.message.sentAt)
        }
        guard self.messages[message.id] == nil else { return .refused(StoreRules.usedMessageID(message.id)) }
        let recipients: [UserID]
        if message.conversation.type.targetIsPeer {
            recipients = Set([message.sender, UserID(message.conversation.target)]).sorted()
        } else {
            let key = ConversationKey(app: message.app, conversation: message.conversation)
            guard let conversation = self.conversations[key] else {
                return .refused(StoreRules.unknownConversation(message.conversation))
            }
            if message.conversation.type == .chatRoom {
                recipients = []
            } else {
                guard conversation.members.contains(message.sender) else {
                    return .refused(StoreRules.notAMember(of: message.conversation))
                }
                recipients = conversation.record.members
            }
        }
        let deliveries = recipients.map { self.deliver(message, to: $0) }
        self.messages[message.id] = Accepted(message: message, deliveries: deliveries)
        self.sent[sentKey] = message.id
        self.lastMessageID = max(self.lastMessageID, message.id)
        return .accepted(deliveries: deliveries)
    }

    private mutating func deliver(_ message: Message, to user: UserID) -> Delivery {
        let key = UserKey(app: message.app, user: user)
        var person = self.people.removeValue(forKey: key) ?? Person()
        let position = person.head + 1
        person.log.append(LogEntry(position: position, body: .message(message)))
        let counts = Self.counts(message, for: user) ? 1 : 0
        person.cursors[message.conversation(seenBy: user), default: Cursor()].unread += counts
        person.unread += counts
        let unread = person.unread
        self.people[key] = person
        return Delivery(user: user, position: position, unread: unread)
    }

    private static func counts(_ message: Message, for user: UserID) -> Bool {
        message.sender != user && message.flags.contains(.counted)
    }

    private mutating func putConversation(_ record: ConversationRecord) -> StoreResult {
        if let fault = StoreRules.fault(in: record) { return .refused(fault) }
        let key = ConversationKey(app: record.app, conversation: record.conversation)
        let earlier = self.conversations[key]
        if earlier?.record != record {
            self.conversations[key] = Conversation(
                record: record, members: Set(record.members), version: (earlier?.version ?? 0) + 1)
        }
        return .done
    }

    private mutating func markRead(
        _ key: UserKey, _ conversation: ConversationID, upTo: LogPosition
    ) -> StoreResult {
        guard let person = self.people[key], let cursor = person.cursors[conversation] else {
            return .refused(StoreRules.nothingToRead(conversation))
        }
        guard upTo <= person.head else {
            return .refused(StoreRules.pastHead(field: "up_to", head: person.head, got: upTo))
        }
        guard upTo > cursor.upTo else { return .read(position: nil, unread: person.unread) }
        let left = person.log[Int(upTo)...].count { entry in
            guard case .message(let message) = entry.body else { return false }
            return Self.counts(message, for: key.user) && message.conversation(seenBy: key.user) == conversation
        }
        let position = person.head + 1
        let unread = person.unread + left - cursor.unread
        self.people[key]?.unread = unread
        self.people[key]?.cursors[conversation] = Cursor(unread: left, upTo: upTo)
        self.people[key]?.log.append(LogEntry(position: position, body: .read(conversation: conversation, upTo: upTo)))
        return .read(position: position, unread: unread)
    }
}

extension ReferenceStore {
    private mutating func signIn(_ key: DeviceKey, platform: String, at: Int64) -> StoreResult {
        var person = self.people[key.user] ?? Person()
        let device: DeviceRecord
        if var known = person.devices[key.device], !known.isSignedOut {
            known.platform = platform
            known.signedInAt = at
            device = known
        } else {
            let head = person.head
            device = DeviceRecord(
                key: key, platform: platform, push: .none, settled: head, decided: head, since: head, signedInAt: at,
                isSignedOut: false)
        }
        person.devices[key.device] = device
        self.people[key.user] = person
        return .device(device)
    }

    private mutating func signOut(_ key: DeviceKey, at: Int64) -> StoreResult {
        guard var device = self.people[key.user]?.devices[key.device], !device.isSignedOut else { return .done }
        device.push = .none
        device.isSignedOut = true
        self.people[key.user]?.devices[key.device] = device
        let legs = self.people[key.user]?.openLegs.keys.sorted().filter { $0.device == key.device } ?? []
        for leg in legs { _ = self.endLeg(EndedLeg(leg: leg, end: .signedOut, at: at)) }
        return .done
    }

    private mutating func setPushState(_ key: DeviceKey, _ state: PushState) -> StoreResult {
        guard let device = self.people[key.user]?.devices[key.device] else {
            return .refused(StoreRules.unknownDevice(key))
        }
        if !device.isSignedOut { self.people[key.user]?.devices[key.device]?.push = state }
        return .done
    }

    private mutating func advance(
        _ key: DeviceKey, settled: LogPosition?, decided: LogPosition?
    ) -> StoreResult {
        guard let person = self.people[key.user], var device = person.devices[key.device] else {
            return .refused(StoreRules.unknownDevice(key))
        }
        if let settled, settled > person.head {
            return .refused(StoreRules.pastHead(field: "settled", head: person.head, got: settled))
        }
        if let decided, decided > person.head {
            return .refused(StoreRules.pastHead(field: "decided", head: person.head, got: decided))
        }
        device.settled = max(device.settled, settled ?? 0)
        device.decided = max(device.decided, decided ?? 0)
        self.people[key.user]?.devices[key.device] = device
        return .done
    }

    private mutating func keepLeg(_ leg: OpenLeg) -> StoreResult {
        self.people[leg.leg.user, default: Person()].openLegs[leg.leg] = leg
        return .done
    }

    private mutating func endLeg(_ end: EndedLeg) -> StoreResult {
        self.people[end.leg.user]?.openLegs[end.leg] = nil
        if self.ended[end.leg.message]?[end.leg] == nil {
            self.ended[end.leg.message, default: [:]][end.leg] = end
        }
        return .done
    }

    private mutating func keepReceipt(_ leg: LegID, _ receipt: LegReceipt, at: Int64) -> StoreResult {
        let key = ReceiptKey(leg: leg, receipt: receipt)
        if self.receipts[leg.message]?[key] == nil { self.receipts[leg.message, default: [:]][key] = at }
        return .done
    }
}
