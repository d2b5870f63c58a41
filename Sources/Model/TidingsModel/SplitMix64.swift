/// A seeded generator whose whole state is one number: the same seed gives the same numbers everywhere (Steele, Lea
/// and Flood, "Fast splittable pseudorandom number generators", 2014; Sebastiano Vigna's constants). Not for secrets.
package struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
    @usableFromInline var state: UInt64

    @inlinable package init(seed: UInt64) { self.state = seed }

    @inlinable package mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        return Self.mixed(self.state)
    }

    /// Spreads each bit over all 64, reversibly.
    @inlinable package static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
