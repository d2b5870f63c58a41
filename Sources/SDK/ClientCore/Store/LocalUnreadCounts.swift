package import TidingsModel

/// What is unread, counted by the server's rules.
package struct LocalUnreadCounts: Hashable, Sendable {
    /// Of one conversation.
    package struct Count: Hashable, Sendable {
        /// Unread messages.
        package var unread: Int
        /// Those of them that mention the person.
        package var mentions: Int

        /// Nothing unread, or so many.
        package init(unread: Int = 0, mentions: Int = 0) {
            self.unread = unread
            self.mentions = mentions
        }
    }

    /// By conversation; those with nothing unread are not there.
    package private(set) var by: [ConversationID: Count] = [:]
    /// Without muted conversations.
    package private(set) var unread = 0
    /// With them.
    package private(set) var unreadWithMuted = 0
    /// Unread messages that mention the person, muted conversations included.
    package private(set) var mentions = 0

    /// Nothing unread.
    package init() {}

    /// Counts a conversation in, once.
    package mutating func add(_ count: Count, of conversation: ConversationID, isMuted: Bool) {
        guard count.unread > 0 else { return }
        self.by[conversation] = count
        self.unreadWithMuted += count.unread
        self.mentions += count.mentions
        if !isMuted { self.unread += count.unread }
    }
}
