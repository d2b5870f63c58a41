import StoreModel
import TidingsModel

/// Messages of a conversation as they read now.
extension StoreEngine {
    func readHistory(
        of key: UserKey, in conversation: ConversationID, before: MessageID?, limit: Int
    ) throws -> StoreResult {
        if let fault = StoreRules.fault(inHistoryLimit: limit) { return .refused(fault) }
        if conversation.type == .chatRoom {
            return try self.roomHistory(of: conversation, for: key, before: before, limit: limit)
        }
        guard let person = try self.find(key), let number = try self.number(of: conversation, in: key.app) else {
            if let before { return .refused(StoreRules.unknownMessage(before, field: "before")) }
            return .history([], hasMore: false)
        }
        var end = LogPosition.max
        if let before {
            guard let accepted = try self.accepted(before, in: key.app),
                let entry = try self.entry(of: accepted.record, in: person), entry.conversation == number
            else { return .refused(StoreRules.unknownMessage(before, field: "before")) }
            end = entry.position
        }
        var messages: [Message] = []
        try self.forEachEntryBackwards(of: person, before: end) { entry in
            guard entry.conversation == number else { return true }
            if let message = try self.presentMessage(at: entry.record, to: person) { messages.append(message) }
            return messages.count <= limit
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
        func take(_ record: JournalPosition) throws -> Bool {
            if let message = try self.presentMessage(at: record, to: person) { messages.append(message) }
            return messages.count <= limit
        }
        let tail = self.roomTail[room.number] ?? []
        for item in tail.reversed() where item.record < end {
            guard try take(item.record) else { break }
        }
        if messages.count <= limit {
            let row = self.sql.roomMessages
            row.bind(1, room.number)
            row.bind(2, min(end, tail.first?.record ?? end))
            defer { row.reset() }
            while try row.step() {
                guard try take(row.position(0)) else { break }
            }
        }
        return .history(Array(messages.prefix(limit)), hasMore: messages.count > limit)
    }

    /// The message of a record as it reads now; nil if the record is none, or it is not in the person's history.
    private func presentMessage(at record: JournalPosition, to person: PersonState?) throws -> Message? {
        guard case .accept(var message, _, _) = try self.record(at: record), message.flags.contains(.stored) else {
            return nil
        }
        let revision = try self.revision(of: message.id)
        if revision.recalled > 0 { return nil }
        if let person, try self.isDeleted(message.id, by: person) { return nil }
        message.content = try self.editedContent(revision) ?? message.content
        return message
    }

    /// Calls `body` for each entry of a person's log before a position, newest first, until it returns false.
    private func forEachEntryBackwards(
        of person: PersonState, before: LogPosition, _ body: (LogChunk.Entry) throws -> Bool
    ) throws {
        var entries: [LogChunk.Entry] = []
        func collect(_ entry: LogChunk.Entry) -> Bool {
            if entry.position < before { entries.append(entry) }
            return entry.position < before
        }
        func hand() throws -> Bool {
            defer { entries.removeAll(keepingCapacity: true) }
            return try entries.reversed().allSatisfy { try body($0) }
        }
        let inMemory = person.closedChunks + [person.chunk]
        for chunk in inMemory.reversed() where chunk.first < before {
            try chunk.forEach(collect)
            guard try hand() else { return }
        }
        let row = self.sql.chunksBefore
        row.bind(1, person.number)
        row.bind(2, Int64(clamping: min(before, inMemory[0].first)))
        defer { row.reset() }
        while try row.step() {
            try LogChunk.read(row.blob(1), first: row.position(0), format: row.int(2), collect)
            guard try hand() else { return }
        }
    }
}
