import StoreModel
import TidingsModel

/// A run of entries of one person's log without gaps; the bodies stay in the journal. The entries with a message of one conversation
/// are linked, each to the one before it, so that history is read without looking at what lies between.
struct LogChunk {
    private static let flagBits: UInt64 = 5

    let first: LogPosition
    private(set) var count: UInt64 = 0
    private(set) var lastRecord: JournalPosition = 0
    private var writer = ByteWriter()

    struct Entry: Equatable {
        var position: LogPosition = 0
        var record: JournalPosition
        var conversation: ConversationNumber
        var counts = false
        var mentions = false
        /// For an entry with a message, the position of the one before it in its conversation, 0 for none.
        var earlier: LogPosition?
        /// Somebody else's message for a person without a device: that leg has ended `no_device`.
        var lacksDevice = false
        /// A message of somebody whom the person had blocked, which reads as `Message.hushed`, or its recall.
        var isHushed = false
        /// The person's unread count after the entry.
        var unread = 0
    }

    init(first: LogPosition) { self.first = first }

    init(first: LogPosition, stored bytes: UnsafeRawBufferPointer) throws {
        self.first = first
        try Self.read(bytes, first: first) { entry in
            self.append(entry)
            return true
        }
    }

    var end: LogPosition { self.first + self.count }
    var bytes: [UInt8] { self.writer.bytes }
    var size: Int { self.writer.bytes.count }

    /// The entry gets the position after the last one, whatever it says.
    mutating func append(_ entry: Entry) {
        self.writer.number(entry.record &- self.lastRecord)
        let flags: UInt64 =
            (entry.isHushed ? 16 : 0) | (entry.lacksDevice ? 8 : 0) | (entry.earlier == nil ? 0 : 4)
            | (entry.mentions ? 2 : 0) | (entry.counts ? 1 : 0)
        self.writer.number(entry.conversation.rawValue << Self.flagBits | flags)
        // The distance; 0 if there is nothing before it.
        if let earlier = entry.earlier { self.writer.number(earlier == 0 ? 0 : self.end - earlier) }
        // Below 0 only in a store whose counts were damaged.
        self.writer.number(UInt64(clamping: entry.unread))
        self.lastRecord = entry.record
        self.count += 1
    }

    /// - Returns: false if `body` did, which stops the reading.
    @discardableResult
    static func read(
        _ bytes: UnsafeRawBufferPointer, first: LogPosition, _ body: (Entry) throws -> Bool
    ) throws -> Bool {
        var reader = ByteReader(bytes)
        var position = first
        var record: JournalPosition = 0
        while !reader.isAtEnd {
            record &+= try reader.number()
            let conversation = try reader.number()
            let flags = conversation & (1 << Self.flagBits - 1)
            var earlier: LogPosition?
            if flags & 4 == 4 {
                let distance = try reader.number()
                guard distance < position else { throw StoredBytesFault.badValue("link in a log") }
                earlier = distance == 0 ? 0 : position - distance
            }
            let entry = Entry(
                position: position, record: record,
                conversation: ConversationNumber(rawValue: conversation >> Self.flagBits),
                counts: flags & 1 == 1, mentions: flags & 2 == 2, earlier: earlier,
                lacksDevice: flags & 8 == 8, isHushed: flags & 16 == 16, unread: try reader.unread())
            guard try body(entry) else { return false }
            position += 1
        }
        return true
    }

    @discardableResult
    func forEach(_ body: (Entry) throws -> Bool) throws -> Bool {
        try self.writer.bytes.withUnsafeBytes { try Self.read($0, first: self.first, body) }
    }
}

extension ByteReader {
    fileprivate mutating func unread() throws(StoredBytesFault) -> Int {
        guard let unread = Int(exactly: try self.number()) else { throw .badValue("unread count") }
        return unread
    }
}

/// A conversation as one person sees it: the number of the peer (`person.number`) or of the conversation (`conversation.number`)
/// above four bits for the kind.
struct ConversationNumber: Hashable {
    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }

    init(type: ConversationType, number: Int64) {
        self.rawValue = UInt64(bitPattern: number) << 4 | Self.code(of: type)
    }

    /// For entries that belong to no conversation.
    static let none = ConversationNumber(rawValue: 0)

    var number: Int64 { Int64(bitPattern: self.rawValue >> 4) }

    /// Nil for a code no build has written.
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
