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
    /// Sorted by app; apps without are left out.
    package var objectNames: [ObjectNames]
    /// Sorted by app; apps without are left out.
    package var accounts: [Accounts]
    /// Sorted by message; only of messages that were edited or recalled.
    package var revisions: [Revision]

    package struct Person: Hashable, Sendable {
        package var record: UserRecord
        package var counts: UnreadCounts
        /// From the first entry to the head, as they read now.
        package var log: [LogEntry]
        /// Sorted by conversation.
        package var cursors: [Cursor]
        /// Sorted.
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
        /// As the person sees it.
        package var conversation: ConversationID
        package var unread: Int
        /// Of the unread ones, those that mention the person.
        package var mentions: Int
        /// 0 if the person has not read it.
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

    /// Sorted.
    package struct ObjectNames: Hashable, Sendable {
        package var app: AppID
        package var names: [ObjectName]

        package init(app: AppID, names: [ObjectName]) {
            self.app = app
            self.names = names
        }
    }

    /// Sorted.
    package struct Accounts: Hashable, Sendable {
        package var app: AppID
        package var accounts: [ConversationID]

        package init(app: AppID, accounts: [ConversationID]) {
            self.app = app
            self.accounts = accounts
        }
    }

    package init(
        epoch: UInt64, lastMessageID: MessageID, people: [Person], conversations: [StoredConversation],
        messages: [MessageTrace], objectNames: [ObjectNames], accounts: [Accounts], revisions: [Revision]
    ) {
        self.epoch = epoch
        self.lastMessageID = lastMessageID
        self.people = people
        self.conversations = conversations
        self.messages = messages
        self.objectNames = objectNames
        self.accounts = accounts
        self.revisions = revisions
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
