/// Base64 (RFC 4648), for targets without Foundation and for the alphabet of web addresses, which Foundation lacks.
package enum Base64 {
    package enum Form: Sendable {
        /// With `+`, `/` and padding (RFC 4648, section 4).
        case standard
        /// With `-` and `_`, without padding (RFC 4648, section 5; RFC 7515, section 2).
        case url
    }

    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let standardDigits = Array((Self.letters + "+/").utf8)
    private static let urlDigits = Array((Self.letters + "-_").utf8)

    package static func encode(_ bytes: some Collection<UInt8>, _ form: Form) -> String {
        let digits = form == .standard ? Self.standardDigits : Self.urlDigits
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(digits[Int(buffer >> bits & 0x3f)])
            }
        }
        if bits > 0 { text.append(digits[Int(buffer << (6 - bits) & 0x3f)]) }
        while form == .standard, text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Ignores bits left over at the end. `isStrict` accepts only the form `url`; otherwise both alphabets, also
    /// mixed, and any padding.
    package static func decode(_ text: some Collection<UInt8>, isStrict: Bool) -> [UInt8]? {
        var digits = Array(text)
        if !isStrict { while digits.last == UInt8(ascii: "="), digits.count > 1 { digits.removeLast() } }
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var buffer: UInt32 = 0
        var bits = 0
        for digit in digits {
            guard let value = Self.value(digit, isStrict: isStrict) else { return nil }
            buffer = buffer << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        return bytes
    }

    private static func value(_ digit: UInt8, isStrict: Bool) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        case UInt8(ascii: "+") where !isStrict: 62
        case UInt8(ascii: "/") where !isStrict: 63
        default: nil
        }
    }
}
