import TidingsModel

/// APNs's answer to one request (APNs reference, sections 8 and 17).
public struct APNsResponse: Hashable, Sendable {
    /// The HTTP status: 200, 400, 403, 404, 405, 410, 413, 429, 500 or 503; with channels also 201 and 204.
    public var status: Int
    /// The header `apns-id`: ours if we sent one, otherwise APNs's.
    public var apnsID: String?
    /// The header `apns-unique-id`, the key of the delivery log; for pushes to devices the sandbox alone sends it.
    public var uniqueID: String?
    /// The header `apns-request-id` of broadcasts and channels: ours if we sent one, otherwise APNs's.
    public var requestID: String?
    /// The header `apns-channel-id`: the channel that was created.
    public var channelID: APNsChannelID?
    /// Why it was refused; nil with a status of success.
    public var reason: APNsReason?
    /// With status 410: since when the token is no longer valid.
    public var invalidSince: APNsInvalidSince?
    /// The header `retry-after` in seconds, 0 or more, if it ever comes (APNs reference, section 12).
    public var retryAfter: Int64?

    /// A response from its parts.
    public init(
        status: Int, apnsID: String? = nil, uniqueID: String? = nil, requestID: String? = nil,
        channelID: APNsChannelID? = nil, reason: APNsReason? = nil, invalidSince: APNsInvalidSince? = nil,
        retryAfter: Int64? = nil
    ) {
        self.status = status
        self.apnsID = apnsID
        self.uniqueID = uniqueID
        self.requestID = requestID
        self.channelID = channelID
        self.reason = reason
        self.invalidSince = invalidSince
        self.retryAfter = retryAfter
    }

    /// The longest reason that is kept, and the longest body that is read for one, in bytes.
    static let reasonBytesMax = 200
    static let refusalBytesMax = 65_536

    /// Reads a response as it came. Never fails: a body that is not Apple's JSON becomes an unknown reason with its
    /// first 200 bytes.
    ///
    /// - Parameters:
    ///   - status: the value of `:status`.
    ///   - headers: names in lowercase (RFC 9113, section 8.2); of a repeated name the first counts.
    ///   - body: the bytes of the DATA frames; only read if the status is no success.
    public init(status: Int, headers: some Sequence<(String, String)>, body: some Collection<UInt8>) {
        self.init(status: status)
        for (name, value) in headers { self.read(name, value) }
        if !self.isSuccess { self.readRefusal(body) }
    }

    /// Takes one header, by its name in lowercase; of a repeated one the first counts.
    package mutating func read(_ name: String, _ value: String) {
        // Told apart by their length first: most are none of these.
        switch name.utf8.count {
        case 7: if self.apnsID == nil, name == "apns-id" { self.apnsID = value }
        case 11: if self.retryAfter == nil, name == "retry-after" { self.retryAfter = Self.seconds(value) }
        case 14: if self.uniqueID == nil, name == "apns-unique-id" { self.uniqueID = value }
        case 15:
            if self.requestID == nil, name == "apns-request-id" { self.requestID = value }
            if self.channelID == nil, name == "apns-channel-id" { self.channelID = APNsChannelID(value) }
        default: break
        }
    }

    package mutating func readRefusal(_ body: some Collection<UInt8>) {
        guard body.count <= Self.refusalBytesMax, let object = try? JSONValue(parsing: body, depthMax: 8),
            let word = object["reason"]?.stringValue, !word.isEmpty
        else {
            self.reason = body.isEmpty ? .unknown("HTTP \(self.status)") : .unknown(Self.beginning(of: body))
            return
        }
        self.reason =
            word.utf8.count > Self.reasonBytesMax ? .unknown(Self.beginning(of: word.utf8)) : APNsReason(name: word)
        if self.status == 410 {
            self.invalidSince = object["timestamp"]?.intValue.map { APNsInvalidSince(milliseconds: $0) }
        }
    }

    /// Digits alone: a date, which HTTP allows too, is not honoured.
    private static func seconds(_ text: String) -> Int64? {
        text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } ? Int64(text) : nil
    }

    /// The first bytes as text; what is not UTF-8 becomes U+FFFD.
    private static func beginning(of bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes.prefix(Self.reasonBytesMax), as: UTF8.self)
    }

    /// True if APNs took the request: status 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(self.status) }

    /// The refusal; nil if APNs took the request.
    public var refusal: APNsRefusal? {
        guard !self.isSuccess else { return nil }
        return APNsRefusal(
            self.reason ?? .unknown("HTTP \(self.status)"), status: self.status, apnsID: self.apnsID,
            uniqueID: self.uniqueID, requestID: self.requestID, invalidSince: self.invalidSince,
            retryAfter: self.retryAfter)
    }

    /// The response as the result of the send.
    ///
    /// - Parameter sentID: the `apns-id` of the request, should the response lack it.
    public func outcome(sentID: String?) -> APNsOutcome {
        if let refusal = self.refusal { return .refused(refusal) }
        return .accepted(apnsID: self.apnsID ?? sentID ?? "", uniqueID: self.uniqueID)
    }
}

/// How one push ended for its sender.
public enum APNsOutcome: Hashable, Sendable {
    /// APNs took it (status 200), which says nothing about delivery (APNs reference, section 15). `uniqueID` is the
    /// sandbox's key to the delivery log.
    case accepted(apnsID: String, uniqueID: String?)
    indirect case refused(APNsRefusal)
    /// It was sent and the answer never came: it may have been accepted. A second try can show it twice, unless the
    /// collapse id is the same.
    case unknownOutcome(String)
    /// It was not sent, or certainly not processed: why, in words.
    case notSent(String)
    /// It was not sent, because credential, topic or trust are not right: Apple's reason, or other evidence, in words. Until an operator
    /// puts it right the sender lets a request through now and then and stops the others.
    case stopped(String)

    /// The refusal, if it ended so.
    public var refusal: APNsRefusal? {
        guard case .refused(let refusal) = self else { return nil }
        return refusal
    }
}
