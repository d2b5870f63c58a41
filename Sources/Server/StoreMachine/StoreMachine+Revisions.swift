import OrderedCollections
import StoreModel
package import TidingsModel

package struct AcceptedMessage {
    var message: Message
    /// The membership version its recipients come from.
    var version: UInt64
    package var record: JournalPosition
    var isBackend: Bool
    /// Who has written it as the account that is its sender.
    var author: UserID?

    /// Whose media it may name.
    var writer: UserID { self.isBackend ? self.message.sender : self.author ?? self.message.sender }
}

extension StoreMachine {
    func recall(_ operation: RecallOperation) throws -> StoreResult {
        guard let accepted = try self.accepted(operation.message, in: operation.app) else {
            return .refused(StoreRules.unknownMessage(operation.message))
        }
        let message = accepted.message
        let role = try operation.actor.flatMap { actor in
            try self.find(message.conversation, in: message.app).flatMap {
                try self.stored($0).record.members.member(actor)?.role
            }
        }
        let isRecalled = try self.revision(of: message.id).recalled > 0
        let standing = try self.standing(
            of: message.sender, in: message.conversation, of: message.app, at: operation.at)
        let isOperator = StoreRules.isOperator(
            operation.actor, ofSenderOf: message, among: self.accounts[message.app])
        if let answer = StoreRules.decide(
            operation, about: message, role: role, isOperator: isOperator, isRecalled: isRecalled, standing)
        {
            return answer
        }
        if try self.isUsed(operation.id) { return .refused(StoreRules.usedMessageID(operation.id)) }
        let shown = try self.shownLegs(of: message)
        let recall = Recall(
            id: operation.id, message: message.id, conversation: message.conversation,
            sender: isOperator ? message.sender : operation.actor ?? message.sender, at: operation.at)
        let result = try self.write(.recall(message.app, recall, accepted: accepted.record))
        guard case .recalled(_, _, let deliveries, _) = result else { return result }
        let hushed = Set(deliveries.filter(\.isHushed).map(\.user))
        return .recalled(
            recall, of: message.revised(content: nil, isGone: true), deliveries: deliveries,
            shown: shown.filter { !hushed.contains($0.user.user) })
    }

    private func shownLegs(of message: Message) throws -> [LegID] {
        var first: [LegID: LegEnd] = [:]
        for position in try self.records(of: message.id) {
            if case .endLeg(let ended) = try self.record(at: position), first[ended.leg] == nil {
                first[ended.leg] = ended.end
            }
        }
        return first.filter { $0.key.user.app == message.app && $0.value.mayBeShown }.keys.sorted()
    }

    func edit(_ operation: EditOperation) throws -> StoreResult {
        if let fault = StoreRules.fault(inContent: operation.content) { return .refused(fault) }
        guard let accepted = try self.accepted(operation.message, in: operation.app) else {
            return .refused(StoreRules.unknownMessage(operation.message))
        }
        let message = accepted.message
        let revision = try self.revision(of: message.id)
        let content = try self.editedContent(revision) ?? message.content
        let standing = try self.standing(
            of: message.sender, in: message.conversation, of: message.app, at: operation.at)
        if let answer = StoreRules.decide(
            operation, about: message,
            isOperator: StoreRules.isOperator(
                operation.actor, ofSenderOf: message, among: self.accounts[message.app]),
            isOfOther: accepted.isBackend || operation.actor != accepted.writer,
            isRecalled: revision.recalled > 0, content: content, standing)
        {
            return answer
        }
        if operation.actor != nil, let refusal = try self.refusalToStrangers(message) { return .refused(refusal) }
        let edit = Edit(
            message: message.id, conversation: message.conversation, content: operation.content, at: operation.at)
        return try self.write(.edit(message.app, edit, accepted: accepted.record))
    }

    func delete(_ key: UserKey, _ deletion: Deletion, at: Int64) throws -> StoreResult {
        let deletion = Deletion(
            conversation: deletion.conversation, messages: Set(deletion.messages).sorted())
        if let fault = StoreRules.fault(in: deletion) { return .refused(fault) }
        let person = try self.find(key)
        var positions: [LogPosition] = []
        for id in deletion.messages {
            guard let person, let accepted = try self.accepted(id, in: key.app),
                accepted.message.conversation(seenBy: key.user) == deletion.conversation,
                let entry = try self.entry(of: accepted, in: person)
            else { return .refused(StoreRules.unknownMessage(id, field: "messages")) }
            if try self.isDeleted(id, by: person) { return .refused(StoreRules.deletedMessage(id)) }
            positions.append(entry.position)
        }
        return try self.write(.delete(key, deletion, positions: positions, at: at))
    }
}

// MARK: - Applying

extension StoreMachine {
    func applyRecall(
        _ recall: Recall, of accepted: JournalPosition, at position: JournalPosition
    ) throws -> StoreResult {
        let (message, version) = try self.message(recall.message, at: accepted)
        let before = try self.revision(of: message.id)
        self.revisionTail[message.id] = MessageRevision(recalled: position, edited: before.edited)
        self.scheduleErasure(of: message.pushJob == nil ? accepted : nil, before: before, at: position)
        if let job = message.pushJob { try self.count(job, at: position) { $0.recalled += 1 } }
        try self.recount(message, before, says: nil)
        self.rememberID(recall.id, position)
        let deliveries = try self.appendNotice(of: message, version: version, record: accepted, at: position) {
            person, entry, state in
            person.recall(entry, in: &state)
        } isHushed: {
            $0.isHushed
        }
        return .recalled(recall, of: message, deliveries: deliveries, shown: [])
    }

