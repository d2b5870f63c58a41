import StoreModel
import TidingsModel

extension ServerCore {
    /// Passes a new log entry to each of several people in memory or being loaded. `body` is the entry as one of them
    /// sees it.
    mutating func publishEntry(_ body: LogEntry.Body, _ deliveries: [Delivery], in app: AppID) {
        // Once for all of them: there may be thousands.
        let people = deliveries.map(\.user)
        for delivery in deliveries {
            guard let slot = self.slots[UserKey(app: app, user: delivery.user)] else { continue }
            let entry = LogEntry(position: delivery.position, body: body.seen(by: delivery.user, of: people))
            self.tell(.entry(entry, unread: delivery.unread, RecalledMessage()), slot: slot)
        }
    }
}

extension Person {
    mutating func apply(_ entry: LogEntry, unread: Int, recalled: RecalledMessage, _ turn: inout Turn) {
        let before = self.state.unread
        self.state.head = max(self.state.head, entry.position)
        self.state.unread = unread
        self.state.busyAt = turn.now.monotonic
        self.follow(entry, &turn)
        for index in self.devices.indices {
            self.devices[index].follow(entry, recalled, &turn)
            if self.devices[index].lease.isLive {
                self.devices[index].dirtyCursor(&self.state, &turn)
            } else {
                self.pump(at: index, &turn)
                if unread < before { self.devices[index].scheduleBadgePush(&self.state, &turn) }
            }
        }
        self.arm(&turn)
    }

    private mutating func follow(_ entry: LogEntry, _ turn: inout Turn) {
        if let (conversation, upTo) = entry.reading(by: self.state.key.user) {
            if self.devices.contains(where: { !$0.legs.isEmpty || !$0.unpushed.isEmpty }) {
                self.state.noteReading(conversation, upTo: upTo)
            } else {
                self.state.readUpTo.removeAll()
            }
        }
        switch entry.body {
        case .conversationSettings(let conversation, let settings):
            let settings = settings.withoutDraft
            let isNothing = settings == ConversationSettings()
            self.state.settings.conversations[conversation] = isNothing ? nil : settings
            self.state.followSettings(&turn)
        case .personSettings(let settings):
            self.state.settings.person = settings
            self.state.followSettings(&turn)
        case .blocked(let user, let isBlocked):
            self.state.settings.blocked.removeAll { $0 == user }
            if isBlocked { self.state.settings.blocked.append(user) }
        case .message, .read, .custom, .recall, .edit, .deletion, .change, .unknown: break
        }
    }
}

extension PersonState {
    mutating func noteReading(_ conversation: ConversationID, upTo: LogPosition) {
        self.readUpTo[conversation] = max(self.readUpTo[conversation] ?? 0, upTo)
    }
}

extension Device {
    fileprivate mutating func follow(_ entry: LogEntry, _ recalled: RecalledMessage, _ turn: inout Turn) {
        if self.lease.getsFrames, let session = self.session {
            turn.emit(.write(session, .entry(entry.seen(on: self.id).handedOver(at: turn.now.wall))))
        }
        if let (conversation, upTo) = entry.reading(by: self.key.user.user) {
            if case .read = entry.body { self.addReading(conversation, upTo: upTo, &turn) }
            if !self.lease.isLive { self.endRead(conversation, upTo: upTo, &turn) }
        }
        switch entry.body {
        case .recall(let recall): self.recall(recall, at: entry.position, recalled, &turn)
        case .edit(let edit): self.legs.edit(edit)
        case .deletion(let deletion): self.legs.recall(Set(deletion.messages), as: .deleted)
        case .change(let change):
            guard case .rename(let name) = change.action else { return }
            self.legs.rename(change.conversation, to: name)
        case .message, .read, .custom, .conversationSettings, .personSettings, .blocked, .unknown: break
        }
    }
}

extension LogEntry {
    /// The conversation that has no unread messages up to a position because of this entry: the person has read it,
    /// or is no member any more.
    func reading(by user: UserID) -> (conversation: ConversationID, upTo: LogPosition)? {
        switch self.body {
        case .read(let conversation, let upTo): (conversation, upTo)
        case .change(let change): change.removes(user) ? (change.conversation, self.position) : nil
        case .message, .custom, .recall, .edit, .deletion, .conversationSettings, .personSettings, .blocked, .unknown:
            nil
        }
    }
}

extension LogEntry.Body {
    /// In a one-to-one conversation the target is the other person (S0.16); who is invited learns of nobody else.
    func seen(by user: UserID, of people: [UserID]) -> LogEntry.Body {
        if case .change(let change) = self { return .change(change.seen(by: user)) }
        guard case .edit(var edit) = self, edit.conversation.type.targetIsPeer,
            edit.conversation.target == user.rawValue, let other = people.first(where: { $0 != user })
        else { return self }
        edit.conversation.target = other.rawValue
        return .edit(edit)
    }
}
