package import NIOCore

/// Decodes header blocks (RFC 7541).
package struct HeaderDecoder {
    /// Why a block cannot be decoded. The connection is lost then: nobody knows the table any more (RFC 7541 §2.2).
    package enum Fault: Error, Hashable, Sendable {
        /// It breaks a rule of RFC 7541.
        case malformed
        /// The list is longer than is taken, by the count of RFC 9113 §6.5.2.
        case listTooLong
    }

    private struct Entry {
        var field: HeaderList.Field
        /// The length in bytes as received: the field has another length if they are not UTF-8.
        var nameBytes: Int
        var valueBytes: Int

        /// By the count of RFC 7541 §4.1.
        var size: Int { self.nameBytes + self.valueBytes + 32 }

        init(_ name: (text: String, bytes: Int), _ value: (text: String, bytes: Int)) {
            self.field = HeaderList.Field(name.text, value.text)
            self.nameBytes = name.bytes
            self.valueBytes = value.bytes
        }
    }

    private struct Cursor {
        let bytes: UnsafeRawBufferPointer
        var next = 0

        var isAtEnd: Bool { self.next == self.bytes.count }
        var left: Int { self.bytes.count - self.next }

        /// An integer behind the bits of a pattern (RFC 7541 §5.1).
        mutating func integer(prefix: Int) throws(Fault) -> Int {
            guard self.next < self.bytes.count else { throw .malformed }
            let most = 1 << prefix - 1
            var value = Int(self.bytes[self.next]) & most
            self.next += 1
            guard value == most else { return value }
            var shift = 0
            while self.next < self.bytes.count, shift <= 56 {
                let byte = self.bytes[self.next]
                self.next += 1
                let part = Int(byte & 0x7f)
                guard part <= (.max - value) >> shift else { throw .malformed }
                value += part << shift
                if byte & 0x80 == 0 { return value }
                shift += 7
            }
            throw .malformed
        }
    }

    /// Oldest first.
    private var table = CircularBuffer<Entry>()
    private var tableSize = 0
    /// The other side's size of the table, at most `tableSizeLimit`.
    private var tableSizeMax: Int
    /// How large the other side may make the table, by our SETTINGS_HEADER_TABLE_SIZE.
    private var tableSizeLimit: Int
    private let listSizeMax: Int
    private var scratch: [UInt8] = []

    /// A decoder with an empty table.
    ///
    /// - Parameters:
    ///   - tableSizeLimit: our SETTINGS_HEADER_TABLE_SIZE as it is acknowledged.
    ///   - listSizeMax: the longest list that is taken, by the count of RFC 9113 §6.5.2.
    package init(tableSizeLimit: Int, listSizeMax: Int) {
        self.tableSizeLimit = tableSizeLimit
        self.tableSizeMax = tableSizeLimit
        self.listSizeMax = listSizeMax
    }

    package mutating func limitTable(to size: Int) {
        self.tableSizeLimit = size
        if self.tableSizeMax > size { self.resize(to: size) }
    }

    package mutating func decode(_ block: ByteBuffer) throws(Fault) -> HeaderList {
        let result = block.withUnsafeReadableBytes { bytes -> Result<HeaderList, Fault> in
            do throws(Fault) {
                return .success(try self.decode(Cursor(bytes: bytes)))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private mutating func decode(_ block: Cursor) throws(Fault) -> HeaderList {
        var block = block
        var list = HeaderList()
        list.reserveCapacity(8)
        var listSize = 0
        var resizes = 0
        while !block.isAtEnd {
            let first = block.bytes[block.next]
            let entry: Entry
            if first & 0x80 != 0 {
                entry = try self.entry(at: try block.integer(prefix: 7))
            } else if first & 0x40 != 0 {
                entry = try self.literal(&block, prefix: 6)
                self.add(entry)
            } else if first & 0x20 != 0 {
                // At the beginning, and at most the smallest size and the last (RFC 7541 §4.2).
                let size = try block.integer(prefix: 5)
                resizes += 1
                guard list.count == 0, resizes <= 2, size <= self.tableSizeLimit else { throw .malformed }
                self.resize(to: size)
                continue
            } else {
                entry = try self.literal(&block, prefix: 4)
            }
            listSize += entry.size
            guard listSize <= self.listSizeMax else { throw .listTooLong }
            list.append(entry.field)
        }
        return list
    }

    // MARK: Fields

    /// A field that is written out, with its name or the index of one (RFC 7541 §6.2).
    private mutating func literal(_ block: inout Cursor, prefix: Int) throws(Fault) -> Entry {
        let index = try block.integer(prefix: prefix)
        let name: (text: String, bytes: Int)
        if index == 0 {
            name = try self.string(&block)
            // No field has an empty name (RFC 9110 §5.1).
            guard name.bytes > 0 else { throw .malformed }
        } else {
            let entry = try self.entry(at: index)
            name = (entry.field.name, entry.nameBytes)
        }
        return Entry(name, try self.string(&block))
    }

    /// A string with its length in bytes. Bytes that are no UTF-8 become U+FFFD.
    private mutating func string(_ block: inout Cursor) throws(Fault) -> (text: String, bytes: Int) {
        guard !block.isAtEnd else { throw .malformed }
        let isHuffman = block.bytes[block.next] & 0x80 != 0
        let length = try block.integer(prefix: 7)
        guard length <= block.left else { throw .malformed }
        let bytes = UnsafeRawBufferPointer(rebasing: block.bytes[block.next..<(block.next + length)])
        block.next += length
        guard isHuffman else { return (String(decoding: bytes, as: UTF8.self), length) }
        self.scratch.removeAll(keepingCapacity: true)
        guard HuffmanCode.decode(bytes, into: &self.scratch) else { throw .malformed }
        return (String(decoding: self.scratch, as: UTF8.self), self.scratch.count)
    }

    // MARK: The tables

    private func entry(at index: Int) throws(Fault) -> Entry {
        guard index > 0 else { throw .malformed }
        if index < Self.staticEntries.count { return Self.staticEntries[index] }
        let age = index - Self.staticEntries.count
        guard age < self.table.count else { throw .malformed }
        return self.table[self.table.index(self.table.endIndex, offsetBy: -1 - age)]
    }

    /// An entry that is larger than the table empties it (RFC 7541 §4.4).
    private mutating func add(_ entry: Entry) {
        self.evict(downTo: self.tableSizeMax - entry.size)
        guard entry.size <= self.tableSizeMax else { return }
        self.table.append(entry)
        self.tableSize += entry.size
    }

    private mutating func resize(to size: Int) {
        self.tableSizeMax = size
        self.evict(downTo: size)
    }

    private mutating func evict(downTo size: Int) {
        while self.tableSize > size, let oldest = self.table.popFirst() { self.tableSize -= oldest.size }
    }

    /// RFC 7541, Appendix A, by index; there is none at 0.
    private static let staticEntries: [Entry] = {
        var fields = [
            ("", ""), (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
            (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"), (":status", "200"),
            (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"), (":status", "404"),
            (":status", "500"),
        ]
        for name in HeaderEncoder.staticOrdinaryNames {
            fields.append((name, name == "accept-encoding" ? "gzip, deflate" : ""))
        }
        return fields.map { Entry(($0.0, $0.0.utf8.count), ($0.1, $0.1.utf8.count)) }
    }()
}
