import StoreModel
package import TidingsModel

extension StoreMachine {
    func readReceipts(of id: MessageID, in app: AppID, asked: UserID?) throws -> StoreResult {
        guard let trace = try self.trace(of: id, in: app), let message = trace.message else {
            return .refused(StoreRules.unknownMessage(id))
        }
        if let asked, asked != message.sender { return .refused(StoreRules.notTheSender(of: message)) }
        return .receipts(
            try trace.receipts(of: message) { user in
                let key = UserKey(app: app, user: user)
                let person = try self.intern(key)
                if let asked, try self.settings(of: key).blocked.contains(asked) {
                    return (0, try self.devices(of: person))
                }
                let number = try self.number(of: message.conversation(seenBy: user), in: app)
                let state = try number.flatMap { try self.conversationState($0, of: person) }
                return (state?.read ?? 0, try self.devices(of: person))
            })
    }

    func readHistory(
        of key: UserKey, in conversation: ConversationID, before: MessageID?, limit: Int, room: RoomAccess
    ) throws -> StoreResult {
        if let fault = StoreRules.fault(inHistoryLimit: limit) { return .refused(fault) }
        if conversation.type == .chatRoom {
            let standing = try self.standing(of: key.user, in: conversation, of: key.app, at: room.at)
            if let refusal = StoreRules.refusal(toEnter: conversation, standing, room: room) {
                return .refused(refusal)
            }
            return try self.roomHistory(of: conversation, for: key, before: before, limit: limit)
        }
        guard let person = try self.find(key), let number = try self.number(of: conversation, in: key.app) else {
            if let before { return .refused(StoreRules.unknownMessage(before, field: "before")) }
            return .history([], hasMore: false)
        }
        // From message to message of the conversation, whatever else the log holds.
        var next = try self.conversationState(number, of: person)?.last ?? 0
        if let before {
            guard let accepted = try self.accepted(before, in: key.app),
                let entry = try self.entry(of: accepted, in: person), entry.conversation == number
            else { return .refused(StoreRules.unknownMessage(before, field: "before")) }
            next = entry.earlier ?? 0
        }
        var messages: [Message] = []
        var run = LogRun()
        while next > 0, messages.count <= limit {
            let entry = try self.entry(at: next, of: person, &run)
            if let message = try self.presentMessage(at: entry.record, to: person) {
                messages.append(entry.isHushed ? message.hushed : message)
            }
            next = entry.earlier ?? 0
        }
        return .history(Array(messages.prefix(limit)), hasMore: messages.count > limit)
    }

    private func roomHistory(
        of conversation: ConversationID, for key: UserKey, before: MessageID?, limit: Int
    ) throws -> StoreResult {
        guard let room = try self.find(conversation, in: key.app) else {
            return .refused(StoreRules.unknownConversation(conversation))
        }
        var end = JournalPosition(Int64.max)
        if let before {
            guard let accepted = try self.accepted(before, in: key.app),
                accepted.message.conversation == conversation
            else { return .refused(StoreRules.unknownMessage(before, field: "before")) }
            end = accepted.record
        }
        let person = try self.find(key)
        var messages: [Message] = []
        func appendMessage(of record: JournalPosition) throws -> Bool {
            if let message = try self.presentMessage(at: record, to: person) {
                let isHushed = person?.settings.blocked.contains(message.sender) == true
                messages.append(isHushed ? message.hushed : message)
            }
            return messages.count <= limit
        }
        let tail = self.roomTail[room.number] ?? []
        for item in tail.reversed() where item.record < end {
            guard try appendMessage(of: item.record) else { break }
        }
        if messages.count <= limit {
            try self.rows.roomMessages(
                of: room.number, before: min(end, tail.first?.record ?? end), appendMessage)
        }
        return .history(Array(messages.prefix(limit)), hasMore: messages.count > limit)
    }

    /// The message of a record as it reads now; nil if the record is none, or it is not in the person's history.
    func presentMessage(at record: JournalPosition, to person: PersonState?) throws -> Message? {
        guard let message = try self.message(at: record, to: person), message.flags.contains(.stored) else {
            return nil
        }
        if let person, try self.isDeleted(message.id, by: person) { return nil }
        return try self.presentMessage(message)
    }

    /// Returns the message with its newest edit; nil if it was recalled.
    package func presentMessage(_ message: Message) throws -> Message? {
        let revision = try self.revision(of: message.id)
        guard revision.recalled == 0 else { return nil }
        return message.revised(content: try self.editedContent(revision), isGone: false)
    }

    private func message(at position: JournalPosition, to person: PersonState?) throws -> Message? {
        let record = try self.record(at: position)
        if case .accept(let message, _, _, _, _) = record { return message }
        guard let person, case .pushStep(let step) = record,
            case .message(let message) = try self.entry(of: step, for: person)
        else { return nil }
        return message
    }

    /// Returns the entry that a job's step makes in one person's log.
    func entry(of step: PushStepRecord, for person: PersonState) throws -> LogEntry.Body {
        guard let recipient = step.recipient(person.key.user) else {
            throw StoredBytesFault.missing("\(person.key) in a step of push \(step.job)")
        }
        return try self.knownPush(step.job).job.entry(for: recipient, at: step.at)
    }

    /// The chunk of a log that was read last: entries of one conversation often stand in the same one.
    struct LogRun {
        var entries: [LogChunk.Entry] = []

        func entry(at position: LogPosition) -> LogChunk.Entry? {
            guard let first = self.entries.first?.position, position >= first,
                position - first < UInt64(self.entries.count)
            else { return nil }
            return self.entries[Int(position - first)]
        }
    }

    func entry(
        at position: LogPosition, of person: PersonState, _ run: inout LogRun
    ) throws -> LogChunk.Entry {
        if let entry = run.entry(at: position) { return entry }
        run.entries.removeAll(keepingCapacity: true)
        func append(_ entry: LogChunk.Entry) -> Bool {
            run.entries.append(entry)
            return true
        }
        let inMemory = person.closedChunks + [person.chunk]
        if let chunk = inMemory.last(where: { $0.first <= position }) {
            try chunk.forEach(append)
        } else {
            _ = try self.rows.chunk(of: person.number, at: position, append)
        }
        guard let entry = run.entry(at: position) else {
            throw StoredBytesFault.missing("entry \(position) of the log of \(person.key)")
        }
        return entry
    }
}
