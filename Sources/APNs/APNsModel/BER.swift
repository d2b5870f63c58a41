/// Reads elements of ASN.1 in BER (X.690, section 8), as older exporters write them, and writes them in DER.
package struct BER {
    private var rest: ArraySlice<UInt8>
    private let depth: Int

    package struct Fault: Error {
        package init() {}
    }

    package struct Element {
        package let tag: UInt8
        package let whole: ArraySlice<UInt8>
        package let content: ArraySlice<UInt8>
        fileprivate let depth: Int

        package var isConstructed: Bool { self.tag & 0x20 != 0 }

        /// A whole number; the largest there is for one that is negative or has more than four bytes.
        package var number: Int {
            let bytes = self.content.drop { $0 == 0 }
            guard bytes.count <= 4, self.content.first ?? 0x80 < 0x80 else { return .max }
            return bytes.reduce(0) { $0 << 8 | Int($1) }
        }

        /// An object identifier as documents write it.
        package var dotted: String {
            var numbers: [Int] = []
            var number = 0
            for byte in self.content {
                // Longer numbers than any that is known lose their first digits.
                number = number << 7 & .max | Int(byte & 0x7f)
                guard byte < 0x80 else { continue }
                let first = min(number / 40, 2)
                numbers += numbers.isEmpty ? [first, number - 40 * first] : [number]
                number = 0
            }
            return numbers.map { "\($0)" }.joined(separator: ".")
        }

        package func inside() throws(Fault) -> BER {
            guard self.isConstructed, self.depth < 16 else { throw Fault() }
            return BER(self.content, depth: self.depth + 1)
        }

        /// The bytes of an octet string, which may be in parts, and may have the tag of its place.
        package func octets() throws(Fault) -> [UInt8] {
            guard self.isConstructed else { return Array(self.content) }
            var parts = try self.inside()
            var bytes: [UInt8] = []
            while !parts.isAtEnd { bytes += try parts.next().octets() }
            return bytes
        }
    }

    package init(_ bytes: ArraySlice<UInt8>, depth: Int = 0) {
        self.rest = bytes
        self.depth = depth
    }

    package var isAtEnd: Bool { self.rest.isEmpty }

    /// The next element, which must have this tag.
    package mutating func next(_ tag: UInt8) throws(Fault) -> Element {
        let element = try self.next()
        guard element.tag == tag else { throw Fault() }
        return element
    }

    package mutating func next() throws(Fault) -> Element {
        let start = self.rest
        let tag = try self.byte()
        // No tag of these files takes more than one byte.
        guard tag & 0x1f != 0x1f else { throw Fault() }
        let first = try self.byte()
        if first == 0x80 { return try self.untilEnd(tag, start) }
        var count = Int(first)
        if first > 0x80 {
            guard first <= 0x84 else { throw Fault() }
            count = 0
            for _ in 0..<(first & 0x7f) { count = count << 8 | Int(try self.byte()) }
        }
        guard count <= self.rest.count else { throw Fault() }
        let content = self.rest.prefix(count)
        self.rest = self.rest.dropFirst(count)
        return Element(
            tag: tag, whole: start.prefix(content.endIndex - start.startIndex), content: content, depth: self.depth)
    }

    private mutating func untilEnd(_ tag: UInt8, _ start: ArraySlice<UInt8>) throws(Fault) -> Element {
        guard tag & 0x20 != 0, self.depth < 16 else { throw Fault() }
        var inner = BER(self.rest, depth: self.depth + 1)
        while true {
            guard inner.rest.count >= 2 else { throw Fault() }
            if inner.rest.starts(with: [0, 0]) { break }
            _ = try inner.next()
        }
        let content = self.rest.prefix(inner.rest.startIndex - self.rest.startIndex)
        self.rest = inner.rest.dropFirst(2)
        return Element(
            tag: tag, whole: start.prefix(content.endIndex + 2 - start.startIndex), content: content, depth: self.depth)
    }

    private mutating func byte() throws(Fault) -> UInt8 {
        guard let byte = self.rest.popFirst() else { throw Fault() }
        return byte
    }

    package static func write(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var count = content.count
        if count < 0x80 {
            length = [UInt8(count)]
        } else {
            while count > 0 {
                length.insert(UInt8(count & 0xff), at: 0)
                count >>= 8
            }
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        return [tag] + length + content
    }
}
