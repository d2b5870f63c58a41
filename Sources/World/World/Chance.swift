package import TidingsModel

/// How a world draws.
extension SplitMix64 {
    /// The stream of a party's turn. What other parties draw, and how much in other turns, changes nothing of it.
    ///
    /// - Parameter turn: how many turns the party had before.
    init(seed: UInt64, party: Party, turn: Int) {
        var mixer = SplitMix64(seed: seed)
        mixer = SplitMix64(seed: mixer.next() ^ (party.stream &* 0xd1b5_4a32_d192_ed03))
        mixer = SplitMix64(seed: mixer.next() ^ (UInt64(turn) &* 0x8cb9_2ba7_2f3d_8dd7))
        self.init(seed: mixer.next())
    }

    /// A number in a range, both ends included.
    package mutating func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &self) }

    /// True in so many of a thousand cases.
    package mutating func chance(perMille: Int64) -> Bool { self.number(0...999) < perMille }
}
