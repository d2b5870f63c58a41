import TidingsModel

extension ReferenceStore.Person {
    mutating func append(_ body: LogEntry.Body, of user: UserID) -> Delivery {
        let position = self.head + 1
        self.log.append(LogEntry(position: position, body: body))
        return Delivery(user: user, position: position, unread: self.counts.unread)
    }

    mutating func append(_ body: LogEntry.Body, of user: UserID, after change: (inout Self) -> Void) -> Delivery {
        change(&self)
        return self.append(body, of: user)
    }

    /// Negative numbers take away.
    mutating func count(_ conversation: ConversationID, unread: Int, mentions: Int) {
        self.cursors[conversation, default: .init()].add(unread: unread, mentions: mentions)
        self.counts.unreadWithMuted += unread
        self.counts.mentions += mentions
        if unread != 0, !self.settings.isMuted(conversation) { self.counts.unread += unread }
    }

    /// Settings decide what is muted, so counts follow.
    mutating func changeSettings(to settings: AllSettings) {
        self.settings = settings
        self.counts.unread = 0
        // tidy: order does not leave: a sum is the same in any order
        for (conversation, cursor) in self.cursors where !self.settings.isMuted(conversation) {
            self.counts.unread += cursor.unread
        }
    }
}
