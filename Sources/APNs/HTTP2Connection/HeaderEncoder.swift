package import NIOCore

/// A field that may not be sent.
package struct FieldFault: Error, Hashable, Sendable {
    package var name: String
    package var rule: String
}

/// Encodes header blocks (RFC 7541). Values that stay are kept in the table, so that each costs one or two bytes from
/// the
/// second block on. Strings are not compressed: the few bytes cost less than the work.
package struct HeaderEncoder {
    private struct Entry {
        var name: String
        var value: String
        /// Both lengths in one number: most entries are told apart by it, without a look at the text.
        var lengths: Int
        var size: Int { self.name.utf8.count + self.value.utf8.count + 32 }
    }

    /// Oldest first.
    private var table: [Entry] = []
    private var tableSize = 0
    private var maxTableSize = 4_096
    /// The smallest size since the last block, when the size has changed (RFC 7541 §4.2).
    private var smallestSize: Int?
    /// The block that is being written: an array takes single bytes at less cost than a `ByteBuffer`.
    private var block: [UInt8] = []

    /// A fixed head as it is written while the table stays as it is: what comes before the path and after it.
    private struct Known {
        var head: FixedHead
        var version: UInt64
        var front: [UInt8]
        var back: [UInt8]
    }

    /// The last few, the newest last.
    private var known: [Known] = []
    private var version: UInt64 = 0

    private static let knownMax = 8

    /// The table is never larger, whatever the other side would keep.
    private static let ownLimit = 4_096
    private static let staticCount = 61

    /// An encoder with an empty table of 4,096 bytes.
    package init() {}

    /// The table's size now, by the count of RFC 7541 §4.1.
    package var size: Int { self.tableSize }

    package mutating func limitTable(to size: Int) {
        let size = min(size, Self.ownLimit)
        guard size != self.maxTableSize else { return }
        self.maxTableSize = size
        self.version += 1
        self.smallestSize = min(self.smallestSize ?? size, size)
        self.evict(for: 0)
    }

    /// Appends the block of a request.
    ///
    /// - Throws: The first field that may not be sent. Nothing is appended then, and the encoder stays usable.
    package mutating func encode(_ head: RequestHead, into block: inout ByteBuffer) throws(FieldFault) {
        self.begin()
        do throws(FieldFault) {
            try self.appendFront(method: head.method, scheme: head.scheme, authority: head.authority)
            if head.path.isEmpty { throw FieldFault(name: ":path", rule: "is empty") }
            try self.append(":path", head.path, .never)
            for field in head.fields { try self.appendOrdinary(field) }
        } catch {
            self.startOver()
            throw error
        }
        block.writeBytes(self.block)
    }

    /// Appends the block of a request with a head that others have too.
    ///
    /// - Throws: As for any request.
    package mutating func encode(
        _ head: FixedHead, path: String, _ fields: [HeaderField], into block: inout ByteBuffer
    ) throws(FieldFault) {
        guard self.smallestSize == nil,
            let known = self.known.last(where: { $0.head === head }), known.version == self.version
        else { return try self.learn(head, path: path, fields, into: &block) }
        self.block.removeAll(keepingCapacity: true)
        self.block.append(contentsOf: known.front)
        if let rule = FieldRules.faultInValue(path) { throw FieldFault(name: ":path", rule: rule) }
        self.path(head.pathPrefix, path)
        self.block.append(contentsOf: known.back)
        if !fields.isEmpty {
            do throws(FieldFault) {
                for field in fields { try self.appendOrdinary(field) }
            } catch {
                self.startOver()
                throw error
            }
        }
        block.writeBytes(self.block)
    }

    /// The same for a head that was not met since the table has changed.
    private mutating func learn(
        _ head: FixedHead, path: String, _ fields: [HeaderField], into block: inout ByteBuffer
    ) throws(FieldFault) {
        try self.encode(head.request(path: path, fields: fields), into: &block)
        // Now everything that goes into the table is there: written again, it is what it will be from here on.
        let version = self.version
        var probe = self
        do throws(FieldFault) {
            probe.block.removeAll(keepingCapacity: true)
            try probe.appendFront(method: head.method, scheme: "https", authority: head.authority)
            let front = probe.block
            probe.block.removeAll(keepingCapacity: true)
            for field in head.fields { try probe.appendOrdinary(field) }
            guard probe.version == version else { return }
            self.known.removeAll { $0.head === head }
            if self.known.count == Self.knownMax { self.known.removeFirst() }
            self.known.append(Known(head: head, version: version, front: front, back: probe.block))
        } catch {
            // It was written a moment ago.
        }
    }

    private mutating func appendFront(method: String, scheme: String, authority: String) throws(FieldFault) {
        switch method {
        case "POST": self.block.append(0x83)
        case "GET": self.block.append(0x82)
        default: try self.append(HeaderField(":method", method))
        }
        switch scheme {
        case "https": self.block.append(0x87)
        default: try self.append(HeaderField(":scheme", scheme))
        }
        try self.append(":authority", authority, .incremental)
    }

    /// Appends the block of a response.
    ///
    /// - Parameter status: 100…999.
    /// - Throws: As for a request.
    package mutating func encode(
        status: Int, _ fields: [HeaderField], into block: inout ByteBuffer
    ) throws(FieldFault) {
        self.begin()
        do throws(FieldFault) {
            switch status {
            case 200: self.block.append(0x88)
            case 204: self.block.append(0x89)
            case 206: self.block.append(0x8a)
            case 304: self.block.append(0x8b)
            case 400: self.block.append(0x8c)
            case 404: self.block.append(0x8d)
            case 500: self.block.append(0x8e)
            default:
                guard (100...999).contains(status) else { throw FieldFault(name: ":status", rule: "is not 100…999") }
                try self.append(":status", String(status), .incremental)
            }
            for field in fields { try self.appendOrdinary(field) }
        } catch {
            self.startOver()
            throw error
        }
        block.writeBytes(self.block)
    }

    // MARK: Fields

    private mutating func appendOrdinary(_ field: HeaderField) throws(FieldFault) {
        if field.name.utf8.first == UInt8(ascii: ":") {
            throw FieldFault(name: field.name, rule: "stands among the ordinary fields")
        }
        try self.append(field)
    }

    private mutating func append(_ field: HeaderField) throws(FieldFault) {
        try self.append(field.name, field.value, field.indexing)
    }

    private mutating func append(
        _ name: String, _ value: String, _ indexing: HeaderField.Indexing
    ) throws(FieldFault) {
        let lengths = name.utf8.count << 32 | value.utf8.count
        if indexing == .incremental {
            // Newest first: an index is smaller, and fields of one kind of request were added together.
            for index in self.table.indices.reversed() where self.table[index].lengths == lengths {
                if self.table[index].value == value, self.table[index].name == name {
                    let place = Self.staticCount + self.table.count - index
                    self.integer(place, prefix: 7, pattern: 0x80)
                    return
                }
            }
        }
        // Only what is written out has to be looked at: what is in the table has been.
        if let rule = FieldRules.faultInName(name) ?? FieldRules.faultInValue(value) {
            throw FieldFault(name: name, rule: rule)
        }
        let entry = Entry(name: name, value: value, lengths: lengths)
        let nameIndex = Self.staticNames[name] ?? 0
        if indexing == .never {
            self.integer(nameIndex, prefix: 4, pattern: 0x10)
        } else if entry.size > self.maxTableSize / 2 {
            // It would drive out what all others use.
            self.integer(nameIndex, prefix: 4, pattern: 0x00)
        } else {
            self.integer(nameIndex, prefix: 6, pattern: 0x40)
            self.version += 1
            self.evict(for: entry.size)
            self.table.append(entry)
            self.tableSize += entry.size
        }
        if nameIndex == 0 { self.string(name) }
        self.string(value)
    }

    // MARK: The table

    /// Size changes come first in the next block (RFC 7541 §4.2).
    private mutating func begin() {
        self.block.removeAll(keepingCapacity: true)
        guard let smallest = self.smallestSize else { return }
        self.smallestSize = nil
        self.integer(smallest, prefix: 5, pattern: 0x20)
        if smallest != self.maxTableSize {
            self.integer(self.maxTableSize, prefix: 5, pattern: 0x20)
        }
    }

    private mutating func evict(for size: Int) {
        var count = 0
        while self.tableSize + size > self.maxTableSize, count < self.table.count {
            self.tableSize -= self.table[count].size
            count += 1
        }
        self.table.removeFirst(count)
    }

    /// A block was given up half-way: the other side will not hear of what it added. Both tables are emptied by the
    /// next.
    private mutating func startOver() {
        self.version += 1
        self.table = []
        self.tableSize = 0
        self.smallestSize = 0
    }

    // MARK: Bytes

    /// An integer behind the bits of `pattern` (RFC 7541 §5.1).
    private mutating func integer(_ value: Int, prefix: Int, pattern: UInt8) {
        let most = 1 << prefix - 1
        if value < most {
            self.block.append(pattern | UInt8(truncatingIfNeeded: value))
            return
        }
        self.block.append(pattern | UInt8(truncatingIfNeeded: most))
        var rest = value - most
        while rest >= 0x80 {
            self.block.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.block.append(UInt8(truncatingIfNeeded: rest))
    }

    /// A path of two parts, never indexed (RFC 7541 §6.2.3).
    private mutating func path(_ prefix: String, _ rest: String) {
        self.block.append(0x14)
        self.integer(prefix.utf8.count + rest.utf8.count, prefix: 7, pattern: 0)
        self.block.append(contentsOf: prefix.utf8)
        self.block.append(contentsOf: rest.utf8)
    }

    private mutating func string(_ text: String) {
        self.integer(text.utf8.count, prefix: 7, pattern: 0)
        self.block.append(contentsOf: text.utf8)
    }

    /// The ordinary names of the static table, from 15 on (RFC 7541, Appendix A).
    static let staticOrdinaryNames = [
        "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "accept",
        "access-control-allow-origin", "age", "allow", "authorization", "cache-control", "content-disposition",
        "content-encoding", "content-language", "content-length", "content-location", "content-range", "content-type",
        "cookie", "date", "etag", "expect", "expires", "from", "host", "if-match", "if-modified-since", "if-none-match",
        "if-range", "if-unmodified-since", "last-modified", "link", "location", "max-forwards", "proxy-authenticate",
        "proxy-authorization", "range", "referer", "refresh", "retry-after", "server", "set-cookie",
        "strict-transport-security", "transfer-encoding", "user-agent", "vary", "via", "www-authenticate",
    ]

    /// The names of the static table by their first index (RFC 7541, Appendix A).
    private static let staticNames: [String: Int] = {
        var names = [":authority": 1, ":method": 2, ":path": 4, ":scheme": 6, ":status": 8]
        for (offset, name) in Self.staticOrdinaryNames.enumerated() { names[name] = 15 + offset }
        return names
    }()
}
