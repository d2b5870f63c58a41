package import TidingsModel

/// What is known and kept of one person on one device: the contract of the store that ships (`LocalStore`, on SQLite) and of its
/// reference model (`ReferenceLocalStore`), which the World and the scenarios run on. Both answer equal, whatever happens between two
/// commands.
///
/// - A command is carried out whole or not at all, and what it answered outlives the process. Entries of the log and the position up to
///   which it is stored are one transaction.
/// - A reading position never goes back.
/// - Custom messages are handed over at most once: it is remembered before they are returned, and outlives every loss of the store.
package protocol LocalStoreContract {
    associatedtype Failure: Error

    /// When it throws, nothing was written; for `.takeCustomMessages` what waited may be lost, for `.resetLog` the
    /// hand-over begins anew.
    mutating func carryOut(_ command: LocalStoreCommand) throws(Failure) -> LocalStoreOutcome
    func restored() throws(Failure) -> ClientCore.Restored
    func message(_ id: MessageID) throws(Failure) -> StoredMessage?
    /// Oldest first: the newest `limit` before the position.
    func history(
        _ conversation: ConversationID, before: LogPosition?, limit: Int
    ) throws(Failure) -> [StoredMessage]
    /// Pinned ones first (`ConversationSummary.comesFirst`), archived ones too, hidden ones not. `wall` decides which levels have ended.
    func conversations(wall: Int64) throws(Failure) -> [ConversationSummary]
    /// Nil if the conversation has no message in the log.
    func newest(_ conversation: ConversationID) throws(Failure) -> LogPosition?
    func counts() throws(Failure) -> LocalUnreadCounts
    /// Where the person is asked to come in, in the order of the log.
    func invitations() throws(Failure) -> [Invitation]
    /// Nil if nothing is known.
    func info(_ conversation: ConversationID) throws(Failure) -> ConversationInfo?
    func preferences() throws(Failure) -> Preferences
}

extension LocalStoreContract {
    /// Whether a message is known on this device: the store has it. This is the one meaning of "known", by which a push in the foreground does not
    /// ring again. It goes by the id, not by the position in the push:
    /// - A message is known once its entry was written, read or unread, and also when it was recalled since, or lost by the server.
    /// - What the server has trimmed from its log was passed over and never came: it is not known, though its position lies below
    ///   the stored one. Neither is anything after the store was begun anew.
    /// - A message the person has deleted is not known any more: nothing of it stays.
    package func isKnown(_ id: MessageID) throws(Failure) -> Bool { try self.message(id) != nil }

    /// Nil if the store does not have it, or it is in no log.
    package func position(of id: MessageID) throws(Failure) -> LogPosition? {
        try self.message(id).flatMap { $0.isOnlyHere ? nil : $0.position }
    }
}

package enum LocalStoreCommand: Hashable, Sendable {
    /// Ascending. Entries that are there already change nothing, and what would leave a gap is not written: after a
    /// failed write the log is asked for again from where it ends. Answered by `.written`.
    case write([LogEntry], for: UserID)
    /// The server has trimmed its log: if the store ends at the first position, it goes on after the second,
    /// and settings are owed. Elsewhere nothing changes, since the entries before the gap are asked for again. Answered by `.written`.
    case skip(after: LogPosition, upTo: LogPosition)
    case settle(upTo: LogPosition)
    case keepOutgoing(MessageDraft)
    /// No later start sends it again.
    case removeOutgoing(ClientMessageID)
    /// Holds until the log confirms it. Answered by `.counted`, like all settings.
    case markRead(ConversationID, upTo: LogPosition)
    /// Counts as not told, also where the same was told before.
    case addPendingChange(PendingSettingsChange)
    /// Whether the server may have taken it. Only if it is still the same.
    case markPendingChange(PendingSettingsChange, isTold: Bool)
    /// Only if it is still the same. `isKept`: it is taken for what the log says.
    case removePendingChange(PendingSettingsChange, isKept: Bool)
    /// No settings are owed any more.
    case replaceSettings(AllSettings)
    /// Ignored if what is there is newer.
    case keepConversation(ConversationInfo)
    /// Messages stay, in no log until they come again; what was read is told again as they come. No change counts as told.
    case resetLog(LogOrigin?)
    case keepOrigin(LogOrigin)
    /// Answers with the custom messages that were not handed over yet, oldest first, and remembers it before. What
    /// has expired at `wall`, by the server's clock, is dropped; with nil everything from the first that expires at
    /// some time stays.
    case takeCustomMessages(wall: Int64?)
    /// The damaged store is set aside. Only how far custom messages were handed over stays.
    case beginAnew
    /// Everything goes but how far custom messages were handed over, since a person who signs in again has the same
    /// log.
    case forgetPerson
}

