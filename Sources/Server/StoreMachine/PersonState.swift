package import StoreModel
package import TidingsModel

/// A person in the writer's memory, always as of the last record. A person changed since the last derivation stays in memory until their
/// rows are written, so the stored rows of everybody else are up to date.
package final class PersonState {
    let number: Int64
    let key: UserKey
    var head: LogPosition
    var counts: UnreadCounts
    var settings: AllSettings
    var settingsChanged = false
    /// The drafts' texts in `settings`.
    var draftBytes = 0
    /// Where the journal has the texts of the drafts in `settings`.
    var draftRecords: [ConversationID: JournalPosition] = [:]
    /// The row in the file has the text of a draft that was replaced since.
    var hasReplacedDraft = false
    var account: AccountState
    var accountChanged = false
    var profile: Profile
    var profileChanged = false
    var labels = PersonLabels()
    var labelsChanged = false
    var pushEnds: Set<PushEnd> = []
    /// Jobs with a local time that have reached the person, not stored yet.
    var pushesReached: Set<PushJobID> = []
    var deleted: Set<MessageID> = []
    var receipts: Set<Receipt> = []
    /// Records up to here are in this state (design.md §3: deriving is idempotent).
    var applied: JournalPosition
    /// The end of the log, which may still be appended to.
    var chunk: LogChunk
    var chunkChanged = false
    /// In order, not stored yet.
    var closedChunks: [LogChunk] = []
    var entriesToStore = 0
    var conversations: [ConversationNumber: ConversationState] = [:]
    var changedConversations: [ConversationNumber] = []
    /// Sorted; nil while not loaded.
    var devices: [DeviceRecord]?
    var changedDevices: Set<DeviceID> = []
    /// How many devices are signed in; known while they are not loaded, too.
    var signedIn: Int
    var openLegs: [LegID: OpenLeg]?
    var changedLegs: Set<LegID> = []
    /// Accepted since the last derivation.
    var sent: [ClientMessageID: SentMessage] = [:]
    /// The hashes of all client message ids the person ever used, so that a new one needs no look-up in the rows; nil while not
    /// loaded, or if there are too many.
    var sentHashes: Set<UInt64>?
    var hasManySent = false
    /// Rows are behind: the person stays in memory.
    var isDirty = false
    /// Their rows cannot be read: nothing is applied to them any more.
    var isSetAside: Bool { self.applied == .max }
    /// A round of deriving.
    var lastUsed = 0

    package struct Receipt: Hashable {
        package var message: MessageID
        /// Empty for the leg of a person without devices.
        package var device: DeviceID
        package var receipt: LegReceipt

        package init(_ leg: LegID, _ receipt: LegReceipt) {
            self.message = leg.message
            self.device = leg.device ?? ""
            self.receipt = receipt
        }

        package static func < (left: Self, right: Self) -> Bool {
            (left.message, left.device, left.receipt.rawValue) < (right.message, right.device, right.receipt.rawValue)
        }
    }

    /// A leg of a push job that is in its counts.
    package struct PushEnd: Hashable, Comparable {
        package var message: MessageID
        /// The device as in `Receipt`.
        package var device: DeviceID

        package static func < (left: Self, right: Self) -> Bool {
            (left.message, left.device) < (right.message, right.device)
        }
    }

    package struct ConversationState: Equatable {
        package var unread = 0
        package var mentions = 0
        package var counted: LogPosition = 0
        package var read: LogPosition = 0
        /// The newest entry with a message; 0 for none.
        package var last: LogPosition = 0
        /// The newest of them that stands in lists (`MessageFlags.unlisted`); 0 for none.
        package var listed: LogPosition = 0
        /// One to one: the person has written to the other.
        package var hasWritten = false
        /// Positions after the read cursor that counted and do not any more: recalled or deleted. Ascending.
        package var recalled: [LogPosition] = []
        /// By the person's settings; not stored.
        package var isMuted = false
        /// Not stored.
        package var isChanged = false

        package init(isMuted: Bool = false) { self.isMuted = isMuted }
    }

    package struct SentMessage: Equatable {
        package var id: MessageID
        package var at: Int64

        package init(id: MessageID, at: Int64) {
            self.id = id
            self.at = at
        }
    }

    init(
        number: Int64, key: UserKey, head: LogPosition = 0, counts: UnreadCounts = UnreadCounts(),
        settings: AllSettings = AllSettings(), account: AccountState = AccountState(), profile: Profile = Profile(),
        applied: JournalPosition = 0, signedIn: Int = 0, chunk: LogChunk = LogChunk(first: 1)
    ) {
        self.number = number
        self.key = key
        self.head = head
        self.counts = counts
        self.settings = settings
        self.account = account
        self.profile = profile
        self.applied = applied
        self.signedIn = signedIn
        self.chunk = chunk
    }

    /// Closes a chunk that has reached `chunkBytes` first.
    func append(_ entry: LogChunk.Entry, chunkBytes: Int) -> LogPosition {
        self.head += 1
        if self.chunk.size >= chunkBytes {
            self.closedChunks.append(self.chunk)
            self.chunk = LogChunk(first: self.head)
        }
        var entry = entry
        entry.unread = self.counts.unread
        self.chunk.append(entry)
        self.chunkChanged = true
        self.entriesToStore += 1
        return self.head
    }

    /// The index of a loaded device, or where it would be inserted.
    func devicePlace(_ device: DeviceID) -> Int {
        guard let devices = self.devices else { return 0 }
        var (low, high) = (0, devices.count)
        while low < high {
            let middle = (low + high) / 2
            if devices[middle].key.device < device { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Negative numbers count messages no longer.
    func count(_ unread: Int, mentions: Int, in state: inout ConversationState) {
        state.unread += unread
        state.mentions += mentions
        self.counts.unreadWithMuted += unread
        self.counts.mentions += mentions
        if !state.isMuted { self.counts.unread += unread }
    }

    func recall(_ entry: LogChunk.Entry, in state: inout ConversationState) {
        guard entry.counts, entry.position > state.read else { return }
        let index = state.recalled.firstIndex { $0 >= entry.position } ?? state.recalled.endIndex
        if index < state.recalled.endIndex, state.recalled[index] == entry.position { return }
        state.recalled.insert(entry.position, at: index)
        self.count(-1, mentions: entry.mentions ? -1 : 0, in: &state)
    }

    func setState(_ state: ConversationState, of conversation: ConversationNumber) {
        var state = state
        if !state.isChanged {
            state.isChanged = true
            self.changedConversations.append(conversation)
        }
        self.conversations[conversation] = state
    }

    func rememberSent(_ id: ClientMessageID, _ message: SentMessage, max: Int) {
        self.sent[id] = message
        self.sentHashes?.insert(id.fnv1a)
        if let count = self.sentHashes?.count, count > max {
            self.sentHashes = nil
            self.hasManySent = true
        }
    }

    /// After its transaction is committed.
    func clearChanges() {
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
        self.profileChanged = false
        self.labelsChanged = false
        self.pushEnds.removeAll()
        self.pushesReached.removeAll()
        self.deleted.removeAll()
        self.receipts.removeAll()
        self.isDirty = false
    }
}

extension ClientMessageID {
    /// The same in every process, unlike `hashValue`.
    var fnv1a: UInt64 {
        var hash = FNV1a()
        hash.feed(self.rawValue)
        return hash.value
    }
}

final class MembersState {
    let number: Int64
    let app: AppID
    let conversation: ConversationID
    var name = ""
    var portrait: String?
    var isDissolved = false
    var version: UInt64 = 0
    /// In the order of the members' ids.
    var members: [Int64] = []
    var memberSet: Set<Int64> = []
    /// Owner, admins and members with a nickname, by number.
    var ranks: [Int64: Member] = [:]
    /// Sorted; some of them may have ended.
    var bans: [Ban] = []
    var mutes: [Ban] = []
    var onlyAdminsWrite = false
    var invited: [Invitee] = []
    var push: PushOptions?
    /// Nil until it is asked for.
    var record: ConversationRecord?

    init(number: Int64, _ stored: StoredConversation, members: [Int64], ranks: [Int64: Member]) {
        self.number = number
        self.app = stored.record.app
        self.conversation = stored.record.conversation
        self.update(stored, members: members, ranks: ranks)
    }

    func update(_ stored: StoredConversation, members: [Int64], ranks: [Int64: Member]) {
        self.name = stored.record.name
        self.portrait = stored.record.portrait
        self.isDissolved = stored.isDissolved
        self.version = stored.version
        self.members = members
        self.memberSet = Set(members)
        self.ranks = ranks
        self.bans = stored.bans
        self.mutes = stored.mutes
        self.onlyAdminsWrite = stored.onlyAdminsWrite
        self.invited = stored.invited
        self.push = stored.record.push
    }

    func record(with members: [Member]) -> ConversationRecord {
        ConversationRecord(
            app: self.app, conversation: self.conversation, name: self.name, portrait: self.portrait, members: members,
            push: self.push)
    }

    func stored(_ record: ConversationRecord) -> StoredConversation {
        StoredConversation(
            record: record, version: self.version, isDissolved: self.isDissolved, bans: self.bans, mutes: self.mutes,
            onlyAdminsWrite: self.onlyAdminsWrite, invited: self.invited)
    }

    var row: ConversationRow {
        ConversationRow(number: self.number, stored: self.stored(self.record(with: [])), ranks: self.ranks)
    }

    /// Returns the silence as `StoredConversation.silence` does.
    func silence(of user: UserID, role: MemberRole?, at wall: Int64) -> Silence? {
        guard !self.mutes.isEmpty || self.onlyAdminsWrite else { return nil }
        return StoredConversation.silence(
            of: user, role: role, mutes: self.mutes, onlyAdminsWrite: self.onlyAdminsWrite, at: wall)
    }
}
