import OrderedCollections
import TidingsModel

// What the entries of the log make of the store.
extension LocalStoreMachine {
    mutating func write(
        _ entries: [LogEntry], for person: UserID
    ) throws(Rows.Failure) -> LocalStoreOutcome.Written {
        var log = try self.rows.log
        var touched: OrderedSet<ConversationID> = []
        var reads: OrderedDictionary<ConversationID, LogPosition> = [:]
        for entry in entries where entry.position == log.stored + 1 {
            log.stored = entry.position
            if let group = try self.write(entry, for: person, reads: &reads) { touched.append(group) }
        }
        try self.rows.save(log)
        var incomplete: [ConversationID] = []
        for group in touched where try self.rows.info(group)?.isComplete != true { incomplete.append(group) }
        for (conversation, position) in reads { try self.markRead(conversation, upTo: position) }
        return .init(
            stored: log.stored, unread: try self.counts().unread, incomplete: incomplete.sorted(),
            reads: reads.sorted { $0.key < $1.key }.map { .init(conversation: $0.key, upTo: $0.value) })
    }

    /// - Parameter reads: takes the conversation if it was read up to here before the log began anew.
    /// - Returns: the conversation with members that it is about, unless the person is merely invited to it.
    private mutating func write(
        _ entry: LogEntry, for person: UserID, reads: inout OrderedDictionary<ConversationID, LogPosition>
    ) throws(Rows.Failure) -> ConversationID? {
        switch entry.body {
        case .message(let message):
            let reading = try self.rows.reading(of: message.conversation(seenBy: person))
            try self.insert(message, at: entry.position, for: person, reading)
            if let last = reading.readBefore, message.id <= last { reads[reading.conversation] = entry.position }
            guard message.conversation.hasMembers else { break }
            // Who was put into it by the app's backend was told nothing else.
            try self.rows.removeInvitation(to: message.conversation)
            return message.conversation
        case .read(let conversation, let upTo): try self.confirmRead(conversation, upTo: upTo)
        case .custom(let message): try self.rows.save(LocalCustomMessage(message, at: entry.position))
        case .recall(let recall):
            guard var stored = try self.rows.message(recall.message) else { break }
            stored.recall()
            stored.isUnread = false
            try self.rows.update(stored)
        case .edit(let edit):
            guard var stored = try self.rows.message(edit.message) else { break }
            stored.edit(edit.content)
            try self.rows.update(stored)
        case .deletion(let deletion):
            for message in deletion.messages { try self.rows.removeMessage(message) }
        case .conversationSettings(let conversation, let settings):
            try self.rows.save(settings, of: conversation)
        case .personSettings(let settings): try self.rows.save(settings)
        case .blocked(let user, let isBlocked): try self.rows.saveBlocked(user, isBlocked)
        case .change(let change):
            switch change.invitation(of: person) {
            case .made(let invitation)?:
                try self.rows.removeInvitation(to: invitation.id)
                try self.rows.save(invitation)
            case .ended(let conversation)?: try self.rows.removeInvitation(to: conversation)
            case nil: break
            }
            // Who is invited knows nothing else of the conversation.
            guard !change.invitees.contains(person) else { break }
            try self.apply(change, at: entry.position, for: person)
            return change.conversation.hasMembers ? change.conversation : nil
        case .unknown: break
        }
        return nil
    }

    private mutating func insert(
        _ message: Message, at position: LogPosition, for person: UserID, _ reading: LocalReading
    ) throws(Rows.Failure) {
        // What is here without a place in the log comes with one, as the server has it.
        if let stored = try self.rows.message(message.id) {
            guard stored.isOnlyHere else { return }
            try self.rows.removeMessage(message.id)
        }
        let counts = message.sender != person && message.flags.contains(.counted)
        try self.rows.insert(
            StoredMessage(
                message: message, conversation: reading.conversation, position: position,
                isUnread: counts && position > reading.upTo, mentionsMe: message.mentions.include(person)))
    }

    /// A change that does not follow the known version is applied as far as it goes by itself; the rest is requested from the server.
    private mutating func apply(
        _ change: ConversationChange, at position: LogPosition, for person: UserID
    ) throws(Rows.Failure) {
        var info = try self.rows.info(change.conversation) ?? LocalInfo(change.conversation)
        if change.version > info.version {
            info.isComplete = change.version == info.version + 1 && info.isComplete
            info.version = change.version
            switch change.action {
            case .create(let name, let portrait, _):
                (info.name, info.portrait, info.isComplete) = (name, portrait, true)
                fallthrough
            case .add, .join, .remove, .leave, .setRole, .setNickname, .ban, .unban, .mute, .unmute:
                let members = try self.rows.members(of: change.conversation)
                try self.rows.replaceMembers(members, by: change.members(after: members), of: change.conversation)
            case .rename(let name): info.name = name
            case .setPortrait(let portrait): info.portrait = portrait
            case .dissolve: info.isDissolved = true
            case .setOnlyAdminsWrite(let isOn): info.onlyAdminsWrite = isOn
            case .invite, .decline, .withdraw: break
            }
        }
        // Who comes back has missed who came and went meanwhile, and may not have known who was there before.
        if change.adds(person) { info.isComplete = false }
        // A person who has left is told of no more changes, and nothing is unread for them.
        if change.removes(person) {
            info.isComplete = true
            try self.confirmRead(change.conversation, upTo: position)
        }
        try self.rows.save(info)
    }

    /// Applies a read position from the log. A position beyond it that was set on this device is told again.
    private mutating func confirmRead(_ conversation: ConversationID, upTo position: LogPosition) throws(Rows.Failure) {
        try self.markRead(conversation, upTo: position) { $0.flatMap { $0 <= position ? nil : $0 } }
    }
}
