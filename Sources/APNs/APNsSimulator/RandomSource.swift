import APNsCore
import TidingsModel

/// Draws the ids of requests, the texts of device tokens and the ids of keys.
///
/// Two ids are drawn for each push, so the numbers come from a seeded generator (xoshiro256** by David Blackman and
/// Sebastiano Vigna, public domain) and not from the system; nothing here protects anything.
struct RandomSource: RandomNumberGenerator {
    private var words: (UInt64, UInt64, UInt64, UInt64)

    init() {
        var system = SystemRandomNumberGenerator()
        self.words = (system.next(), system.next(), system.next(), system.next() | 1)
    }

    mutating func next() -> UInt64 {
        let product = self.words.1 &* 5
        let result = (product << 7 | product >> 57) &* 9
        let shifted = self.words.1 << 17
        self.words.2 ^= self.words.0
        self.words.3 ^= self.words.1
        self.words.1 ^= self.words.2
        self.words.0 ^= self.words.3
        self.words.2 ^= shifted
        self.words.3 = self.words.3 << 45 | self.words.3 >> 19
        return result
    }

    /// A UUID of version 4 in the canonical form, lowercase (RFC 9562, sections 4 and 5.4).
    mutating func uuid() -> String {
        let high = self.next() & 0xffff_ffff_ffff_0fff | 0x4000
        let low = self.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        return Hexadecimal.uuid(high: high, low: low)
    }

    /// 32 random bytes, 64 digits (APNs reference, section 6).
    mutating func deviceToken() -> PushToken {
        PushToken((0..<4).map { _ in Hexadecimal.text(self.next()) }.joined())
    }

    mutating func requestIDs() -> APNsService.DrawnIDs {
        APNsService.DrawnIDs(apnsID: self.uuid(), uniqueID: self.uuid())
    }
}
