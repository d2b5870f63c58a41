import OrderedCollections
package import TidingsModel

// What the entries of the log make of the store, and what is read.
extension ReferenceLocalStore {
    mutating func write(_ entries: [LogEntry], for person: UserID) -> LocalStoreOutcome.Written {
        var touched: OrderedSet<ConversationID> = []
        var reads: OrderedDictionary<ConversationID, LogPosition> = [:]
        for entry in entries where entry.position == self.stored + 1 {
            self.stored = entry.position
            if let group = self.write(entry, for: person) { touched.append(group) }
            guard case .message(let message) = entry.body else { continue }
            let conversation = message.conversation(seenBy: person)
            guard let last = self.readBefore[conversation], message.id <= last else { continue }
            reads[conversation] = entry.position
        }
        let incomplete = touched.elements.filter { self.infos[$0]?.isComplete != true }.sorted()
        for (conversation, position) in reads { self.markRead(conversation, upTo: position) }
        return .init(
            stored: self.stored, unread: self.unread, incomplete: incomplete,
            reads: reads.sorted { $0.key < $1.key }.map { .init(conversation: $0.key, upTo: $0.value) })
    }

    // tidy: long because it is one case per body.
    private mutating func write(_ entry: LogEntry, for person: UserID) -> ConversationID? {
        switch entry.body {
        case .message(let message):
            self.insert(message, at: entry.position, for: person)
            // Who was put into it by the app's backend was told nothing else.
            self.invited.removeAll { $0.id == message.conversation }
            return message.conversation.hasMembers ? message.conversation : nil
        case .read(let conversation, let upTo): self.confirmRead(conversation, upTo: upTo)
        case .custom(let message): self.custom[entry.position] = message
        case .recall(let recall):
            guard let place = self.messages.index(forKey: recall.message) else { break }
            self.messages.values[place].recall()
            self.countAsRead(recall.message, in: self.messages.values[place].conversation)
        case .edit(let edit):
            guard let place = self.messages.index(forKey: edit.message) else { break }
            self.messages.values[place].edit(edit.content)
        case .deletion(let deletion):
            for message in deletion.messages {
                guard let place = self.messages.index(forKey: message) else { continue }
                self.countAsRead(message, in: self.messages.values[place].conversation)
                self.messages.remove(at: place)
            }
        case .conversationSettings, .personSettings, .blocked: self.confirmed.apply(entry.body)
        case .change(let change):
            switch change.invitation(of: person) {
            case .made(let invitation)?:
                self.invited.removeAll { $0.id == invitation.id }
                self.invited.append(invitation)
            case .ended(let conversation)?: self.invited.removeAll { $0.id == conversation }
            case nil: break
            }
            // Who is invited knows nothing else of the conversation.
            guard !change.invitees.contains(person) else { break }
            self.apply(change, at: entry.position, for: person)
            return change.conversation.hasMembers ? change.conversation : nil
        case .unknown: break
        }
        return nil
    }

    private mutating func insert(_ message: Message, at position: LogPosition, for person: UserID) {
        // What is here without a place in the log comes with one, as the server has it.
        if let place = self.messages.index(forKey: message.id) {
            guard self.messages.values[place].isOnlyHere else { return }
            self.messages.remove(at: place)
        }
        let conversation = message.conversation(seenBy: person)
        let counts = message.sender != person && message.flags.contains(.counted)
        let place = counts ? self.place(of: conversation) : nil
        let isUnread = place.map { position > self.readings[$0].upTo } ?? false
        self.messages[message.id] = StoredMessage(
            message: message, conversation: conversation, position: position, isUnread: isUnread,
            mentionsMe: message.mentions.include(person))
        guard let place, isUnread else { return }
        self.readings[place].unread[message.id] = position
        if !self.readings[place].isMuted { self.unread += 1 }
    }

    private mutating func apply(_ change: ConversationChange, at position: LogPosition, for person: UserID) {
        var info = self.infos[change.conversation] ?? Info(version: 0, isComplete: false)
        if change.version > info.version {
            info.isComplete = change.version == info.version + 1 && info.isComplete
            info.version = change.version
            info.members = change.members(after: info.members)
            switch change.action {
            case .create(let name, let portrait, _):
                (info.name, info.portrait, info.isComplete) = (name, portrait, true)
            case .rename(let name): info.name = name
            case .setPortrait(let portrait): info.portrait = portrait
            case .dissolve: info.isDissolved = true
            case .setOnlyAdminsWrite(let isOn): info.onlyAdminsWrite = isOn
            case .add, .join, .remove, .leave, .setRole, .setNickname, .ban, .unban, .mute, .unmute, .invite, .decline,
                .withdraw:
                break
            }
        }
        // Who comes back has missed who came and went meanwhile, and may not have known who was there before.
        if change.adds(person) { info.isComplete = false }
        // A person who has left is told of no more changes, and nothing is unread for them.
        if change.removes(person) {
            info.isComplete = true
            self.confirmRead(change.conversation, upTo: position)
        }
        self.infos[change.conversation] = info
    }

    // MARK: Reading

    private mutating func place(of conversation: ConversationID) -> Int {
        if let place = self.places[conversation] { return place }
        self.places[conversation] = self.readings.count
        self.readings.append(
            Reading(conversation: conversation, isMuted: self.preferences().isMuted(conversation)))
        return self.readings.count - 1
    }

    private mutating func countAsRead(_ message: MessageID, in conversation: ConversationID) {
        guard let place = self.places[conversation], self.readings[place].unread.removeValue(forKey: message) != nil
        else { return }
        self.messages[message]?.isUnread = false
        if !self.readings[place].isMuted { self.unread -= 1 }
    }

    /// A reading position never goes back.
    mutating func markRead(_ conversation: ConversationID, upTo position: LogPosition) {
        let place = self.place(of: conversation)
        self.readings[place].upTo = max(self.readings[place].upTo, position)
        let before = self.readings[place].unread
        guard !before.isEmpty else { return }
        for (message, unreadAt) in before.elements where unreadAt <= position {
            self.messages[message]?.isUnread = false
        }
        self.readings[place].unread.removeAll { $0.value <= position }
        if !self.readings[place].isMuted { self.unread -= before.count - self.readings[place].unread.count }
    }

    /// What was read here beyond that is told again.
    private mutating func confirmRead(_ conversation: ConversationID, upTo position: LogPosition) {
        self.markRead(conversation, upTo: position)
        if self.reads[conversation] ?? .max <= position { self.reads.removeValue(forKey: conversation) }
    }

    mutating func countAnew() {
        let preferences = self.preferences()
        self.unread = 0
        for place in self.readings.indices {
            self.readings[place].isMuted = preferences.isMuted(self.readings[place].conversation)
            if !self.readings[place].isMuted { self.unread += self.readings[place].unread.count }
        }
    }

    /// Sorted, each with the position of the newest unread message.
    package var unreadConversations: [(conversation: ConversationID, newest: LogPosition)] {
        self.readings.compactMap { reading in reading.unread.values.last.map { (reading.conversation, $0) } }
            .sorted { $0.0 < $1.0 }
    }
}