package enum LocalStoreOutcome: Hashable, Sendable {
    case done
    case counted(Int)
    case written(Written)
    case custom([CustomMessage])

    package struct Written: Hashable, Sendable {
        package var stored: LogPosition
        package var unread: Int
        /// Conversations with members, among the entries, whose name or members are not known for sure, sorted.
        package var incomplete: [ConversationID]
        /// Conversations that were read further before the log began anew than this log says, sorted.
        package var reads: [ClientCore.ReadPosition]

        package init(
            stored: LogPosition, unread: Int, incomplete: [ConversationID] = [], reads: [ClientCore.ReadPosition] = []
        ) {
            self.stored = stored
            self.unread = unread
            self.incomplete = incomplete
            self.reads = reads
        }
    }
}

// What the core asks of the store, and what it hears of it: the same for every store.
extension ClientEffect {
    /// Nil for what does not write to the store or needs more than the store: setting a damaged store aside, handing
    /// over custom messages, and signing out.
    package func storeCommand(for person: UserID) -> LocalStoreCommand? {
        switch self {
        case .storeEntries(let entries): .write(entries, for: person)
        case .skipEntries(let after, let end): .skip(after: after, upTo: end)
        case .storeSettled(let position): .settle(upTo: position)
        case .storeOutgoing(let draft): .keepOutgoing(draft)
        case .removeOutgoing(let id): .removeOutgoing(id)
        case .storeRead(let conversation, let position): .markRead(conversation, upTo: position)
        case .storePendingChange(let pendingChange): .addPendingChange(pendingChange)
        case .markPendingChange(let pendingChange, let isTold): .markPendingChange(pendingChange, isTold: isTold)
        case .removePendingChange(let pendingChange): .removePendingChange(pendingChange, isKept: false)
        case .addPendingChange(let pendingChange): .removePendingChange(pendingChange, isKept: true)
        case .storeSettings(let all): .replaceSettings(all)
        case .storeConversation(let info): .keepConversation(info)
        case .resetLog(let origin): .resetLog(origin)
        case .storeOrigin(let origin): .keepOrigin(origin)
        default: nil  // tidy: the others write nothing to the store
        }
    }
}

extension LocalStoreCommand {
    package func events(after outcome: LocalStoreOutcome) -> [ClientEvent] {
        switch outcome {
        case .done:
            if case .keepOutgoing(let draft) = self { [.outgoingStored(draft.clientMessageID)] } else { [] }
        case .counted(let unread): [.unreadCounted(unread)]
        case .custom: []
        case .written(let written):
            [.entriesStored(upTo: written.stored, unread: written.unread)]
                + (written.incomplete.isEmpty ? [] : [.conversationsIncomplete(written.incomplete)])
                + written.reads.map { .markReadRequested($0.conversation, upTo: $0.upTo) }
        }
    }

    package func failure(reason: String) -> ClientEvent {
        switch self {
        case .removeOutgoing(let id): .leftBehind(.outgoing(id), reason: reason)
        case .removePendingChange(let pendingChange, _): .leftBehind(.pendingChange(pendingChange), reason: reason)
        default: .storeFailed(reason: reason)  // tidy: the others leave nothing that is over
        }
    }
}

extension ConversationID {
    package var hasMembers: Bool { self.type == .group || self.type == .discussion }
}
