import HTTPTypes
import ServerCore
import StoreModel
import TidingsModel

/// Whose share a route takes from (docs/decisions/0014-limits.md); other routes are not limited.
enum Limited: Sendable {
    case messages
    case requests

    func question(_ app: AppID) -> QuotaQuestion {
        switch self {
        case .messages: .messages(app)
        case .requests: .requests(app)
        }
    }
}

/// `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers). A token bucket is told as what it holds, `q`, and the seconds
/// in which it fills, `w`; of what is left, `r`, the seconds until it is full again, `t`.
enum RateLimitHeaders {
    static func add(_ quotas: [RateQuota], to headers: inout HTTPFields) {
        guard !quotas.isEmpty, let policy = HTTPField.Name("RateLimit-Policy"), let limit = HTTPField.Name("RateLimit")
        else { return }
        headers[policy] = quotas.map { "\"\($0.name)\";q=\($0.limit.burst);w=\($0.limit.fillSeconds)" }
            .joined(separator: ", ")
        headers[limit] = quotas.map { "\"\($0.name)\";r=\($0.remaining);t=\(($0.fullIn + 999) / 1_000)" }
            .joined(separator: ", ")
    }
}

extension RateQuota {
    /// As the configuration names the limit: `limits.app.messages` is `app.messages`.
    fileprivate var name: String { "\(self.scope.rawValue).\(self.kind.rawValue)" }
}
