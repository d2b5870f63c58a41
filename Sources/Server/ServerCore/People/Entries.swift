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
            self.publishEntry(entry, unread: delivery.unread, slot: slot)
        }
    }

    /// `recalled` is what the store knows of the message this entry recalls.
    mutating func publishEntry(
        _ entry: LogEntry, unread: Int, recalled: RecalledMessage = RecalledMessage(), slot: Int
    ) {
        if self.people[slot].isReady {
            self.applyEntry(entry, unread: unread, recalled: recalled, slot: slot)
        } else {
            self.loadings[slot]?.queue.append(.entry(entry, unread: unread, recalled))
        }
    }

    mutating func applyEntry(_ entry: LogEntry, unread: Int, recalled: RecalledMessage, slot: Int) {
        let before = self.people[slot].unread
        self.people[slot].head = max(self.people[slot].head, entry.position)
        self.people[slot].unread = unread
        self.people[slot].busyAt = self.turn.now.monotonic
        self.updatePerson(with: entry, slot: slot)
        for index in self.people[slot].devices.indices {
            if self.people[slot].devices[index].lease.getsFrames, let session = self.people[slot].devices[index].session
            {
                let entry = entry.seen(on: self.people[slot].devices[index].id)
                self.turn.emit(.write(session, .entry(entry.handedOver(at: self.turn.now.wall))))
            }
            self.updateLegs(with: entry, recalled, slot: slot, index: index)
            if self.people[slot].devices[index].lease.isLive {
                self.dirtyCursor(slot, index)
            } else {
                self.pump(slot, index)
                if unread < before { self.scheduleBadgePush(slot: slot, index: index) }
            }
        }
        self.arm(slot)
    }

    private mutating func updatePerson(with entry: LogEntry, slot: Int) {
        if let (conversation, upTo) = entry.reading(by: self.people[slot].key.user) {
            if self.people[slot].devices.contains(where: { !$0.legs.isEmpty || !$0.unpushed.isEmpty }) {
                self.people[slot].readUpTo[conversation] = max(self.people[slot].readUpTo[conversation] ?? 0, upTo)
            } else {
                self.people[slot].readUpTo.removeAll()
            }
        }
        switch entry.body {
        case .conversationSettings(let conversation, let settings):
            let settings = settings.withoutDraft
            let isNothing = settings == ConversationSettings()
            self.people[slot].settings.conversations[conversation] = isNothing ? nil : settings
            self.followSettings(slot)
        case .personSettings(let settings):
            self.people[slot].settings.person = settings
            self.followSettings(slot)
        case .blocked(let user, let isBlocked):
            self.people[slot].settings.blocked.removeAll { $0 == user }
            if isBlocked { self.people[slot].settings.blocked.append(user) }
        case .message, .read, .custom, .recall, .edit, .deletion, .change, .unknown: break
        }
    }

    private mutating func updateLegs(with entry: LogEntry, _ recalled: RecalledMessage, slot: Int, index: Int) {
        if let (conversation, upTo) = entry.reading(by: self.people[slot].key.user) {
            if case .read = entry.body { self.addReading(slot, index, conversation, upTo: upTo) }
            if !self.people[slot].devices[index].lease.isLive {
                self.endRead(slot, index, conversation, upTo: upTo)
            }
        }
        switch entry.body {
        case .recall(let recall):
            self.recall(recall, at: entry.position, recalled, slot, index)
        case .edit(let edit): self.people[slot].devices[index].legs.edit(edit)
        case .deletion(let deletion):
            self.people[slot].devices[index].legs.recall(Set(deletion.messages), as: .deleted)
        case .change(let change):
            guard case .rename(let name) = change.action else { return }
            self.people[slot].devices[index].legs.rename(change.conversation, to: name)
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
