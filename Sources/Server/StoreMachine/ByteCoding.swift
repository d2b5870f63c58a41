/// Appends values in the encoding of journal records and log chunks: numbers as LEB128, signed ones zigzag first, texts as their
/// length in bytes and UTF-8.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func removeAll() { self.bytes.removeAll(keepingCapacity: true) }

    package mutating func byte(_ value: UInt8) { self.bytes.append(value) }

    package mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    package mutating func signed(_ value: Int64) { self.number(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    /// Eight bytes, lowest first.
    package mutating func fixed(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { self.bytes.append(contentsOf: $0) }
    }

    package mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            self.number(UInt64(utf8.count))
            self.bytes.append(contentsOf: utf8)
        }
    }

    /// Leaves four bytes for a length and returns where they are.
    package mutating func openLength() -> Int {
        let start = self.bytes.count
        self.bytes.append(contentsOf: [0, 0, 0, 0])
        return start
    }

    /// Writes the length of what was appended since `openLength`.
    package mutating func closeLength(at start: Int) {
        let length = UInt32(truncatingIfNeeded: self.bytes.count - start - 4)
        withUnsafeBytes(of: length.littleEndian) { source in
            for index in 0..<4 { self.bytes[start + index] = source[index] }
        }
    }
}

/// Why stored bytes could not be read: written by a newer build, or damaged.
package enum StoredBytesFault: Error, Equatable, CustomStringConvertible {
    case unknownVersion(UInt8)
    case unknownKind(UInt8)
    case truncated
    case badValue(String)
    case missing(String)

    package var description: String {
        switch self {
        case .unknownVersion(let version):
            "a journal row has format \(version), this build reads format \(JournalRow.version)"
        case .unknownKind(let kind): "a journal record has the unknown kind \(kind)"
        case .truncated: "a stored record ends too early"
        case .badValue(let what): "a stored record holds an invalid \(what)"
        case .missing(let what): "\(what) is missing"
        }
    }
}

/// Reads what `ByteWriter` wrote. The memory must outlive the reader.
package struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    package private(set) var offset = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package var isAtEnd: Bool { self.offset >= self.bytes.count }

    package mutating func byte() throws(StoredBytesFault) -> UInt8 {
        guard self.offset < self.bytes.count else { throw .truncated }
        defer { self.offset += 1 }
        return self.bytes[self.offset]
    }

    package mutating func number() throws(StoredBytesFault) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try self.byte()
            guard shift < 63 || byte <= 1 else { throw .badValue("number") }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    package mutating func signed() throws(StoredBytesFault) -> Int64 {
        let value = try self.number()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    package mutating func fixed() throws(StoredBytesFault) -> UInt64 {
        guard self.bytes.count - self.offset >= 8 else { throw .truncated }
        defer { self.offset += 8 }
        return UInt64(littleEndian: self.bytes.loadUnaligned(fromByteOffset: self.offset, as: UInt64.self))
    }

    package mutating func length() throws(StoredBytesFault) -> Int {
        guard self.bytes.count - self.offset >= 4 else { throw .truncated }
        defer { self.offset += 4 }
        return Int(UInt32(littleEndian: self.bytes.loadUnaligned(fromByteOffset: self.offset, as: UInt32.self)))
    }

    package mutating func skip(_ count: Int) throws(StoredBytesFault) {
        guard count >= 0, self.bytes.count - self.offset >= count else { throw .truncated }
        self.offset += count
    }

    package mutating func text() throws(StoredBytesFault) -> String {
        let count = try self.number()
        guard count <= UInt64(self.bytes.count - self.offset) else { throw .truncated }
        let end = self.offset + Int(count)
        defer { self.offset = end }
        return String(decoding: UnsafeRawBufferPointer(rebasing: self.bytes[self.offset..<end]), as: UTF8.self)
    }

    @inline(__always)
    package mutating func read<Value: StoredValue>() throws(StoredBytesFault) -> Value { try Value(from: &self) }
}
