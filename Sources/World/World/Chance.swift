package import TidingsModel

extension SplitMix64 {
    /// The random stream of one draw of a source. What other sources draw, and how much earlier draws took, changes
    /// nothing of it.
    init(seed: UInt64, stream: RandomStream, draw: Int) {
        var mixer = SplitMix64(seed: seed)
        mixer = SplitMix64(seed: mixer.next() ^ (stream.number &* 0xd1b5_4a32_d192_ed03))
        mixer = SplitMix64(seed: mixer.next() ^ (UInt64(draw) &* 0x8cb9_2ba7_2f3d_8dd7))
        self.init(seed: mixer.next())
    }

    package mutating func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &self) }

    package mutating func chance(perMille: Int64) -> Bool { self.number(0...999) < perMille }
}
