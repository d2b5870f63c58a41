import GRDB
import TidingsModel

/// What is unread, counted by the server's rules.
struct LocalUnreadCounts: Hashable, Sendable {
    /// Of one conversation.
    struct Count: Hashable, Sendable {
        /// Unread messages.
        var unread = 0
        /// Those of them that mention the person.
        var mentions = 0
    }

    /// By conversation; those with nothing unread are not there.
    var by: [ConversationID: Count] = [:]
    /// Without muted conversations.
    var unread = 0
    /// With them.
    var unreadWithMuted = 0
    /// Unread messages that mention the person, muted conversations included.
    var mentions = 0
}

extension LocalStore {
    /// Costs what is unread and what is set, whatever the number of messages.
    static func counts(in database: Database) throws -> LocalUnreadCounts {
        var counts = LocalUnreadCounts()
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT type, target, count(*) AS unread, sum(mentionsMe) AS mentions FROM message WHERE isUnread
                GROUP BY type, target
                """)
        guard !rows.isEmpty else { return counts }
        let preferences = try Self.preferences(in: database)
        for row in rows {
            guard let conversation = Self.conversation(row) else { continue }
            let count = LocalUnreadCounts.Count(unread: row["unread"], mentions: row["mentions"])
            counts.by[conversation] = count
            counts.unreadWithMuted += count.unread
            counts.mentions += count.mentions
            if !preferences.isMuted(conversation) { counts.unread += count.unread }
        }
        return counts
    }
}
