package import StoreModel

/// Token buckets of one owner, one per kind. A bucket is one number, the time at which it is full again: taking moves
/// that time on, and there is not enough if it lies further ahead than the bucket takes to fill. So a bucket costs
/// eight bytes and no timer, and a full one need not be stored.
package struct RateBuckets: Hashable, Sendable {
    private var fullAt = SIMD8<Int64>(repeating: .min)

    package init() {}

    /// Milliseconds until `cost` may be taken; nil if it may now. A cost above the burst counts as the burst, so that
    /// large frames pass now and then. `limit` nil is no limit; `now` is monotonic milliseconds.
    package func wait(_ kind: RateKind, _ cost: Int, _ limit: RateLimit?, at now: Int64) -> Int64? {
        guard let limit else { return nil }
        let now = now * 1_000_000
        let full = max(self.fullAt[kind.index], now) + Int64(min(cost, limit.burst)) * limit.interval
        let missing = full - now - limit.fillTime
        return missing <= 0 ? nil : (missing + 999_999) / 1_000_000
    }

    /// How many may be taken now, and the milliseconds until there are as many as there can be.
    package func left(_ kind: RateKind, _ limit: RateLimit, at now: Int64) -> (count: Int, fullIn: Int64) {
        let ahead = max(0, max(self.fullAt[kind.index], now * 1_000_000) - now * 1_000_000)
        return (Int(max(0, limit.fillTime - ahead) / limit.interval), (ahead + 999_999) / 1_000_000)
    }

    /// Takes `cost` even if there is not enough: what is missing is owed, and flows in first.
    package mutating func consume(_ kind: RateKind, _ cost: Int, _ limit: RateLimit?, at now: Int64) {
        guard let limit else { return }
        self.fullAt[kind.index] =
            max(self.fullAt[kind.index], now * 1_000_000) + Int64(max(0, cost)) * limit.interval
    }

    /// Takes one of the kind, if any, and the bytes.
    mutating func consume(_ kind: RateKind?, bytes: Int, _ scope: RateScope, _ limits: RateLimits, at now: Int64) {
        if let kind { self.consume(kind, 1, limits[scope, kind], at: now) }
        self.consume(.bytes, bytes, limits[scope, .bytes], at: now)
    }

    /// Monotonic milliseconds; in the past if they are full.
    package var allFullAt: Int64 {
        let last = self.fullAt.max()
        return last == .min ? .min : (last + 999_999) / 1_000_000
    }
}

/// Only addresses whose buckets are not full are remembered.
struct AddressBuckets: Sendable {
    /// When half as many have taken something lately, no single address is at fault, and all are forgotten.
    static let countMax = 100_000

    private var known: [String: RateBuckets] = [:]
    private var sweepAt = 1_024

    var count: Int { self.known.count }

    subscript(address: String) -> RateBuckets {
        self.known[address] ?? RateBuckets()
    }

    mutating func consume(_ kind: RateKind, _ cost: Int, _ limit: RateLimit?, from address: String, at now: Int64) {
        guard limit != nil else { return }
        if self.known.count >= self.sweepAt { self.sweep(at: now) }
        self.known[address, default: RateBuckets()].consume(kind, cost, limit, at: now)
    }

    /// The next sweep is due at twice the count, so that the cost for each address stays small.
    private mutating func sweep(at now: Int64) {
        // tidy: order does not leave: each is looked at by itself
        self.known = self.known.filter { $0.value.allFullAt > now }
        if self.known.count > Self.countMax / 2 { self.known = [:] }
        self.sweepAt = max(1_024, 2 * self.known.count)
    }
}
