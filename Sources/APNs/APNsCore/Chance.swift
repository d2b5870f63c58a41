import TidingsModel

extension SplitMix64 {
    /// Certain and impossible cases draw nothing.
    mutating func falls(perMille: Int) -> Bool {
        if perMille <= 0 { return false }
        if perMille >= 1_000 { return true }
        return Int.random(in: 0..<1_000, using: &self) < perMille
    }
}

/// A bucket that starts full. Counts in units of 1/3,600,000, so that every millisecond adds a whole number of them.
struct TokenBucket: Hashable, Sendable {
    private var units: Int64
    private var at: Int64

    private static let one: Int64 = 3_600_000

    init(_ rate: APNsService.Rate, at monotonic: Int64) {
        self.units = rate.burst * Self.one
        self.at = monotonic
    }

    /// - Returns: 0 if one was taken, else in how many milliseconds there will be one.
    mutating func takeToken(_ rate: APNsService.Rate, at monotonic: Int64) -> Int64 {
        let full = rate.burst * Self.one
        let (gained, overflows) = max(0, monotonic - self.at).multipliedReportingOverflow(by: rate.perHour)
        self.units = overflows || gained > full - self.units ? full : self.units + gained
        self.at = monotonic
        guard self.units < Self.one else {
            self.units -= Self.one
            return 0
        }
        return (Self.one - self.units + rate.perHour - 1) / rate.perHour
    }
}
