/// Whose frames, connections and commands are counted together.
package enum RateScope: String, Hashable, Sendable, CaseIterable {
    case connection
    case person
    case app
    case address
}

package enum RateKind: String, Hashable, Sendable, CaseIterable {
    case messages
    /// A small frame counts as 128 bytes.
    case bytes
    /// Frames without an answer: typing, opened notifications, run states.
    case signals
    case requests
    /// Entries written to people's logs, and a tenth of the hearers of a chat room's messages; counted afterwards.
    case deliveries
    /// Connections of an address when accepted, otherwise with the hello.
    case connects
    case failures
    /// Refused or dropped frames; a connection that goes on beyond this is closed.
    case refusals
    /// Anonymous people that an address makes, each many times, and renewals of their tokens.
    case installations

    /// The place in the buckets of an owner.
    package var index: Int {
        switch self {
        case .messages: 0
        case .bytes: 1
        case .signals: 2
        case .requests: 3
        case .deliveries: 4
        case .connects: 5
        case .failures: 6
        case .refusals: 7
        // An address sends no messages: the ninth place would double the memory of all buckets.
        case .installations: 0
        }
    }

    /// The place among the limits of a scope.
    fileprivate var place: Int {
        switch self {
        case .installations: 8
        case .messages, .bytes, .signals, .requests, .deliveries, .connects, .failures, .refusals: self.index
        }
    }
}

package struct RateLimit: Hashable, Sendable {
    package let perSecond: Int
    package let burst: Int

    /// Leaves at least ten nanoseconds between two.
    package static let perSecondMax = 100_000_000
    package static let burstMax = 1_000_000_000

    /// Values out of range are clamped.
    package init(perSecond: Int, burst: Int) {
        self.perSecond = min(max(1, perSecond), Self.perSecondMax)
        self.burst = min(max(1, burst), Self.burstMax)
    }

    /// Reads `RATE/BURST`, for example `20/200`; nil for other text or numbers out of range.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let rate = Int(parts[0]), let burst = Int(parts[1]),
            (1...Self.perSecondMax).contains(rate), (1...Self.burstMax).contains(burst)
        else { return nil }
        self.init(perSecond: rate, burst: burst)
    }

    package var text: String { "\(self.perSecond)/\(self.burst)" }

    /// Nanoseconds until one comes back.
    package var interval: Int64 { 1_000_000_000 / Int64(self.perSecond) }
    /// Nanoseconds until an empty bucket is full; at most 1e18.
    package var fillTime: Int64 { self.interval * Int64(self.burst) }
}

/// A missing entry limits nothing.
package struct RateLimits: Hashable, Sendable {
    private var all: [RateLimit?] = Array(repeating: nil, count: RateScope.allCases.count * RateKind.allCases.count)

    package static let none = RateLimits(byScope: [:])

    /// No phone of a person meets these defaults (`docs/server/protocol.md`, "Limits").
    package init() {
        self.init(byScope: [
            .connection: [
                .messages: RateLimit(perSecond: 20, burst: 200),
                // Two messages of the largest content a second, and thirty-two at once.
                .bytes: RateLimit(perSecond: 65_536, burst: 1_048_576),
                // An app tells up to 256 opened notifications as it connects.
                .signals: RateLimit(perSecond: 20, burst: 300),
                // The first sync of a log of 100,000 entries is 500 pages.
                .requests: RateLimit(perSecond: 50, burst: 600),
                .refusals: RateLimit(perSecond: 20, burst: 500),
            ],
            .person: [
                .messages: RateLimit(perSecond: 30, burst: 300),
                .bytes: RateLimit(perSecond: 131_072, burst: 2_097_152),
                .signals: RateLimit(perSecond: 40, burst: 600),
                .requests: RateLimit(perSecond: 100, burst: 1_200),
                // Ten messages at once to the largest group.
                .deliveries: RateLimit(perSecond: 1_000, burst: 30_000),
                // Each of twenty devices three times at once.
                .connects: RateLimit(perSecond: 1, burst: 60),
            ],
            .app: [
                .messages: RateLimit(perSecond: 5_000, burst: 50_000),
                .bytes: RateLimit(perSecond: 16_777_216, burst: 268_435_456),
                .signals: RateLimit(perSecond: 20_000, burst: 200_000),
                .requests: RateLimit(perSecond: 20_000, burst: 200_000),
                .deliveries: RateLimit(perSecond: 100_000, burst: 3_000_000),
                // All phones of a full server come back at once after a restart.
                .connects: RateLimit(perSecond: 5_000, burst: 100_000),
            ],
            .address: [
                // Many phones share the address of their network.
                .connects: RateLimit(perSecond: 50, burst: 2_000),
                .failures: RateLimit(perSecond: 2, burst: 100),
                // Ten people at once, and one a minute.
                .installations: RateLimit(perSecond: 1, burst: 600),
            ],
        ])
    }

    private init(byScope: [RateScope: [RateKind: RateLimit]]) {
        // tidy: order does not leave: each has a place of its own
        for (scope, limits) in byScope {
            // tidy: order does not leave: each has a place of its own
            for (kind, limit) in limits { self[scope, kind] = limit }
        }
    }

    package subscript(scope: RateScope, kind: RateKind) -> RateLimit? {
        get { self.all[Self.place(scope, kind)] }
        set { self.all[Self.place(scope, kind)] = newValue }
    }

    private static func place(_ scope: RateScope, _ kind: RateKind) -> Int {
        let row =
            switch scope {
            case .connection: 0
            case .person: 1
            case .app: 2
            case .address: 3
            }
        return row * RateKind.allCases.count + kind.place
    }
}
