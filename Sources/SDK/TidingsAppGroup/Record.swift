/// A record of 32 bytes with a check sum, little endian, for ledger and badge. Torn and foreign ones are recognized.
struct Record: Hashable {
    static let size = 32

    var kind: UInt8
    var first: UInt64
    var second: UInt64
    var third: UInt64

    private static let mark: UInt8 = 0x54
    private static let version: UInt8 = 1

    init(kind: UInt8, _ first: UInt64, _ second: UInt64, _ third: UInt64) {
        self.kind = kind
        self.first = first
        self.second = second
        self.third = third
    }

    init?(_ bytes: [UInt8], at offset: Int) {
        guard offset + Self.size <= bytes.count, bytes[offset] == Self.mark, bytes[offset + 1] == Self.version else {
            return nil
        }
        func number(_ start: Int, _ count: Int) -> UInt64 {
            bytes[(offset + start)..<(offset + start + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(kind: bytes[offset + 2], number(4, 8), number(12, 8), number(20, 8))
        guard UInt32(truncatingIfNeeded: number(28, 4)) == self.sum else { return nil }
    }

    func write(into bytes: inout [UInt8]) {
        bytes += [Self.mark, Self.version, self.kind, 0]
        for number in [self.first, self.second, self.third] {
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * shift))) }
        }
        for shift in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: self.sum >> UInt32(8 * shift))) }
    }

    /// Mixes all fields; any single bit changes it.
    private var sum: UInt32 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(self.kind)
        for number in [self.first, self.second, self.third] {
            hash = (hash ^ number) &* 0x9e37_79b9_7f4a_7c15
            hash ^= hash >> 29
        }
        return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
    }
}
