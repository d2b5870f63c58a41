import TidingsModel

/// What APNs answered to one request (apns.md §8).
public struct APNsResponse: Hashable, Sendable {
    /// The HTTP status: 200, 400, 403, 404, 405, 410, 413, 429, 500 or 503.
    public var status: Int
    /// The header `apns-id`: ours if we sent one, otherwise APNs's.
    public var apnsID: String?
    /// The header `apns-unique-id`, the key of the delivery log; the sandbox alone sends it.
    public var uniqueID: String?
    /// Why it was refused; nil with status 200.
    public var reason: APNsReason?
    /// With status 410: milliseconds since 1970 at which the token was found to be no longer valid (apns.md §11).
    public var timestamp: Int64?
    /// The header `retry-after` in seconds, if it ever comes (apns.md §12).
    public var retryAfter: Int64?

    /// A response from its parts.
    public init(
        status: Int, apnsID: String? = nil, uniqueID: String? = nil, reason: APNsReason? = nil, timestamp: Int64? = nil,
        retryAfter: Int64? = nil
    ) {
        self.status = status
        self.apnsID = apnsID
        self.uniqueID = uniqueID
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }

    /// Reads a response as it came. Never fails: a body that is not Apple's JSON becomes an unknown reason with its
    /// first 200 bytes.
    ///
    /// - Parameters:
    ///   - status: the value of `:status`.
    ///   - headers: names in lowercase (RFC 9113 §8.2); of a repeated name the first counts.
    ///   - body: the bytes of the DATA frames; empty for 200.
    public init(status: Int, headers: some Sequence<(String, String)>, body: some Collection<UInt8>) {
        self.init(status: status)
        for (name, value) in headers {
            switch name {
            case "apns-id" where self.apnsID == nil: self.apnsID = value
            case "apns-unique-id" where self.uniqueID == nil: self.uniqueID = value
            case "retry-after" where self.retryAfter == nil:
                self.retryAfter = Int64(value).flatMap { $0 >= 0 ? $0 : nil }
            default: break
            }
        }
        guard status != 200 else { return }
        guard let object = try? JSONValue(parsing: body, depthMax: 8), let word = object["reason"]?.stringValue else {
            self.reason = .unknown(body.isEmpty ? "HTTP \(status)" : String(decoding: body.prefix(200), as: UTF8.self))
            return
        }
        self.reason = APNsReason(name: word)
        if status == 410 { self.timestamp = object["timestamp"]?.intValue }
    }

    /// The response as the result of the send.
    ///
    /// - Parameter sentID: the `apns-id` of the request, should the response lack it.
    public func outcome(sentID: String?) -> APNsOutcome {
        guard self.status != 200 else {
            return .accepted(apnsID: self.apnsID ?? sentID ?? "", uniqueID: self.uniqueID)
        }
        return .refused(
            self.reason ?? .unknown("HTTP \(self.status)"), status: self.status, timestamp: self.timestamp)
    }
}

/// How one push ended for its sender.
public enum APNsOutcome: Hashable, Sendable {
    /// APNs took it (status 200), which says nothing about delivery (apns.md §15). `uniqueID` is the sandbox's key to
    /// the delivery log.
    case accepted(apnsID: String, uniqueID: String?)
    /// APNs refused it. `timestamp` comes with status 410 alone: milliseconds since 1970 (apns.md §11).
    case refused(APNsReason, status: Int, timestamp: Int64?)
    /// It was sent and the answer never came: it may have been accepted. A second try can show it twice, unless the
    /// collapse id is the same.
    case unknownOutcome(String)
    /// It was not sent, or certainly not processed: why, in words.
    case notSent(String)
}
