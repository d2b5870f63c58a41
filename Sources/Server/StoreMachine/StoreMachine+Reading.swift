import StoreModel
import TidingsModel

extension StoreMachine {
    func loadUser(_ key: UserKey) throws -> UserRecord {
        guard let person = try self.find(key) else {
            return UserRecord(key: key, head: 0, unread: 0, devices: [], openLegs: [])
        }
        return UserRecord(
            key: key, head: person.head, unread: person.counts.unread, devices: try self.devices(of: person),
            openLegs: try self.openLegs(of: person).values.sorted { $0.leg < $1.leg }, settings: person.settings,
            account: person.account, profile: person.profile, labels: person.labels)
    }

    func readUnread(_ key: UserKey, _ conversation: ConversationID?) throws -> UnreadReport {
        let person = try self.find(key)
        var state = PersonState.ConversationState()
        if let person, let number = try conversation.flatMap({ try self.number(of: $0, in: key.app) }) {
            state = try self.conversationState(number, of: person) ?? state
        }
        return UnreadReport(
            counts: person?.counts ?? UnreadCounts(), head: person?.head ?? 0,
            conversation: conversation.map { id in
                UnreadReport.Conversation(
                    id: id, unread: state.unread, mentions: state.mentions, readUpTo: state.read,
                    isMuted: person?.settings.isMuted(id) ?? false)
            })
    }

    /// In order, until `body` returns false.
    func forEachEntry(
        of person: PersonState, after: LogPosition, _ body: (LogChunk.Entry) throws -> Bool
    ) throws {
        try self.reading(of: person) { try self.readEntries(of: person, after: after, body) }
    }

    private func readEntries(
        of person: PersonState, after: LogPosition, _ body: (LogChunk.Entry) throws -> Bool
    ) throws {
        var goesOn = true
        func wanted(_ entry: LogChunk.Entry) throws -> Bool {
            goesOn = try entry.position <= after || body(entry)
            return goesOn
        }
        let firstInMemory = person.closedChunks.first?.first ?? person.chunk.first
        if after + 1 < firstInMemory {
            try self.rows.entries(of: person.number, from: after + 1, before: firstInMemory, wanted)
        }
        for chunk in person.closedChunks + [person.chunk] where goesOn && chunk.end > after + 1 {
            try chunk.forEach(wanted)
        }
    }

    /// The entry a journal record made in a person's log. Entries are in the order of their records, so the rows are searched by
    /// halves.
    func entry(of record: JournalPosition, in person: PersonState) throws -> LogChunk.Entry? {
        try self.reading(of: person) { try self.findEntry(of: record, in: person) }
    }

    /// Nil also for the message of another recipient of a push: one record has them all.
    func entry(of accepted: AcceptedMessage, in person: PersonState) throws -> LogChunk.Entry? {
        guard accepted.message.pushJob == nil || accepted.message.conversation.target == person.key.user.rawValue else {
            return nil
        }
        return try self.entry(of: accepted.record, in: person)
    }

    private func findEntry(of record: JournalPosition, in person: PersonState) throws -> LogChunk.Entry? {
        var found: LogChunk.Entry?
        var last: JournalPosition = 0
        func compare(_ entry: LogChunk.Entry) -> Bool {
            if entry.record == record { found = entry }
            last = entry.record
            return entry.record < record
        }
        let inMemory = person.closedChunks + [person.chunk]
        for chunk in inMemory.reversed() {
            try chunk.forEach(compare)
            if found != nil { return found }
        }
        var low: LogPosition = 1
        var high = inMemory[0].first - 1
        while low <= high {
            var isAfter = false
            var end: LogPosition = 0
            let first = try self.rows.chunk(of: person.number, at: low + (high - low) / 2) { entry in
                isAfter = end == 0 && entry.record > record
                end = entry.position + 1
                return !isAfter && compare(entry)
            }
            guard let first else { return nil }
            guard first > 0 else { throw StoredBytesFault.badValue("position in a log") }
            if isAfter {
                high = first - 1
                continue
            }
            if found != nil || last > record { return found }
            guard end > low else { throw StoredBytesFault.missing("entry \(low) of the log of \(person.key)") }
            low = end
        }
        return nil
    }

