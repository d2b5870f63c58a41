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
    /// What it fails with: `Never`, or errors of the file system and of SQLite.
    associatedtype Failure: Error

    /// Carries out a command.
    ///
    /// - Throws: nothing was written; for `.takeCustomMessages` what waited may be lost, for `.resetLog` the hand-over begins anew.
    mutating func carryOut(_ command: LocalStoreCommand) throws(Failure) -> LocalStoreOutcome
    /// What a new process begins with.
    func restored() throws(Failure) -> ClientCore.Restored
    /// One message; nil if the store does not have it.
    func message(_ id: MessageID) throws(Failure) -> StoredMessage?
    /// Messages of a conversation, oldest first: the newest `limit` before the one at a position.
    func history(
        _ conversation: ConversationID, before: LogPosition?, limit: Int
    ) throws(Failure) -> [StoredMessage]
    /// The person's conversations, the one with the newest message first.
    ///
    /// - Parameter wall: the moment in wall milliseconds, for levels that have an end.
    func conversations(wall: Int64) throws(Failure) -> [ConversationSummary]
    /// The position of the newest message of a conversation that has one in the log; nil if there is none.
    func newest(_ conversation: ConversationID) throws(Failure) -> LogPosition?
    /// How many messages are unread.
    func counts() throws(Failure) -> LocalUnreadCounts
    /// A conversation with members as far as it is known here; nil if nothing is.
    func info(_ conversation: ConversationID) throws(Failure) -> ConversationInfo?
    /// What the person has set.
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

    /// Where a message stands in the log; nil if it is not there, or in no log.
    package func position(of id: MessageID) throws(Failure) -> LogPosition? {
        try self.message(id).flatMap { $0.isOnlyHere ? nil : $0.position }
    }
}

/// What a local store is told to keep or to forget.
package enum LocalStoreCommand: Hashable, Sendable {
    /// Entries of a person's log, ascending. Those that are there already change nothing, and what would leave a gap is not written:
    /// after a failed write the log is asked for again from where it ends. Answered by `.written`.
    case write([LogEntry], for: UserID)
    /// The server has trimmed its log: if the store ends at the one position, it goes on after the other. Anywhere else nothing changes:
    /// the entries before the gap were not written, and are asked for again. Answered by `.written`.
    case skip(after: LogPosition, upTo: LogPosition)
    /// Everything up to here was settled.
    case settle(upTo: LogPosition)
    /// A message that waits to be sent; one of an id that waits already changes nothing.
    case keepOutgoing(MessageDraft)
    /// A message was accepted or refused: no later start sends it again.
    case removeOutgoing(ClientMessageID)
    /// A reading position, until the log confirms it. Answered by `.counted`.
    case markRead(ConversationID, upTo: LogPosition)
    /// What the person has set, until the log confirms it. Answered by `.counted`.
    case addPendingChange(PendingSettingsChange)
    /// Forgets a pending change if it is still that one. `isKept`: it is taken for what the log says. Answered by `.counted`.
    case removePendingChange(PendingSettingsChange, isKept: Bool)
    /// Settings that are taken for what the log says. Answered by `.counted`.
    case replaceSettings(AllSettings)
    /// What the server has answered about a conversation, unless what is there is newer.
    case keepConversation(ConversationInfo)
    /// The log is another one from now on. Messages stay, in no log until they come again; what was read is told again as they come.
    case resetLog(LogOrigin?)
    /// Which log is held.
    case keepOrigin(LogOrigin)
    /// Takes the custom messages that were not handed over yet, oldest first, and remembers it before it returns them. What has expired
    /// at `wall`, by the server's clock, is taken and not returned; with nil what expires at some time stays, and all behind it.
    /// Answered by `.custom`.
    case takeCustomMessages(wall: Int64?)
    /// The store is damaged: it is set aside and begun anew. Only how far custom messages were handed over stays.
    case beginAnew
    /// The person has signed out: everything goes but how far custom messages were handed over, since who signs in again has the same
    /// log. Whoever still asks finds an empty store, and what is written to it is gone with the process.
    case forgetPerson
}

/// What a command has led to.
package enum LocalStoreOutcome: Hashable, Sendable {
    /// It is done.
    case done
    /// Unread messages outside muted conversations.
    case counted(Int)
    /// Entries were written.
    case written(Written)
    /// These are to be handed over.
    case custom([CustomMessage])

    /// What a writing has led to.
    package struct Written: Hashable, Sendable {
        /// The position the store has reached.
        package var stored: LogPosition
        /// Unread messages outside muted conversations.
        package var unread: Int
        /// Conversations with members among the entries whose name or members are not known for sure, sorted.
        package var incomplete: [ConversationID]
        /// Conversations that were read further, before the log began anew, than this log says, sorted.
        package var reads: [ClientCore.ReadPosition]

        /// What a writing has led to.
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
    /// The command it stands for, nil for what does not write to the store. What needs more than the store is carried out by the shell:
    /// setting a damaged store aside, handing over custom messages, and signing out.
    package func storeCommand(for person: UserID) -> LocalStoreCommand? {
        switch self {
        case .storeEntries(let entries): .write(entries, for: person)
        case .skipEntries(let after, let end): .skip(after: after, upTo: end)
        case .storeSettled(let position): .settle(upTo: position)
        case .storeOutgoing(let draft): .keepOutgoing(draft)
        case .removeOutgoing(let id): .removeOutgoing(id)
        case .storeRead(let conversation, let position): .markRead(conversation, upTo: position)
        case .storePendingChange(let pendingChange): .addPendingChange(pendingChange)
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
    /// What the core hears when it is done, in this order.
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

    /// What the core hears when nothing was written.
    package func failure(reason: String) -> ClientEvent {
        switch self {
        case .removeOutgoing(let id): .leftBehind(.outgoing(id), reason: reason)
        case .removePendingChange(let pendingChange, _): .leftBehind(.pendingChange(pendingChange), reason: reason)
        default: .storeFailed(reason: reason)  // tidy: the others leave nothing that is over
        }
    }
}

extension ConversationID {
    /// Whether it is a group or discussion, whose members a device wants to know.
    package var hasMembers: Bool { self.type == .group || self.type == .discussion }
}
