package import TidingsModel

/// A hash that is the same in every process and on every machine, unlike Swift's own. Not for secrets.
package struct StableHash: Sendable {
    private var state: UInt64

    /// Starts a hash (FNV-1a, 64 bits).
    package init(seed: UInt64 = 0) { self.state = 0xcbf2_9ce4_8422_2325 ^ seed }

    /// Adds a text, and an end mark so that `("ab", "c")` and `("a", "bc")` differ.
    package mutating func combine(_ text: String) {
        for byte in text.utf8 { self.add(byte) }
        self.add(0xff)
    }

    /// Adds a number.
    package mutating func combine(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { self.add(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    private mutating func add(_ byte: UInt8) {
        self.state = (self.state ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }

    /// The hash, mixed so that its low bits are as good as its high ones.
    package var value: UInt64 {
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// Names a person on a device in push payloads without saying who it is. Opaque, not secret: the salt is an installation's, and
/// the extension only compares it with the tag from its last welcome (DESIGN §7 "Extension").
///
/// - Returns: 16 hexadecimal digits.
package func recipientTag(of device: DeviceKey, salt: UInt64) -> String {
    var hash = StableHash(seed: salt)
    hash.combine(device.user.app.rawValue)
    hash.combine(device.user.user.rawValue)
    hash.combine(device.device.rawValue)
    return hexadecimal(hash.value, digits: 16)
}

/// The `apns-id` of one try of one leg: made from the leg alone, so that a resend after a crash carries the same one
/// (DESIGN §3 "Push work"). A UUID of version 8 (RFC 9562 §5.8).
package func apnsID(of leg: LegID, attempt: Int) -> String {
    func half(_ seed: UInt64) -> UInt64 {
        var hash = StableHash(seed: seed)
        hash.combine(leg.message.rawValue)
        hash.combine(leg.user.app.rawValue)
        hash.combine(leg.user.user.rawValue)
        hash.combine(leg.device?.rawValue ?? "")
        hash.combine(UInt64(truncatingIfNeeded: attempt))
        return hash.value
    }
    let high = half(0x7469_6469_6e67_7331) & 0xffff_ffff_ffff_0fff | 0x8000
    let low = half(0x7469_6469_6e67_7332) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
    let front = hexadecimal(high, digits: 16)
    let back = hexadecimal(low, digits: 16)
    return "\(front.prefix(8))-\(front.dropFirst(8).prefix(4))-\(front.suffix(4))-\(back.prefix(4))-\(back.suffix(12))"
}

private func hexadecimal(_ number: UInt64, digits: Int) -> String {
    String(unsafeUninitializedCapacity: digits) { buffer in
        var value = number
        for index in stride(from: digits - 1, through: 0, by: -1) {
            let digit = UInt8(truncatingIfNeeded: value & 0xf)
            buffer[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
            value >>= 4
        }
        return digits
    }
}