    func isUsed(_ id: MessageID) throws -> Bool {
        guard id <= self.lastMessageID else { return false }
        if self.acceptedTail[id] != nil { return true }
        return try self.rows.records(of: id).contains { try self.record(at: $0).startsID }
    }

    /// The record by which the person has an entry with that id.
    func entryRecord(of id: MessageID, _ person: PersonState) throws -> JournalRecord? {
        for position in try self.acceptedTail[id].map({ [$0] }) ?? self.rows.records(of: id) {
            let record = try self.record(at: position)
            guard record.startsID else { continue }
            // Of a step each of its people has an entry, but with another id.
            if case .pushStep(let step) = record, step.recipient(of: id)?.user != person.key.user { return nil }
            return try self.entry(of: position, in: person) == nil ? nil : record
        }
        return nil
    }

    func isKnown(_ receipt: PersonState.Receipt, of person: PersonState) throws -> Bool {
        if person.receipts.contains(receipt) { return true }
        return try self.rows.has(.receipt(person.number, receipt))
    }

    /// In order.
    func records(of id: MessageID) throws -> [JournalPosition] {
        try self.rows.records(of: id) + self.indexTail.filter { $0.message == id }.map(\.record)
    }

    /// In order. The tail is looked through once for all of them.
    func records(ofAll ids: Set<MessageID>) throws -> [JournalPosition] {
        // tidy: order does not leave: they are sorted
        var records = try ids.flatMap { try self.rows.records(of: $0) }
        for (message, record) in self.indexTail where ids.contains(message) { records.append(record) }
        return records.sorted()
    }

    private func recall(of id: MessageID) throws -> MessageID? {
        let position = try self.revision(of: id).recalled
        guard position > 0, case .recall(_, let recall, _) = try self.record(at: position) else { return nil }
        return recall.id
    }

    func readMessage(_ id: MessageID, in app: AppID) throws -> MessageTrace? {
        guard let accepted = try self.accepted(id, in: app) else { return nil }
        return MessageTrace(
            of: .message(try self.revised(accepted.message)), recall: try self.recall(of: id), author: accepted.author)
    }

    /// Returns the message as it reads now.
    private func revised(_ message: Message) throws -> Message {
        try self.presentMessage(message) ?? message.revised(content: nil, isGone: true)
    }

    /// Sorted by person.
    private struct AcceptedSubject {
        var subject: MessageTrace.Subject
        var app: AppID
        var author: UserID?
        var entries: [(person: PersonState, entry: LogChunk.Entry)]

        var isMessage: Bool { if case .message = self.subject { true } else { false } }
    }

    /// - Parameter app: whose id it must be; nil for any app.
    func trace(of id: MessageID, in app: AppID?) throws -> MessageTrace? {
        var accepted: AcceptedSubject?
        var ended: [LegID: EndedLeg] = [:]
        var receipts: [LegID: [LegReceipt: Int64]] = [:]
        for position in try self.records(of: id) {
            switch try self.record(at: position) {
            case .accept(let message, _, let version, _, let author):
                let people = try self.recipients(of: message, version: version)
                let entries = try self.entries(of: position, in: people)
                accepted = AcceptedSubject(
                    subject: .message(try self.revised(message)), app: message.app, author: author, entries: entries)
                for (person, entry) in entries where entry.lacksDevice {
                    let leg = LegID(message: id, user: person.key, device: nil)
                    if ended[leg] == nil { ended[leg] = EndedLeg(leg: leg, end: .noDevice, at: message.sentAt) }
                }
            case .pushStep(let step):
                accepted = try self.subject(id, of: step, at: position)
                if let (person, entry) = accepted?.entries.first, entry.lacksDevice {
                    let leg = LegID(message: id, user: person.key, device: nil)
                    if ended[leg] == nil { ended[leg] = EndedLeg(leg: leg, end: .noDevice, at: step.at) }
                }
            case .recall(let app, let recall, let record) where recall.id == id:
                guard let message = try self.accepted(recall.message, in: self.record(at: record), at: record) else {
                    throw StoredBytesFault.missing("the message that \(id) recalled")
                }
                let people = try self.recipients(of: message.message, version: message.version)
                accepted = AcceptedSubject(
                    subject: .recall(recall, app: app), app: app, entries: try self.entries(of: position, in: people))
            case .custom(let operation):
                let people = try operation.recipients.map { try self.intern(UserKey(app: operation.app, user: $0)) }
                accepted = AcceptedSubject(
                    subject: .custom(operation.message, app: operation.app), app: operation.app,
                    entries: try self.entries(of: position, in: people))
            case .endLeg(let end): if ended[end.leg] == nil { ended[end.leg] = end.inTrace }
            case .receipt(let leg, let receipt, let at, _):
                if receipts[leg]?[receipt] == nil { receipts[leg, default: [:]][receipt] = at }
            case .putConversation, .change, .recall, .edit, .delete, .conversationSettings, .personSettings, .blocked,
                .userAccount, .profile, .signIn, .signOut, .setPushState, .setVoIPToken, .deviceStatus, .advance,
                .markRead,
                .keepLeg, .objectNames, .account, .following, .control, .push, .pushChange, .labels, .lost:
                break
            }
        }
        guard let accepted, app == nil || accepted.app == app else { return nil }
        var deliveries: [Delivery] = []
        var open: [OpenLeg] = []
        for (person, entry) in accepted.entries {
            deliveries.append(
                Delivery(
                    user: person.key.user, position: entry.position, unread: entry.unread,
                    isHushed: accepted.isMessage && entry.isHushed))
            // tidy: order does not leave: they are sorted below
            open += try self.openLegs(of: person).values.filter { $0.leg.message == id }
        }
        let kept = receipts.filter { $0.key.user.app == accepted.app }.flatMap { leg, times in
            times.map { MessageTrace.Receipt(leg: leg, receipt: $0.key, at: $0.value) }
        }
        return MessageTrace(
            of: accepted.subject, recall: try self.recall(of: id), author: accepted.author, deliveries: deliveries,
            open: open.sorted { $0.leg < $1.leg },
            ended: ended.values.filter { $0.leg.user.app == accepted.app }.sorted { $0.leg < $1.leg },
            receipts: kept.sorted())
    }

