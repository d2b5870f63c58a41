import StoreModel
import TidingsModel

/// One change of state, as the journal keeps it: enough to make the change again, without looking at anything but the state
/// before it. What was looked up to decide is decided already.
enum JournalRecord: Hashable {
    /// A message was accepted; `version` is the membership version its recipients come from, 0 where there are no members.
    case accept(Message, senderDevice: DeviceID?, version: UInt64)
    case putConversation(ConversationRecord, version: UInt64)
    /// A conversation was changed; who is told are the members of its version and of the version before.
    case change(AppID, ConversationChange)
    /// `accepted` is the record of the message.
    case recall(AppID, Recall, accepted: JournalPosition)
    /// `accepted` is the record of the message.
    case edit(AppID, Edit, accepted: JournalPosition)
    /// `positions`: where the messages stand in the person's log, in their order.
    case delete(UserKey, Deletion, positions: [LogPosition], at: Int64)
    case conversationSettings(UserKey, ConversationID, ConversationSettings, at: Int64)
    case personSettings(UserKey, PersonSettings, at: Int64)
    case blocked(UserKey, UserID, Bool, at: Int64)
    case custom(CustomOperation)
    /// The device as it is after signing in: the cursors of a new one are part of the record.
    case signIn(DeviceRecord)
    case signOut(DeviceKey)
    case setPushState(DeviceKey, PushState)
    case advance(DeviceKey, settled: LogPosition, decided: LogPosition)
    case markRead(UserKey, ConversationID, upTo: LogPosition, at: Int64)
    case keepLeg(OpenLeg)
    case endLeg(EndedLeg)
    case receipt(LegID, LegReceipt, at: Int64)
    /// The app's own object names, in place of those before; sorted.
    case objectNames(AppID, [ObjectName])
    /// The person's account as it is from now on.
    case userAccount(UserKey, AccountState)

    /// The number of the kind in the journal. A number is never used again for another kind.
    enum Kind: UInt8 {
        case accept = 1
        case putConversation = 2
        case signIn = 3
        case signOut = 4
        case setPushState = 5
        case advance = 6
        case markRead = 7
        case keepLeg = 8
        case endLeg = 9
        case receipt = 10
        /// A message that mentions or is directed to somebody, or expires.
        case acceptAddressed = 11
        /// A conversation with a portrait, or with members of rank or with a nickname.
        case putRankedConversation = 12
        case change = 13
        case recall = 14
        case edit = 15
        case delete = 16
        case conversationSettings = 17
        case personSettings = 18
        case blocked = 19
        case custom = 20
        case objectNames = 21
        /// A custom message that expires.
        case expiringCustom = 22
        case userAccount = 24
    }

    var kind: Kind {
        switch self {
        case .accept(let message, _, _): message.isAddressed ? .acceptAddressed : .accept
        case .putConversation(let record, _): record.isRanked ? .putRankedConversation : .putConversation
        case .change: .change
        case .recall: .recall
        case .edit: .edit
        case .delete: .delete
        case .conversationSettings: .conversationSettings
        case .personSettings: .personSettings
        case .blocked: .blocked
        case .custom(let operation): operation.message.expiresAt == nil ? .custom : .expiringCustom
        case .signIn: .signIn
        case .signOut: .signOut
        case .setPushState: .setPushState
        case .advance: .advance
        case .markRead: .markRead
        case .keepLeg: .keepLeg
        case .endLeg: .endLeg
        case .receipt: .receipt
        case .objectNames: .objectNames
        case .userAccount: .userAccount
        }
    }
}

extension Message {
    /// Whether it has more than kind 1 of the journal holds.
    var isAddressed: Bool { self.mentions != .none || !self.recipients.isEmpty || self.expiresAt != nil }
}

extension ConversationRecord {
    /// Whether it has more than kind 2 of the journal holds.
    var isRanked: Bool { self.portrait != nil || self.members.contains { $0.isRanked } }
}

extension Member {
    /// Whether there is more to say of the member than the id.
    var isRanked: Bool { self.role != .member || self.nickname != nil }
}

/// The records of one row of the journal: a format byte, then each record with its length and kind.
///
/// A row holds as many records of one transaction as fit `bytesWanted`, so that a row costs its share of a page and not a
/// statement of its own; a larger record has a row to itself.
struct JournalRow {
    /// The format of the rows this build writes, and the only one it reads.
    static let version: UInt8 = 1

    private var writer = ByteWriter()
    private(set) var count = 0

    var bytes: [UInt8] { self.writer.bytes }
    var isEmpty: Bool { self.count == 0 }

    mutating func removeAll() {
        self.writer.removeAll()
        self.count = 0
    }

    mutating func append(_ record: JournalRecord) {
        if self.count == 0 { self.writer.byte(Self.version) }
        self.count += 1
        let start = self.writer.openLength()
        self.writer.byte(record.kind.rawValue)
        self.writer.body(of: record)
        self.writer.closeLength(at: start)
    }

    /// Calls `body` for each record in order, from the one with the given index, until it returns false.
    static func read(
        _ bytes: UnsafeRawBufferPointer, from index: Int = 0, _ body: (JournalRecord) throws -> Bool
    ) throws {
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else { throw StoredBytesFault.unknownVersion(version) }
        var current = 0
        while !reader.isAtEnd {
            let length = try reader.length()
            let end = reader.offset + length
            if current >= index {
                let record = try reader.record()
                guard reader.offset == end else { throw StoredBytesFault.badValue("record length") }
                guard try body(record) else { return }
            } else {
                try reader.skip(length)
            }
            current += 1
        }
    }

    /// How many records a row holds.
    static func count(_ bytes: UnsafeRawBufferPointer) throws(StoredBytesFault) -> UInt64 {
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        var count: UInt64 = 0
        while !reader.isAtEnd {
            try reader.skip(try reader.length())
            count += 1
        }
        return count
    }
}
