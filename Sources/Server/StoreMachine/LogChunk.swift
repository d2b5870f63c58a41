import StoreModel
package import TidingsModel

/// A run of entries of one person's log without gaps; the bodies stay in the journal. The entries with a message of one conversation
/// are linked, each to the one before it, so that history is read without looking at what lies between.
package struct LogChunk {
    private static let flagBits: UInt64 = 5

    package let first: LogPosition
    package private(set) var count: UInt64 = 0
    package private(set) var lastRecord: JournalPosition = 0
    private var writer = ByteWriter()

    package struct Entry: Equatable {
        package var position: LogPosition = 0
        package var record: JournalPosition
        package var conversation: ConversationNumber
        package var counts = false
        package var mentions = false
        /// For an entry with a message, the position of the one before it in its conversation, 0 for none.
        package var earlier: LogPosition?
        /// True for another person's message to a person without a device: that leg has ended `no_device`.
        package var lacksDevice = false
        /// True for a message of a sender whom the person had blocked, which reads as `Message.hushed`, or its recall.
        package var isHushed = false
        /// The person's unread count after the entry.
        package var unread = 0
    }

    package init(first: LogPosition) { self.first = first }

    package init(first: LogPosition, stored bytes: UnsafeRawBufferPointer) throws {
        self.first = first
        try Self.read(bytes, first: first) { entry in
            self.append(entry)
            return true
        }
    }

    package var end: LogPosition { self.first + self.count }
    package var bytes: [UInt8] { self.writer.bytes }
    package var size: Int { self.writer.bytes.count }

    /// The entry gets the position after the last one, whatever it says.
    package mutating func append(_ entry: Entry) {
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
    package static func read(
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
    package func forEach(_ body: (Entry) throws -> Bool) throws -> Bool {
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
package struct ConversationNumber: Hashable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package init(type: ConversationType, number: Int64) {
        self.rawValue = UInt64(bitPattern: number) << 4 | Self.code(of: type)
    }

    /// For entries that belong to no conversation.
    package static let none = ConversationNumber(rawValue: 0)

    package var number: Int64 { Int64(bitPattern: self.rawValue >> 4) }

    /// Nil for a code no build has written.
    package var type: ConversationType? { ConversationType.allCases.first { Self.code(of: $0) == self.rawValue & 0xf } }

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
