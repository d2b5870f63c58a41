package import TidingsModel

/// Everything a store holds, in a fixed order: for comparing two stores.
package struct StoreDump: Hashable, Sendable {
    /// The epoch of the last opening.
    package var epoch: UInt64
    /// The largest message id accepted.
    package var lastMessageID: MessageID
    /// Sorted by person; people of whom nothing is kept are left out.
    package var people: [Person]
    /// Sorted by app, then conversation.
    package var conversations: [StoredConversation]
    /// Messages, recalls and custom messages, sorted by id.
    package var messages: [MessageTrace]
    /// Sorted by app; apps without are left out.
    package var objectNames: [ObjectNames]
    /// Sorted by app; apps without are left out.
    package var accounts: [Accounts]
    /// What became of messages since, sorted by message; those nothing became of are left out.
    package var revisions: [Revision]

    /// A person with the whole log.
    package struct Person: Hashable, Sendable {
        /// What the server core needs to know of the person.
        package var record: UserRecord
        /// What is unread in all conversations.
        package var counts: UnreadCounts
        /// From the first entry to the head, as they read now.
        package var log: [LogEntry]
        /// Sorted by conversation.
        package var cursors: [Cursor]
        /// The messages the person has deleted, sorted.
        package var deleted: [MessageID]

        /// A person from their parts.
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

    /// How far a person has read a conversation, and what is unread in it.
    package struct Cursor: Hashable, Sendable {
        /// The conversation as the person sees it.
        package var conversation: ConversationID
        /// Its unread messages.
        package var unread: Int
        /// Those of them that mention the person.
        package var mentions: Int
        /// The read cursor, 0 if the person has not read it.
        package var upTo: LogPosition

        /// A cursor from its parts.
        package init(conversation: ConversationID, unread: Int, mentions: Int, upTo: LogPosition) {
            self.conversation = conversation
            self.unread = unread
            self.mentions = mentions
            self.upTo = upTo
        }
    }

    /// What became of a message after it was accepted.
    package struct Revision: Hashable, Sendable {
        /// The message.
        package var message: MessageID
        /// What it says now; nil if it says what it said, or nothing any more.
        package var content: String?
        /// Whether it was recalled.
        package var isRecalled: Bool

        /// A revision from its parts.
        package init(message: MessageID, content: String?, isRecalled: Bool) {
            self.message = message
            self.content = content
            self.isRecalled = isRecalled
        }
    }

    /// The object names an app has registered, sorted.
    package struct ObjectNames: Hashable, Sendable {
        /// The app.
        package var app: AppID
        /// Its names.
        package var names: [ObjectName]

        /// Names from their parts.
        package init(app: AppID, names: [ObjectName]) {
            self.app = app
            self.names = names
        }
    }

    /// The accounts of an app, sorted.
    package struct Accounts: Hashable, Sendable {
        /// The app.
        package var app: AppID
        /// Its accounts.
        package var accounts: [ConversationID]

        /// Accounts from their parts.
        package init(app: AppID, accounts: [ConversationID]) {
            self.app = app
            self.accounts = accounts
        }
    }

    /// A dump from its parts.
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

/// What is unread in all of a person's conversations together.
package struct UnreadCounts: Hashable, Sendable {
    /// Unread messages without muted conversations: what the badge shows (S2.12).
    package var unread: Int
    /// The same with muted conversations.
    package var unreadWithMuted: Int
    /// Unread messages that mention the person, by id or with everybody, muted conversations included.
    package var mentions: Int

    /// Counts from their parts; by default nothing is unread.
    package init(unread: Int = 0, unreadWithMuted: Int = 0, mentions: Int = 0) {
        self.unread = unread
        self.unreadWithMuted = unreadWithMuted
        self.mentions = mentions
    }
}

/// A conversation with members as a store keeps it.
package struct StoredConversation: Hashable, Sendable {
    /// Its present name, portrait and members.
    package var record: ConversationRecord
    /// 1 for the first, then one more for each change.
    package var version: UInt64
    /// Nobody can write any more.
    package var isDissolved: Bool
    /// Who may not come into a chat room, sorted by person; some of them may have ended.
    package var bans: [Ban]

    /// A conversation from its parts.
    package init(record: ConversationRecord, version: UInt64, isDissolved: Bool = false, bans: [Ban] = []) {
        self.record = record
        self.version = version
        self.isDissolved = isDissolved
        self.bans = bans
    }

    /// The answer to somebody who asks.
    package var info: ConversationInfo {
        ConversationInfo(
            id: self.record.conversation, version: self.version, name: self.record.name,
            portrait: self.record.portrait, members: self.record.members, isDissolved: self.isDissolved)
    }
}
