/// A small generator whose whole state is one number: the same seed gives the same chance in every process
/// (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
package struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    /// Starts from a seed.
    package init(seed: UInt64) { self.state = seed }

    /// The next number.
    package mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// How long to wait after failures: doubling from a base to a limit, and of that between half and all, by chance.
package enum BackOff {
    /// The wait without chance.
    ///
    /// - Parameter failures: 1 or more.
    package static func ceiling(afterFailures failures: Int, base: Int64, max limit: Int64) -> Int64 {
        let doublings = min(max(failures, 1) - 1, 40)
        let (product, isOver) = base.multipliedReportingOverflow(by: 1 << Int64(doublings))
        return isOver ? limit : min(product, limit)
    }

    /// The wait in milliseconds.
    package static func delay(
        afterFailures failures: Int, base: Int64, max limit: Int64, using chance: inout some RandomNumberGenerator
    ) -> Int64 {
        let ceiling = Self.ceiling(afterFailures: failures, base: base, max: limit)
        let half = ceiling / 2
        return half + Int64(chance.next(upperBound: UInt64(max(1, ceiling - half + 1))))
    }
}
