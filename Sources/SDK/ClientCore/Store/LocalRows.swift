package import TidingsModel

/// The rows of a phone's store, in the words of storage: what `LocalStoreMachine` decides is loaded and saved here, and nothing is decided.
/// They are kept by SQLite (`DatabaseRows`) and in memory (`MemoryLocalRows`).
///
/// - What was saved is what is loaded next. Who hands out the rows sees to it that one command is one transaction: after an error
///   all rows are as before it, but for `handedOver`.
/// - Saving replaces the row of the same key. Removing what is not there changes nothing.
/// - Of what has no order stated here, none is promised.
/// - A conversation is named as this person sees it.
package protocol LocalRows {
    associatedtype Failure: Error

    var log: LocalLog { get throws(Failure) }
    mutating func save(_ log: LocalLog) throws(Failure)

    // MARK: Messages

    func message(_ id: MessageID) throws(Failure) -> StoredMessage?
    /// There is none of its id, and none at its position.
    mutating func insert(_ message: StoredMessage) throws(Failure)
    /// It is there at the same position. It may have become read, not unread.
    mutating func update(_ message: StoredMessage) throws(Failure)
    mutating func removeMessage(_ id: MessageID) throws(Failure)
    /// Makes all messages there up to the position read.
    mutating func markMessagesRead(in conversation: ConversationID, upTo position: LogPosition) throws(Failure)
    /// Moves every message before `StoredMessage.beyondLog` behind the highest position from there on, in its order, and makes it read.
    mutating func moveMessagesBeyondLog() throws(Failure)
    /// The highest before another one.
    func lastPosition(in conversation: ConversationID, before end: LogPosition) throws(Failure) -> LogPosition?
    /// The one at the lowest position from there on.
    func firstMessage(in conversation: ConversationID, from position: LogPosition) throws(Failure) -> StoredMessage?
    /// The highest id up to a position.
    func newestMessage(in conversation: ConversationID, upTo position: LogPosition) throws(Failure) -> MessageID?
    /// The highest id among those with all of `flags` and none of `others`.
    func newestMessage(
        in conversation: ConversationID, with flags: MessageFlags, without others: MessageFlags
    ) throws(Failure) -> MessageID?
    /// Of each conversation the one with the highest id among those with none of `flags`.
    func newestMessages(without flags: MessageFlags) throws(Failure) -> [StoredMessage]
    /// The `limit` highest ids before `end` among those with all of `flags`, ascending. Without an end all of them count.
    func messages(
        in conversation: ConversationID, before end: MessageID?, with flags: MessageFlags, limit: Int
    ) throws(Failure) -> [StoredMessage]
    /// Those of conversations with an unread message.
    var unreadCounts: [ConversationID: LocalUnreadCounts.Count] { get throws(Failure) }

    // MARK: Reading

    /// Rows of what was read, in no order.
    var readings: [LocalReading] { get throws(Failure) }
    /// One that says nothing if there is none.
    func reading(of conversation: ConversationID) throws(Failure) -> LocalReading
    mutating func save(_ reading: LocalReading) throws(Failure)

    // MARK: Outbox

    /// In the order in which they were inserted.
    var outbox: [MessageDraft] { get throws(Failure) }
    /// Changes nothing if there is one of its id.
    mutating func insert(_ draft: MessageDraft) throws(Failure)
    mutating func removeDraft(_ id: ClientMessageID) throws(Failure)

    // MARK: Settings

    var settings: AllSettings { get throws(Failure) }
    mutating func replaceSettings(_ all: AllSettings) throws(Failure)
    /// Settings that say nothing have no row.
    mutating func save(_ settings: ConversationSettings, of conversation: ConversationID) throws(Failure)
    mutating func save(_ settings: PersonSettings) throws(Failure)
    mutating func saveBlocked(_ user: UserID, _ isBlocked: Bool) throws(Failure)
    /// In the order in which the first of each key was saved.
    var pendingChanges: [LocalPendingChange] { get throws(Failure) }
    /// One of its key keeps its place.
    mutating func save(_ pendingChange: LocalPendingChange) throws(Failure)
    mutating func removePendingChange(_ key: String) throws(Failure)

    // MARK: Conversations with members

    var infos: [ConversationID: LocalInfo] { get throws(Failure) }
    func info(_ conversation: ConversationID) throws(Failure) -> LocalInfo?
    mutating func save(_ info: LocalInfo) throws(Failure)
    /// Makes all of them incomplete, and of version 0 if they are of another log.
    mutating func markInfosIncomplete(ofAnotherLog: Bool) throws(Failure)
    /// Sorted by id.
    func members(of conversation: ConversationID) throws(Failure) -> [Member]
    /// `before` are those that are there, so that only the difference needs to be written.
    mutating func replaceMembers(
        _ before: [Member], by after: [Member], of conversation: ConversationID
    ) throws(Failure)
    /// In the order in which they were saved.
    var invitations: [Invitation] { get throws(Failure) }
    mutating func save(_ invitation: Invitation) throws(Failure)
    mutating func removeInvitation(to conversation: ConversationID) throws(Failure)

    // MARK: Custom messages

    /// In the order of their positions.
    func customMessages(after position: LogPosition) throws(Failure) -> [LocalCustomMessage]
    mutating func save(_ message: LocalCustomMessage) throws(Failure)
    mutating func removeCustomMessages(upTo position: LogPosition) throws(Failure)
    /// Outlives every loss of the other rows.
    var handedOver: LocalHandOver { get throws(Failure) }
    /// Holds from then on, also when the command fails or the process ends.
    mutating func save(_ handedOver: LocalHandOver) throws(Failure)
}