    /// Returns a job's message, with the entry of its one person.
    private func subject(
        _ id: MessageID, of step: PushStepRecord, at position: JournalPosition
    ) throws -> AcceptedSubject? {
        guard let recipient = step.recipient(of: id) else { return nil }
        let person = try self.intern(UserKey(app: step.app, user: recipient.user))
        let entries = try self.entries(of: position, in: [person])
        switch try self.knownPush(step.job).job.entry(for: recipient, at: step.at) {
        case .message(let message):
            return AcceptedSubject(
                subject: .message(try self.revised(message)), app: step.app, entries: entries)
        case .custom(let message):
            return AcceptedSubject(subject: .custom(message, app: step.app), app: step.app, entries: entries)
        default: return nil  // tidy: a push makes no other entries
        }
    }

    func withReports(_ trace: MessageTrace) throws -> MessageTrace {
        var trace = trace
        trace.reports = try trace.devices.compactMap { key in
            try self.device(key)?.status.map { DeviceReport(device: key, reported: $0) }
        }
        return trace
    }

    private func entries(
        of record: JournalPosition, in people: [PersonState]
    ) throws -> [(person: PersonState, entry: LogChunk.Entry)] {
        try people.filter { !$0.isSetAside }.map { person in
            guard let entry = try self.entry(of: record, in: person) else {
                throw StoredBytesFault.missing("the entry of journal record \(record) in the log of \(person.key)")
            }
            return (person, entry)
        }
    }

    /// Everyone a message has an entry for, sorted.
    func recipients(of message: Message, version: UInt64) throws -> [PersonState] {
        if message.conversation.type == .chatRoom { return [] }
        if message.pushJob != nil {
            return [try self.intern(UserKey(app: message.app, user: UserID(message.conversation.target)))]
        }
        if message.conversation.type.targetIsPeer {
            return try Set([message.sender, UserID(message.conversation.target)]).sorted().map {
                try self.intern(UserKey(app: message.app, user: $0))
            }
        }
        guard let conversation = try self.find(message.conversation, in: message.app) else {
            throw StoredBytesFault.missing("conversation \(message.conversation)")
        }
        let members = try self.members(of: conversation, version: version)
        guard !message.recipients.isEmpty else { return try members.map { try self.person($0) } }
        let wanted = Set(
            try (message.recipients + [message.sender]).map {
                try self.intern(UserKey(app: message.app, user: $0)).number
            })
        return try members.filter { wanted.contains($0) }.map { try self.person($0) }
    }
}
