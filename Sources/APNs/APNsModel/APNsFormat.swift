/// The forms both sides check byte by byte.
public enum APNsFormat {
    /// Returns true if a text is a device token: hexadecimal, an even number of digits, at most 100 bytes of token (APNs reference, section
    /// 6).
    public static func isDeviceToken(_ text: some Collection<UInt8>) -> Bool {
        let count = text.count
        return count >= 2 && count <= 200 && count.isMultiple(of: 2) && Self.all(of: text) { Self.isHexadecimal($0) }
    }

    /// Returns true if a text is a canonical UUID: 32 lowercase hexadecimal digits in the form 8-4-4-4-12 (APNs reference, section 6), as
    /// `apns-id` has to be.
    public static func isCanonicalUUID(_ text: some Collection<UInt8>) -> Bool {
        Self.isUUID(text, digit: Self.isLowercaseHexadecimal)
    }

    /// Returns true if a text is a UUID in lowercase or uppercase, as `apns-request-id` has to be (APNs reference, section 17).
    public static func isUUID(_ text: some Collection<UInt8>) -> Bool {
        Self.isUUID(text, digit: Self.isHexadecimal)
    }

    private static func isUUID(_ text: some Collection<UInt8>, digit isDigit: (UInt8) -> Bool) -> Bool {
        guard text.count == 36 else { return false }
        var position = 0
        for byte in text {
            switch position {
            case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return false }
            default: guard isDigit(byte) else { return false }
            }
            position += 1
        }
        return true
    }

    /// Returns true if a text can be a topic: 1 to 255 letters, digits, hyphens, underscores and dots.
    public static func isTopic(_ text: some Collection<UInt8>) -> Bool {
        let count = text.count
        return count >= 1 && count <= 255
            && Self.all(of: text) { byte in
                switch byte {
                case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
                default: Self.isLetterOrDigit(byte)
                }
            }
    }

    /// Returns true if a text can be the bundle identifier in the path of a broadcast: a topic without the suffix of a push type (APNs
    /// reference, section 17).
    public static func isBundleID(_ text: String) -> Bool {
        Self.isTopic(text.utf8)
            && APNsPushType.allCases.allSatisfy { $0.topicSuffix.isEmpty || !text.hasSuffix($0.topicSuffix) }
    }

    /// Returns true if a text can be a collapse id: 1 to 64 bytes (APNs reference, section 6) and nothing a header cannot carry.
    public static func isCollapseID(_ text: some Collection<UInt8>) -> Bool {
        let count = text.count
        return count >= 1 && count <= APNsRequest.collapseIDBytesMax && Self.all(of: text) { $0 >= 0x20 && $0 != 0x7f }
    }

    /// Returns true if a text can be a channel id: base64 (RFC 4648, section 4) with padding, 4 to 256 characters. Apple leaves the length
    /// open (APNs reference, section 17); the limit is ours.
    public static func isChannelID(_ text: some Collection<UInt8>) -> Bool {
        let count = text.count
        guard count >= 4, count <= 256, count.isMultiple(of: 4) else { return false }
        var position = 0
        var padding = 0
        for byte in text {
            switch byte {
            case UInt8(ascii: "="):
                // Padding is the last or the last two characters.
                guard position >= count - 2 else { return false }
                padding += 1
            case UInt8(ascii: "+"), UInt8(ascii: "/"): guard padding == 0 else { return false }
            default: guard padding == 0, Self.isLetterOrDigit(byte) else { return false }
            }
            position += 1
        }
        return true
    }

    /// Strings have their bytes side by side: looked through there, they cost a fraction.
    @inline(__always)
    private static func all(of text: some Collection<UInt8>, _ isRight: (UInt8) -> Bool) -> Bool {
        func allRight(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
            for byte in bytes where !isRight(byte) { return false }
            return true
        }
        return text.withContiguousStorageIfAvailable(allRight) ?? text.allSatisfy(isRight)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        Self.isLowercaseHexadecimal(byte) || (byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "F"))
    }

    private static func isLowercaseHexadecimal(_ byte: UInt8) -> Bool {
        (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"))
            || (byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f"))
    }
}
