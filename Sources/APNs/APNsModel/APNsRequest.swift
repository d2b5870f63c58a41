public import TidingsModel

/// One push to one device token: everything APNs is told (APNs reference, section 6).
public struct APNsRequest: Hashable, Sendable {
    /// The device token in hexadecimal.
    public var token: PushToken
    /// The bundle identifier with the suffix of the push type.
    public var topic: String
    /// The kind of push.
    public var pushType: APNsPushType
    /// How urgent it is.
    public var priority: APNsPriority
    /// UNIX seconds until which APNs may store it; 0 is one attempt without storing; nil leaves APNs its 30 days.
    public var expiration: Int64?
    /// Pushes of equal value become one entry in the notification list, 1 to 64 bytes.
    public var collapseID: String?
    /// A UUID in lowercase that names the push in logs; APNs makes one if it is nil.
    public var apnsID: String?
    /// The JSON as it is sent.
    public var payload: [UInt8]
    /// The side of Apple's the token belongs to.
    public var environment: PushEnvironment

    /// A push; nothing is checked until `validate()`.
    public init(
        token: PushToken, topic: String, pushType: APNsPushType = .alert, priority: APNsPriority = .immediate,
        expiration: Int64? = nil, collapseID: String? = nil, apnsID: String? = nil, payload: [UInt8],
        environment: PushEnvironment
    ) {
        self.token = token
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.apnsID = apnsID
        self.payload = payload
        self.environment = environment
    }

    /// The largest `apns-collapse-id` in bytes (APNs reference, section 6).
    public static let collapseIDBytesMax = 64

    /// Checks what can be checked without APNs, so that a request that must be refused is never sent.
    ///
    /// - Throws: `InvalidField` naming the field and the rule: `token` (hexadecimal, 1 to 100 bytes), `topic` (not
    ///   empty, suffix of the push type), `priority` (one the push type allows), `expiration` (0 or later),
    ///   `collapse_id` (1 to 64 bytes), `apns_id` (lowercase UUID), `payload` (not empty, 4,096 bytes, 5,120 for `voip`).
    public func validate() throws(InvalidField) {
        try InvalidField.check(
            APNsFormat.isDeviceToken(self.token.rawValue.utf8), "token",
            "must be 2 to 200 hexadecimal digits, an even number of them")
        try InvalidField.check(
            APNsFormat.isTopic(self.topic.utf8), "topic",
            "must be 1 to 255 letters, digits, hyphens, underscores and dots")
        let suffix = self.pushType.topicSuffix
        try InvalidField.check(
            self.topic.utf8.count > suffix.utf8.count && self.topic.hasSuffix(suffix), "topic",
            "must end with \(suffix) for push type \(self.pushType.rawValue)")
        guard self.pushType.allows(self.priority) else {
            let allowed = self.pushType.allowedPriorities.map { "\($0.rawValue)" }.joined(separator: " or ")
            throw InvalidField(
                field: "priority", rule: "must be \(allowed) for push type \(self.pushType.rawValue)")
        }
        if let expiration = self.expiration, expiration < 0 {
            throw InvalidField(field: "expiration", rule: "must be 0 or UNIX seconds")
        }
        if let collapseID = self.collapseID {
            try InvalidField.check(
                APNsFormat.isCollapseID(collapseID.utf8), "collapse_id",
                "must be 1 to \(Self.collapseIDBytesMax) bytes without control characters")
        }
        if let apnsID = self.apnsID, !APNsFormat.isCanonicalUUID(apnsID.utf8) {
            throw InvalidField(field: "apns_id", rule: "must be a UUID of 32 lowercase hexadecimal digits, 8-4-4-4-12")
        }
        guard !self.payload.isEmpty else { throw InvalidField(field: "payload", rule: "must not be empty") }
        try InvalidField.check(self.payload.count, atMost: self.pushType.payloadBytesMax, "payload", unit: " bytes")
    }
}

extension APNsRequest {
    /// The value of `:method`.
    public var method: String { "POST" }

    /// The value of `:path` (APNs reference, section 6).
    public var path: String { "/3/device/\(self.token.rawValue)" }

    /// The headers of the request but `authorization`, names in lowercase.
    public var headerFields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = [
            ("apns-topic", self.topic), ("apns-push-type", self.pushType.rawValue),
            ("apns-priority", String(self.priority.rawValue)),
        ]
        if let expiration = self.expiration { fields.append(("apns-expiration", String(expiration))) }
        if let collapseID = self.collapseID { fields.append(("apns-collapse-id", collapseID)) }
        if let apnsID = self.apnsID { fields.append(("apns-id", apnsID)) }
        return fields
    }
}
