/// The source of chance in a world: the same seed draws the same numbers on every machine.
///
/// The generator is Sebastiano Vigna's SplitMix64 (public domain); its numbers are not for cryptography.
package struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    /// A generator that starts at a seed.
    package init(seed: UInt64) { self.state = seed }

    /// The stream of a party's turn. What other parties draw, and how much in other turns, changes nothing of it.
    ///
    /// - Parameter turn: how many turns the party had before.
    init(seed: UInt64, party: Party, turn: Int) {
        var mixer = SplitMix64(seed: seed)
        mixer.state = mixer.next() ^ (party.stream &* 0xd1b5_4a32_d192_ed03)
        mixer.state = mixer.next() ^ (UInt64(turn) &* 0x8cb9_2ba7_2f3d_8dd7)
        self.state = mixer.next()
    }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var z = self.state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// A number in a range, both ends included.
    package mutating func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &self) }

    /// True in so many of a thousand cases.
    package mutating func chance(perMille: Int64) -> Bool { self.number(0...999) < perMille }
}

/// FNV-1a over 64 bits: a hash that is the same in every process, unlike Swift's own.
package struct StableHasher: Hashable, Sendable {
    /// The hash of what was fed so far.
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// A hash of nothing.
    package init() {}

    /// Feeds a number, lowest byte first.
    package mutating func feed(_ number: UInt64) {
        var rest = number
        for _ in 0..<8 {
            self.value = (self.value ^ (rest & 0xff)) &* 0x100_0000_01b3
            rest >>= 8
        }
    }

    /// Feeds a text's bytes.
    package mutating func feed(_ text: String) {
        for byte in text.utf8 { self.value = (self.value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}
