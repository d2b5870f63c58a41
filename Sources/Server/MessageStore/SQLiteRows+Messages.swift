import StoreMachine
import StoreModel
import TidingsModel

// Conversations, messages and pushes.
extension SQLiteRows {
    func conversation(_ key: ConversationKey) throws -> ConversationRow? {
        let (type, target) = (key.conversation.type.rawValue, key.conversation.target)
        return try self.conversation(self.sql.conversationByKey.bind(key.app.rawValue, type, target))
    }

    func conversation(_ number: Int64) throws -> ConversationRow? {
        try self.conversation(self.sql.conversationByNumber.bind(number))
    }

    private func conversation(_ statement: SQLStatement) throws -> ConversationRow? {
        try statement.first { row in
            let type = try row.conversationType(2)
            let number = Int64(try row.count(0))
            guard number <= self.lastConversation else { throw StoredBytesFault.badValue("conversation's number") }
            let version = try row.count(5)
            var ranks: [Int64: Member] = [:]
            var reader = ByteReader(row.blob(8))
            while !reader.isAtEnd {
                ranks[try reader.read()] = Member("", role: try reader.read(), nickname: try reader.read())
            }
            let record = ConversationRecord(
                app: AppID(row.text(1)), conversation: ConversationID(type: type, target: row.text(3)),
                name: row.text(4), portrait: row.optionalText(6), members: [Member](),
                push: PushOptions(stored: row.optionalText(13)))
            return ConversationRow(
                number: number,
                stored: StoredConversation(
                    record: record, version: version, isDissolved: row.int(7) != 0,
                    bans: try row.decoded(9, as: [Ban].self) ?? [], mutes: try row.decoded(10, as: [Ban].self) ?? [],
                    onlyAdminsWrite: row.int(11) != 0, invited: try row.decoded(12, as: [Invitee].self) ?? []),
                ranks: ranks, members: try self.members(of: number, version: version))
        }
    }

    func members(of conversation: Int64, version: UInt64) throws -> [Int64] {
        let members = try self.sql.membership.bind(conversation, version).first { row in
            var reader = ByteReader(row.blob(0))
            var members: [Int64] = []
            while !reader.isAtEnd { members.append(try reader.signed()) }
            return members
        }
        guard let members else {
            throw StoredBytesFault.missing("membership version \(version) of conversation \(conversation)")
        }
        return members
    }

    func conversations(
        of app: AppID, after: ConversationID?, limit: Int
    ) throws -> [(summary: ListedConversation, number: Int64, version: UInt64)] {
        self.sql.conversationsAfter.bind(app.rawValue, after?.type.rawValue ?? "", after?.target ?? "", limit)
        return try self.sql.conversationsAfter.all { row in
            let id = ConversationID(type: try row.conversationType(0), target: row.text(1))
            let summary = ListedConversation(
                id: id, name: row.text(2), portrait: row.optionalText(3), members: 0, isDissolved: row.int(4) != 0)
            return (summary: summary, number: Int64(try row.count(5)), version: try row.count(6))
        }
    }

    func allConversations() throws -> [Int64] { try self.sql.allConversations.all { $0.int(0) } }

    func roomMessages(
        of room: Int64, before: JournalPosition, _ body: (JournalPosition) throws -> Bool
    ) throws {
        try self.sql.roomMessages.bind(room, before).forEach { try body($0.position(0)) }
    }

    // MARK: Messages

    func records(of message: MessageID) throws -> [JournalPosition] {
        var positions: [JournalPosition] = []
        try self.sql.indexOf.bind(message.rawValue).forEach { row in
            var position = row.position(0)
            positions.append(position)
            var reader = ByteReader(row.blob(1))
            while !reader.isAtEnd {
                position &+= try reader.number()
                positions.append(position)
            }
            return true
        }
        return positions
    }

    func messages(before end: MessageID, notBefore oldest: MessageID, limit: Int) throws -> [MessageID] {
        try self.sql.idsBefore.bind(end.rawValue, oldest.rawValue, limit).all { $0.message(0) }
    }

    func revision(of message: MessageID) throws -> MessageRevision? {
        try self.sql.revision.bind(message.rawValue).first {
            MessageRevision(recalled: $0.position(0), edited: $0.position(1))
        }
    }

    func customMessage(_ key: CustomKey) throws -> PersonState.SentMessage? {
        try self.sql.customMessage.bind(key.app.rawValue, key.id.rawValue).first {
            PersonState.SentMessage(id: $0.message(0), at: $0.int(1))
        }
    }

    func mediaUses(of media: MediaID, by sender: String) throws -> [MessageID] {
        try self.sql.mediaUses.bind(media.rawValue, sender).all { $0.message(0) }
    }

    // MARK: Pushes

    func push(_ id: PushJobID) throws -> PushRow? {
        try self.sql.push.bind(id.rawValue).first { row in
            guard let state = PushJob.State(rawValue: row.text(1)) else {
                throw StoredBytesFault.badValue("state of a push")
            }
            var reader = ByteReader(row.blob(5))
            return PushRow(
                id: id, app: AppID(row.text(8)), record: try row.count(0), state: state, changedAt: row.int(2),
                cursor: try row.count(3), steps: Int(try row.count(4)), counts: try reader.read(),
                pass: Int(try row.count(7)), applied: try row.count(6))
        }
    }

    func pushes(of app: AppID?, before: PushJobID, limit: Int) throws -> [PushJobID] {
        guard let app else { return try self.sql.allPushes.bind(before.rawValue, limit).all { $0.message(0) } }
        return try self.sql.pushesBefore.bind(app.rawValue, before.rawValue, limit).all { $0.message(0) }
    }

    func pushStep(_ number: Int, of job: PushJobID) throws -> JournalPosition? {
        try self.sql.pushStep.bind(job.rawValue, number).first { try $0.count(0) }
    }
}
