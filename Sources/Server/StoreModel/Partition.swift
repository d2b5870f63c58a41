package import TidingsModel

/// The people that one event loop owns (design.md §3 "Owner"). The number is stored with each person, so it depends on
/// app and user only, on every machine and in every version.
package enum Partition {
    package static let count = 256

    /// FNV-1a (32 bits) over the app's bytes, a zero byte and the user's bytes, its four bytes combined by exclusive
    /// or. Ids hold no zero byte.
    package static func of(_ key: UserKey) -> UInt8 {
        var hash: UInt32 = 2_166_136_261
        for byte in key.app.rawValue.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        hash = hash &* 16_777_619
        for byte in key.user.rawValue.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        hash ^= hash >> 16
        return UInt8(truncatingIfNeeded: hash ^ hash >> 8)
    }
}
