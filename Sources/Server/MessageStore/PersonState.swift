import StoreModel
import TidingsModel

/// A person in the writer's memory: always as of the last record. What is not loaded is as stored.
///
/// Whoever was touched since the last derivation stays in memory until their rows are written, so that stored rows of anybody
/// not in memory are up to date.
final class PersonState {
    let number: Int64
    let key: UserKey
    /// The newest entry of the log.
    var head: LogPosition
    var unread: Int
    /// Records up to here are in this state (DESIGN §3: deriving is idempotent).
    var applied: JournalPosition
    /// The end of the log: entries that may still be appended to.
    var chunk: LogChunk
    var chunkChanged = false
    /// Closed chunks that are not stored yet, in order.
    var closedChunks: [LogChunk] = []
    /// Entries appended since the last derivation.
    var entriesToStore = 0
    var conversations: [ConversationNumber: ConversationState] = [:]
    var changedConversations: [ConversationNumber] = []
    /// Sorted; nil while not loaded.
    var devices: [DeviceRecord]?
    var changedDevices: Set<DeviceID> = []
    /// Nil while not loaded.
    var openLegs: [LegID: OpenLeg]?
    var changedLegs: Set<LegID> = []
    /// Client message ids accepted since the last derivation.
    var sent: [ClientMessageID: SentMessage] = [:]
    /// The hashes of all client message ids the person ever used, so that a new one needs no look-up in the database; nil while not
    /// loaded, or if there are too many.
    var sentHashes: Set<Int>?
    /// There are more than may be kept in memory.
    var hasManySent = false
    /// Waits to be derived.
    var isDirty = false
    /// The derivation round in which it was last used.
    var lastUsed = 0

    struct ConversationState: Equatable {
        var unread = 0
        /// The last position that counted as unread.
        var counted: LogPosition = 0
        /// The read cursor.
        var read: LogPosition = 0
        var isChanged = false
    }

    struct SentMessage: Equatable {
        var id: MessageID
        var at: Int64
    }

    init(
        number: Int64, key: UserKey, head: LogPosition = 0, unread: Int = 0, applied: JournalPosition = 0,
        chunk: LogChunk = LogChunk(first: 1)
    ) {
        self.number = number
        self.key = key
        self.head = head
        self.unread = unread
        self.applied = applied
        self.chunk = chunk
    }

    /// Appends an entry and returns its position. A chunk that has reached `chunkBytes` is closed first.
    ///
    /// - Parameter state: the conversation's state before; it is kept with what the entry changes.
    func append(
        record: JournalPosition, conversation: ConversationNumber, state: ConversationState, counts: Bool,
        chunkBytes: Int
    ) -> LogPosition {
        self.head += 1
        var state = state
        if counts {
            self.unread += 1
            state.unread += 1
            state.counted = self.head
        }
        if !state.isChanged {
            state.isChanged = true
            self.changedConversations.append(conversation)
        }
        self.conversations[conversation] = state
        if self.chunk.size >= chunkBytes {
            self.closedChunks.append(self.chunk)
            self.chunk = LogChunk(first: self.head)
        }
        self.chunk.append(record: record, conversation: conversation, counts: counts, unread: self.unread)
        self.chunkChanged = true
        self.entriesToStore += 1
        return self.head
    }

    /// Keeps an accepted client message id; of their hashes at most `max`.
    func noteSent(_ id: ClientMessageID, _ message: SentMessage, max: Int) {
        self.sent[id] = message
        self.sentHashes?.insert(id.hashValue)
        if let count = self.sentHashes?.count, count > max {
            self.sentHashes = nil
            self.hasManySent = true
        }
    }

    /// Forgets what was waiting to be stored, after its transaction is committed.
    func isStored() {
        self.chunkChanged = false
        self.closedChunks.removeAll()
        self.entriesToStore = 0
        for conversation in self.changedConversations { self.conversations[conversation]?.isChanged = false }
        self.changedConversations.removeAll()
        self.changedDevices.removeAll()
        self.changedLegs.removeAll()
        self.sent.removeAll()
        self.isDirty = false
    }
}

/// A group, discussion or chat room in the writer's memory.
final class MembersState {
    let number: Int64
    let app: AppID
    let conversation: ConversationID
    var name: String
    var version: UInt64
    /// The numbers of the members, in the order of their ids.
    var members: [Int64]
    var memberSet: Set<Int64>

    init(
        number: Int64, app: AppID, conversation: ConversationID, name: String, version: UInt64, members: [Int64]
    ) {
        self.number = number
        self.app = app
        self.conversation = conversation
        self.name = name
        self.version = version
        self.members = members
        self.memberSet = Set(members)
    }
}
