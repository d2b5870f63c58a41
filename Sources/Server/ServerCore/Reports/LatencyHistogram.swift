/// How long things took, counted in fixed buckets, so that many of them take no more room than one. What is told of them is never less than
/// it was, and at most an eighth more.
package struct LatencyHistogram: Hashable, Sendable {
    /// In milliseconds; nil where nothing was counted.
    package struct Summary: Hashable, Sendable {
        package var count = 0
        package var p50: Int64?
        package var p95: Int64?
        package var p99: Int64?
    }

    /// Up to here each millisecond has a bucket of its own; each doubling after it has `partsOfDoubling`.
    private static let exactMax: Int64 = 15
    private static let partsOfDoubling: Int64 = 8
    /// The largest value; longer times count as this: 2^22 - 1 milliseconds, more than an hour.
    package static let valueMax: Int64 = 4_194_303
    package static let bucketCount = 160

    private var counts = [UInt32](repeating: 0, count: Self.bucketCount)
    package private(set) var count: UInt32 = 0

    package init() {}

    /// - Parameter milliseconds: what is below 0, because a clock was set back, counts as 0.
    package mutating func add(_ milliseconds: Int64) {
        self.counts[Self.bucket(of: milliseconds)] &+= 1
        self.count &+= 1
    }

    package mutating func add(_ other: LatencyHistogram) {
        guard other.count > 0 else { return }
        for bucket in self.counts.indices { self.counts[bucket] &+= other.counts[bucket] }
        self.count &+= other.count
    }

    package mutating func removeAll() {
        guard self.count > 0 else { return }
        for bucket in self.counts.indices { self.counts[bucket] = 0 }
        self.count = 0
    }

    package var summary: Summary {
        Summary(
            count: Int(self.count), p50: self.percentile(500), p95: self.percentile(950), p99: self.percentile(990))
    }

    /// The least number of milliseconds that so many of a thousand took at most; nil if nothing was counted.
    package func percentile(_ perMille: UInt64) -> Int64? {
        guard self.count > 0 else { return nil }
        let rank = max(1, (UInt64(self.count) * perMille + 999) / 1_000)
        var seen: UInt64 = 0
        for (bucket, count) in self.counts.enumerated() {
            seen += UInt64(count)
            if seen >= rank { return Self.largest(in: bucket) }
        }
        return Self.valueMax
    }

    static func bucket(of milliseconds: Int64) -> Int {
        let value = min(max(0, milliseconds), Self.valueMax)
        guard value > Self.exactMax else { return Int(value) }
        // The doubling that begins at 2^power, from 4 on.
        let power = Int64.bitWidth - 1 - value.leadingZeroBitCount
        let part = (value >> (power - 3)) - Self.partsOfDoubling
        return Int(Self.exactMax + 1 + Int64(power - 4) * Self.partsOfDoubling + part)
    }

    static func largest(in bucket: Int) -> Int64 {
        guard Int64(bucket) > Self.exactMax else { return Int64(bucket) }
        let (doubling, part) = (Int64(bucket) - Self.exactMax - 1).quotientAndRemainder(
            dividingBy: Self.partsOfDoubling)
        return (Self.partsOfDoubling + part + 1) << (doubling + 1) - 1
    }
}
