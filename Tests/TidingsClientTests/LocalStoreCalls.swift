import TidingsModel

@testable import ClientCore
@testable import TidingsClient

// Commands and questions in a line of a test.
extension LocalStore {
    typealias Written = LocalStoreOutcome.Written

    private func written(_ command: LocalStoreCommand) throws -> Written {
        guard case .written(let written) = try self.carryOut(command) else { return Written(stored: 0, unread: -1) }
        return written
    }

    private func counted(_ command: LocalStoreCommand) throws -> Int {
        if case .counted(let unread) = try self.carryOut(command) { unread } else { -1 }
    }

    func writeEntries(_ entries: [LogEntry], person: UserID) throws -> Written {
        try self.written(.write(entries, for: person))
    }

    func skip(after position: LogPosition, upTo end: LogPosition) throws -> Written {
        try self.written(.skip(after: position, upTo: end))
    }

    func writeOutgoing(_ draft: MessageDraft) throws { _ = try self.carryOut(.keepOutgoing(draft)) }

    func writeRead(_ conversation: ConversationID, upTo position: LogPosition) throws -> Int {
        try self.counted(.markRead(conversation, upTo: position))
    }

    func writePendingChange(_ change: PendingSettingsChange) throws -> Int {
        try self.counted(.addPendingChange(change))
    }

    func markPendingChange(_ change: PendingSettingsChange, isTold: Bool) throws {
        _ = try self.carryOut(.markPendingChange(change, isTold: isTold))
    }

    func removePendingChange(_ change: PendingSettingsChange, isKept: Bool) throws -> Int {
        try self.counted(.removePendingChange(change, isKept: isKept))
    }

    func replaceSettings(_ all: AllSettings) throws -> Int { try self.counted(.replaceSettings(all)) }

    func writeInfo(_ info: ConversationInfo) throws { _ = try self.carryOut(.keepConversation(info)) }

    func resetLog(_ origin: LogOrigin?) throws { _ = try self.carryOut(.resetLog(origin)) }

    func takeCustomMessages(wall: Int64?) throws -> [CustomMessage] {
        if case .custom(let messages) = try self.carryOut(.takeCustomMessages(wall: wall)) { messages } else { [] }
    }

    func restored() throws -> ClientCore.Restored { try self.ask { try $0.restored() } }
    func counts() throws -> LocalUnreadCounts { try self.ask { try $0.counts() } }
    func preferences() throws -> Preferences { try self.ask { try $0.preferences() } }
    func message(_ id: MessageID) throws -> StoredMessage? { try self.ask { try $0.message(id) } }
    func info(_ conversation: ConversationID) throws -> ConversationInfo? { try self.ask { try $0.info(conversation) } }

    func history(_ conversation: ConversationID, before: LogPosition?, limit: Int) throws -> [StoredMessage] {
        try self.ask { try $0.history(conversation, before: before, limit: limit) }
    }

    func conversations(wall: Int64) throws -> [ConversationSummary] {
        try self.ask { try $0.conversations(wall: wall) }
    }

    func newestInHistory(_ conversation: ConversationID) throws -> MessageID? {
        try self.ask { try $0.newestInHistory(conversation) }
    }

    func nickname(of user: UserID, in conversation: ConversationID) throws -> String? {
        try self.ask { try $0.rows.nickname(of: user, in: conversation) }
    }

    func search(_ text: String, in conversation: ConversationID?, limit: Int) throws -> [StoredMessage] {
        try self.ask { try $0.rows.search(text, in: conversation, limit: limit) }
    }
}
