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
    /// What is unread in all conversations.
    var counts: UnreadCounts
    /// What the person has set.
    var settings: AllSettings
    var settingsChanged = false
    /// What the app's backend has decided about the person.
    var account: AccountState
    var accountChanged = false
    /// Messages deleted since the last derivation.
    var deleted: Set<MessageID> = []
    /// Receipts kept since the last derivation.
    var receipts: Set<Receipt> = []
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
    /// How many of them are signed in; known while they are not loaded, too.
    var signedIn: Int
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
    /// Their rows cannot be read: nothing is applied to them any more.
    var isSetAside = false
    /// The derivation round in which it was last used.
    var lastUsed = 0

    /// What a phone has said of a message.
    struct Receipt: Hashable {
        var message: MessageID
        /// Empty for the leg of a person without devices.
        var device: String
        var receipt: LegReceipt

        init(_ leg: LegID, _ receipt: LegReceipt) {
            self.message = leg.message
            self.device = leg.device?.rawValue ?? ""
            self.receipt = receipt
        }

        static func < (left: Self, right: Self) -> Bool {
            (left.message, left.device, left.receipt.rawValue) < (right.message, right.device, right.receipt.rawValue)
        }
    }

    struct ConversationState: Equatable {
        var unread = 0
        var mentions = 0
        /// The last position that counted as unread.
        var counted: LogPosition = 0
        /// The read cursor.
        var read: LogPosition = 0
        /// The newest entry with a message; 0 for none.
        var last: LogPosition = 0
        /// Positions after the read cursor that counted and do so no more: recalled or deleted. Ascending.
        var recalled: [LogPosition] = []
        /// By the person's settings; not stored.
        var isMuted = false
        var isChanged = false
    }

    struct SentMessage: Equatable {
        var id: MessageID
        var at: Int64
    }

    init(
        number: Int64, key: UserKey, head: LogPosition = 0, counts: UnreadCounts = UnreadCounts(),
        settings: AllSettings = AllSettings(), account: AccountState = AccountState(), applied: JournalPosition = 0,
        signedIn: Int = 0,
        chunk: LogChunk = LogChunk(first: 1)
    ) {
        self.number = number
        self.key = key
        self.head = head
        self.counts = counts
        self.settings = settings
        self.account = account
        self.applied = applied
        self.signedIn = signedIn
        self.chunk = chunk
    }

    /// Appends an entry and returns its position. A chunk that has reached `chunkBytes` is closed first.
    ///
    /// - Parameters:
    ///   - earlier: of an entry with a message, the position of the one before it in its conversation, 0 for none.
    ///   - lacksDevice: a message of somebody else's, and the person has no device.
    func append(
        record: JournalPosition, conversation: ConversationNumber, counts: Bool, mentions: Bool,
        earlier: LogPosition?, lacksDevice: Bool, chunkBytes: Int
    ) -> LogPosition {
        self.head += 1
        if self.chunk.size >= chunkBytes {
            self.closedChunks.append(self.chunk)
            self.chunk = LogChunk(first: self.head)
        }
        self.chunk.append(
            record: record, conversation: conversation, counts: counts, mentions: mentions, earlier: earlier,
            lacksDevice: lacksDevice, unread: self.counts.unread)
        self.chunkChanged = true
        self.entriesToStore += 1
        return self.head
    }

    /// Where a device stands among the loaded ones, or would.
    func devicePlace(_ device: DeviceID) -> Int {
        guard let devices = self.devices else { return 0 }
        var (low, high) = (0, devices.count)
        while low < high {
            let middle = (low + high) / 2
            if devices[middle].key.device < device { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Counts messages of a conversation, or no longer with negative numbers.
    func count(_ unread: Int, mentions: Int, in state: inout ConversationState) {
        state.unread += unread
        state.mentions += mentions
        self.counts.unreadWithMuted += unread
        self.counts.mentions += mentions
        if !state.isMuted { self.counts.unread += unread }
    }

    /// Counts the message of an entry no longer, if it counts as unread.
    func recall(_ entry: LogChunk.Entry, in state: inout ConversationState) {
        guard entry.counts, entry.position > state.read else { return }
        let index = state.recalled.firstIndex { $0 >= entry.position } ?? state.recalled.endIndex
        if index < state.recalled.endIndex, state.recalled[index] == entry.position { return }
        state.recalled.insert(entry.position, at: index)
        self.count(-1, mentions: entry.mentions ? -1 : 0, in: &state)
    }

    /// Keeps what changed in a conversation.
    func keep(_ state: ConversationState, of conversation: ConversationNumber) {
        var state = state
        if !state.isChanged {
            state.isChanged = true
            self.changedConversations.append(conversation)
        }
        self.conversations[conversation] = state
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
        self.settingsChanged = false
        self.accountChanged = false
        self.deleted.removeAll()
        self.receipts.removeAll()
        self.isDirty = false
    }
}

/// A group, discussion or chat room in the writer's memory.
final class MembersState {
    let number: Int64
    let app: AppID
    let conversation: ConversationID
    var name: String
    var portrait: String?
    var isDissolved: Bool
    var version: UInt64
    /// The numbers of the members, in the order of their ids.
    var members: [Int64]
    var memberSet: Set<Int64>
    /// Those of whom there is more to say than that they are members, by number.
    var ranks: [Int64: Member]
    /// Who may not come in, sorted; some of them may have ended.
    var bans: [Ban]
    /// All of it in words; nil while nobody asked.
    var record: ConversationRecord?

    init(
        number: Int64, app: AppID, conversation: ConversationID, name: String, portrait: String?, isDissolved: Bool,
        version: UInt64, members: [Int64], ranks: [Int64: Member], bans: [Ban]
    ) {
        self.number = number
        self.app = app
        self.conversation = conversation
        self.name = name
        self.portrait = portrait
        self.isDissolved = isDissolved
        self.version = version
        self.members = members
        self.memberSet = Set(members)
        self.ranks = ranks
        self.bans = bans
    }
}
