package import TidingsModel

/// The part of the people that one event loop owns (DESIGN §3 "Owner").
///
/// The number depends on app and user only, on every machine and in every version: it is stored with each person.
package enum Partition {
    /// How many there are.
    package static let count = 256

    /// The partition of a person, 0 to 255: FNV-1a (32 bits) over the app's bytes, a zero byte and the user's bytes, its four
    /// bytes combined by exclusive or. Ids hold no zero byte, so the two parts cannot run into each other.
    package static func of(_ key: UserKey) -> UInt8 {
        var hash: UInt32 = 2_166_136_261
        for byte in key.app.rawValue.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        hash = hash &* 16_777_619
        for byte in key.user.rawValue.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        hash ^= hash >> 16
        return UInt8(truncatingIfNeeded: hash ^ hash >> 8)
    }
}
