package import TidingsModel

extension ReferenceStore {
    func record(of key: UserKey) -> UserRecord {
        guard let person = self.people[key] else {
            return UserRecord(key: key, head: 0, unread: 0, devices: [], openLegs: [])
        }
        return UserRecord(
            key: key, head: person.head, unread: person.unread,
            devices: person.devices.values.sorted { $0.key < $1.key },
            openLegs: person.openLegs.values.sorted { $0.leg < $1.leg })
    }

    func page(of key: UserKey, after: LogPosition, limit: Int) -> LogPage {
        guard let person = self.people[key] else { return LogPage(entries: [], head: 0, unread: 0) }
        let entries = after < person.head ? Array(person.log[Int(after)...].prefix(max(0, limit))) : []
        return LogPage(entries: entries, head: person.head, unread: person.unread)
    }

    func trace(of id: MessageID, in app: AppID) -> MessageTrace? {
        guard let accepted = self.messages[id], accepted.message.app == app else { return nil }
        var open: [OpenLeg] = []
        for delivery in accepted.deliveries {
            let person = self.people[UserKey(app: app, user: delivery.user)]
            open += (person?.openLegs.values.sorted { $0.leg < $1.leg } ?? []).filter { $0.leg.message == id }
        }
        let ended = (self.ended[id] ?? [:]).values.sorted { $0.leg < $1.leg }.filter { $0.leg.user.app == app }
        let receipts = (self.receipts[id] ?? [:]).filter { $0.key.leg.user.app == app }
        return MessageTrace(
            message: accepted.message, deliveries: accepted.deliveries,
            open: open.sorted { $0.leg < $1.leg },
            ended: ended,
            receipts: receipts.map { .init(leg: $0.key.leg, receipt: $0.key.receipt, at: $0.value) }.sorted { $0 < $1 })
    }

    /// Everything in the store, in a fixed order.
    package func dump() -> StoreDump {
        let people = self.people.keys.sorted().compactMap { key -> StoreDump.Person? in
            guard let person = self.people[key],
                person.head > 0 || !person.devices.isEmpty || !person.openLegs.isEmpty
            else { return nil }
            return StoreDump.Person(
                record: self.record(of: key), log: person.log,
                cursors: person.cursors.map {
                    .init(conversation: $0.key, unread: $0.value.unread, upTo: $0.value.upTo)
                }
                .sorted { $0.conversation < $1.conversation })
        }
        let conversations = self.conversations.values.map {
            StoreDump.Conversation(record: $0.record, version: $0.version)
        }
        return StoreDump(
            epoch: self.epoch, lastMessageID: self.lastMessageID, people: people,
            conversations: conversations.sorted {
                ($0.record.app, $0.record.conversation) < ($1.record.app, $1.record.conversation)
            },
            messages: self.messages.keys.sorted().compactMap { id in
                self.messages[id].flatMap { self.trace(of: id, in: $0.message.app) }
            })
    }
}

extension MessageTrace.Receipt: Comparable {
    /// Orders by leg, then the receipt's name.
    package static func < (left: Self, right: Self) -> Bool {
        left.leg == right.leg ? left.receipt.rawValue < right.receipt.rawValue : left.leg < right.leg
    }
}

/// Everything a store holds, in a fixed order: for comparing two stores.
package struct StoreDump: Hashable, Sendable {
    /// The epoch of the last opening.
    package var epoch: UInt64
    /// The largest message id accepted.
    package var lastMessageID: MessageID
    /// Sorted by person; people of whom nothing is kept are left out.
    package var people: [Person]
    /// Sorted by app, then conversation.
    package var conversations: [Conversation]
    /// Sorted by message.
    package var messages: [MessageTrace]

    /// A person with the whole log.
    package struct Person: Hashable, Sendable {
        /// What the server core needs to know of the person.
        package var record: UserRecord
        /// From the first entry to the head.
        package var log: [LogEntry]
        /// Sorted by conversation.
        package var cursors: [Cursor]

        /// A person from their parts.
        package init(record: UserRecord, log: [LogEntry], cursors: [Cursor]) {
            self.record = record
            self.log = log
            self.cursors = cursors
        }
    }

    /// How far a person has read a conversation, and what is unread in it.
    package struct Cursor: Hashable, Sendable {
        /// The conversation as the person sees it.
        package var conversation: ConversationID
        /// Its unread messages.
        package var unread: Int
        /// The read cursor, 0 if the person has not read it.
        package var upTo: LogPosition

        /// A cursor from its parts.
        package init(conversation: ConversationID, unread: Int, upTo: LogPosition) {
            self.conversation = conversation
            self.unread = unread
            self.upTo = upTo
        }
    }

    /// A conversation with its membership version.
    package struct Conversation: Hashable, Sendable {
        /// Its present name and members.
        package var record: ConversationRecord
        /// 1 for the first, then one more for each change.
        package var version: UInt64

        /// A conversation from its parts.
        package init(record: ConversationRecord, version: UInt64) {
            self.record = record
            self.version = version
        }
    }

    /// A dump from its parts.
    package init(
        epoch: UInt64, lastMessageID: MessageID, people: [Person], conversations: [Conversation],
        messages: [MessageTrace]
    ) {
        self.epoch = epoch
        self.lastMessageID = lastMessageID
        self.people = people
        self.conversations = conversations
        self.messages = messages
    }
}
