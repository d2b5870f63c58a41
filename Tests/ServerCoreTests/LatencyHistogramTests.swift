import Testing

@testable import ServerCore

@Suite struct `How long things took` {
    private static func counted(_ values: some Sequence<Int64>) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for value in values { histogram.add(value) }
        return histogram
    }

    @Test func `is told by the value that half, 95 and 99 of a hundred do not exceed`() {
        #expect(Self.counted(1...100).summary == .init(count: 100, p50: 51, p95: 95, p99: 103))
        #expect(Self.counted([7]).summary == .init(count: 1, p50: 7, p95: 7, p99: 7))
        #expect(Self.counted([]).summary == .init())
        #expect(Self.counted([0, 0, 0, 9]).summary == .init(count: 4, p50: 0, p95: 9, p99: 9))
    }

    /// Every bucket there is, at both of its ends.
    @Test func `is never told as less than it was, and at most an eighth more`() {
        var last = -1
        for value in Array(0...5_000) + stride(from: 5_001, through: LatencyHistogram.valueMax, by: 97) {
            let bucket = LatencyHistogram.bucket(of: Int64(value))
            #expect(bucket >= last)
            let told = LatencyHistogram.largest(in: bucket)
            #expect(told >= value && (told - Int64(value)) * 8 <= max(8, value), "\(value) is told as \(told)")
            last = bucket
        }
        #expect(LatencyHistogram.bucket(of: LatencyHistogram.valueMax) == LatencyHistogram.bucketCount - 1)
        #expect(LatencyHistogram.largest(in: LatencyHistogram.bucketCount - 1) == LatencyHistogram.valueMax)
    }

    @Test func `ends at an hour, and begins at nothing`() {
        #expect(Self.counted([.max]).percentile(500) == LatencyHistogram.valueMax)
        #expect(Self.counted([-5, .min]).percentile(990) == 0)
    }

    @Test func `adds up, and is forgotten`() {
        var sum = Self.counted([1, 2])
        sum.add(Self.counted([30, 40]))
        #expect(sum == Self.counted([1, 2, 30, 40]))
        sum.removeAll()
        #expect(sum == LatencyHistogram())
    }
}
