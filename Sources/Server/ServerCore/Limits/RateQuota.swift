package import StoreModel
package import TidingsModel

/// Whose share a request of the HTTP API is taken from.
package enum QuotaQuestion: Hashable, Sendable {
    /// Asks about sending messages: the app's messages, and the deliveries they come to.
    case messages(AppID)
    case requests(AppID)
    /// Asks about a phone's extension: the app's requests and the person's.
    case extensionRequests(UserKey)
    /// Asks about an address that makes anonymous people.
    case installations(from: String)
}

/// How much of one token bucket is left.
package struct RateQuota: Hashable, Sendable {
    package var scope: RateScope
    package var kind: RateKind
    package var limit: RateLimit
    package var remaining: Int
    /// Milliseconds until the bucket is full if nothing more is taken.
    package var fullIn: Int64
}

extension RateLimit {
    /// Seconds in which an empty bucket fills, rounded up.
    package var fillSeconds: Int64 { (self.fillTime + 999_999_999) / 1_000_000_000 }
}

extension ServerCore {
    /// Without the kinds that are not limited.
    func quotas(_ question: QuotaQuestion, _ now: Now) -> [RateQuota] {
        func app(_ app: AppID, _ kind: RateKind) -> RateQuota? {
            self.quota(.app, kind, self.turn.settings.limits(of: app), self.turn.shares.apps[app]?.buckets, now)
        }
        return switch question {
        case .messages(let id): [app(id, .messages), app(id, .deliveries)].compactMap(\.self)
        case .requests(let id): [app(id, .requests)].compactMap(\.self)
        case .extensionRequests(let user):
            [
                app(user.app, .requests),
                // A person who is not in memory has full buckets.
                self.quota(
                    .person, .requests, self.turn.settings.limits(of: user.app),
                    self.slots[user].map { self.people[$0].state.buckets }, now),
            ].compactMap(\.self)
        case .installations(let address):
            address.isEmpty
                ? []
                : [
                    self.quota(
                        .address, .installations, self.turn.settings.limits, self.turn.shares.addresses[address], now)
                ]
                .compactMap(\.self)
        }
    }

    private func quota(
        _ scope: RateScope, _ kind: RateKind, _ limits: RateLimits, _ buckets: RateBuckets?, _ now: Now
    ) -> RateQuota? {
        guard let limit = limits[scope, kind] else { return nil }
        let left = (buckets ?? RateBuckets()).left(kind, limit, at: now.monotonic)
        return RateQuota(scope: scope, kind: kind, limit: limit, remaining: left.count, fullIn: left.fullIn)
    }
}
