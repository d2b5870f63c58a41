package import StoreModel
package import TidingsModel

/// What is few, so all of it is in memory.
package struct StoreRow {
    package var epoch: UInt64 = 0
    package var watermark: JournalPosition = 0
    package var indexed: JournalPosition = 0
    package var lastMessageID = MessageID(rawValue: 0)
    /// With `opening` 0.
    package var identity = StoreIdentity()
    /// The number of each opening that is known, and the first record after it began, in their order.
    package var openings: [(number: UInt64, next: JournalPosition)] = []
    /// The greatest numbers; 0 for none.
    package var lastPerson: Int64 = 0
    package var lastConversation: Int64 = 0
    /// No person can have a greater number.
    package var numberMax: Int64 = 0
    /// By number.
    package var setAside: [SetAsidePerson] = []
    /// The names of each app are sorted.
    package var objectNames: [AppID: [ObjectName]] = [:]
    package var accounts: [AppID: StoreRules.Accounts] = [:]
    /// How many follow each; without those whom nobody follows.
    package var followerCounts: [ConversationKey: Int] = [:]
    package var apps: [ManagedApp] = []
    package var operators: [OperatorRecord] = []
    package var keyUses: [KeyUse] = []
    /// The greatest number of an audit record that was put; 0 for none.
    package var lastAudit: Int64 = 0
    /// `PushJob.State.isUnfinished`.
    package var unfinishedPushes: [(app: AppID, id: PushJobID)] = []
    /// How many answers are kept of each app.
    package var keptCounts: [AppID: Int] = [:]
    package var storage: [StorageRow] = []

    package init() {}
}

package struct PersonRow {
    package var number: Int64
    package var key: UserKey
    package var head: LogPosition = 0
    package var counts = UnreadCounts()
    package var settings = AllSettings()
    /// Where the journal has the texts of the drafts in `settings`.
    package var drafts: [ConversationID: JournalPosition] = [:]
    package var account = AccountState()
    package var profile = Profile()
    package var labels = PersonLabels()
    /// Everything up to here is in the person's rows.
    package var applied: JournalPosition = 0
    /// How many devices are signed in.
    package var signedIn = 0
    /// The last of the log; nil for an empty one.
    package var chunk: LogChunk?

    package init(number: Int64, key: UserKey) {
        self.number = number
        self.key = key
    }
}

package struct PersonFacts {
    package var key: UserKey
    package var signedIn: Int
    package var labels: PersonLabels

    package init(key: UserKey, signedIn: Int, labels: PersonLabels) {
        self.key = key
        self.signedIn = signedIn
        self.labels = labels
    }
}

package struct ConversationRow {
    package var number: Int64
    /// Without members in its record.
    package var stored: StoredConversation
    /// Owner, admins and members with a nickname, by number; their ids are empty.
    package var ranks: [Int64: Member]
    /// Those of its version, as `Rows.members`.
    package var members: [Int64]

    package init(number: Int64, stored: StoredConversation, ranks: [Int64: Member], members: [Int64] = []) {
        self.number = number
        self.stored = stored
        self.ranks = ranks
        self.members = members
    }
}

/// A push job, without what its record in the journal says.
package struct PushRow {
    package var id: PushJobID
    package var app: AppID
    package var record: JournalPosition
    package var state: PushJob.State
    package var changedAt: Int64
    package var cursor: UInt64
    package var steps: Int
    package var counts: PushCounts
    package var pass: Int
    /// Everything up to here is in the row.
    package var applied: JournalPosition

    package init(
        id: PushJobID, app: AppID, record: JournalPosition, state: PushJob.State, changedAt: Int64, cursor: UInt64,
        steps: Int, counts: PushCounts, pass: Int, applied: JournalPosition
    ) {
        self.id = id
        self.app = app
        self.record = record
        self.state = state
        self.changedAt = changedAt
        self.cursor = cursor
        self.steps = steps
        self.counts = counts
        self.pass = pass
        self.applied = applied
    }
}

package struct ConversationKey: Hashable {
    package var app: AppID
    package var conversation: ConversationID

    package init(app: AppID, conversation: ConversationID) {
        self.app = app
        self.conversation = conversation
    }
}

package struct FollowerKey: Hashable {
    package var account: ConversationKey
    package var user: UserID

    package init(account: ConversationKey, user: UserID) {
        self.account = account
        self.user = user
    }
}

package struct AliasKey: Hashable {
    package var app: AppID
    package var alias: Alias

    package init(app: AppID, alias: Alias) {
        self.app = app
        self.alias = alias
    }
}

package struct KeptAnswerKey: Comparable {
    package var at: Int64
    package var key: IdempotencyKey

    package init(at: Int64, key: IdempotencyKey) {
        self.at = at
        self.key = key
    }

    package static func < (left: Self, right: Self) -> Bool { (left.at, left.key) < (right.at, right.key) }
}

/// The client's id of a custom message.
package struct CustomKey: Hashable {
    package var app: AppID
    package var id: ClientMessageID

    package init(app: AppID, id: ClientMessageID) {
        self.app = app
        self.id = id
    }
}

/// The records that withdrew a message and that edited it last, 0 for none.
package struct MessageRevision: Equatable {
    package var recalled: JournalPosition
    package var edited: JournalPosition

    package init(recalled: JournalPosition = 0, edited: JournalPosition = 0) {
        self.recalled = recalled
        self.edited = edited
    }
}

/// A message has named media; `sender` is empty for the backend's.
package struct MediaMention: Hashable {
    package var media: MediaID
    package var sender: UserID
    package var message: MessageID

    package init(media: MediaID, sender: UserID, message: MessageID) {
        self.media = media
        self.sender = sender
        self.message = message
    }
}

/// A person whose rows cannot be read: what they lack is in the journal, and nothing more is derived for them.
package struct SetAsidePerson: Equatable {
    package var number: Int64
    package var key: UserKey?

    package init(number: Int64, key: UserKey?) {
        self.number = number
        self.key = key
    }
}
