/// Waits that double with each failure, up to a longest one; of each between half and all is waited. Milliseconds.
package struct BackOff: Hashable, Sendable {
    package var first: Int64
    package var longest: Int64

    package init(first: Int64, longest: Int64) {
        self.first = first
        self.longest = longest
    }

    /// The wait without jitter; `failures` in a row, 1 or more.
    package func ceiling(afterFailures failures: Int) -> Int64 {
        let doublings = min(max(failures, 1) - 1, 40)
        let (product, overflows) = self.first.multipliedReportingOverflow(by: 1 << Int64(doublings))
        return overflows ? self.longest : min(product, self.longest)
    }

    /// `jitter` is 0 to 999, for half of the ceiling to all of it.
    package func wait(afterFailures failures: Int, jitter: Int64) -> Int64 {
        let ceiling = self.ceiling(afterFailures: failures)
        let half = ceiling / 2
        return half + (ceiling - half) * min(max(jitter, 0), 999) / 999
    }

    /// Returns half of the ceiling plus a random part of the rest.
    package func wait(afterFailures failures: Int, using chance: inout some RandomNumberGenerator) -> Int64 {
        let ceiling = self.ceiling(afterFailures: failures)
        let half = ceiling / 2
        return half + Int64(chance.next(upperBound: UInt64(max(1, ceiling - half + 1))))
    }

    /// Returns the ceiling less a random part of its half: the same draw gives another wait than `wait(afterFailures:using:)`, and recorded
    /// runs of the World need each where it is used.
    package func shortenedWait(afterFailures failures: Int, using chance: inout some RandomNumberGenerator) -> Int64 {
        let ceiling = self.ceiling(afterFailures: failures)
        return ceiling - Int64.random(in: 0...(ceiling / 2), using: &chance)
    }
}
