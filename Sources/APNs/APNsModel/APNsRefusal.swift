/// A request that APNs answered with a refusal.
public struct APNsRefusal: Hashable, Sendable, CustomStringConvertible {
    /// Why, in Apple's words.
    public var reason: APNsReason
    /// The HTTP status.
    public var status: Int
    /// The `apns-id` of the push, if the answer has it.
    public var apnsID: String?
    /// The key of the delivery log, if the answer has it.
    public var uniqueID: String?
    /// The `apns-request-id` of a broadcast or a channel's request, if the answer has it.
    public var requestID: String?
    /// Since when the device token is no longer valid for the topic; with status 410 alone.
    public var invalidSince: APNsInvalidSince?
    /// After how many seconds, 0 or more, the server asks to come again (APNs reference, section 12).
    public var retryAfter: Int64?

    /// A refusal from its parts.
    public init(
        _ reason: APNsReason, status: Int, apnsID: String? = nil, uniqueID: String? = nil, requestID: String? = nil,
        invalidSince: APNsInvalidSince? = nil, retryAfter: Int64? = nil
    ) {
        self.reason = reason
        self.status = status
        self.apnsID = apnsID
        self.uniqueID = uniqueID
        self.requestID = requestID
        self.invalidSince = invalidSince
        self.retryAfter = retryAfter
    }

    /// The sender's reaction to it.
    public var reaction: APNsReaction { self.reason.reaction(status: self.status) }

    /// Returns true if the device token is to be dropped: the answer was 410 and says that the token ended after it was registered. A 410
    /// without a time drops nothing.
    ///
    /// - Parameter registered: when the app last registered the token with its server, milliseconds since 1970.
    public func drops(registeredAt registered: Int64) -> Bool {
        self.status == 410 && (self.invalidSince?.drops(registeredAt: registered) ?? false)
    }

    /// Status and reason, for logs.
    public var description: String { "\(self.status) \(self.reason.name)" }
}

/// When APNs established that a device token was no longer valid for its topic: the `timestamp` of a 410 (APNs
/// reference, section 11).
///
/// It may lie well in the past, and the app may have come back since: `drops(registeredAt:)` is the only question to ask
/// before a token is deleted.
public struct APNsInvalidSince: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970.
    public var milliseconds: Int64

    /// A time as it came.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Returns true if a token registered at that time is dead: only if it was found invalid later than that.
    ///
    /// - Parameter registered: when the app last registered the token with its server, milliseconds since 1970.
    public func drops(registeredAt registered: Int64) -> Bool { self.milliseconds > registered }

    /// The earlier time first.
    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// The milliseconds.
    public var description: String { String(self.milliseconds) }
}
