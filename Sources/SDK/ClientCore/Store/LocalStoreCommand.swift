package import TidingsModel

/// What the phone's store is told. When carrying it out fails, nothing was written; for `.takeCustomMessages` what waited may be lost, for
/// `.resetLog` the hand-over begins anew.
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
    /// Marks if the server may have taken the change. Only if it is still the same.
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
        package var incomplete: [ConversationID] = []
        /// Conversations that were read further before the log began anew than this log says, sorted.
        package var reads: [ClientCore.ReadPosition] = []
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
