package import TidingsModel

/// Identifies a person on a device in push payloads by 16 hexadecimal digits. Opaque, not secret: the extension only
/// compares it with the tag from its last welcome (design.md §7 "Extension").
package func recipientTag(of device: DeviceKey, salt: UInt64) -> String {
    var hash = FNV1a(seed: salt)
    hash.combine(device.user.app.rawValue)
    hash.combine(device.user.user.rawValue)
    hash.combine(device.device.rawValue)
    return Hexadecimal.text(SplitMix64.mixed(hash.value))
}

/// The `apns-id` of one try, made from the leg alone so that a resend after a crash has the same one (design.md §3 "Push
/// work"). A UUID of version 8 (RFC 9562 §5.8).
package func apnsID(of leg: LegID, attempt: Int) -> String {
    func half(_ seed: UInt64) -> UInt64 {
        var hash = FNV1a(seed: seed)
        hash.feed(leg.message.rawValue)
        hash.combine(leg.user.app.rawValue)
        hash.combine(leg.user.user.rawValue)
        hash.combine(leg.device?.rawValue ?? "")
        hash.feed(UInt64(truncatingIfNeeded: attempt))
        return SplitMix64.mixed(hash.value)
    }
    let high = half(0x7469_6469_6e67_7331) & 0xffff_ffff_ffff_0fff | 0x8000
    let low = half(0x7469_6469_6e67_7332) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
    return Hexadecimal.uuid(high: high, low: low)
}

extension FNV1a {
    /// The end mark makes `("ab", "c")` and `("a", "bc")` differ.
    fileprivate mutating func combine(_ text: String) {
        self.feed(text)
        self.feed(UInt8(0xff))
    }
}
