package import TidingsModel

/// A value with one form in records, logs and rows. Another form is another version of the schema.
package protocol StoredValue {
    func write(to writer: inout ByteWriter)
    init(from reader: inout ByteReader) throws(StoredBytesFault)
}

extension StoredValue {
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        self.write(to: &writer)
        return writer.bytes
    }
}

// Overloads and no parameter pack: through a pack appending a record takes twice as long (Swift 6.3).
extension ByteWriter {
    package mutating func write<A: StoredValue>(_ a: A) { a.write(to: &self) }

    package mutating func write<A: StoredValue, B: StoredValue>(_ a: A, _ b: B) {
        a.write(to: &self)
        b.write(to: &self)
    }

    package mutating func write<A: StoredValue, B: StoredValue, C: StoredValue>(_ a: A, _ b: B, _ c: C) {
        self.write(a, b)
        c.write(to: &self)
    }

    package mutating func write<A: StoredValue, B: StoredValue, C: StoredValue, D: StoredValue>(
        _ a: A, _ b: B, _ c: C, _ d: D
    ) {
        self.write(a, b)
        self.write(c, d)
    }

    package mutating func write<A: StoredValue, B: StoredValue, C: StoredValue, D: StoredValue, E: StoredValue>(
        _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
    ) {
        self.write(a, b, c)
        self.write(d, e)
    }
}

extension UInt8: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.byte(self) }
    @inline(__always) package init(from reader: inout ByteReader) throws(StoredBytesFault) { self = try reader.byte() }
}

extension Bool: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.byte(self ? 1 : 0) }
    @inline(__always) package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self = try reader.byte() == 1
    }
}

extension UInt64: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.number(self) }
    @inline(__always) package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self = try reader.number()
    }
}

extension Int64: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.signed(self) }
    @inline(__always) package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self = try reader.signed()
    }
}

extension Int: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.signed(Int64(self)) }
    @inline(__always) package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self = Int(try reader.signed())
    }
}

extension String: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.text(self) }
    @inline(__always) package init(from reader: inout ByteReader) throws(StoredBytesFault) { self = try reader.text() }
}

extension MessageID: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.fixed(self.rawValue) }
    @inline(__always) package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(rawValue: try reader.fixed())
    }
}

/// One byte says whether the value is there.
extension Optional: StoredValue where Wrapped: StoredValue {
    package func write(to writer: inout ByteWriter) {
        guard let value = self else { return writer.byte(0) }
        writer.byte(1)
        value.write(to: &writer)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        switch try reader.byte() {
        case 0: self = nil
        case 1: self = try Wrapped(from: &reader)
        default: throw .badValue("presence byte")
        }
    }
}

extension Array: StoredValue where Element: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.number(UInt64(self.count))
        for element in self { element.write(to: &writer) }
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self = []
        for _ in 0..<(try reader.number()) { self.append(try Element(from: &reader)) }
    }
}

/// In the order of the keys.
extension Dictionary: StoredValue where Key: StoredValue & Comparable, Value: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.number(UInt64(self.count))
        for (key, value) in self.sorted(by: { $0.key < $1.key }) { writer.write(key, value) }
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self = [:]
        for _ in 0..<(try reader.number()) {
            let key = try Key(from: &reader)
            self[key] = try Value(from: &reader)
        }
    }
}

extension StoredValue where Self: StringIdentifier {
    package func write(to writer: inout ByteWriter) { writer.text(self.rawValue) }
    @inline(__always) package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(try reader.text())
    }
}

extension AppID: StoredValue {}
extension UserID: StoredValue {}
extension DeviceID: StoredValue {}
extension ClientMessageID: StoredValue {}
extension ObjectName: StoredValue {}
extension PushToken: StoredValue {}

extension StoredValue where Self: RawRepresentable, RawValue: StoredValue {
    package func write(to writer: inout ByteWriter) { self.rawValue.write(to: &writer) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        guard let value = Self(rawValue: try RawValue(from: &reader)) else { throw .badValue("\(Self.self)") }
        self = value
    }
}
