public import TidingsModel

/// One push to everybody who listens to a channel: a Live Activity's update or end (APNs reference, section 17). It goes
/// to the same host as pushes to devices.
public struct APNsBroadcast: Hashable, Sendable {
    /// The app's bundle identifier, without a suffix.
    public var bundleID: String
    /// The channel.
    public var channelID: APNsChannelID
    /// UNIX seconds until which APNs may keep it; 0 is one attempt without storing, and the only value a channel without
    /// storage takes.
    public var expiration: Int64
    /// How urgent it is; all three are allowed.
    public var priority: APNsPriority
    /// A UUID that names the request in logs; APNs makes one if it is nil.
    public var requestID: String?
    /// The JSON as it is sent: `APNsPayload.serializedForBroadcast()`.
    public var payload: [UInt8]
    /// The side of Apple's the channel belongs to.
    public var environment: PushEnvironment

    /// A broadcast; nothing is checked until `validate()`.
    public init(
        bundleID: String, channelID: APNsChannelID, expiration: Int64 = 0, priority: APNsPriority = .immediate,
        requestID: String? = nil, payload: [UInt8], environment: PushEnvironment
    ) {
        self.bundleID = bundleID
        self.channelID = channelID
        self.expiration = expiration
        self.priority = priority
        self.requestID = requestID
        self.payload = payload
        self.environment = environment
    }

    /// The largest body in bytes of JSON as sent (APNs reference, section 6).
    public static let payloadBytesMax = 5_120

    /// The value of `:method`.
    public var method: String { "POST" }

    /// The value of `:path`.
    public var path: String { "/4/broadcasts/apps/\(self.bundleID)" }

    /// The headers of the request but `authorization`, names in lowercase. There is no `apns-topic`.
    public var headerFields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = [
            ("apns-channel-id", self.channelID.rawValue), ("apns-push-type", APNsPushType.liveactivity.rawValue),
            ("apns-expiration", String(self.expiration)), ("apns-priority", String(self.priority.rawValue)),
        ]
        if let requestID = self.requestID { fields.append(("apns-request-id", requestID)) }
        return fields
    }

    /// Checks what can be checked without APNs, so that a request that must be refused is never sent.
    ///
    /// - Parameter policy: the channel's, if known: one without storage takes expiration 0 only.
    /// - Throws: `InvalidField` naming the field and the rule: `bundle_id` (form, no suffix of a push type),
    ///   `channel_id` (base64), `expiration` (0 or later; 0 for a channel without storage), `request_id` (UUID),
    ///   `payload` (not empty, at most 5,120 bytes).
    public func validate(policy: APNsStoragePolicy? = nil) throws(InvalidField) {
        try APNsChannelRequest.validate(bundleID: self.bundleID, requestID: self.requestID)
        try self.channelID.validate()
        guard self.expiration >= 0 else { throw InvalidField(field: "expiration", rule: "must be 0 or UNIX seconds") }
        try InvalidField.check(
            policy != .noStorage || self.expiration == 0, "expiration", "must be 0 for a channel without storage")
        guard !self.payload.isEmpty else { throw InvalidField(field: "payload", rule: "must not be empty") }
        try InvalidField.check(self.payload.count, atMost: Self.payloadBytesMax, "payload", unit: " bytes")
    }
}
