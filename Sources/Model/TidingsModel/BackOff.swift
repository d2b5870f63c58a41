/// How long to wait after failures: doubling from a first wait to a longest one, and of that between half and all.
package struct BackOff: Hashable, Sendable {
    /// The first wait in milliseconds, 1 or more.
    package var first: Int64
    /// The longest wait in milliseconds.
    package var longest: Int64

    /// Waits in milliseconds.
    package init(first: Int64, longest: Int64) {
        self.first = first
        self.longest = longest
    }

    /// The wait without chance, in milliseconds.
    ///
    /// - Parameter failures: how many in a row, 1 or more.
    package func ceiling(afterFailures failures: Int) -> Int64 {
        let doublings = min(max(failures, 1) - 1, 40)
        let (product, overflows) = self.first.multipliedReportingOverflow(by: 1 << Int64(doublings))
        return overflows ? self.longest : min(product, self.longest)
    }

    /// The wait in milliseconds, by a number drawn elsewhere.
    ///
    /// - Parameters:
    ///   - failures: how many in a row, 1 or more.
    ///   - jitter: 0 to 999, for half of the ceiling to all of it.
    package func wait(afterFailures failures: Int, jitter: Int64) -> Int64 {
        let ceiling = self.ceiling(afterFailures: failures)
        let half = ceiling / 2
        return half + (ceiling - half) * min(max(jitter, 0), 999) / 999
    }

    /// The wait in milliseconds, by chance: what is drawn is added to half of the ceiling.
    ///
    /// - Parameter failures: how many in a row, 1 or more.
    package func wait(afterFailures failures: Int, using chance: inout some RandomNumberGenerator) -> Int64 {
        let ceiling = self.ceiling(afterFailures: failures)
        let half = ceiling / 2
        return half + Int64(chance.next(upperBound: UInt64(max(1, ceiling - half + 1))))
    }

    /// The wait in milliseconds, by chance: what is drawn is taken off the ceiling. The same draw gives another wait than
    /// `wait(afterFailures:using:)` does; the recorded runs of the World hold each of the two where it is used.
    ///
    /// - Parameter failures: how many in a row, 1 or more.
    package func shortenedWait(afterFailures failures: Int, using chance: inout some RandomNumberGenerator) -> Int64 {
        let ceiling = self.ceiling(afterFailures: failures)
        return ceiling - Int64.random(in: 0...(ceiling / 2), using: &chance)
    }
}