    func applyEdit(_ edit: Edit, of accepted: JournalPosition, at position: JournalPosition) throws -> StoreResult {
        let (message, version) = try self.message(edit.message, at: accepted)
        let before = try self.revision(of: message.id)
        self.revisionTail[message.id] = MessageRevision(recalled: before.recalled, edited: position)
        self.scheduleErasure(of: message.pushJob == nil ? accepted : nil, before: before, at: position)
        try self.recount(message, before, says: edit.content)
        try self.noteMedia(in: edit, of: accepted)
        let deliveries = try self.appendNotice(of: message, version: version, record: accepted, at: position) {
            _, _, _ in
        }
        return .noted(.edit(edit.seenByRecipient(of: message, deliveries)), deliveries: deliveries)
    }

    /// - Parameter text: what the message says from now on; nil for one that is recalled.
    private func recount(_ message: Message, _ before: MessageRevision, says text: String?) throws {
        // What a push says is counted with its job.
        guard message.pushJob == nil else { return }
        try self.count(in: message.app) { use in
            let earlier = try self.editedContent(before) ?? message.content
            use.messages.add(text == nil ? -1 : 0, bytes: (text?.utf8.count ?? 0) - earlier.utf8.count)
        }
    }

    private func appendNotice(
        of message: Message, version: UInt64, record: JournalPosition, at position: JournalPosition,
        _ change: (PersonState, LogChunk.Entry, inout PersonState.ConversationState) -> Void,
        isHushed: (LogChunk.Entry) -> Bool = { _ in false }
    ) throws -> [Delivery] {
        var deliveries: [Delivery] = []
        for person in try self.recipients(of: message, version: version) where position > person.applied {
            guard let entry = try self.entry(of: record, in: person) else {
                throw StoredBytesFault.missing("the entry of message \(message.id) in the log of \(person.key)")
            }
            var state = try self.stateOrNew(entry.conversation, of: person)
            let before = person.counts.unread
            change(person, entry, &state)
            person.setState(state, of: entry.conversation)
            let isHushed = isHushed(entry)
            var delivery = self.append(
                .init(record: position, conversation: entry.conversation, isHushed: isHushed), to: person)
            delivery.wasUnread = delivery.unread < before
            delivery.isHushed = isHushed
            deliveries.append(delivery)
        }
        return deliveries
    }

    func applyDeletion(
        _ key: UserKey, _ deletion: Deletion, positions: [LogPosition], at position: JournalPosition
    ) throws -> StoreResult {
        let person = try self.intern(key)
        guard position > person.applied, let number = try self.number(of: deletion.conversation, in: key.app) else {
            return .done
        }
        var state = try self.stateOrNew(number, of: person)
        for wanted in positions {
            try self.forEachEntry(of: person, after: wanted - 1) { entry in
                person.recall(entry, in: &state)
                return false
            }
        }
        person.deleted.formUnion(deletion.messages)
        person.setState(state, of: number)
        return .noted(
            .deletion(deletion), deliveries: [self.append(.init(record: position, conversation: number), to: person)])
    }
}

// MARK: - Looking up

extension StoreMachine {
    package func accepted(_ id: MessageID, in app: AppID) throws -> AcceptedMessage? {
        let positions = try self.acceptedTail[id].map { [$0] } ?? self.rows.records(of: id)
        for position in positions {
            guard let accepted = try self.accepted(id, in: self.record(at: position), at: position) else { continue }
            return accepted.message.app == app ? accepted : nil
        }
        return nil
    }

    /// The message of a record, or the one with that id of a job's step; nil if it has none.
    func accepted(
        _ id: MessageID, in record: JournalRecord, at position: JournalPosition
    ) throws -> AcceptedMessage? {
        if case .accept(let message, let device, let version, _, let author) = record {
            return AcceptedMessage(
                message: message, version: version, record: position, isBackend: device == nil, author: author)
        }
        guard case .pushStep(let step) = record, let recipient = step.recipient(of: id),
            let message = try self.knownPush(step.job).job.message(for: recipient, at: step.at)
        else { return nil }
        return AcceptedMessage(message: message, version: 0, record: position, isBackend: true)
    }

    private func message(_ id: MessageID, at position: JournalPosition) throws -> (Message, version: UInt64) {
        guard let accepted = try self.accepted(id, in: self.record(at: position), at: position) else {
            throw StoredBytesFault.badValue("reference to a message: journal record \(position) is none")
        }
        return (accepted.message, accepted.version)
    }

    package func revision(of id: MessageID) throws -> MessageRevision {
        try self.revisionTail[id] ?? self.rows.revision(of: id) ?? MessageRevision()
    }

    /// Nil if the message was not edited.
    package func editedContent(_ revision: MessageRevision) throws -> String? {
        guard revision.edited > 0 else { return nil }
        guard case .edit(_, let edit, _) = try self.record(at: revision.edited) else {
            throw StoredBytesFault.badValue("reference to an edit: journal record \(revision.edited) is none")
        }
        return edit.content
    }

    func isDeleted(_ id: MessageID, by person: PersonState) throws -> Bool {
        if person.deleted.contains(id) { return true }
        return try self.rows.has(.deleted(person.number, id))
    }
}
