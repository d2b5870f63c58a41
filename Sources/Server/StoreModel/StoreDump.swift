package import TidingsModel

/// In a fixed order, for comparing two stores.
package struct StoreDump: Hashable, Sendable {
    package var epoch: UInt64
    package var lastMessageID: MessageID
    /// Sorted; people of whom nothing is kept are left out.
    package var people: [Person]
    /// Sorted by app, then conversation.
    package var conversations: [StoredConversation]
    /// With recalls and custom messages, sorted by id.
    package var messages: [MessageTrace]
    package var objectNames: [AppID: [ObjectName]]
    package var accounts: [AppID: Set<ConversationID>]
    /// Sorted by message; only of messages that were edited or recalled.
    package var revisions: [Revision]
    /// Sorted by key; also those that have expired and are not forgotten.
    package var kept: [KeptAnswer]

    package struct Person: Hashable, Sendable {
        package var record: UserRecord
        package var counts: UnreadCounts
        /// From the first entry to the head, as they read now.
        package var log: [LogEntry]
        package var cursors: [Cursor]
        package var deleted: [MessageID]

        package init(
            record: UserRecord, counts: UnreadCounts, log: [LogEntry], cursors: [Cursor], deleted: [MessageID]
        ) {
            self.record = record
            self.counts = counts
            self.log = log
            self.cursors = cursors
            self.deleted = deleted
        }
    }

    package struct Cursor: Hashable, Sendable {
        package var conversation: ConversationID
        package var unread: Int
        /// Of the unread ones, those that mention the person.
        package var mentions: Int
        package var upTo: LogPosition

        package init(conversation: ConversationID, unread: Int, mentions: Int, upTo: LogPosition) {
            self.conversation = conversation
            self.unread = unread
            self.mentions = mentions
            self.upTo = upTo
        }
    }

    package struct Revision: Hashable, Sendable {
        package var message: MessageID
        /// nil if it says what it said, or nothing any more.
        package var content: String?
        package var isRecalled: Bool

        package init(message: MessageID, content: String?, isRecalled: Bool) {
            self.message = message
            self.content = content
            self.isRecalled = isRecalled
        }
    }

    package init(
        epoch: UInt64, lastMessageID: MessageID, people: [Person], conversations: [StoredConversation],
        messages: [MessageTrace], objectNames: [AppID: [ObjectName]], accounts: [AppID: Set<ConversationID>],
        revisions: [Revision], kept: [KeptAnswer]
    ) {
        self.epoch = epoch
        self.lastMessageID = lastMessageID
        self.people = people
        self.conversations = conversations
        self.messages = messages
        self.objectNames = objectNames
        self.accounts = accounts
        self.revisions = revisions
        self.kept = kept
    }
}

package struct UnreadCounts: Hashable, Sendable {
    /// Without muted conversations: what the badge shows (S2.12).
    package var unread: Int
    package var unreadWithMuted: Int
    /// By id or with everybody, muted conversations included.
    package var mentions: Int

    package init(unread: Int = 0, unreadWithMuted: Int = 0, mentions: Int = 0) {
        self.unread = unread
        self.unreadWithMuted = unreadWithMuted
        self.mentions = mentions
    }
}

package struct StoredConversation: Hashable, Sendable {
    package var record: ConversationRecord
    /// 1 for the first, then one more for each change.
    package var version: UInt64
    package var isDissolved: Bool
    /// Of a chat room, sorted by person; some may have ended.
    package var bans: [Ban]

    package init(record: ConversationRecord, version: UInt64, isDissolved: Bool = false, bans: [Ban] = []) {
        self.record = record
        self.version = version
        self.isDissolved = isDissolved
        self.bans = bans
    }

    package var info: ConversationInfo {
        ConversationInfo(
            id: self.record.conversation, version: self.version, name: self.record.name,
            portrait: self.record.portrait, members: self.record.members, isDissolved: self.isDissolved)
    }
}
