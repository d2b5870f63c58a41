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

    package private(set) var by: [ConversationID: Count] = [:]
    package private(set) var unread = 0
    package private(set) var unreadWithMuted = 0
    /// Muted conversations included.
    package private(set) var mentions = 0

    package init() {}

    package mutating func add(_ count: Count, of conversation: ConversationID, isMuted: Bool) {
        guard count.unread > 0 else { return }
        self.by[conversation] = count
        self.unreadWithMuted += count.unread
        self.mentions += count.mentions
        if !isMuted { self.unread += count.unread }
    }
}
