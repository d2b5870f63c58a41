package import StoreModel
package import TidingsModel

/// One change of state, as the journal keeps it: enough to make the change again from the state before it alone. Everything that had
/// to be looked up is already decided.
package enum JournalRecord: Hashable {
    /// `version` is the membership version its recipients come from, 0 where there are no members. `hushes`: it is hushed for those of
    /// them who have blocked its sender; not where the backend ignores blocks. `author` has written it as the account that is its
    /// sender.
    case accept(Message, senderDevice: DeviceID?, version: UInt64, hushes: Bool = false, author: UserID? = nil)
    case putConversation(ConversationRecord, version: UInt64)
    /// Its recipients are the members of its version and of the version before.
    case change(AppID, ConversationChange)
    /// `accepted` is the record of the message.
    case recall(AppID, Recall, accepted: JournalPosition)
    /// `accepted` is the record of the message.
    case edit(AppID, Edit, accepted: JournalPosition)
    /// `positions`: where the messages stand in the person's log, in their order.
    case delete(UserKey, Deletion, positions: [LogPosition], at: Int64)
    /// The settings are without the draft, which stays as it is but for a `draft`.
    case conversationSettings(UserKey, ConversationID, ConversationSettings, draft: Draft? = nil, at: Int64)
    case personSettings(UserKey, PersonSettings, at: Int64)
    case blocked(UserKey, UserID, Bool, at: Int64)
    case custom(CustomOperation)
    /// The device as it is after signing in: the cursors of a new one are part of the record.
    case signIn(DeviceRecord)
    case signOut(DeviceKey)
    case setPushState(DeviceKey, PushState)
    case deviceStatus(DeviceKey, ReportedStatus)
    case setVoIPToken(DeviceKey, VoIPToken?)
    case advance(DeviceKey, settled: LogPosition, decided: LogPosition)
    case markRead(UserKey, ConversationID, upTo: LogPosition, at: Int64)
    case keepLeg(OpenLeg)
    case endLeg(EndedLeg)
    /// `job`: of its message.
    case receipt(LegID, LegReceipt, at: Int64, job: PushJobID? = nil)
    /// The app's own object names, in place of those before; sorted.
    case objectNames(AppID, [ObjectName])
    case userAccount(UserKey, AccountState)
    case profile(UserKey, Profile)
    /// The account with that kind and id as it is from now on; nil if it is none any more.
    case account(AppID, ConversationID, ServiceAccount?)
    case following(UserKey, ConversationID, Bool)
    case control(ControlEntry)
    case push(PushJob)
    case pushStep(PushStepRecord)
    case pushChange(PushStateRecord)
    /// `removed`: aliases that are the person's no longer.
    case labels(UserKey, PersonLabels, removed: [Alias])
    /// In place of a record that could not be read or applied when the store was rebuilt, so that later records keep their positions.
    case lost

    /// A draft that was written, or removed for a nil `text`, in place of that of the record `earlier`.
    package struct Draft: Hashable {
        package var text: String?
        package var earlier: JournalPosition?
    }

    /// True if it is the first of the records about its message id.
    var startsID: Bool {
        switch self {
        case .accept, .recall, .custom, .push, .pushStep: true
        case .putConversation, .change, .edit, .delete, .conversationSettings, .personSettings, .blocked, .signIn,
            .userAccount, .profile, .signOut, .setPushState, .setVoIPToken, .deviceStatus, .advance, .markRead,
            .keepLeg, .endLeg,
            .receipt, .objectNames, .account, .following, .control, .pushChange, .labels, .lost:
            false
        }
    }

    /// Another number, or another form of what follows it, is another version of the schema.
    enum Kind: UInt8, StoredValue {
        case accept = 1
        /// Hot records have a short form: this is an `accept` with an author, options, addressees or an expiry.
        case acceptWithMore = 2
        case putConversation = 3
        case change = 4
        case recall = 5
        case edit = 6
        case delete = 7
        case conversationSettings = 8
        case personSettings = 9
        case blocked = 10
        case custom = 11
        case signIn = 12
        case signOut = 13
        case setPushState = 14
        case deviceStatus = 15
        case setVoIPToken = 16
        case advance = 17
        case markRead = 18
        case keepLeg = 19
        /// A leg with steps, or of a job.
        case keepLegWithMore = 20
        case endLeg = 21
        /// A leg with steps, or of a job, as in `keepLegWithMore`.
        case endLegWithMore = 22
        case receipt = 23
        case objectNames = 24
        case userAccount = 25
        case profile = 26
        case account = 27
        case following = 28
        case control = 29
        case push = 30
        case pushStep = 31
        case pushChange = 32
        case labels = 33
        case lost = 34
    }
}

extension Member {
    var isRanked: Bool { self.role != .member || self.nickname != nil }
}

/// The records of one row of the journal: a format byte, then each record with its length and kind. A row holds as many records of
/// one transaction as fit `journalRowBytes`, so that a record does not cost a statement of its own; a larger record has a row to
/// itself.
package struct JournalRow {
    package static let version: UInt8 = 1

    private var writer = ByteWriter()
    package private(set) var count = 0

    package init() {}

    package var bytes: [UInt8] { self.writer.bytes }
    package var isEmpty: Bool { self.count == 0 }

    package mutating func removeAll() {
        self.writer.removeAll()
        self.count = 0
    }

    package mutating func append(_ record: JournalRecord) {
        if self.count == 0 { self.writer.byte(Self.version) }
        self.count += 1
        let start = self.writer.openLength()
        self.writer.record(record)
        self.writer.closeLength(at: start)
    }

    /// From the record with the given index, until `body` returns false.
    package static func read(
        _ bytes: UnsafeRawBufferPointer, from index: Int = 0, _ body: (JournalRecord) throws -> Bool
    ) throws {
        try Self.scan(bytes) { reader, current, length in
            guard current >= index else {
                try reader.skip(length)
                return true
            }
            let end = reader.offset + length
            let record = try reader.record()
            guard reader.offset == end else { throw StoredBytesFault.badValue("record length") }
            return try body(record)
        }
    }

    package static func count(_ bytes: UnsafeRawBufferPointer) throws -> UInt64 {
        var count: UInt64 = 0
        try Self.scan(bytes) { reader, _, length in
            try reader.skip(length)
            count += 1
            return true
        }
        return count
    }

    /// Calls `body` at each record with its index and length until it returns false; `body` moves the reader behind the record.
    package static func scan(
        _ bytes: UnsafeRawBufferPointer, _ body: (inout ByteReader, Int, Int) throws -> Bool
    ) throws {
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else { throw StoredBytesFault.unknownVersion(version) }
        var index = 0
        while !reader.isAtEnd {
            let length = try reader.length()
            guard try body(&reader, index, length) else { return }
            index += 1
        }
    }
}
