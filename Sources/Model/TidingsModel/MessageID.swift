/// 64 bits: 42 of wall milliseconds since 2024-01-01T00:00:00Z, 6 of the node, 16 of a counter within the
/// millisecond. Printed as 13 digits of Crockford's base 32 (lowercase, no i, l, o, u), so that text order is number
/// order. The text is also the request identifier, the `apns-collapse-id` and the ledger's key (design.md P3).
public struct MessageID: Hashable, Sendable, Comparable, Codable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    /// Wall milliseconds since 1970 at which ids start: 2024-01-01T00:00:00Z.
    public static let epochMilliseconds: Int64 = 1_704_067_200_000

    /// Wraps a number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Times before `epochMilliseconds` count as that. The node is 0 to 63, the counter 0 to 65,535; higher bits are
    /// dropped.
    public init(wallMilliseconds: Int64, node: UInt8, counter: UInt32) {
        let since = UInt64(max(0, wallMilliseconds - Self.epochMilliseconds)) & 0x3ff_ffff_ffff
        self.rawValue = since << 22 | UInt64(node & 0x3f) << 16 | UInt64(counter & 0xffff)
    }

    /// Wall milliseconds since 1970 at which the id was made.
    public var wallMilliseconds: Int64 { Int64(self.rawValue >> 22) + Self.epochMilliseconds }

    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// nil unless the text is 13 digits of Crockford's base 32, in either case, that fit 64 bits.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 13, let value = Self.value(of: String(text)) else { return nil }
        self.rawValue = value
    }

    /// Not generic, because every notification's name is tried.
    private static func value(of digits: String) -> UInt64? {
        var value: UInt64 = 0
        var isFirst = true
        for byte in digits.utf8 {
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x41...0x5a: digit = Self.valueOfLetter[Int(byte - 0x41)]
            case 0x61...0x7a: digit = Self.valueOfLetter[Int(byte - 0x61)]
            default: return nil
            }
            guard digit < (isFirst ? 16 : 32) else { return nil }
            isFirst = false
            value = value << 5 | UInt64(digit)
        }
        return value
    }

    /// From a on; 255 for i, l, o and u.
    private static let valueOfLetter: [UInt8] = (UInt8(ascii: "a")...UInt8(ascii: "z")).map { letter in
        Self.digits.firstIndex(of: letter).map { UInt8($0) } ?? 255
    }

    /// The 13 characters.
    public var description: String {
        String(unsafeUninitializedCapacity: 13) { buffer in
            var value = self.rawValue
            for index in stride(from: 12, through: 0, by: -1) {
                buffer[index] = Self.digits[Int(value & 0x1f)]
                value >>= 5
            }
            return 13
        }
    }

    /// Orders by time, then node, then counter.
    public static func < (left: MessageID, right: MessageID) -> Bool { left.rawValue < right.rawValue }
}

/// Makes message ids that never go below the last one, also when the clock steps back.
public struct MessageIDGenerator: Sendable, Equatable {
    /// The node's number, 0 to 63.
    public let node: UInt8
    /// The id made last, or the largest one known to be stored.
    public private(set) var last: MessageID

    /// The node is 0 to 63; new ids are larger than `last`.
    public init(node: UInt8, last: MessageID = MessageID(rawValue: 0)) {
        self.node = node
        self.last = last
    }

    /// The next id: by the clock if it is ahead, otherwise the last id plus one.
    public mutating func next(wallMilliseconds: Int64) -> MessageID {
        let fresh = MessageID(wallMilliseconds: wallMilliseconds, node: self.node, counter: 0)
        let id = fresh > self.last ? fresh : self.following(self.last)
        self.last = id
        return id
    }

    private func following(_ id: MessageID) -> MessageID {
        let counter = UInt32(id.rawValue & 0xffff)
        if counter < 0xffff, UInt8(id.rawValue >> 16 & 0x3f) == self.node {
            return MessageID(rawValue: id.rawValue + 1)
        }
        // The counter of that millisecond is used up, or the id came from another node: take the next millisecond.
        return MessageID(wallMilliseconds: id.wallMilliseconds + 1, node: self.node, counter: 0)
    }
}
