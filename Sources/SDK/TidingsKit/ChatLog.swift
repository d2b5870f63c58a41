package import ClientCore
package import TidingsModel

/// The messages a screen has loaded of its conversation, by id, which is the order in which the server has taken them.
package struct ChatLog {
    package private(set) var messages: [StoredMessage] = []
    /// True if this device may have messages before the first.
    package var hasEarlierHere = true
    /// True if the server may have messages before the first.
    package var hasEarlierOnServer = true
    private var deleted: Set<MessageID> = []

    package init() {}

    package var oldest: StoredMessage? { self.messages.first }
    package var newest: StoredMessage? { self.messages.last }

    package subscript(id: MessageID) -> StoredMessage? {
        let index = self.index(of: id)
        return index < self.messages.count && self.messages[index].id == id ? self.messages[index] : nil
    }

    /// Puts messages in their places; those that are there are replaced.
    package mutating func merge(_ messages: [StoredMessage]) {
        for message in messages where !self.deleted.contains(message.id) {
            let index = self.index(of: message.id)
            if index < self.messages.count, self.messages[index].id == message.id {
                self.messages[index] = message
            } else {
                self.messages.insert(message, at: index)
            }
        }
    }

    /// Merges messages that only the server has; they stand in no log of this device.
    package mutating func merge(fromServer messages: [Message], seenBy person: UserID) {
        self.merge(
            messages.filter { self[$0.id] == nil }.map {
                StoredMessage(
                    message: $0, conversation: $0.conversation(seenBy: person), position: StoredMessage.beyondLog,
                    isUnread: false)
            })
    }

    package mutating func remove(_ ids: [MessageID]) {
        self.deleted.formUnion(ids)
        self.messages.removeAll { ids.contains($0.id) }
    }

    /// The oldest go, which the server has.
    package mutating func trim(to count: Int) {
        guard self.messages.count > count else { return }
        self.messages.removeFirst(self.messages.count - count)
        self.hasEarlierOnServer = true
    }

    /// Before this one the local store has earlier messages.
    package var oldestPosition: LogPosition? {
        self.messages.filter { $0.position < StoredMessage.beyondLog }.map(\.position).min()
    }

    package var firstUnread: MessageID? { self.messages.first { $0.isUnread }?.id }

    /// Where it is, or belongs.
    private func index(of id: MessageID) -> Int {
        var low = 0
        var high = self.messages.count
        while low < high {
            let middle = (low + high) / 2
            if self.messages[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
