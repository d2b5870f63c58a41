/// Written in lowercase and read in either case.
package enum Hexadecimal {
    static let digits = Array("0123456789abcdef".utf8)

    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            text.append(Self.digits[Int(byte >> 4)])
            text.append(Self.digits[Int(byte & 0xf)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The lowest digits of a number: 1 or more, beyond 16 with leading zeros.
    package static func text(_ number: UInt64, digits: Int = 16) -> String {
        String(unsafeUninitializedCapacity: digits) { text in
            Self.write(number, digits: digits, into: text, from: 0)
            return digits
        }
    }

    /// RFC 9562, section 4; `high` has the version, `low` the variant.
    package static func uuid(high: UInt64, low: UInt64) -> String {
        String(unsafeUninitializedCapacity: 36) { text in
            for place in [8, 13, 18, 23] { text[place] = UInt8(ascii: "-") }
            Self.write(high >> 32, digits: 8, into: text, from: 0)
            Self.write(high >> 16, digits: 4, into: text, from: 9)
            Self.write(high, digits: 4, into: text, from: 14)
            Self.write(low >> 48, digits: 4, into: text, from: 19)
            Self.write(low, digits: 12, into: text, from: 24)
            return 36
        }
    }

    private static func write(
        _ number: UInt64, digits: Int, into text: UnsafeMutableBufferPointer<UInt8>, from start: Int
    ) {
        var rest = number
        for place in stride(from: start + digits - 1, through: start, by: -1) {
            text[place] = Self.digits[Int(rest & 0xf)]
            rest >>= 4
        }
    }

    /// nil for an odd number of digits, and for any other character.
    package static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        var high: UInt8?
        for character in text {
            guard let digit = Self.value(of: character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }

    static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
