/// The token buckets of one owner (a connection, a person, an app, an address), one for each kind.
///
/// A bucket is one number: when it is full again. To take from it moves that time on; if it lies further ahead than the bucket takes to
/// fill, there was not enough in it. So a bucket costs eight bytes and no timer, and one that is full holds nothing worth keeping.
package struct RateBuckets: Hashable, Sendable {
    /// In nanoseconds of the monotonic clock, by `RateKind.index`.
    private var fullAt = SIMD8<Int64>(repeating: .min)

    /// Full buckets.
    package init() {}

    /// How long to wait until so much may be taken, in milliseconds; nil if it may now.
    ///
    /// - Parameters:
    ///   - cost: more than the bucket holds counts as all it holds, so that what is large passes now and then.
    ///   - limit: nil for no limit.
    ///   - now: monotonic milliseconds.
    package func wait(_ kind: RateKind, _ cost: Int, _ limit: RateLimit?, at now: Int64) -> Int64? {
        guard let limit else { return nil }
        let now = now * 1_000_000
        let full = max(self.fullAt[kind.index], now) + Int64(min(cost, limit.burst)) * limit.interval
        let missing = full - now - limit.fillTime
        return missing <= 0 ? nil : (missing + 999_999) / 1_000_000
    }

    /// Takes so much, whether or not there is enough: what is missing is owed, and has to flow in first.
    package mutating func take(_ kind: RateKind, _ cost: Int, _ limit: RateLimit?, at now: Int64) {
        guard let limit else { return }
        self.fullAt[kind.index] =
            max(self.fullAt[kind.index], now * 1_000_000) + Int64(max(0, cost)) * limit.interval
    }

    /// When all of them are full again, in monotonic milliseconds; in the past if they are.
    package var allFullAt: Int64 {
        let last = self.fullAt.max()
        return last == .min ? .min : (last + 999_999) / 1_000_000
    }
}

/// The buckets of addresses: of those that are not full, for nobody else has to be remembered.
struct AddressBuckets: Sendable {
    /// How many addresses are remembered at most. When half as many have taken something lately, no single one is at fault, and all
    /// are forgotten.
    static let countMax = 100_000

    private var known: [String: RateBuckets] = [:]
    private var sweepAt = 1_024

    /// How many are remembered.
    var count: Int { self.known.count }

    /// The buckets of an address.
    subscript(address: String) -> RateBuckets {
        self.known[address] ?? RateBuckets()
    }

    /// Takes one of a kind.
    mutating func take(_ kind: RateKind, _ limit: RateLimit?, from address: String, at now: Int64) {
        guard limit != nil else { return }
        if self.known.count >= self.sweepAt { self.sweep(at: now) }
        self.known[address, default: RateBuckets()].take(kind, 1, limit, at: now)
    }

    /// Forgets those that are full again. The next time is when there are twice as many, so that it costs each of them little.
    private mutating func sweep(at now: Int64) {
        // tidy: order does not leave: each is looked at by itself
        self.known = self.known.filter { $0.value.allFullAt > now }
        if self.known.count > Self.countMax / 2 { self.known = [:] }
        self.sweepAt = max(1_024, 2 * self.known.count)
    }
}
