/// Growing pauses: doubling from a first one up to a longest one, half of each up to chance.
package struct Backoff: Hashable, Sendable {
    /// The first pause in milliseconds, 1 or more.
    package var first: Int64
    /// The longest pause in milliseconds.
    package var longest: Int64

    /// Pauses in milliseconds.
    package init(first: Int64, longest: Int64) {
        self.first = first
        self.longest = longest
    }

    /// The pause after the n-th failure in a row.
    ///
    /// - Parameters:
    ///   - failures: 1 or more.
    ///   - jitter: drawn outside, 0 to 999; the pause is between half of its nominal length and all of it.
    package func pause(failures: Int, jitter: Int64) -> Int64 {
        let doublings = min(max(failures - 1, 0), 32)
        let (product, overflows) = self.first.multipliedReportingOverflow(by: 1 << Int64(doublings))
        let nominal = overflows ? self.longest : min(product, self.longest)
        let half = nominal / 2
        return half + (nominal - half) * min(max(jitter, 0), 999) / 999
    }
}