/// How far the log was followed.
package struct LocalLog: Hashable, Sendable {
    package var stored: LogPosition = 0
    package var settled: LogPosition = 0
    package var owesSettings = false
    /// Nil while no server has said.
    package var origin: LogOrigin?

    package init(_ origin: LogOrigin? = nil) { self.origin = origin }
}

/// What was read of a conversation.
package struct LocalReading: Hashable, Sendable {
    package var conversation: ConversationID
    package var upTo: LogPosition
    /// Read here, and not confirmed by the log.
    package var pending: LogPosition?
    /// The newest message read before the log began anew.
    package var readBefore: MessageID?

    package init(
        _ conversation: ConversationID, upTo: LogPosition = 0, pending: LogPosition? = nil, readBefore: MessageID? = nil
    ) {
        self.conversation = conversation
        self.upTo = upTo
        self.pending = pending
        self.readBefore = readBefore
    }
}

package struct LocalPendingChange: Hashable, Sendable {
    package var change: PendingSettingsChange
    /// The server may have taken it.
    package var isTold: Bool

    package init(_ change: PendingSettingsChange, isTold: Bool = false) {
        self.change = change
        self.isTold = isTold
    }
}

/// What is known of a conversation with members, but for the members.
package struct LocalInfo: Hashable, Sendable {
    package var conversation: ConversationID
    package var version: UInt64 = 0
    package var name: String?
    package var portrait: String?
    package var isDissolved = false
    package var onlyAdminsWrite = false
    /// Name and members are those of this version for sure.
    package var isComplete = false

    package init(_ conversation: ConversationID) { self.conversation = conversation }
}

/// A custom message that waits, at its position in the log.
package struct LocalCustomMessage: Hashable, Sendable {
    package var position: LogPosition
    package var message: CustomMessage

    package init(_ message: CustomMessage, at position: LogPosition) {
        self.position = position
        self.message = message
    }
}

/// How far custom messages were handed over.
package struct LocalHandOver: Hashable, Sendable {
    package var position: LogPosition
    /// The newest id among them: it holds in every log.
    package var newest: MessageID

    package init(position: LogPosition = 0, newest: MessageID = MessageID(rawValue: 0)) {
        self.position = position
        self.newest = newest
    }
}
