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
    package var accounts: [AppID: StoreRules.Accounts]
    package var followers: [AppID: [ConversationID: Set<UserID>]]
    package var control: ControlState
    /// The oldest first.
    package var audit: [AuditRecord]
    /// Sorted by message; only of messages that were edited or recalled.
    package var revisions: [Revision]
    /// Sorted by key; also those that have expired and are not forgotten.
    package var kept: [KeptAnswer]
    /// Sorted by id.
    package var pushes: [PushJob]
    package var aliases: [AppID: [Alias: UserID]]
    /// Without kept answers.
    package var storage: [AppID: StorageUse]

    package struct Person: Hashable, Sendable {
        package var record: UserRecord
        package var counts: UnreadCounts
        /// From the first entry to the head, as they read now.
        package var log: [LogEntry]
        package var cursors: [Cursor]
        package var deleted: [MessageID]
        /// The jobs with a local time that have reached the person; sorted.
        package var reachedBy: [PushJobID]

        package init(
            record: UserRecord, counts: UnreadCounts, log: [LogEntry], cursors: [Cursor], deleted: [MessageID],
            reachedBy: [PushJobID]
        ) {
            self.record = record
            self.counts = counts
            self.log = log
            self.cursors = cursors
            self.deleted = deleted
            self.reachedBy = reachedBy
        }
    }

    package struct Cursor: Hashable, Sendable {
        package var conversation: ConversationID
        package var unread: Int
        /// The number of unread messages that mention the person.
        package var mentions: Int
        package var upTo: LogPosition
        /// One to one: the person has written to the other.
        package var hasWritten: Bool

        package init(
            conversation: ConversationID, unread: Int, mentions: Int, upTo: LogPosition, hasWritten: Bool = false
        ) {
            self.conversation = conversation
            self.unread = unread
            self.mentions = mentions
            self.upTo = upTo
            self.hasWritten = hasWritten
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
        messages: [MessageTrace], objectNames: [AppID: [ObjectName]], accounts: [AppID: StoreRules.Accounts],
        followers: [AppID: [ConversationID: Set<UserID>]], control: ControlState,
        audit: [AuditRecord], revisions: [Revision], kept: [KeptAnswer], pushes: [PushJob],
        aliases: [AppID: [Alias: UserID]], storage: [AppID: StorageUse]
    ) {
        self.storage = storage
        self.pushes = pushes
        self.aliases = aliases
        self.epoch = epoch
        self.lastMessageID = lastMessageID
        self.people = people
        self.conversations = conversations
        self.messages = messages
        self.objectNames = objectNames
        self.accounts = accounts
        self.followers = followers
        self.control = control
        self.audit = audit
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
    /// The bans of a chat room, sorted by person; some may have ended.
    package var bans: [Ban]
    /// Who may not write, members or not, sorted by person; some may have ended.
    package var mutes: [Ban]
    package var onlyAdminsWrite: Bool
    /// Sorted by person; none of them is a member. Of a group or discussion.
    package var invited: [Invitee]

    package init(
        record: ConversationRecord, version: UInt64, isDissolved: Bool = false, bans: [Ban] = [], mutes: [Ban] = [],
        onlyAdminsWrite: Bool = false, invited: [Invitee] = []
    ) {
        self.record = record
        self.version = version
        self.isDissolved = isDissolved
        self.bans = bans
        self.mutes = mutes
        self.onlyAdminsWrite = onlyAdminsWrite
        self.invited = invited
    }

    /// Returns the conversation as its members see it at a moment of the wall clock.
    package func info(at wall: Int64) -> ConversationInfo {
        var members = self.record.members
        for mute in self.mutes where mute.holds(at: wall) {
            let place = members.sortedPlace { $0.id < mute.user }
            if place < members.count, members[place].id == mute.user { members[place].mute = Mute(until: mute.until) }
        }
        var info = ConversationInfo(
            id: self.record.conversation, version: self.version, name: self.record.name,
            portrait: self.record.portrait, members: members, isDissolved: self.isDissolved,
            onlyAdminsWrite: self.onlyAdminsWrite)
        info.push = self.record.push
        return info
    }

    /// Returns why a person may not write there, whatever else holds for them. `role` is nil for a person who is no member.
    package func silence(of user: UserID, role: MemberRole?, at wall: Int64) -> Silence? {
        Self.silence(of: user, role: role, mutes: self.mutes, onlyAdminsWrite: self.onlyAdminsWrite, at: wall)
    }

    package static func silence(
        of user: UserID, role: MemberRole?, mutes: [Ban], onlyAdminsWrite: Bool, at wall: Int64
    ) -> Silence? {
        if let mute = mutes.first(where: { $0.user == user && $0.holds(at: wall) }) { return .muted(until: mute.until) }
        return onlyAdminsWrite && role ?? .member == .member ? .onlyAdminsWrite : nil
    }
}

/// The reason why a person may not write to a conversation they may be in.
package enum Silence: Hashable, Sendable {
    case muted(until: Int64?)
    case onlyAdminsWrite
}

/// A person who was invited into a conversation and has not answered.
package struct Invitee: Hashable, Sendable {
    package var user: UserID
    package var by: UserID
    /// Wall milliseconds.
    package var at: Int64

    package init(user: UserID, by: UserID, at: Int64) {
        self.user = user
        self.by = by
        self.at = at
    }
}
