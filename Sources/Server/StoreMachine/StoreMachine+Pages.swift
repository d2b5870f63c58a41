import StoreModel
import TidingsModel

// Pages of people's logs, as their entries read now.
extension StoreMachine {
    func readLog(
        _ key: UserKey, after: LogPosition, limit: Int, frameBytesMax: Int = .max
    ) throws -> LogPage {
        guard let person = try self.find(key) else { return LogPage(entries: [], head: 0, unread: 0) }
        var entries: [LogEntry] = []
        var names: [ConversationSender: MessageNames] = [:]
        var wereUnread: [LogPosition] = []
        var erased: [LogPosition] = []
        var hushed: [LogPosition] = []
        var room = frameBytesMax
        if limit > 0, after < person.head {
            // What was unread before the first entry says the one before it.
            var unread = 0
            try self.forEachEntry(of: person, after: max(after, 1) - 1) { entry in
                defer { unread = entry.unread }
                guard entry.position > after else { return true }
                var body = try self.body(of: entry, for: person)
                let isErased = try self.revise(&body, of: entry, for: person)
                room -= body.frameBytes
                guard room >= 0 || entries.isEmpty else { return false }
                if isErased { erased.append(entry.position) }
                if entry.isHushed { hushed.append(entry.position) }
                if case .recall = body, entry.unread < unread { wereUnread.append(entry.position) }
                if case .message(let message) = body, names[ConversationSender(of: message)] == nil {
                    let own = try self.names(of: message)
                    if own != MessageNames() { names[ConversationSender(of: message)] = own }
                }
                entries.append(LogEntry(position: entry.position, body: body))
                return entries.count < limit
            }
        }
        return LogPage(
            entries: entries, head: person.head, unread: person.counts.unread, names: names, wereUnread: wereUnread,
            erased: erased, hushed: hushed)
    }

    /// Replaces what an entry says by how it reads now.
    /// - Returns: whether it is for no device any more.
    private func revise(
        _ body: inout LogEntry.Body, of entry: LogChunk.Entry, for person: PersonState
    ) throws -> Bool {
        switch body {
        case .message(let message):
            let revision = try self.revision(of: message.id)
            let isGone = try revision.recalled > 0 || self.isDeleted(message.id, by: person)
            let revised = message.revised(content: isGone ? nil : try self.editedContent(revision), isGone: isGone)
            body = .message(entry.isHushed ? revised.hushed : revised)
            return isGone
        case .edit(var edit):
            let revision = try self.revision(of: edit.message)
            guard
                try revision.recalled > 0 || revision.edited != entry.record
                    || self.isDeleted(edit.message, by: person)
            else { return false }
            edit.content = ""
            body = .edit(edit)
            return true
        case .conversationSettings(let conversation, var settings):
            settings.draft = person.settings.conversations[conversation]?.draft
            body = .conversationSettings(conversation, settings)
            return false
        case .read, .custom, .recall, .deletion, .personSettings, .blocked, .change, .unknown: return false
        }
    }

    private func body(of entry: LogChunk.Entry, for person: PersonState) throws -> LogEntry.Body {
        switch try self.record(at: entry.record) {
        case .accept(let message, _, _, _, _): return .message(message)
        case .markRead(_, let conversation, let upTo, _): return .read(conversation: conversation, upTo: upTo)
        case .change(_, let change): return .change(change.seen(by: person.key.user))
        case .recall(_, var recall, _):
            recall.conversation = try self.conversationID(of: entry.conversation)
            return .recall(recall)
        case .edit(_, var edit, _):
            edit.conversation = try self.conversationID(of: entry.conversation)
            return .edit(edit)
        case .delete(_, let deletion, _, _): return .deletion(deletion)
        case .conversationSettings(_, let conversation, let settings, _, _):
            return .conversationSettings(conversation, settings)
        case .personSettings(_, let settings, _): return .personSettings(settings)
        case .blocked(_, let user, let isBlocked, _): return .blocked(user, isBlocked)
        case .custom(let operation): return .custom(operation.message)
        case .pushStep(let step): return try self.entry(of: step, for: person)
        case .putConversation, .signIn, .signOut, .setPushState, .setVoIPToken, .deviceStatus, .advance, .keepLeg,
            .endLeg, .receipt, .objectNames, .account, .following, .control, .userAccount, .profile, .push, .pushChange,
            .labels,
            .lost:
            throw StoredBytesFault.badValue("log entry: journal record \(entry.record) is none")
        }
    }
}
