import ServerCore
import StoreModel
import Testing

@Suite struct `A bucket of tokens` {
    private let limit = RateLimit(perSecond: 10, burst: 3)

    @Test func `gives so many at once, and then as they flow in`() {
        var buckets = RateBuckets()
        for _ in 0..<3 {
            #expect(buckets.wait(.messages, 1, self.limit, at: 1_000) == nil)
            buckets.consume(.messages, 1, self.limit, at: 1_000)
        }
        #expect(buckets.wait(.messages, 1, self.limit, at: 1_000) == 100)
        #expect(buckets.wait(.messages, 1, self.limit, at: 1_099) == 1)
        #expect(buckets.wait(.messages, 1, self.limit, at: 1_100) == nil)
        buckets.consume(.messages, 1, self.limit, at: 1_100)
        #expect(buckets.wait(.messages, 2, self.limit, at: 1_100) == 200)
        // After a while it is full, and no fuller.
        #expect(buckets.wait(.messages, 3, self.limit, at: 9_000) == nil)
        buckets.consume(.messages, 3, self.limit, at: 9_000)
        #expect(buckets.wait(.messages, 1, self.limit, at: 9_000) == 100)
    }

    @Test func `lets pass now and then what is larger than it`() {
        var buckets = RateBuckets()
        #expect(buckets.wait(.bytes, 50, self.limit, at: 0) == nil)
        buckets.consume(.bytes, 50, self.limit, at: 0)
        #expect(buckets.wait(.bytes, 50, self.limit, at: 0) == 5_000)
        #expect(buckets.wait(.bytes, 50, self.limit, at: 5_000) == nil)
    }

    @Test func `says when there is nothing left to remember`() {
        var buckets = RateBuckets()
        #expect(buckets.allFullAt == .min)
        buckets.consume(.signals, 2, self.limit, at: 1_000)
        buckets.consume(.requests, 1, self.limit, at: 1_000)
        #expect(buckets.allFullAt == 1_200)
    }

    @Test func `without a limit gives everything and remembers nothing`() {
        var buckets = RateBuckets()
        #expect(buckets.wait(.messages, 1_000_000, nil, at: 5) == nil)
        buckets.consume(.messages, 1_000_000, nil, at: 5)
        #expect(buckets == RateBuckets())
    }

    @Test func `goes on for ten thousand years, with the largest limits`() {
        let now: Int64 = 10_000 * 366 * 86_400
        let large = RateLimit(perSecond: 1, burst: RateLimit.burstMax)
        var buckets = RateBuckets()
        buckets.consume(.deliveries, RateLimit.burstMax, large, at: now)
        #expect(buckets.wait(.deliveries, 1, large, at: now) == 1_000)
    }
}

@Suite struct `A limit` {
    @Test func `is written as what flows in a second and what there is at once`() {
        #expect(RateLimit("20/200") == RateLimit(perSecond: 20, burst: 200))
        #expect(RateLimit(perSecond: 20, burst: 200).text == "20/200")
        for text in ["", "20", "20/", "/200", "0/5", "5/0", "-1/5", "20/200/1", "2.5/3", "none", "200000000/1"] {
            #expect(RateLimit(text) == nil, "\(text)")
        }
    }

    @Test func `is one of a table that has none where nobody set one`() {
        var limits = RateLimits()
        #expect(limits[.person, .connects] == RateLimit(perSecond: 1, burst: 60))
        #expect(limits[.connection, .connects] == nil)
        limits[.person, .connects] = nil
        #expect(limits[.person, .connects] == nil)
        #expect(limits[.person, .messages] != nil)
        #expect(RateLimits.none[.person, .messages] == nil)
    }
}
