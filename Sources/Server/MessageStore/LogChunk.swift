import StoreModel
import TidingsModel

/// A run of entries of one person's log, without gaps: for each the journal record it comes from, its conversation, whether it
/// counts as unread and mentions the person, whether it came when the person had no device, and the person's unread count after it.
/// The entries with a message of a conversation are linked, each to the one before, so that history is read without looking at what
/// lies between. The bodies stay in the journal.
struct LogChunk {
    /// The format of the runs this build writes. In format 1 no entry mentions anybody, in formats 1 and 2 none is linked, before
    /// format 4 none says that there was no device: a record in the journal does.
    static let format: Int64 = 4

    /// The log position of the first entry.
    let first: LogPosition
    private(set) var count: UInt64 = 0
    private(set) var lastRecord: JournalPosition = 0
    private var writer = ByteWriter()

    struct Entry: Equatable {
        var position: LogPosition
        var record: JournalPosition
        var conversation: ConversationNumber
        var counts: Bool
        var mentions: Bool
        /// Of an entry with a message: where the one before it in its conversation stands, 0 for none.
        var earlier: LogPosition?
        /// A message of somebody else's for a person without a device: that leg has ended `no_device`.
        var lacksDevice: Bool
        var unread: Int
    }

    init(first: LogPosition) { self.first = first }

    /// A chunk as it was stored, in whichever format.
    init(first: LogPosition, stored bytes: UnsafeRawBufferPointer, format: Int64) throws {
        self.first = first
        try Self.read(bytes, first: first, format: format) { entry in
            self.append(
                record: entry.record, conversation: entry.conversation, counts: entry.counts, mentions: entry.mentions,
                earlier: entry.earlier, lacksDevice: entry.lacksDevice, unread: entry.unread)
            return true
        }
    }

    /// The position after the last entry.
    var end: LogPosition { self.first + self.count }
    var bytes: [UInt8] { self.writer.bytes }
    var size: Int { self.writer.bytes.count }

    mutating func append(
        record: JournalPosition, conversation: ConversationNumber, counts: Bool, mentions: Bool,
        earlier: LogPosition?, lacksDevice: Bool, unread: Int
    ) {
        self.writer.number(record &- self.lastRecord)
        let flags: UInt64 =
            (lacksDevice ? 8 : 0) | (earlier == nil ? 0 : 4) | (mentions ? 2 : 0) | (counts ? 1 : 0)
        self.writer.number(conversation.rawValue << 4 | flags)
        // The distance; 0 if there is nothing before it.
        if let earlier { self.writer.number(earlier == 0 ? 0 : self.end - earlier) }
        // Below 0 only in a store whose counts were damaged.
        self.writer.number(UInt64(clamping: unread))
        self.lastRecord = record
        self.count += 1
    }

    /// Calls `body` for each entry in order until it returns false.
    ///
    /// - Returns: false if `body` did.
    @discardableResult
    static func read(
        _ bytes: UnsafeRawBufferPointer, first: LogPosition, format: Int64, _ body: (Entry) throws -> Bool
    ) throws -> Bool {
        guard (1...Self.format).contains(format) else { throw StoredBytesFault.badValue("format of a log") }
        // One flag in format 1, one more in each format since.
        let flagBits = UInt64(format)
        var reader = ByteReader(bytes)
        var position = first
        var record: JournalPosition = 0
        while !reader.isAtEnd {
            record &+= try reader.number()
            let conversation = try reader.number()
            let flags = conversation & (1 << flagBits - 1)
            var earlier: LogPosition?
            if flags & 4 == 4 {
                let distance = try reader.number()
                guard distance < position else { throw StoredBytesFault.badValue("link in a log") }
                earlier = distance == 0 ? 0 : position - distance
            }
            let entry = Entry(
                position: position, record: record,
                conversation: ConversationNumber(rawValue: conversation >> flagBits),
                counts: flags & 1 == 1, mentions: flags & 2 == 2, earlier: earlier,
                lacksDevice: flags & 8 == 8, unread: try Self.unread(try reader.number()))
            guard try body(entry) else { return false }
            position += 1
        }
        return true
    }

    private static func unread(_ number: UInt64) throws -> Int {
        guard let unread = Int(exactly: number) else { throw StoredBytesFault.badValue("unread count") }
        return unread
    }

    /// Calls `body` for each entry in order until it returns false.
    ///
    /// - Returns: false if `body` did.
    @discardableResult
    func forEach(_ body: (Entry) throws -> Bool) throws -> Bool {
        try self.writer.bytes.withUnsafeBytes { try Self.read($0, first: self.first, format: Self.format, body) }
    }
}

/// A conversation as one person sees it, as a number: the number of the peer (`person.number`) or of the conversation
/// (`conversation.number`) above four bits for the kind.
struct ConversationNumber: Hashable {
    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }

    init(type: ConversationType, number: Int64) {
        self.rawValue = UInt64(bitPattern: number) << 4 | Self.code(of: type)
    }

    /// Of an entry that belongs to no conversation.
    static let none = ConversationNumber(rawValue: 0)

    /// The number of the peer or of the conversation.
    var number: Int64 { Int64(bitPattern: self.rawValue >> 4) }

    /// The kind; nil for a code no build has written.
    var type: ConversationType? { ConversationType.allCases.first { Self.code(of: $0) == self.rawValue & 0xf } }

    private static func code(of type: ConversationType) -> UInt64 {
        switch type {
        case .direct: 1
        case .discussion: 2
        case .group: 3
        case .customerService: 4
        case .system: 5
        case .appPublicService: 6
        case .publicService: 7
        case .pushService: 8
        case .chatRoom: 9
        }
    }
}
