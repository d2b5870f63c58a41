package import OrderedCollections
package import TidingsModel

/// The phone's store in memory, as a value: for the World and the scenarios.
package typealias MemoryLocalStore = LocalStoreMachine<MemoryLocalRows>

extension LocalStoreMachine where Rows == MemoryLocalRows {
    package init() { self.init(rows: MemoryLocalRows()) }

    /// Not generic, so that the World, another module, runs the rules as they were compiled for these rows.
    package mutating func carryOut(_ command: LocalStoreCommand) -> LocalStoreOutcome {
        switch command {
        case .beginAnew, .forgetPerson: self.rows = MemoryLocalRows(handedOver: self.rows.handedOver)
        default: return self.apply(command)  // tidy: the others leave the rows where they are
        }
        return .done
    }
}

package struct MemoryLocalRows: LocalRows, Hashable, Sendable {
    package typealias Failure = Never

    package private(set) var log = LocalLog()
    package private(set) var messages: OrderedDictionary<MessageID, StoredMessage> = [:]
    /// Where the unread messages stand, oldest first.
    private var unread: OrderedDictionary<ConversationID, OrderedDictionary<MessageID, LogPosition>> = [:]
    /// Kept rather than counted, because they are asked after every write.
    package private(set) var unreadCounts: [ConversationID: LocalUnreadCounts.Count] = [:]
    private var read: OrderedDictionary<ConversationID, LocalReading> = [:]
    private var drafts: OrderedDictionary<ClientMessageID, MessageDraft> = [:]
    package private(set) var settings = AllSettings()
    private var pending: OrderedDictionary<String, LocalPendingChange> = [:]
    package private(set) var infos: [ConversationID: LocalInfo] = [:]
    private var members: OrderedDictionary<ConversationID, [Member]> = [:]
    package private(set) var invitations: [Invitation] = []
    /// In the order of the log.
    package private(set) var custom: [LocalCustomMessage] = []
    package private(set) var handedOver: LocalHandOver

    init(handedOver: LocalHandOver = LocalHandOver()) { self.handedOver = handedOver }

    package mutating func save(_ log: LocalLog) { self.log = log }

    // MARK: Messages

    package func message(_ id: MessageID) -> StoredMessage? { self.messages[id] }

    package mutating func insert(_ message: StoredMessage) {
        self.messages[message.id] = message
        guard message.isUnread else { return }
        self.unread[message.conversation, default: [:]][message.id] = message.position
        self.count(message, 1)
    }

    package mutating func update(_ message: StoredMessage) {
        let before = self.messages.updateValue(message, forKey: message.id)
        if let before, before.isUnread, !message.isUnread { self.uncount(before) }
    }

    package mutating func removeMessage(_ id: MessageID) {
        if let message = self.messages.removeValue(forKey: id), message.isUnread { self.uncount(message) }
    }

    private mutating func uncount(_ message: StoredMessage) {
        self.unread[message.conversation]?.removeValue(forKey: message.id)
        self.count(message, -1)
    }

    private mutating func count(_ message: StoredMessage, _ one: Int) {
        var count = self.unreadCounts[message.conversation] ?? LocalUnreadCounts.Count()
        count.unread += one
        if message.mentionsMe { count.mentions += one }
        self.unreadCounts[message.conversation] = count.unread > 0 ? count : nil
    }

    package mutating func markMessagesRead(in conversation: ConversationID, upTo position: LogPosition) {
        guard let unread = self.unread[conversation], !unread.isEmpty else { return }
        for (id, unreadAt) in unread where unreadAt <= position {
            guard let index = self.messages.index(forKey: id) else { continue }
            self.messages.values[index].isUnread = false
            self.count(self.messages.values[index], -1)
        }
        self.unread[conversation] = unread.filter { $0.value > position }
    }

    package mutating func moveMessagesBeyondLog() {
        let shift = max(self.messages.values.map(\.position).max() ?? 0, StoredMessage.beyondLog) + 1
        for index in self.messages.values.indices where !self.messages.values[index].isOnlyHere {
            self.messages.values[index].position += shift
            self.messages.values[index].isOnlyHere = true
            self.messages.values[index].isUnread = false
        }
        (self.unread, self.unreadCounts) = ([:], [:])
    }

    private func all(_ conversation: ConversationID) -> [StoredMessage] {
        self.messages.values.filter { $0.conversation == conversation }
    }

    package func lastPosition(in conversation: ConversationID, before end: LogPosition) -> LogPosition? {
        self.all(conversation).map(\.position).filter { $0 < end }.max()
    }

    package func firstMessage(in conversation: ConversationID, from position: LogPosition) -> StoredMessage? {
        self.all(conversation).filter { $0.position >= position }.min { $0.position < $1.position }
    }

    package func newestMessage(in conversation: ConversationID, upTo position: LogPosition) -> MessageID? {
        self.all(conversation).filter { $0.position <= position }.map(\.id).max()
    }

    package func newestMessage(
        in conversation: ConversationID, with flags: MessageFlags, without others: MessageFlags
    ) -> MessageID? {
        self.all(conversation).filter {
            $0.message.flags.isSuperset(of: flags) && $0.message.flags.isDisjoint(with: others)
        }.map(\.id).max()
    }

    package func newestMessages(without flags: MessageFlags) -> [StoredMessage] {
        var newest: OrderedDictionary<ConversationID, StoredMessage> = [:]
        for message in self.messages.values
        where message.message.flags.isDisjoint(with: flags)
            && newest[message.conversation]?.id ?? message.id <= message.id
        {
            newest[message.conversation] = message
        }
        return newest.values.elements
    }

    package func messages(
        in conversation: ConversationID, before end: MessageID?, with flags: MessageFlags, limit: Int
    ) -> [StoredMessage] {
        let shown = self.all(conversation).filter { message in
            message.message.flags.isSuperset(of: flags) && end.map { message.id < $0 } ?? true
        }
        return shown.sorted { $0.id < $1.id }.suffix(limit)
    }

    /// Sorted, each with the position of the newest unread message.
    package var unreadConversations: [(conversation: ConversationID, newest: LogPosition)] {
        self.unread.compactMap { key, unread in unread.values.last.map { (key, $0) } }.sorted { $0.0 < $1.0 }
    }

    // MARK: Reading

    package var readings: [LocalReading] { self.read.values.elements }

    package func reading(of conversation: ConversationID) -> LocalReading {
        self.read[conversation] ?? LocalReading(conversation)
    }

    package mutating func save(_ reading: LocalReading) { self.read[reading.conversation] = reading }

    // MARK: Outbox

    package var outbox: [MessageDraft] { self.drafts.values.elements }

    package mutating func insert(_ draft: MessageDraft) {
        if self.drafts[draft.clientMessageID] == nil { self.drafts[draft.clientMessageID] = draft }
    }

    package mutating func removeDraft(_ id: ClientMessageID) { self.drafts[id] = nil }

    // MARK: Settings

    package mutating func replaceSettings(_ all: AllSettings) { self.settings = all }

    package mutating func save(_ settings: ConversationSettings, of conversation: ConversationID) {
        self.settings.set(settings, for: conversation)
    }

    package mutating func save(_ settings: PersonSettings) { self.settings.person = settings }

    package mutating func saveBlocked(_ user: UserID, _ isBlocked: Bool) { self.settings.setBlocked(user, isBlocked) }

    package var pendingChanges: [LocalPendingChange] { self.pending.values.elements }

    package mutating func save(_ pendingChange: LocalPendingChange) {
        self.pending[pendingChange.change.key] = pendingChange
    }

    package mutating func removePendingChange(_ key: String) { self.pending[key] = nil }

    // MARK: Conversations with members

    package func info(_ conversation: ConversationID) -> LocalInfo? { self.infos[conversation] }

    package mutating func save(_ info: LocalInfo) { self.infos[info.conversation] = info }

    package mutating func markInfosIncomplete(ofAnotherLog: Bool) {
        self.infos = self.infos.mapValues { info in
            var info = info
            info.isComplete = false
            if ofAnotherLog { info.version = 0 }
            return info
        }
    }

    package func members(of conversation: ConversationID) -> [Member] { self.members[conversation] ?? [] }

    package mutating func replaceMembers(
        _ before: [Member], by after: [Member], of conversation: ConversationID
    ) {
        self.members[conversation] = after
    }

    package mutating func save(_ invitation: Invitation) { self.invitations.append(invitation) }

    package mutating func removeInvitation(to conversation: ConversationID) {
        self.invitations.removeAll { $0.id == conversation }
    }

    // MARK: Custom messages

    package func customMessages(after position: LogPosition) -> [LocalCustomMessage] {
        self.custom.filter { $0.position > position }
    }

    package mutating func save(_ message: LocalCustomMessage) { self.custom.append(message) }

    package mutating func removeCustomMessages(upTo position: LogPosition) {
        self.custom.removeAll { $0.position <= position }
    }

    package mutating func save(_ handedOver: LocalHandOver) { self.handedOver = handedOver }
}
