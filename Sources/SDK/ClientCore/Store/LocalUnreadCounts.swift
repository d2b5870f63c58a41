package import TidingsModel

package struct LocalUnreadCounts: Hashable, Sendable {
    package struct Count: Hashable, Sendable {
        package var unread: Int
        package var mentions: Int

        package init(unread: Int = 0, mentions: Int = 0) {
            self.unread = unread
            self.mentions = mentions
        }
    }

    /// Conversations with an unread message.
    package private(set) var by: [ConversationID: Count] = [:]
    /// Muted conversations do not count.
    package private(set) var unread = 0
    package private(set) var unreadWithMuted = 0
    /// Muted conversations included.
    package private(set) var mentions = 0

    package init() {}

    init(_ by: [ConversationID: Count], _ preferences: Preferences) {
        self.by = by
        for (conversation, count) in by {  // tidy: order does not leave: sums are the same in any order
            self.unreadWithMuted += count.unread
            self.mentions += count.mentions
            if !preferences.isMuted(conversation) { self.unread += count.unread }
        }
    }
}
