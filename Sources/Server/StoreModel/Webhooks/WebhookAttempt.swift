package import TidingsModel

/// A webhook of an app.
package struct WebhookKey: Hashable, Comparable, Sendable {
    package var app: AppID
    package var webhook: String

    package init(app: AppID, webhook: String) {
        self.app = app
        self.webhook = webhook
    }

    package static func < (a: WebhookKey, b: WebhookKey) -> Bool { (a.app, a.webhook) < (b.app, b.webhook) }
}

/// Why a delivery did not arrive.
package enum WebhookFailureReason: String, CaseIterable, Hashable, Sendable, JSONWritable {
    /// Nobody listens there.
    case refusedConnection = "refused_connection"
    /// No whole answer within the time for one.
    case timedOut = "timed_out"
    /// No certificate that is trusted for the name, or no TLS.
    case tlsFailed = "tls_failed"
    /// The look-up of the host has found nothing.
    case nameNotFound = "name_not_found"
    /// The address is one of those to which no webhook goes.
    case addressNotAllowed = "address_not_allowed"
    /// The answer was none of 200 to 299.
    case status
    /// The connection ended before the answer, or what came was no answer of HTTP.
    case connectionLost = "connection_lost"
    /// It was never tried: too many others waited.
    case overflow
}

package struct WebhookFailure: Hashable, Sendable {
    package var reason: WebhookFailureReason
    /// The status of the answer; nil without one.
    package var status: Int?

    package init(_ reason: WebhookFailureReason, status: Int? = nil) {
        self.reason = reason
        self.status = status
    }

    /// The receiver is there and does not want this one: a status of 400 to 499, but for those by which it wants no request at all now
    /// (408 Request Timeout, 429 Too Many Requests) or any more (410 Gone).
    package var isOfDeliveryAlone: Bool {
        guard self.reason == .status, let status = self.status else { return false }
        return 400..<500 ~= status && ![408, 410, 429].contains(status)
    }
}

/// How many deliveries of a webhook are kept.
package struct WebhookHeld: Hashable, Sendable {
    package var pending: Int
    package var dead: Int

    package init(pending: Int = 0, dead: Int = 0) {
        self.pending = pending
        self.dead = dead
    }

    var count: Int { self.pending + self.dead }
}

/// How an attempt ended.
package enum WebhookAttemptEnd: Hashable, Sendable {
    case delivered
    case failed(WebhookFailure)
    /// There was none: the webhook has been removed or disabled meanwhile. It counts for nothing.
    case withdrawn
}
